"""Fits that end, or leave nothing behind."""

import pytest

from skrep.utils.fitting import all_or_nothing


class Half:
    def __init__(self):
        self.width_ = 3

    @all_or_nothing
    def fit(self, error):
        """Fit."""
        self.width_, self.mean_ = 5, 0.0
        if error is not None:
            raise error
        return self


@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt()])
def test_a_fit_that_does_not_end_leaves_nothing_behind(error):
    model = Half()
    with pytest.raises(type(error)):
        model.fit(error)
    assert vars(model) == {"width_": 3}
    assert vars(model.fit(None)) == {"width_": 5, "mean_": 0.0}
    assert Half.fit.__doc__ == "Fit."
