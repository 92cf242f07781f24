"""Training as the parameters of an estimator say."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from skorch.callbacks import Callback

from skrep._neural import hold_out_rows
from skrep.discriminant import DiscriminantEncoder


class Interrupt(Callback):
    def on_batch_end(self, net, **_):
        if len(net.history[-1, "batches"]) == 2:
            raise KeyboardInterrupt


def test_an_interrupted_second_fit_leaves_the_first_one_usable():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 4)), np.repeat([0, 1], 30)
    model = DiscriminantEncoder(1, max_epochs=2, batch_size=20, random_state=0)
    before = model.fit(X, y).transform(X)
    model.set_params(callbacks=[Interrupt()])
    with pytest.raises(KeyboardInterrupt):
        model.fit(np.hstack([X, X]), y)
    assert_array_equal(model.transform(X), before)


def test_held_out_rows_are_of_every_class():
    codes = np.repeat([0, 1], [30, 10])
    train, held_out = hold_out_rows("Model", codes, 0.2, 0)
    assert_array_equal(np.sort(np.append(train, held_out)), np.arange(40))
    assert_array_equal(np.bincount(codes[held_out]), [6, 2])
    with pytest.raises(ValueError, match="Pass validation_fraction=None"):
        hold_out_rows("Model", np.arange(4), 0.5, 0)
