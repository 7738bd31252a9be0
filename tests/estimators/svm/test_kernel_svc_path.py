"""`KernelSVC.path`: one C after the other, on the same kernel rows."""

import re
from threading import Event
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification

from kernbench.estimators import KernelSVC
from kernbench.estimators.fit.runs import Runs
from kernbench.solvers import registry

# `closed-form` is for small C without an intercept only: it has separate tests.
STOCHASTIC = [name for name in registry.names("kernel-svm") if name not in ("smo", "closed-form")]
quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
CS = [10.0, 0.1, 1.0, 100.0]


def problem(n=300, n_classes=2):
    return make_classification(n, 8, n_informative=5, n_classes=n_classes, flip_y=0.1, random_state=0)


@pytest.mark.parametrize(("n_classes", "multi_class"), [(2, "ovo"), (3, "ovo"), (3, "ovr")])
def test_path_gives_the_models_of_single_fits_in_the_order_asked_for(n_classes, multi_class):
    X, y = problem(n_classes=n_classes)
    model = KernelSVC(gamma=0.1, tol=1e-5, multi_class=multi_class)
    models = model.path(X, y, CS)
    assert [one.C for one in models] == CS and not hasattr(model, "dual_coef_")
    for one in models:
        cold = KernelSVC(gamma=0.1, tol=1e-5, multi_class=multi_class, C=one.C).fit(X, y)
        np.testing.assert_allclose(one.decision_function(X), cold.decision_function(X), atol=2e-4)
        assert one.converged_ and set(vars(one)) == set(vars(cold))


@quiet
def test_path_computes_no_row_twice():
    X, y = problem()
    models = KernelSVC(gamma=0.1, solver="pegasos", tol=0.1, random_state=0).path(X, y, CS)
    assert sum(model.n_kernel_evaluations_ for model in models) <= len(y) ** 2
    assert all(model.trace_["n_kernel_evaluations"][0] == 0 for model in models)


def test_path_takes_fewer_steps_than_single_fits():
    X, y = problem()
    Cs = np.logspace(-1, 2, 8)
    warm = KernelSVC(gamma=0.1).path(X, y, Cs)
    cold = [KernelSVC(gamma=0.1, C=C).fit(X, y) for C in Cs]
    assert sum(model.n_iter_[0] for model in warm) < sum(model.n_iter_[0] for model in cold)
    assert sum(model.n_kernel_evaluations_ for model in warm) < sum(model.n_kernel_evaluations_ for model in cold)


@pytest.mark.parametrize("weighted", [False, True])
def test_coefficients_at_their_bound_start_at_the_next_one(weighted):
    """One rounding below it each of them would count as free and need a step."""
    rng = np.random.default_rng(0)
    X, noise = rng.standard_normal((300, 3)), 2.0 * rng.standard_normal(300)
    y, weights = X[:, 0] + noise > 0.0, rng.uniform(0.5, 1.0, 300) if weighted else None
    models = KernelSVC(gamma=0.5).path(X, y, [0.001, 0.003, 0.01, 0.03], sample_weight=weights)
    assert len(models[-1].support_) > 200
    assert all(model.n_iter_[0] < 50 for model in models[1:])


def test_path_starts_from_the_gradient_of_the_C_before():
    """Above `classic_rows` a start would take n kernel values for each support vector."""
    X, y = problem(600)
    X = np.tile(X, 20) / np.sqrt(20.0)  # the same distances, from so many features that rows are kept
    options = {"classic_rows": 100, "working_set_size": 64}
    model = KernelSVC(gamma=0.1, tol=1e-5, dtype="float64", shrinking=False, solver_options=options)
    for one in model.path(X, y, [1.0, 1.5, 1.6])[1:]:
        assert one.n_kernel_evaluations_ < 100 * len(one.support_)
        assert 0 <= one.duality_gap_ < 1e-4
        cold = KernelSVC(gamma=0.1, tol=1e-5, C=one.C).fit(X, y)
        np.testing.assert_allclose(one.decision_function(X), cold.decision_function(X), atol=1e-4)


@quiet
@pytest.mark.parametrize("solver", STOCHASTIC)
def test_path_of_a_stochastic_solver_stays_near_its_single_fits(solver):
    """With the step sizes and averages of the previous C, it would hardly move."""
    X, y = problem()
    run = {"solver": solver, "gamma": 0.1, "random_state": 0, "max_iter": 2000, "tol": 1e-2}
    for model in KernelSVC(**run).path(X, y, [0.1, 1.0, 10.0]):
        cold = KernelSVC(**run, C=model.C).fit(X, y)
        assert model.objective_ <= 1.5 * cold.objective_
        assert model.duality_gap_ >= 0


def test_path_with_weights_and_jobs_is_the_path_of_single_fits():
    X, y = problem(n_classes=3)
    weights = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    models = KernelSVC(gamma=0.1, tol=1e-6, n_jobs=2).path(X, y, [0.5, 5.0], sample_weight=weights)
    for one in models:
        cold = KernelSVC(gamma=0.1, tol=1e-6, C=one.C).fit(X, y, sample_weight=weights)
        np.testing.assert_allclose(one.decision_function(X), cold.decision_function(X), atol=1e-4)


def test_time_of_a_path_is_one_budget():
    X, y = problem()
    with pytest.warns(match="max_seconds=1e-09"):
        models = KernelSVC(solver="sbp", tol=1e-12, max_iter=10**9, max_seconds=1e-9).path(X, y, CS)
    assert [model.status_ for model in models] == ["max_seconds"] * 4


def test_time_that_a_strength_leaves_is_that_of_the_next_ones():
    given, runs = [], Runs.__new__(Runs)
    runs.results, runs.strengths, runs.stop = [[None] * 3], [1.0, 2.0, 3.0], Event()
    runs.task = SimpleNamespace(started=None)

    def solve(problem, data, strength, initial, seconds, number, n_earlier):
        given.append(seconds)
        return SimpleNamespace(seconds=0.5, status="converged", solution=None, n_iter=0)

    runs._solve = solve
    problem = SimpleNamespace(start=lambda data: None, next_start=lambda *arguments: None)
    assert runs._solve_path(0, problem, SimpleNamespace(now=None), 6.0) == 1.5
    assert given == [2.0, 2.75, 5.0]


def test_path_keeps_the_callbacks_and_the_progress_bar(capsys):
    X, y = load_iris(return_X_y=True)
    seen = []
    models = KernelSVC(verbose=1, callback=lambda model: seen.append(model.C)).path(X[50:], y[50:], [1.0, 2.0])
    assert len(seen) == sum(len(model.trace_["n_iter"]) for model in models)
    assert "KernelSVC smo: C=2" in capsys.readouterr().out


@pytest.mark.parametrize("Cs", [[], [0.0, 1.0], [[1.0]], "many", [1.0, np.nan], None])
def test_bad_cs_are_refused(Cs):
    X, y = problem(50)
    with pytest.raises(ValueError, match="Cs must be a list of positive numbers"):
        KernelSVC().path(X, y, Cs)


def test_path_over_c_needs_no_slack_budget():
    X, y = problem(50)
    with pytest.raises(ValueError, match=re.escape("leave nu out")):
        KernelSVC(solver="sbp", solver_options={"nu": 0.1}).path(X, y, CS)


def test_warm_start_survives_a_path():
    X, y = problem(100)
    models = KernelSVC(warm_start=True).path(X, y, [1.0, 2.0])
    assert all(model.warm_start for model in models)
    assert models[1].fit(X, y).n_iter_[0] <= 1  # there is nothing left to do
