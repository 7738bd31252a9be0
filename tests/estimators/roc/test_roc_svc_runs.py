"""How a fit of ROCSVC runs: limits, warnings, warm starts, callbacks, interrupts, progress."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning

from kernbench import ROCSVC, KernelSVC
from kernbench.estimators.fit.path import models_along
from kernbench.estimators.roc.roc_svc import fit_models
from kernbench.solvers import registry

SOLVERS = registry.names("roc-svm")
quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
VARIANTS = [{}, {"kernel": "rbf"}, {"kernel": "rbf", "n_landmarks": 20}]


def problem(n=300, seed=0):
    return make_classification(n, 8, n_informative=4, weights=[0.7], flip_y=0.1, random_state=seed)


@pytest.mark.parametrize("solver", [solver for solver in SOLVERS if solver not in ("gradient", "adamax")])
def test_converged_fit_says_so_and_does_not_warn(solver):
    X, y = problem()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = ROCSVC(solver=solver, alpha=0.1, max_iter=20_000).fit(X, y)
    assert model.converged_ and model.status_ == "converged" and model.fit_status_ == 0
    assert model.n_iter_.shape == (1,) and model.trace_["n_iter"][-1] == model.n_iter_[0]
    assert model.trace_["objective"][-1] == pytest.approx(model.objective_)
    assert model.n_kernel_evaluations_ == 0


@pytest.mark.parametrize("solver", SOLVERS)
def test_max_iter_ends_the_run_and_the_warning_names_it(solver):
    X, y = problem()
    with pytest.warns(ConvergenceWarning, match="max_iter=2 "):
        model = ROCSVC(solver=solver, alpha=1e-5, tol=1e-12, max_iter=2).fit(X, y)
    assert model.status_ == "max_iter" and model.n_iter_ == 2 and not model.converged_
    assert np.all(np.isfinite(model.decision_function(X)))


def test_max_seconds_ends_the_run_and_the_warning_names_it():
    X, y = problem()
    with pytest.warns(ConvergenceWarning, match="max_seconds=1e-06"):
        model = ROCSVC(solver="adamax", alpha=1e-5, tol=1e-12, max_iter=10**9, max_seconds=1e-6).fit(X, y)
    assert model.status_ == "max_seconds"


def test_kernel_evaluations_are_counted():
    X, y = problem(100)
    assert ROCSVC("rbf").fit(X, y).n_kernel_evaluations_ == 100**2
    model = ROCSVC("rbf", n_landmarks=20, random_state=0).fit(X, y)
    assert model.n_kernel_evaluations_ == 20 * (100 + 20)
    assert ROCSVC("rbf", features="random", random_state=0).fit(X, y).n_kernel_evaluations_ == 0


@pytest.mark.parametrize("settings", VARIANTS)
def test_callback_gets_a_fitted_model_and_its_dict_joins_the_trace(settings):
    X, y = problem()
    seen = []

    def watch(model):
        seen.append(model)
        return {"accuracy": model.score(X, y)}

    model = ROCSVC(callback=watch, threshold=("sensitivity", 0.9), random_state=0, **settings).fit(X, y)
    assert len(model.trace_["accuracy"]) == len(model.trace_["n_iter"]) == len(seen)
    np.testing.assert_array_equal(seen[-1].predict(X), model.predict(X))
    assert seen[-1].n_iter_ == model.n_iter_ and (seen[-1].predict(X)[y == 1] == 1).mean() >= 0.9


def test_callbacks_come_as_a_list_and_true_stops():
    X, y = problem()
    model = ROCSVC(
        solver="adamax", tol=1e-12, max_iter=10**9, callback=[lambda m: None, lambda m: m.n_iter_[0] > 0]
    ).fit(X, y)
    assert model.status_ == "callback"
    with pytest.raises(ValueError, match="callback returns"):
        ROCSVC(callback=lambda m: "stop").fit(X, y)


@pytest.mark.parametrize("settings", VARIANTS)
def test_interrupt_leaves_a_usable_model(settings):
    X, y = problem()

    def press_ctrl_c(model):
        raise KeyboardInterrupt

    model = ROCSVC(callback=press_ctrl_c, random_state=0, **settings)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.status_ == "interrupted" and not model.converged_
    assert np.all(np.isfinite(model.decision_function(X)))


def test_interrupted_path_has_models_that_were_not_started():
    X, y = problem()
    calls = []

    def press_ctrl_c(model):
        calls.append(model)
        if len(calls) == 3:
            raise KeyboardInterrupt

    _, in_turn = models_along(ROCSVC(callback=press_ctrl_c), "alpha", [1e-4, 1.0, 1e-1, 1e-2, 1e-3], ascending=False)
    with pytest.raises(KeyboardInterrupt):
        fit_models(in_turn, X, y, None)
    assert [model.alpha for model in in_turn] == [1.0, 1e-1, 1e-2, 1e-3, 1e-4]
    statuses = [model.status_ for model in in_turn]
    done = statuses.index("interrupted")  # the callback is called at least twice for each strength
    assert done <= 1 and statuses == ["converged"] * done + ["interrupted"] + ["not started"] * (4 - done)


def test_verbose_shows_the_solver_at_work(capsys):
    X, y = problem(100)
    ROCSVC(verbose=1).fit(X, y)
    assert "ROCSVC bundle" in capsys.readouterr().out


@quiet
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("settings", VARIANTS)
def test_warm_start_is_one_long_run(solver, settings):
    X, y = problem()
    settings = {"solver": solver, "alpha": 1e-4, "tol": 1e-12, "random_state": 0, "pairs": "n_samples", **settings}
    whole = ROCSVC(max_iter=7, **settings).fit(X, y)
    model = ROCSVC(max_iter=3, warm_start=True, **settings).fit(X, y)
    feature_map = model.feature_map_
    model.set_params(max_iter=4).fit(X, y)
    assert model.feature_map_ is feature_map
    assert model.objective_ == pytest.approx(whole.objective_, rel=1e-7)
    np.testing.assert_allclose(model.decision_function(X), whole.decision_function(X), rtol=1e-3, atol=1e-4)


def test_warm_start_after_another_alpha_needs_fewer_iterations():
    X, y = problem(1000)
    model = ROCSVC("rbf", n_landmarks=50, alpha=2e-4, warm_start=True, random_state=0).fit(X, y)
    cold = ROCSVC("rbf", n_landmarks=50, alpha=1e-4, random_state=0).fit(X, y)
    model.set_params(alpha=1e-4).fit(X, y)
    assert model.n_iter_ < cold.n_iter_
    assert model.objective_ == pytest.approx(cold.objective_, rel=2e-3)


@pytest.mark.parametrize("settings", VARIANTS)
@pytest.mark.parametrize("change", ["rows", "labels", "width", "solver", "loss"])
def test_warm_start_on_another_problem_solves_that(settings, change):
    X, y = problem()
    model = ROCSVC(warm_start=True, random_state=0, alpha=1e-2, tol=1e-5, **settings).fit(X, y)
    if change == "rows":
        X, y = problem(250, seed=1)
    elif change == "labels":
        y = 3 - y
    elif change == "width":
        X = X[:, :5]
    else:
        model.set_params(**{"solver": {"solver": "newton"}, "loss": {"loss": "squared_hinge"}}[change])
    model.fit(X, y)
    cold = ROCSVC(**{**model.get_params(), "warm_start": False}).fit(X, y)
    assert model.objective_ == pytest.approx(cold.objective_, rel=2e-5)


def test_without_warm_start_a_fit_forgets():
    X, y = problem()
    model = ROCSVC("rbf", n_landmarks=20, random_state=0)
    first = model.fit(X, y).decision_function(X)
    model.fit(*problem(seed=5))
    np.testing.assert_array_equal(model.fit(X, y).decision_function(X), first)


def test_generator_as_random_state_moves_on():
    X, y = problem()
    model = ROCSVC("rbf", n_landmarks=20, random_state=np.random.default_rng(0))
    assert not np.array_equal(model.fit(X, y).decision_function(X), model.fit(X, y).decision_function(X))


def test_solver_options_reach_the_solver():
    X, y = problem()
    plain, balanced = (
        ROCSVC(pairs="n_samples", random_state=0, solver_options=options).fit(X, y)
        for options in (None, {"balanced": True})
    )
    assert not np.array_equal(plain.coef_, balanced.coef_)


@quiet
@pytest.mark.parametrize("solver", SOLVERS)
def test_reference_twin_behind_the_estimator(solver):
    class Reference(ROCSVC):
        _twin = "reference"

    X, y = problem(80)
    for settings in VARIANTS:
        settings = {"alpha": 1e-2, "max_iter": 3, "tol": 1e-12, "solver": solver, "random_state": 0, **settings}
        compiled, reference = (cls(**settings).fit(X, y) for cls in (ROCSVC, Reference))
        assert reference.objective_ == pytest.approx(compiled.objective_, rel=1e-6)


def test_warnings_point_at_the_caller():
    X, y = problem()
    with pytest.warns(ConvergenceWarning) as caught:
        ROCSVC(alpha=1e-5, tol=1e-12, max_iter=1).fit(X, y)
    with pytest.warns(UserWarning) as also_caught:
        ROCSVC().fit(np.ones((4, 2)), [0, 1, 0, 1])
    assert caught[0].filename == also_caught[0].filename == __file__


@pytest.mark.parametrize("model", [ROCSVC(), KernelSVC()], ids=["alpha", "C"])
def test_the_callbacks_of_a_path_are_given_the_strength_of_each_fit(model):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y, name, seen = X[:, 0] + rng.normal(size=80) > 0, "C" if hasattr(model, "C") else "alpha", []
    model = clone(model).set_params(callback=lambda now: seen.append(getattr(now, name)))
    model.path(X, y, [0.1, 1.0, 10.0])
    assert list(dict.fromkeys(seen)) == ([0.1, 1.0, 10.0] if name == "C" else [10.0, 1.0, 0.1])
