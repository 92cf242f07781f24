"""Taxonomy encoder: a column of categories as a few columns of numbers."""

from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils import Tags
from sklearn.utils._param_validation import HasMethods, StrOptions
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from skrep._base import SkrepTransformer
from skrep._claims import Claim
from skrep.hyperbolic import _taxonomy
from skrep.hyperbolic._categories import Column, distinct_values, read_columns
from skrep.hyperbolic._coordinates import (
    COORDINATES,
    coordinate_names,
    coordinate_width,
    in_coordinates,
)
from skrep.hyperbolic._layout import layout_sectors
from skrep.hyperbolic._places import (
    FIT,
    TAXONOMY,
    Places,
    find_places,
    names_missing,
    warn_of_idle_keys,
    warn_of_strangers,
)
from skrep.typing import AnyArray, FloatArray

__all__ = ["TaxonomyEncoder"]


class TaxonomyEncoder(SkrepTransformer):
    r"""Turn categories that form a tree into a few columns in which kin are near.

    One-hot columns throw the tree away, and ordinal codes invent an order. Here every
    node of the taxonomy is a point of hyperbolic space, which has room for trees:
    general nodes lie near the origin, special ones far out, and kin side by side. A
    category becomes the coordinates of its point. So a model behind can borrow
    strength among kin: categories of few rows profit, and so do those that fit has
    never seen.

    Read more in the :ref:`User Guide <taxonomy_encoder>`.

    Parameters
    ----------
    taxonomy : mapping, sequence, ndarray, frame, series, networkx graph or None, \
            default=None
        The tree: a mapping of each child to its parent, or the same as a series,
        pairs (child, parent), a frame with columns "child" and "parent", or any other
        edges that :func:`skrep.graph.relations_from_edges` reads. A missing parent
        makes a root. A node may have several parents; several roots are joined by a
        node above them, which has no label.
        None puts the categories seen in fit under one root: no tree, and no better
        than one-hot columns.
    n_components : int, default=5
        Dimension of the ball, for all methods but "layout", which always lies in the
        plane.
    method : {"poincare", "tree", "layout", "mds"} or estimator, default="poincare"
        How nodes get their points.

        - "poincare": :class:`PoincareEmbedding`, trained on the relations of all nodes
          to their ancestors, in two dimensions from ``init="tree"``. The only one that
          is random. Time grows with the number of pairs of a node and an ancestor.
        - "tree": :class:`TreeEmbedding`, every edge of the length 1.5, or shorter for
          taxonomies deeper than 20. Takes time in the number of nodes.
        - "layout": in the plane, without training: a node lies in the middle of the
          sector of the leaves below it, the farther out the narrower it is, and an
          only child beyond its parent.
        - "mds": :class:`HyperbolicMDS` of the numbers of edges between nodes, times
          1/2, or less for deep taxonomies. Siblings may share a point, up to rounding.
          It holds some five square matrices of all nodes while it fits: 1 GB for 5,000
          nodes.
        - an estimator that takes a square matrix, by its tag ``pairwise``, and has
          `embedding_`, points of the ball, after fit. It is cloned. With a parameter
          `affinity` it is fitted on the relations of all nodes to their ancestors, CSR,
          and new leaves are placed by its `transform` of their relation to the parent.
          Otherwise, if it has `transform`, on the numbers of edges between nodes, and
          new leaves are placed by `transform` of these. `TreeEmbedding`, which has
          none, is fitted on the edges, CSR.

        All but those fitted on relations see one parent of each node: that with the
        most ancestors.
    coordinates : {"tangent", "ball", "lorentz"}, default="tangent"
        What is given of a point: the vector at the origin that leads to it, whose
        length is its hyperbolic distance from the origin; its coordinates in the ball
        of radius 1, where all far nodes crowd at the rim; or its n_components + 1
        coordinates on the hyperboloid.
    handle_unknown : {"error", "nan"}, mapping or callable, default="error"
        What becomes of a category that the taxonomy has not, in fit or in transform:
        an error; a row of NaN; or a place as a further leaf under the label that the
        mapping has for it, or that the function returns. A missing category, None or
        NaN, is treated alike: mapping and function see it as None. A mapping with a
        default, such as a defaultdict, has a label for every category. What is in the
        taxonomy is never looked up. skops saves no mapping with a key of
        another type than text: pass a function there, and `taxonomy` as pairs.
    random_state : int, RandomState instance or None, default=None
        Randomness of "poincare".

    Attributes
    ----------
    labels_ : ndarray of shape (n_labels,)
        Labels of the nodes, sorted.
    embedding_ : ndarray of shape (n_labels, n_components), float64
        Their points in the ball.
    parents_ : ndarray of int of shape (n_labels,)
        The parent of each node, as an index into `labels_`; -1 for roots.
    estimator_ : estimator or None
        What was fitted on the nodes; None for the layout.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of those columns, where they are all strings.

    See Also
    --------
    skrep.graph.relations_from_edges : What a taxonomy may be.
    sklearn.preprocessing.OneHotEncoder : One column for each category.
    sklearn.preprocessing.TargetEncoder : The mean target of each category.

    Notes
    -----
    All columns share the taxonomy. For several taxonomies put one encoder for each
    into a :class:`~sklearn.compose.ColumnTransformer`. Categories are compared by
    value: 1 and 1.0 are one category, "1" is another.

    A new leaf is placed as if it were the only one, so that two under one node get one
    place, and a row depends on itself and the fitted state alone. With points that are
    trained on relations it is placed by its relation to the parent, then farther out by
    as much as children lie beyond their parents on average; the others have a way of
    their own.

    Columns of distances and angles suit models that are smooth or cut them up: boosted
    trees, support vector machines, nearest neighbors. Linear models make little of
    them.

    Examples
    --------
    >>> from skrep.hyperbolic import TaxonomyEncoder
    >>> taxonomy = {"cat": "mammal", "dog": "mammal", "mammal": "animal"}
    >>> taxonomy |= {"eagle": "bird", "bird": "animal"}
    >>> encoder = TaxonomyEncoder(
    ...     taxonomy, method="layout", handle_unknown={"wren": "bird"}
    ... )
    >>> encoder.fit_transform([["cat"], ["dog"], ["eagle"]]).round(1)
    array([[-1.1,  0. ],
           [ 0.5, -1. ],
           [ 0.9,  1.6]])
    >>> encoder.transform([["wren"]]).round(1)
    array([[1.6, 0.9]])
    >>> encoder.get_feature_names_out()
    array(['x0_h0', 'x0_h1'], dtype=object)
    """

    _parameter_constraints: dict[str, Any] = {
        "taxonomy": "no_validation",
        "n_components": "no_validation",
        "method": [StrOptions(set(_taxonomy.METHODS)), HasMethods("fit")],
        "coordinates": [StrOptions(set(COORDINATES))],
        "handle_unknown": [StrOptions({"error", "nan"}), Mapping, callable],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        taxonomy: Any = None,
        n_components: int = 5,
        *,
        method: Any = "poincare",
        coordinates: str = "tangent",
        handle_unknown: str | Mapping[Any, Any] | Callable[[Any], Any] = "error",
        random_state: Any = None,
    ) -> None:
        self.taxonomy = taxonomy
        self.n_components = n_components
        self.method = method
        self.coordinates = coordinates
        self.handle_unknown = handle_unknown
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Give every node of the taxonomy a point.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Categories: strings, numbers or objects, or columns of categories. With a
            taxonomy they are only checked.
        y : None
            Not used.

        Returns
        -------
        TaxonomyEncoder
            The fitted estimator.

        Raises
        ------
        ValueError
            If the taxonomy cannot be read or has a cycle, or if a category is not in
            it, or missing, and `handle_unknown` has no place for it.
        TypeError
            If the taxonomy or X is sparse.

        Warns
        -----
        ThinDataWarning
            If no category of a column is in the taxonomy, as where numbers are text
            in one of them, and ``handle_unknown="nan"``.
        FewerColumnsWarning
            If columns are 0 for all nodes, or are left out.
        UserWarning
            If `handle_unknown` has keys that are in the taxonomy, or the taxonomy
            looks as if children and parents were exchanged.
        """
        who = type(self).__name__
        columns = read_columns(self, X, reset=True)
        if self.taxonomy is None:
            tree = _taxonomy.star(who, distinct_values(columns))
        else:
            tree = _taxonomy.read_taxonomy(who, self.taxonomy)
        self.labels_ = tree.labels
        self._number_labels()
        self._home = FIT if self.taxonomy is None else TAXONOMY
        warn_of_idle_keys(who, self._nodes, self.handle_unknown, self._home)
        for column in columns:
            self._find(column, fitting=True)
        self.estimator_ = _taxonomy.make_estimator(
            who, self.method, self.n_components, self.random_state, tree
        )
        n_labels = len(tree.labels)
        self.embedding_ = _taxonomy.fit_points(who, tree, self.estimator_)[:n_labels]
        above = tree.parents[:n_labels]
        self.parents_ = np.where(above < n_labels, above, -1)
        self._above = tree.parents
        layout = self.estimator_ is None
        self._sectors = layout_sectors(tree.parents) if layout else None
        return self

    def transform(self, X: Any) -> FloatArray:
        """Give the coordinates of categories.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Categories, in the columns of fit.

        Returns
        -------
        ndarray of shape (n_samples, n_features_in_ * n_coordinates), float64
            The coordinates of the first column's categories, then of the second's.

        Raises
        ------
        ValueError
            If a category is unknown or missing, and `handle_unknown` has no place for
            it.
        """
        check_is_fitted(self)
        columns = read_columns(self, X, reset=False)
        width = coordinate_width(self.embedding_.shape[1], self.coordinates)
        out = np.empty((len(columns[0].codes), len(columns) * width))
        for j, column in enumerate(columns):
            out[:, j * width : (j + 1) * width] = self._table(column)[column.codes]
        return out

    def get_feature_names_out(self, input_features: Any = None) -> AnyArray:
        """Name the columns of the output.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Names of the columns of X, those of fit if it saw names; None for these, or
            for x0, x1 and so on.

        Returns
        -------
        ndarray of shape (n_features_out,), object
            The name of the column, "_h" and a number from 0.
        """
        check_is_fitted(self)
        columns = _check_feature_names_in(self, input_features)
        n_components = self.embedding_.shape[1]
        names = (
            coordinate_names(f"{column}_h", n_components, self.coordinates)
            for column in columns
        )
        return np.array([name for part in names for name in part], dtype=object)

    def invariances(self) -> tuple[Claim, ...]:
        """List what acting on X and fitting again leaves alone.

        Returns
        -------
        tuple of Claim
            The claims that the parameters support.
        """
        return (Claim("row_permutation", "same_action"),)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = names_missing(self.handle_unknown)
        tags.transformer_tags.preserves_dtype = []
        return tags

    def __getstate__(self) -> dict[str, Any]:
        # Labels are kept once: skops holds no mapping of other keys than text.
        return {k: v for k, v in super().__getstate__().items() if k != "_nodes"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if hasattr(self, "labels_"):
            self._number_labels()

    def _number_labels(self) -> None:
        labels = self.labels_.tolist()
        self._nodes = {label: node for node, label in enumerate(labels)}

    def _find(self, column: Column, *, fitting: bool) -> Places:
        """Nodes of the distinct categories of a column."""
        who, nodes, home = type(self).__name__, self._nodes, self._home
        places = find_places(who, column, nodes, self.handle_unknown, home)
        warn_of_strangers(who, column, places, nodes, home, fitting=fitting)
        return places

    def _table(self, column: Column) -> FloatArray:
        """Coordinates of the distinct categories of a column."""
        places = self._find(column, fitting=False)
        there = places.nodes >= 0
        new = there & ~places.known
        points = self.embedding_[np.where(places.known, places.nodes, 0)]
        if new.any():
            above, which = np.unique(places.nodes[new], return_inverse=True)
            points[new] = _taxonomy.place_under(
                self._above, self.estimator_, above, self._sectors
            )[which]
        table = in_coordinates(points, self.coordinates)
        table[~there] = np.nan
        return table
