"""Scikit-learn's callbacks for iterative fits, where scikit-learn has them (1.9)."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Self

from sklearn.utils import metaestimators

__all__ = ["CallbackSupport", "FitSteps"]


def _mixin() -> Any:
    """Scikit-learn's own mixin; imported late, since it loads a console package."""
    try:
        from sklearn.callback import CallbackSupportMixin
    except ImportError:
        return None
    return CallbackSupportMixin


def _has_callbacks(estimator: Any) -> bool:
    if _mixin() is None:
        raise AttributeError(
            f"{type(estimator).__name__}: set_callbacks needs scikit-learn 1.9. "
            "Upgrade it: pip install -U scikit-learn."
        )
    return True


class CallbackSupport:
    """Mixin of estimators whose fit runs through `FitSteps`."""

    @metaestimators.available_if(_has_callbacks)
    def set_callbacks(self, *callbacks: Any) -> Self:
        """Set the callbacks that the next fits report to.

        Parameters
        ----------
        *callbacks : callback instances
            Such as ``sklearn.callback.ProgressBar()``; none removes those set.

        Returns
        -------
        estimator
            The estimator itself.

        Raises
        ------
        TypeError
            If one follows no protocol of scikit-learn's callbacks.
        """
        _mixin().set_callbacks(self, *callbacks)
        return self


class FitSteps:
    """Iterate over the steps of a fit and report each to the callbacks.

    Without callbacks, and before scikit-learn 1.9, it is `range`. The steps end early
    when a callback asks for it.

    Parameters
    ----------
    estimator : estimator
        A `CallbackSupport` in the middle of its ``fit``.
    n_steps : int
        The largest number of steps.
    state : callable
        Called after a step, and only when a callback wants to see the estimator as if
        the fit ended there; returns its fitted attributes by name.
    X, y : array-like
        What is fitted, for the callbacks.
    metadata : dict or None, default=None
        Such as the sample weights, for the callbacks.

    Examples
    --------
    >>> from skrep.utils.callbacks import FitSteps
    >>> list(FitSteps(object(), 3, state=dict, X=[[0.0]]))
    [0, 1, 2]
    """

    def __init__(
        self,
        estimator: Any,
        n_steps: int,
        *,
        state: Callable[[], Mapping[str, Any]],
        X: Any,
        y: Any = None,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_steps = n_steps
        self.state = state
        self.data = {"X": X, "y": y, "metadata": metadata}
        self.stopped = False

    def stop(self) -> None:
        """Make the current step the last one."""
        self.stopped = True

    def __iter__(self) -> Iterator[int]:
        heard = {"_skl_callbacks", "_parent_callback_ctx"} & set(
            getattr(self.estimator, "__dict__", {})
        )
        root = heard and _mixin()._init_callback_context(
            self.estimator, max_subtasks=self.n_steps
        )
        told = {"estimator": self.estimator, **self.data}
        if root:
            root.call_on_fit_task_begin(**told)
        for step in range(self.n_steps):
            task = root and root.subcontext(task_name=f"step {step}")
            if task:
                task.call_on_fit_task_begin(**told)
            yield step
            if task and task.call_on_fit_task_end(
                **told, reconstruction_attributes=self.state
            ):
                self.stop()
            if self.stopped:
                break
        if root:
            root.call_on_fit_task_end(**told, reconstruction_attributes=self.state)
