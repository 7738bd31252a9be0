"""Runs of the trainer that are broken off: Ctrl-C, and scores that are not finite."""

import signal

import numpy as np
import pytest

pytest.importorskip("torch", reason="kernbench.deep needs PyTorch")

from sklearn.exceptions import ConvergenceWarning
from small_fits import trained
from torch import nn

from kernbench.deep import Linear
from kernbench.deep.trainer.methods import METHODS


class Poisoned(nn.Module):
    """A linear module whose scores are NaN from its k-th call in training on."""

    def __init__(self, calls=3):
        super().__init__()
        self.linear, self.left = nn.Linear(6, 1), calls

    def forward(self, X):
        self.left -= self.training
        return self.linear(X)[:, 0] * (1.0 if self.left >= 0 or not self.training else np.nan)


@pytest.mark.parametrize("method", METHODS)
def test_ctrl_c_ends_after_the_step_and_leaves_a_model(rows, method):
    class Interrupting(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear, self.calls = nn.Linear(6, 1), 0

        def forward(self, X):
            self.calls += self.training
            if self.training and self.calls == 5:
                signal.raise_signal(signal.SIGINT)
            return self.linear(X)

    before = signal.getsignal(signal.SIGINT)
    model = trained(rows, Interrupting, method=method, max_epochs=10**6)
    assert model.status_ == "interrupted" and 0 < model.n_iter_ <= 5
    assert model.trace_["n_iter"][-1] == model.n_iter_
    assert len(model.predict(rows[0])) == 200
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_twice_ends_at_once_with_the_last_look(rows):
    def impatient(model):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    model = trained(rows, callback=impatient)
    assert model.status_ == "interrupted" and model.n_iter_ == 0 and len(model.predict(rows[0])) == 200


def test_ctrl_c_twice_in_the_first_look_is_an_interruption(rows):
    class Slow(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear, self.calls = nn.Linear(6, 1), 0

        def forward(self, X):
            self.calls += 1
            if self.calls == 2:  # the first call checks the shape of the scores
                signal.raise_signal(signal.SIGINT)
                signal.raise_signal(signal.SIGINT)
            return self.linear(X)

    with pytest.raises(KeyboardInterrupt):
        trained(rows, Slow)


def test_ctrl_c_twice_in_a_look_keeps_the_momentum_of_batch_normalisation(rows):
    """It was None, as while the statistics of the averaged network are computed."""

    class Slow(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm, self.linear, self.steps = nn.BatchNorm1d(6, momentum=0.25), nn.Linear(6, 1), 0

        def forward(self, X):
            self.steps += self.training and self.norm.momentum is not None
            if self.training and self.norm.momentum is None and self.steps > 0:  # not in the look before the first step
                signal.raise_signal(signal.SIGINT)
                signal.raise_signal(signal.SIGINT)
            return self.linear(self.norm(X))

    model = trained(rows, Slow, method="agd-sbcd")
    assert model.status_ == "interrupted" and model.trace_["n_iter"] == [0]
    assert model.module_.norm.momentum == 0.25


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("validation", [0.2, None])
def test_scores_that_are_nan_stop_with_the_last_good_state(rows, method, validation):
    with pytest.warns(ConvergenceWarning, match=r"with the step size 0.0\d+ .*Lower learning_rate"):
        model = trained(
            rows, lambda: Poisoned(15), method=method, learning_rate=0.01, look_every=2, validation=validation
        )
    assert model.status_ == "diverged" and 0 < model.trace_["n_iter"][-1] < 15
    assert np.isfinite(model.decision_function(rows[0])).all()
    assert all(tensor.isfinite().all() for tensor in model.last_state_.values())


@pytest.mark.parametrize("keep", ["best", "last"])
def test_the_warning_of_a_diverged_fit_names_the_state_that_predicts(rows, keep):
    params = {"method": "cross-entropy", "learning_rate": 0.5, "look_every": 1, "max_epochs": 9, "keep": keep}
    with pytest.warns(ConvergenceWarning) as found:
        model = trained((rows[0], rows[1][::-1]), lambda: Poisoned(40), **params)
    n_iter = {"best": model.best_n_iter_, "last": model.trace_["n_iter"][-1]}
    assert 0 < n_iter["best"] < n_iter["last"] == 40
    (said,) = [str(warning.message) for warning in found if warning.category is ConvergenceWarning]
    assert f"{'best' if keep == 'best' else 'last good'} evaluation, after {n_iter[keep]} steps" in said


def test_a_module_of_nan_from_the_start_is_refused(rows):
    module = Linear(6)
    nn.init.constant_(module.linear.weight, np.nan)
    with pytest.raises(ValueError, match="not finite before the first step"):
        trained(rows, module)
