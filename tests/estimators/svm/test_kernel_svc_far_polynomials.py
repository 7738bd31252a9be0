"""Polynomial kernels of columns far from the origin, whose values differ by little compared to their size."""

from threading import Event
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from kernbench import KernelSVC
from kernbench.estimators.fit import runs, smaller_strength
from kernbench.estimators.svm.kernel_task import KernelTask


def far_rows(seed, n=300):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 10))
    return X + 1000.0, X[:, 0] + X[:, 1] ** 2 - 1 + 0.3 * rng.normal(size=n) > 0


@pytest.fixture
def few_iterations(monkeypatch):
    monkeypatch.setattr(runs, "iteration_limit", lambda *arguments: 500_000)


def objective_of(model, X, y):
    """Return the objective of the model at its C, from its public attributes."""
    scores = model.decision_function(X)
    norm = model.dual_coef_[0] @ (scores[model.support_] - model.intercept_[0])
    return 0.5 * norm / (model.C * len(y)) + np.maximum(0.0, 1.0 - np.where(y, 1, -1) * scores).mean()


def test_the_solution_for_a_smaller_C_is_returned_where_it_is_better(few_iterations, monkeypatch, global_random_seed):
    X, y = far_rows(global_random_seed)
    with pytest.warns(ConvergenceWarning, match=r"smaller C .* is returned.*StandardScaler"):
        model = KernelSVC("poly", gamma=0.1).fit(X, y)
    assert not model.converged_ and model.score(X, y) > 0.7
    assert objective_of(model, X, y) == pytest.approx(model.objective_, abs=model.duality_gap_)
    assert 0.0 < model.duality_gap_ <= 1.1 * model.objective_
    assert np.abs(model.dual_coef_).max() <= model.C
    monkeypatch.setattr(smaller_strength, "HOPELESS", np.inf)
    with pytest.warns(ConvergenceWarning):
        last = KernelSVC("poly", gamma=0.1).fit(X, y)
    assert model.objective_ < 0.9 * last.objective_
    bound = max(0.0, last.objective_ - last.duality_gap_)  # of the same run
    assert model.objective_ - model.duality_gap_ <= bound + 1e-9 * model.objective_
    assert model.n_kernel_evaluations_ >= last.n_kernel_evaluations_


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_hopelessly_slow_growth_ends_the_run_early(global_random_seed):
    X, y = far_rows(global_random_seed)
    model = KernelSVC("poly", gamma=0.1).fit(X, y)
    assert model.status_ == "stagnated" and model.n_iter_.max() <= 2e6  # a fifth of the limit


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_hard_margin_is_given_the_steps_that_it_needs():
    X, y = load_breast_cancer(return_X_y=True)
    model = KernelSVC("linear", C=1e9).fit(StandardScaler().fit_transform(X), y)
    assert model.objective_ < 1e-6


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("limit", [{"max_iter": 5000}, {"max_seconds": 0.02}])
def test_limits_of_the_user_hold(limit, monkeypatch):
    def refuse(*arguments):
        raise AssertionError("more iterations than the user allows")

    monkeypatch.setattr(runs, "better_of_smaller", refuse)
    KernelSVC("poly", gamma=0.1, **limit).fit(*far_rows(0))


def test_a_stop_event_ends_the_runs_for_smaller_C(few_iterations, monkeypatch):
    """For threads, which Ctrl-C does not reach."""
    stop = Event()

    def stopped(*arguments, **options):
        stop.set()
        return smaller_strength.better_of_smaller(*arguments, **options)

    monkeypatch.setattr(runs, "better_of_smaller", stopped)
    model = KernelSVC("poly", gamma=0.1)
    ((result,),) = runs.Runs(KernelTask(model, *far_rows(0), None), [model.C], stop=stop).run()
    assert stop.is_set() and result.status == "interrupted"


@pytest.mark.parametrize("n_products", [0, 3])
def test_ctrl_c_between_the_runs_for_smaller_C_keeps_the_best_so_far(n_products, few_iterations, monkeypatch):
    X, y = far_rows(0)
    done, matmul = [], smaller_strength.blocks.matmul

    def products(*arguments, **options):
        if len(done) == n_products:
            raise KeyboardInterrupt
        done.append(arguments)
        return matmul(*arguments, **options)

    monkeypatch.setattr(smaller_strength, "blocks", SimpleNamespace(matmul=products))
    model = KernelSVC("poly", gamma=0.1)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.status_ == "interrupted" and np.isfinite(model.duality_gap_)
    assert objective_of(model, X, y) == pytest.approx(model.objective_, abs=model.duality_gap_)
