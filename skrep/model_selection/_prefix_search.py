"""The shortest prefix that is good enough, by cross-validation."""

from collections.abc import Callable
from copy import copy, deepcopy
from numbers import Integral, Real
from time import perf_counter
from typing import Any, Self

from sklearn.base import MetaEstimatorMixin, _fit_context, is_classifier
from sklearn.utils import Tags, get_tags, indexable
from sklearn.utils._param_validation import HasMethods, Interval
from sklearn.utils.metadata_routing import MetadataRouter
from sklearn.utils.metaestimators import _BaseComposition, available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from skrep._base import SkrepTransformer
from skrep._claims import Claim
from skrep.model_selection import _candidates, _evaluation, _routing, _table
from skrep.model_selection._cut import as_rows, cut_transformer
from skrep.typing import AnyArray, Matrix

__all__ = ["PrefixSearchCV"]


def _head_has(name: str) -> Callable[["PrefixSearchCV"], bool]:
    def check(search: "PrefixSearchCV") -> bool:
        fitted = hasattr(search, "best_estimator_")
        head = getattr(search, "best_head_", None) if fitted else search.head
        if head is None:
            raise AttributeError(
                f"PrefixSearchCV: there is no {name} without a head. Pass head=, a "
                "classifier or a regressor, and fit."
            )
        return hasattr(head, name)

    return check


def _unfitted(search: "PrefixSearchCV") -> "PrefixSearchCV":
    """Make a twin with the same parameters, objects shared, and no results."""
    twin = copy(search)
    _drop_results(twin)
    return twin


def _drop_results(search: "PrefixSearchCV") -> None:
    for name in [name for name in vars(search) if name.endswith("_")]:
        delattr(search, name)


class PrefixSearchCV(MetaEstimatorMixin, SkrepTransformer, _BaseComposition):
    r"""Choose the shortest prefix that is good enough, by cross-validation.

    The transformer is fitted once per split, at full length, and transforms the rows
    of the split once; every length is a slice of that. With m(k) the mean score of
    the first k columns and :math:`m^* = \max_k m(k)`, the search keeps

    .. math::

        \min \{k : m(k) \ge m^* - \text{tolerance} \cdot |m^*|\}.

    Read more in the :ref:`User Guide <prefix-search>`.

    Parameters
    ----------
    estimator : transformer or list of (str, transformer)
        What is fitted: a transformer whose columns come in order of importance, or a
        pipeline that ends in one. A list holds several under names of your own, which
        compete: the shortest prefix of any of them wins. Its own `n_components` bounds
        the lengths of a candidate.
    head : classifier, regressor or None, default=None
        What is fitted on each prefix and scored. None scores the representation.
    prefixes : "powers" or iterable of int, default="powers"
        The lengths, in any order. "powers" means the powers of two below the full
        width, from 8, and the full width; up to a width of 8 they start at 1.
    scoring : str, callable or None, default=None
        How a length is scored, higher is better. With a head, as elsewhere in
        scikit-learn: the name of a scorer, a callable ``scoring(head, Z, y)`` with the
        cut rows Z, or None for the head's own `score`. Without one, a callable
        ``scoring(transformer, X, y)`` with the fitted transformer of that length, or
        None for :func:`skrep.metrics.neighbor_overlap` of the cut rows with X.
    tolerance : float, default=0.02
        The part of the best mean score that a shorter prefix may lose, at least 0.
    cv : int, cross-validation generator or iterable, default=5
        The splits; an integer means stratified ones for a classifier.
    n_jobs : int or None, default=None
        Number of splits worked on at once; None means 1.

    Attributes
    ----------
    best_estimator_ : transformer
        The winner fitted on all rows and cut to `best_prefix_`.
    best_head_ : classifier or regressor
        The head fitted on that prefix of all rows. Only with a head.
    best_prefix_ : int
        The chosen length.
    best_candidate_ : str
        Name of the winner. Only where `estimator` is a list.
    best_score_ : float
        Mean score of the chosen length.
    best_index_ : int
        Its row in `cv_results_`.
    cv_results_ : dict of str to ndarray or list
        One entry per length, candidate after candidate: "param_prefix",
        "param_candidate" (for a list), "params", "split0_test_score" and so on,
        "mean_test_score", "std_test_score", "rank_test_score", and the means and
        standard deviations over the splits of three times in seconds: "mean_fit_time"
        of the one fit that all lengths of a candidate share, "mean_head_fit_time",
        and "mean_score_time".
    scorer_ : callable
        What scored.
    n_splits_ : int
        Number of splits.
    refit_time_ : float
        Seconds for the fits on all rows.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of those columns, where they are all strings.

    See Also
    --------
    skrep.metrics.prefix_scores : Scores of every prefix of a fitted transformer.
    sklearn.model_selection.GridSearchCV : Refits for every length.

    Notes
    -----
    Parameters act at the next fit: until then the search predicts and scores as it was
    fitted. A fit that fails changes nothing.

    Every candidate is fitted on all rows before the splits, which tells its width;
    the winner of these is kept. Where the training rows of a split give fewer columns
    than all rows do, longer prefixes are scored with all columns there are.

    The head sees training rows as `transform` gives them, as it will see new rows.

    Without metadata routing, `groups` go to the splitter, `sample_weight` to the
    transformers, the head and the scorer that have a parameter of this name, and all
    else to the transformers whose fit takes it and to a scorer of your own that names
    it: ``scoring(transformer, X, y, pairs)``. What has one entry per row is split
    along with X, everything else is passed whole. With metadata routing every part
    gets what it requests.

    Neighbors are compared with those in X as it is, by cosine, within the test rows
    of a split: X cut nowhere scores 1.

    Examples
    --------
    >>> from sklearn.decomposition import PCA
    >>> from sklearn.linear_model import Ridge
    >>> from skrep.datasets import load_mammals
    >>> from skrep.model_selection import PrefixSearchCV
    >>> mammals = load_mammals()
    >>> X, depth = mammals.data[::2], mammals.depth[::2]
    >>> search = PrefixSearchCV(PCA(), Ridge(), tolerance=0.05).fit(X, depth)
    >>> search.cv_results_["param_prefix"]
    array([  8,  16,  32,  64, 128, 256, 384])
    >>> search.best_prefix_
    64
    >>> search.transform(X).shape == (len(X), 64)
    True
    """

    _parameter_constraints = {
        "estimator": [HasMethods(["fit", "transform"]), list],
        "head": [HasMethods(["fit", "predict"]), None],
        "prefixes": "no_validation",
        "scoring": [str, callable, None],
        "tolerance": [Interval(Real, 0, None, closed="left")],
        "cv": ["cv_object"],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        estimator: Any,
        head: Any = None,
        *,
        prefixes: Any = "powers",
        scoring: Any = None,
        tolerance: float = 0.02,
        cv: Any = 5,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.head = head
        self.prefixes = prefixes
        self.scoring = scoring
        self.tolerance = tolerance
        self.cv = cv
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Score every length and fit the chosen one on all rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, in any form that the transformers take.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            Target, for the transformers and the head.
        **params : dict
            Metadata for the parts, see the Notes: `sample_weight`, `groups`, or what
            the transformer's fit takes, such as `pairs`.

        Returns
        -------
        PrefixSearchCV
            The fitted search.

        Raises
        ------
        ValueError
            If a length is out of range, the head has no y, or a score is not finite.
        TypeError
            If no part takes some of the metadata.
        """
        X, y = indexable(X, y)
        # On a twin: a fit that fails leaves the last one whole.
        twin = _unfitted(self)
        twin._search(X, y, params)
        _drop_results(self)
        self.__dict__.update(vars(twin))
        return self

    def _search(self, X: Any, y: Any, params: dict[str, Any]) -> None:
        validate_data(self, X, reset=True, skip_check_array=True)
        candidates = self._named()
        _candidates.check_head(self.head, y)
        self.scorer_ = _candidates.resolve_scorer(self.head, self.scoring)
        data = _routing.route_fit(self, params, candidates, self.head, self.scorer_)
        stratified = self.head is not None and is_classifier(self.head)
        splits = _evaluation.list_splits(self.cv, X, y, data.split, stratified)
        self.n_splits_ = len(splits)

        start = perf_counter()
        whole = _evaluation.fit_all(candidates, X, y, data)
        self.refit_time_ = perf_counter() - start
        widths = [_evaluation.width_of(fitted, X) for fitted in whole]
        lengths = _table.lengths_within(type(self).__name__, self.prefixes, widths)
        parts = self.head, self.scorer_
        scored = _evaluation.score_all(
            candidates, parts, (X, y), splits, lengths, data, self.n_jobs
        )
        listed = isinstance(self.estimator, list)
        self.cv_results_, owners = _table.make_table(
            candidates, lengths, scored, named=listed
        )
        means = self.cv_results_["mean_test_score"]
        sizes = self.cv_results_["param_prefix"]
        self.best_index_ = _table.choose(means, sizes, self.tolerance)
        self.best_score_ = float(means[self.best_index_])
        self.best_prefix_ = int(sizes[self.best_index_])
        winner = owners[self.best_index_]
        if listed:
            self.best_candidate_ = candidates[winner][0]
        self.best_estimator_ = cut_transformer(whole[winner], self.best_prefix_)
        if self.head is not None:
            start = perf_counter()
            self.best_head_ = _evaluation.fit_part(
                self.head, self._encode(X), y, data.head
            )
            self.refit_time_ += perf_counter() - start

    def transform(self, X: Any) -> Matrix:
        """Transform rows and keep the chosen prefix.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        {ndarray, sparse matrix} of shape (n_samples, best_prefix_)
            The chosen prefix.
        """
        check_is_fitted(self)
        return self._encode(X)

    @available_if(_head_has("predict"))
    def predict(self, X: Any) -> AnyArray:
        """Predict with the head fitted on the chosen prefix.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Classes or numbers.
        """
        return self._ask("predict", X)

    @available_if(_head_has("predict_proba"))
    def predict_proba(self, X: Any) -> AnyArray:
        """Predict probabilities with the head fitted on the chosen prefix.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities, in the order of `classes_`.
        """
        return self._ask("predict_proba", X)

    @available_if(_head_has("predict_log_proba"))
    def predict_log_proba(self, X: Any) -> AnyArray:
        """Predict log-probabilities with the head fitted on the chosen prefix.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Logarithms of the probabilities, in the order of `classes_`.
        """
        return self._ask("predict_log_proba", X)

    @available_if(_head_has("decision_function"))
    def decision_function(self, X: Any) -> AnyArray:
        """Compute the decision function of the head fitted on the chosen prefix.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            What the head gives.
        """
        return self._ask("decision_function", X)

    def score(self, X: Any, y: Any = None, **params: Any) -> float:
        """Score the chosen prefix on other rows, as the search did.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            Target.
        **params : dict
            Metadata for the scorer.

        Returns
        -------
        float
            The score that `scoring` names.

        Raises
        ------
        TypeError
            If the scorer does not take the metadata.
        """
        check_is_fitted(self)
        metadata = _routing.route_score(self, params, self.scorer_)
        if hasattr(self, "best_head_"):
            return float(self.scorer_(self.best_head_, self._encode(X), y, **metadata))
        return float(self.scorer_(self.best_estimator_, X, y, **metadata))

    @property
    def classes_(self) -> AnyArray:
        """Classes that the head knows, of shape (n_classes,)."""
        return self.best_head_.classes_

    def get_feature_names_out(self, input_features: Any = None) -> AnyArray:
        """Name the output columns.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Passed to the transformer.

        Returns
        -------
        ndarray of str
            The names that the chosen transformer gives.
        """
        check_is_fitted(self)
        return self.best_estimator_.get_feature_names_out(input_features)

    def invariances(self) -> tuple[Claim, ...]:
        """List the invariances that hold whatever is searched.

        Returns
        -------
        tuple of Claim
            None: the chosen length depends on the splits, and they on the order of
            the rows.
        """
        return ()

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Get the parameters of the search, its candidates and its head.

        Parameters
        ----------
        deep : bool, default=True
            Whether to go into the parts.

        Returns
        -------
        dict
            Parameters by name; those of a candidate in a list under its name.
        """
        if isinstance(self.estimator, list):
            return self._get_params("estimator", deep)
        return super().get_params(deep)

    def set_params(self, **params: Any) -> Self:
        """Set parameters of the search, its candidates and its head.

        Parameters
        ----------
        **params : dict
            Values by the names of `get_params`.

        Returns
        -------
        PrefixSearchCV
            The search.
        """
        self._set_params("estimator", **params)
        return self

    def get_metadata_routing(self) -> MetadataRouter:
        """Describe which part gets which metadata.

        Returns
        -------
        MetadataRouter
            Candidates and head from fit, the splitter from fit, the scorer from fit
            and score.
        """
        scorer = _candidates.resolve_scorer(self.head, self.scoring)
        return _routing.make_router(self, self._named(), self.head, scorer, self.cv)

    def _named(self) -> list[tuple[str, Any]]:
        reserved = set(self.get_params(deep=False))
        return _candidates.check_candidates(self.estimator, reserved)

    def _encode(self, X: Any) -> Matrix:
        if len(getattr(X, "shape", ())) == 2:
            validate_data(self, X, reset=False, skip_check_array=True)
        with _evaluation.named_errors():
            return as_rows(self.best_estimator_.transform(X))

    def _ask(self, method: str, X: Any) -> AnyArray:
        check_is_fitted(self)
        return getattr(self.best_head_, method)(self._encode(X))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        inner = [get_tags(transformer) for _, transformer in self._named()]
        tags.input_tags = deepcopy(inner[0].input_tags)
        tags.input_tags.sparse = all(t.input_tags.sparse for t in inner)
        tags.input_tags.allow_nan = all(t.input_tags.allow_nan for t in inner)
        tags.transformer_tags = deepcopy(inner[0].transformer_tags)
        if self.head is not None:
            head = get_tags(self.head)
            tags.estimator_type = head.estimator_type
            tags.classifier_tags = deepcopy(head.classifier_tags)
            tags.regressor_tags = deepcopy(head.regressor_tags)
            tags.target_tags = deepcopy(head.target_tags)
        tags.target_tags.required |= any(t.target_tags.required for t in inner)
        return tags
