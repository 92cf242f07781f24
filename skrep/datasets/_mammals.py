"""The WordNet mammals: a tree, its orders, and three encoders' vectors of it."""

from importlib.resources import files
from typing import Any, Literal, overload

import numpy as np
from sklearn.utils import Bunch
from sklearn.utils._param_validation import StrOptions, validate_parameter_constraints

from skrep.typing import AnyArray, FloatArray
from skrep.utils import require

__all__ = ["load_mammals"]

ENCODERS = ("minilm", "e5", "wordllama")
TEXTS = ("gloss", "lemma")

_CONSTRAINTS: dict[str, list[Any]] = {
    "encoder": [StrOptions(set(ENCODERS))],
    "text": [StrOptions(set(TEXTS))],
    "return_X_y": ["boolean"],
    "as_frame": ["boolean"],
}


@overload
def load_mammals(
    *,
    encoder: str = ...,
    text: str = ...,
    return_X_y: Literal[False] = ...,
    as_frame: bool = ...,
) -> Bunch: ...
@overload
def load_mammals(
    *,
    encoder: str = ...,
    text: str = ...,
    return_X_y: Literal[True],
    as_frame: bool = ...,
) -> tuple[Any, Any]: ...
def load_mammals(
    *,
    encoder: str = "minilm",
    text: str = "gloss",
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Bunch | tuple[Any, Any]:
    """Load the mammals of WordNet: embeddings, orders and the tree they form.

    The 1,170 synsets below and with ``mammal.n.01``, each embedded by three frozen
    encoders, from its definition (gloss) and from its name (lemma). One set serves
    classification (35 orders), retrieval (a lemma is the query for its gloss),
    encoder change (the rows of all encoders correspond) and tree embeddings. It
    ships with skrep.

    Parameters
    ----------
    encoder : {"minilm", "e5", "wordllama"}, default="minilm"
        Whose vectors become `data`; 384, 384 and 256 columns.
    text : {"gloss", "lemma"}, default="gloss"
        Which text was embedded: the definition or the name.
    return_X_y : bool, default=False
        If True, return ``(data, target)`` alone.
    as_frame : bool, default=False
        If True, `data` and `frame` are pandas DataFrames and `target` is a pandas
        Series, all indexed by synset name. Needs pandas.

    Returns
    -------
    data : :class:`~sklearn.utils.Bunch`
        Dictionary-like object with the attributes:

        data : ndarray or DataFrame of shape (1170, n_features), float32
            Unit rows, to the rounding of the float16 they are stored in.
        target : ndarray or Series of shape (1170,), int64
            Order of the mammal, as an index into `target_names`.
        target_names : ndarray of shape (35,), str
            Names of the orders, sorted.
        feature_names : list of str
            Names of the columns of `data`.
        names : ndarray of shape (1170,), str
            Synset names such as ``"dog.n.01"``, sorted.
        edges : ndarray of shape (1170, 2), int64
            Rows (child, parent) of the direct hypernym edges. One synset has two
            parents, and the root has none.
        depth : ndarray of shape (1170,), int64
            Number of edges between the row and the root ``mammal.n.01``.
        gloss, lemma : dict of str to ndarray of shape (1170, n_features), float32
            The vectors of every encoder; row `i` is the same synset in all.
        frame : DataFrame of shape (1170, n_features + 1) or None
            `data` and `target` side by side, if `as_frame` is True.
        DESCR : str
            Description and licences.

    (data, target) : tuple if `return_X_y` is True
        The two attributes of that name.

    Raises
    ------
    InvalidParameterError
        If a parameter is not among the values above. It is a `ValueError` and a
        `TypeError`.
    ImportError
        If `as_frame` is True and pandas is not installed.

    See Also
    --------
    make_parallel_spaces : Two spaces with a known map between them.
    sklearn.datasets.load_digits : Same interface.

    References
    ----------
    .. [1] Miller, G. A. (1995). "WordNet: a lexical database for English".
       Communications of the ACM 38(11), 39-41.

    Examples
    --------
    >>> from skrep.datasets import load_mammals
    >>> mammals = load_mammals()
    >>> mammals.data.shape
    (1170, 384)
    >>> str(mammals.target_names[mammals.target[mammals.names == "wolf.n.01"][0]])
    'carnivore'

    The same rows, as another encoder sees them:

    >>> mammals.gloss["wordllama"].shape
    (1170, 256)
    """
    validate_parameter_constraints(
        _CONSTRAINTS,
        {
            "encoder": encoder,
            "text": text,
            "return_X_y": return_X_y,
            "as_frame": as_frame,
        },
        caller_name="load_mammals",
    )
    pandas = require("pandas", "load_mammals(as_frame=True)") if as_frame else None
    stored = _read()
    vectors: dict[str, dict[str, FloatArray]] = {
        kind: {name: stored[f"{kind}_{name}"].astype(np.float32) for name in ENCODERS}
        for kind in TEXTS
    }
    names = stored["name"]
    target_names, target = np.unique(stored["order"], return_inverse=True)
    target = target.astype(np.int64, copy=False)
    data: Any = vectors[text][encoder]
    # Copied, so that writing to `data` leaves the vectors of the encoder alone.
    data = data.copy()
    feature_names = [f"{encoder}{column}" for column in range(data.shape[1])]

    frame = None
    if pandas is not None:
        index = pandas.Index(names.astype(object), name="synset")
        data = pandas.DataFrame(data, index=index, columns=feature_names)
        target = pandas.Series(target, index=index, name="target")
        frame = pandas.concat([data, target], axis=1)
    if return_X_y:
        return data, target
    return Bunch(
        data=data,
        target=target,
        frame=frame,
        feature_names=feature_names,
        target_names=target_names,
        names=names,
        edges=stored["edges"].astype(np.int64),
        depth=stored["depth"].astype(np.int64),
        **vectors,
        DESCR=_folder().joinpath("descr", "mammals.rst").read_text(encoding="utf-8"),
    )


def _folder() -> Any:
    return files("skrep.datasets")


def _read() -> dict[str, AnyArray]:
    """Arrays of the bundled file; opened as a stream, so a zipped wheel works too."""
    with (
        _folder().joinpath("data", "mammals.npz").open("rb") as stream,
        np.load(stream, allow_pickle=False) as stored,
    ):
        return dict(stored)
