"""Use a fitted pipeline on another space."""

from copy import deepcopy
from typing import TYPE_CHECKING, Any

from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from skrep.relative._representation import RelativeRepresentation

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

__all__ = ["stitch"]


def stitch(
    pipeline: "Pipeline", X_other: Any, anchors: Any = None, sample_weight: Any = None
) -> "Pipeline":
    """Make a fitted pipeline serve another space, without retraining its head.

    The relative step is replaced by its twin on the other space, see
    :meth:`RelativeRepresentation.counterpart`; every other step is a copy of the
    fitted original.

    Parameters
    ----------
    pipeline : Pipeline
        A fitted pipeline whose first step is a :class:`RelativeRepresentation`. It is
        left as it was.
    X_other : {array-like, CSR} of shape (n_samples, n_features_other)
        Rows of the other space, paired by row with those the pipeline was fitted on
        unless `anchors` is given.
    anchors : array-like of shape (n_anchors, n_features_other), default=None
        The partners of the anchors in the other space.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows of X_other, if the relative step was fitted with weights.

    Returns
    -------
    Pipeline
        A new pipeline for rows of the other space. All its steps are in
        :class:`~sklearn.frozen.FrozenEstimator`, so that ``clone`` and ``fit`` keep
        what they hold.

    Raises
    ------
    TypeError
        If `pipeline` is not a Pipeline.
    ValueError
        If its first step is not a RelativeRepresentation, or rows cannot be paired.

    See Also
    --------
    LatentAlignment : Map the other space onto this one instead.
    skrep.metrics.stitching_scores : How well a stitched head does.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from skrep.datasets import make_parallel_spaces
    >>> from skrep.relative import RelativeRepresentation, stitch
    >>> X, X_other = make_parallel_spaces(relation="similarity", random_state=0)
    >>> y = X[:, 0] > 0
    >>> pipeline = make_pipeline(
    ...     RelativeRepresentation(n_anchors=32, random_state=0), LogisticRegression()
    ... ).fit(X, y)
    >>> stitched = stitch(pipeline, X_other)
    >>> bool((stitched.predict(X_other) == pipeline.predict(X)).all())
    True
    """
    from sklearn.pipeline import Pipeline

    if not isinstance(pipeline, Pipeline):
        raise TypeError(
            f"stitch: 'pipeline' is a {type(pipeline).__name__}. Pass a fitted "
            "sklearn.pipeline.Pipeline: make_pipeline(RelativeRepresentation(), head), "
            "or the best_estimator_ of a search over one."
        )
    (name, first), *rest = pipeline.steps or [("", None)]
    if not isinstance(first, RelativeRepresentation):
        kinds = [type(step).__name__ for _, step in pipeline.steps] or ["nothing"]
        raise ValueError(
            f"stitch: the first step of 'pipeline', '{name}', is a {kinds[0]}; the "
            f"steps are {kinds}. The first must be a RelativeRepresentation that is "
            "not frozen: stitch the original pipeline, and move steps that belong to "
            "the old space, such as a scaler, out of it."
        )
    check_is_fitted(first)
    twin = first.counterpart(X_other, anchors=anchors, sample_weight=sample_weight)
    steps = [(name, FrozenEstimator(twin))]
    for other, step in rest:
        idle = step is None or isinstance(step, str)
        # A copy, so that what is set on one pipeline does not reach the other.
        steps.append((other, step if idle else FrozenEstimator(deepcopy(step))))
    return Pipeline(
        steps, transform_input=pipeline.transform_input, verbose=pipeline.verbose
    )
