"""How a fit runs: limits, warnings, warm starts, callbacks, interrupts, progress."""

import _thread
import threading
import warnings
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from kernbench.estimators import KernelSVC
from kernbench.estimators.fit import runs
from kernbench.solvers import driver, registry

# `closed-form` is for small C without an intercept only: it has separate tests.
SOLVERS = [name for name in registry.names("kernel-svm") if name != "closed-form"]
STOCHASTIC = [name for name in SOLVERS if name != "smo"]
LASTING = [name for name in SOLVERS if name != "perceptron"]  # it ends after one pass, long before any limit
quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def two_classes(n=300, seed=0):
    return make_classification(n, 8, n_informative=5, flip_y=0.1, random_state=seed)


# --- limits and what is said about them ---------------------------------------------------------------------


def test_converged_fit_says_so_and_does_not_warn():
    X, y = two_classes()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = KernelSVC().fit(X, y)
    assert model.converged_ and model.fit_status_ == 0 and model.status_ == "converged"
    assert model.n_iter_.shape == (1,) and model.n_iter_[0] > 0
    assert model.n_kernel_evaluations_ > 0


@pytest.mark.parametrize("solver", SOLVERS)
def test_max_iter_ends_the_run_and_the_warning_names_it(solver):
    X, y = two_classes()
    model = KernelSVC(solver=solver, max_iter=3, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"max_iter=3 .*duality gap of .*raise max_iter.*StandardScaler"):
        model.fit(X, y)
    assert model.n_iter_.tolist() == [3]
    assert not model.converged_ and model.fit_status_ == 1 and model.status_ == "max_iter"


@pytest.mark.parametrize("max_iter", [1, 40])
def test_max_iter_is_met_where_smo_takes_working_sets(max_iter):
    X, y = two_classes()
    options = {"classic_rows": 0, "working_set_size": 32}
    with pytest.warns(ConvergenceWarning, match=f"max_iter={max_iter} "):
        model = KernelSVC(max_iter=max_iter, solver_options=options).fit(X, y)
    assert model.n_iter_.tolist() == [max_iter] and model.status_ == "max_iter"


@pytest.mark.parametrize("solver", SOLVERS)
def test_max_seconds_ends_the_run_and_the_warning_names_it(solver):
    X, y = two_classes(600)
    model = KernelSVC(solver=solver, C=1e4, max_seconds=1e-9, tol=1e-12, max_iter=10**9)
    with pytest.warns(ConvergenceWarning, match=r"max_seconds=1e-09 .*raise max_seconds"):
        model.fit(X, y)
    assert model.status_ == "max_seconds"


def test_a_method_without_a_rule_finishes_quietly_and_does_not_claim_to_have_converged():
    X, y = two_classes(100)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = KernelSVC(solver="perceptron", random_state=0).fit(X, y)
    assert model.status_ == "finished" and model.n_iter_.tolist() == [100]
    assert not model.converged_ and model.duality_gap_ > model.tol * model.objective_


@pytest.mark.parametrize("solver", [name for name in LASTING if name != "smo"])
def test_default_limit_is_the_registrys(solver):
    X, y = two_classes(100)
    limit = registry.get(solver).iteration_limit(100)
    with pytest.warns(ConvergenceWarning, match=r"default limit of \d+ iterations \(max_iter=-1\)"):
        options = {"eps": 0.0} if solver == "wolfe" else {}  # otherwise a short direction ends it
        model = KernelSVC(C=1e6, solver=solver, tol=1e-12, random_state=0, solver_options=options).fit(X, y)
    assert model.n_iter_.tolist() == [limit]


def test_time_budget_is_shared_by_the_pairs(monkeypatch):
    """Each pair may use its share of the remaining time; with a fake clock, since a machine may pause at any moment."""
    X, y = load_iris(return_X_y=True)
    needs, allowed = [1.0, 0.5, 3.0], []

    def run(solver, *, max_seconds, **options):
        allowed.append(max_seconds)
        result = driver.run(solver, **{**options, "max_iter": 3})
        seconds = min(max_seconds, needs[len(allowed) - 1])
        return replace(result, status="max_seconds", seconds=seconds)

    monkeypatch.setattr(runs, "driver", SimpleNamespace(run=run))
    with pytest.warns(ConvergenceWarning, match="in 3 of 3 pairs of classes"):
        model = KernelSVC(solver="sbp", tol=1e-12, max_iter=10**9, max_seconds=6.0).fit(X, y)
    assert model.status_ == ["max_seconds"] * 3
    assert allowed == [6.0 / 3, (6.0 - 1.0) / 2, 6.0 - 1.0 - 0.5]
    assert np.all(model.n_iter_ > 0)


def test_warning_counts_the_pairs_that_stopped_short():
    X, y = load_iris(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match="in 1 of 3 pairs of classes"):
        model = KernelSVC(C=100, max_iter=30).fit(X, y)  # enough for two: they need 16, the third over 60
    assert sorted(model.status_) == ["converged", "converged", "max_iter"]
    assert not model.converged_


# --- the trace and callbacks --------------------------------------------------------------------------------


@quiet
@pytest.mark.parametrize("solver", SOLVERS)
def test_callback_gets_a_fitted_model_and_its_dict_joins_the_trace(solver):
    X, y = two_classes()
    seen = []

    def watch(model):
        seen.append(model)
        return {"error": 1 - model.score(X, y), "support": len(model.support_)}

    model = KernelSVC(solver=solver, callback=watch, random_state=0, max_iter=512).fit(X, y)
    assert set(model.trace_) == {"n_iter", "seconds", "n_kernel_evaluations", "objective", "error", "support"}
    assert len({len(column) for column in model.trace_.values()}) == 1
    assert len(seen) == len(model.trace_["n_iter"])
    np.testing.assert_array_equal(seen[-1].decision_function(X), model.decision_function(X))
    assert model.trace_["error"][-1] == pytest.approx(1 - model.score(X, y))
    # The certificate computes the objective once more, from the coefficients. That of `smo` is a bound from below.
    rel = model.tol if solver == "smo" else 1e-5
    assert model.trace_["objective"][-1] == pytest.approx(model.objective_, rel=rel)


@quiet
def test_callbacks_of_many_classes_see_the_pair_in_work():
    X, y = load_iris(return_X_y=True)
    names = np.array(["a", "b", "c"])[y]
    pairs = []
    model = KernelSVC(callback=lambda model: pairs.append(tuple(model.classes_))).fit(X, names)
    assert list(dict.fromkeys(pairs)) == [("a", "b"), ("a", "c"), ("b", "c")]
    assert [set(trace) >= {"n_iter", "objective"} for trace in model.trace_] == [True] * 3


def test_snapshots_of_pairs_have_the_weights_of_their_classes():
    X, y = load_iris(return_X_y=True)
    seen = set()

    def watch(model):
        seen.add((tuple(model.classes_), tuple(model.class_weight_)))

    KernelSVC(class_weight={0: 1.0, 1: 2.0, 2: 3.0}, callback=watch).fit(X, y)
    assert seen == {((0, 1), (1.0, 2.0)), ((0, 2), (1.0, 3.0)), ((1, 2), (2.0, 3.0))}


@quiet
def test_snapshot_of_a_pair_predicts_its_two_classes():
    X, y = load_iris(return_X_y=True)
    scores = {}

    def watch(model):
        own = np.isin(y, model.classes_)
        scores[tuple(model.classes_)] = model.score(X[own], y[own])

    KernelSVC(callback=watch).fit(X, y)
    assert len(scores) == 3 and min(scores.values()) > 0.9


def test_callbacks_come_as_a_list_and_true_stops():
    X, y = two_classes()
    calls = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # no warning for a run that the user stops
        model = KernelSVC(
            solver="pegasos", random_state=0, callback=[lambda model: calls.append(1), lambda model: np.True_]
        ).fit(X, y)
    assert calls == [1]
    assert model.status_ == "callback" and not model.converged_
    assert model.n_iter_.tolist() == [0]
    assert np.all(np.isfinite(model.decision_function(X)))


def test_callback_that_returns_nonsense_is_told():
    X, y = two_classes()
    with pytest.raises(ValueError, match="None, a dict of trace columns, or True"):
        KernelSVC(callback=lambda model: 0.5).fit(X, y)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_interrupt_leaves_a_usable_model(n_classes):
    X, y = make_classification(200, 6, n_informative=4, n_classes=n_classes, random_state=0)
    calls = []

    def press_ctrl_c(model):
        calls.append(model)
        if len(calls) == 2:
            raise KeyboardInterrupt

    model = KernelSVC(solver="sbp", tol=1e-12, callback=press_ctrl_c, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    statuses = [model.status_] if n_classes == 2 else model.status_
    assert "interrupted" in statuses and not model.converged_ and model.fit_status_ == 1
    assert model.decision_function(X).shape == ((200,) if n_classes == 2 else (200, 3))
    assert np.all(np.isfinite(model.decision_function(X)))
    assert set(model.predict(X)) <= set(y)
    if n_classes == 3:
        assert statuses[-1] == "not started"


@pytest.mark.parametrize("solver", LASTING)
def test_ctrl_c_from_outside_leaves_a_usable_model(solver):
    X, y = two_classes(2000)
    timer = threading.Timer(0.1, _thread.interrupt_main)

    def run_has_begun(model):
        if timer.ident is None and model.n_iter_[0] > 0:
            timer.start()

    # Nearly a hard margin on noisy labels: it takes long.
    model = KernelSVC(
        solver=solver, C=1e8, gamma=1e-3, dtype="float32", tol=1e-9, max_iter=10**12, callback=run_has_begun
    )
    try:
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
    finally:
        timer.cancel()
    assert model.status_ == "interrupted" and model.n_iter_[0] > 0
    assert np.all(np.isfinite(model.decision_function(X)))


@quiet
def test_interrupted_fit_goes_on_where_it_stopped():
    X, y = two_classes()
    calls = []

    def press_ctrl_c(model):
        calls.append(model)
        if len(calls) == 2:
            raise KeyboardInterrupt

    run = {"solver": "sbp", "tol": 1e-12, "random_state": 0}
    model = KernelSVC(warm_start=True, max_iter=10**9, callback=press_ctrl_c, **run)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    done = int(model.n_iter_[0])
    assert 0 < done < 10**9
    model.set_params(max_iter=512, callback=None).fit(X, y)
    whole = KernelSVC(max_iter=done + 512, **run).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), whole.decision_function(X), rtol=1e-9, atol=1e-9)


def test_verbose_shows_the_pairs_at_work(capsys):
    X, y = load_iris(return_X_y=True)
    names = np.array(["ash", "oak", "yew"])[y]
    KernelSVC(verbose=1).fit(X, names)
    shown = capsys.readouterr().out
    assert "KernelSVC smo: ash against oak" in shown and "objective" in shown
    KernelSVC().fit(X, names)
    assert capsys.readouterr().out == ""


# --- warm starts --------------------------------------------------------------------------------------------


@quiet
@pytest.mark.parametrize("solver", STOCHASTIC)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_warm_start_is_one_long_run(solver, n_classes):
    X, y = make_classification(150, 6, n_informative=4, n_classes=n_classes, random_state=0)
    run = {"solver": solver, "random_state": 0, "tol": 1e-12}
    # Responses are computed anew at a start, and steps from kink to kink amplify what rounding changes.
    first, then, tolerance = (64, 96, 1e-8) if solver in ("scs", "wolfe") else (512, 768, 1e-12)
    parts = KernelSVC(max_iter=first, warm_start=True, **run).fit(X, y)
    parts.set_params(max_iter=then).fit(X, y)
    whole = KernelSVC(max_iter=first + then, **run).fit(X, y)
    np.testing.assert_allclose(parts.dual_coef_, whole.dual_coef_, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(parts.intercept_, whole.intercept_, rtol=tolerance, atol=tolerance)


@quiet
def test_smo_resumes_towards_the_same_model():
    X, y = two_classes()
    model = KernelSVC(C=100.0, max_iter=20, warm_start=True, tol=1e-6).fit(X, y)
    model.set_params(max_iter=-1).fit(X, y)
    whole = KernelSVC(C=100.0, tol=1e-6).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), whole.decision_function(X), atol=1e-4)
    again = model.fit(X, y)
    assert again.n_iter_[0] < whole.n_iter_[0] / 5  # there is (next to) nothing left to do


@pytest.mark.parametrize("n_classes", [2, 3])
def test_regularisation_path_reuses_work_and_gives_the_cold_models(n_classes):
    X, y = make_classification(300, 8, n_informative=5, n_classes=n_classes, flip_y=0.1, random_state=0)
    path = KernelSVC(warm_start=True, gamma=0.1, tol=1e-4)
    for C in (1.0, 1.1, 10.0, 0.5, 0.55):
        warm, cold = path.set_params(C=C).fit(X, y), KernelSVC(C=C, gamma=0.1, tol=1e-4).fit(X, y)
        theirs = SVC(C=C, gamma=0.1, tol=1e-6, decision_function_shape="ovr").fit(X, y)
        np.testing.assert_allclose(warm.decision_function(X), cold.decision_function(X), atol=2e-3)
        np.testing.assert_allclose(warm.decision_function(X), theirs.decision_function(X), atol=2e-3)
    near = KernelSVC(C=0.5, warm_start=True, gamma=0.1).fit(X, y)
    cold_steps = near.n_iter_.sum()
    assert near.set_params(C=0.51).fit(X, y).n_iter_.sum() < cold_steps


@quiet
@pytest.mark.parametrize("solver", SOLVERS)
def test_warm_start_on_other_data_solves_the_new_problem(solver):
    """Responses kept from the old rows would be wrong for the new ones."""
    X, y = two_classes()
    moved = X + 0.3 * np.random.default_rng(0).normal(size=X.shape)
    model = KernelSVC(solver=solver, warm_start=True, max_iter=2048, gamma=0.1, random_state=0).fit(X, y)
    model.fit(moved, y)
    f = model.decision_function(moved)
    a = model.dual_coef_[0]
    quadratic = a @ (f[model.support_] - model.intercept_[0])
    expected = quadratic / (2 * len(y)) + np.maximum(0, 1 - (2 * y - 1) * f).mean()
    assert model.objective_ == pytest.approx(expected, rel=1e-6)


@quiet
@pytest.mark.parametrize("solver", ["pegasos", "scs", "wolfe"])
def test_warm_start_with_other_rows_left_out_solves_the_new_problem(solver):
    """As many rows as before, but others: the kept state belongs to other rows."""
    X, y = two_classes()
    model = KernelSVC(solver=solver, warm_start=True, max_iter=512, gamma=0.1, random_state=0)
    for left_out in (slice(20), slice(20, 40)):
        weights = np.ones(len(y))
        weights[left_out] = 0.0
        model.fit(X, y, weights)
    f = model.decision_function(X)
    quadratic = model.dual_coef_[0] @ (f[model.support_] - model.intercept_[0])
    expected = (quadratic / 2 + weights @ np.maximum(0, 1 - (2 * y - 1) * f)) / (len(y) - 20)
    assert model.objective_ == pytest.approx(expected, rel=1e-6) and model.objective_ < 0.7


@quiet
@pytest.mark.parametrize("change", ["classes", "rows", "labels", "solver"])
def test_warm_start_begins_afresh_where_the_old_solution_does_not_fit(change):
    X, y = two_classes()
    model = KernelSVC(warm_start=True).fit(X, y)
    if change == "classes":
        y = y + 5
    elif change == "rows":
        X, y = X[:200], y[:200]
    elif change == "labels":
        y = 1 - y
    else:
        model.set_params(solver="sbp", random_state=0, max_iter=256)
    fresh = KernelSVC(**{**model.get_params(), "warm_start": False}).fit(X, y)
    np.testing.assert_array_equal(model.fit(X, y).dual_coef_, fresh.dual_coef_)


@quiet
def test_without_warm_start_a_fit_forgets():
    X, y = two_classes()
    model = KernelSVC(solver="pegasos", random_state=0, max_iter=256)
    first = model.fit(X, y).dual_coef_
    np.testing.assert_array_equal(model.fit(X, y).dual_coef_, first)


@quiet
def test_generator_as_random_state():
    X, y = two_classes()
    run = {"solver": "pegasos", "max_iter": 256}
    one = KernelSVC(random_state=np.random.default_rng(3), **run).fit(X, y)
    two = KernelSVC(random_state=np.random.default_rng(3), **run).fit(X, y)
    seed = KernelSVC(random_state=3, **run).fit(X, y)
    legacy = KernelSVC(random_state=np.random.RandomState(3), **run).fit(X, y)
    np.testing.assert_array_equal(one.dual_coef_, two.dual_coef_)
    np.testing.assert_array_equal(one.dual_coef_, seed.dual_coef_)
    assert legacy.n_iter_.tolist() == [256]


def test_a_limit_on_a_slack_budget_is_not_to_be_raised_for_the_sake_of_tol():
    X, y = two_classes(100)
    with pytest.warns(ConvergenceWarning, match="every run ends at a limit") as caught:
        KernelSVC(solver="sbp", solver_options={"nu": 0.05}, max_iter=64, random_state=0).fit(X, y)
    assert "raise max_iter" not in str(caught[0].message)


@quiet
def test_solver_options_reach_the_solver():
    X, y = two_classes(100)
    run = {"solver": "sbp", "max_iter": 64, "random_state": 0}
    model = KernelSVC(solver_options={"nu": 0.05}, **run).fit(X, y)
    assert model.duality_gap_ is None  # the slack-constrained problem has none
    plain = KernelSVC(**run).fit(X, y)
    assert not np.array_equal(model.dual_coef_, plain.dual_coef_)
