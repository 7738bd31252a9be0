"""The race: what is timed, how an estimator is built, and how alpha is chosen."""

from dataclasses import replace

import numpy as np
import pytest

from kernbench.datasets import load
from kernbench.experiments import get
from kernbench.experiments.measure import race, search
from kernbench.experiments.measure.building import build
from kernbench.experiments.measure.clock import Tracer, fit_seconds, shortest
from kernbench.experiments.measure.record import columns, exponent, plain
from kernbench.experiments.run.cells import plan


def test_fit_time_leaves_out_the_tracing_and_nothing_else():
    tracer = Tracer(judge=None)
    assert fit_seconds(10.0, 15.0, tracer, own_clock=3.0) == 5.0  # never called: nothing to leave out
    tracer.first, tracer.last = 10.5, 99.75
    assert fit_seconds(10.0, 100.0, tracer, own_clock=3.0) == 0.5 + 3.0 + 0.25
    assert fit_seconds(10.0, 100.0, tracer, own_clock=None) == 90.0


def test_plain_gives_json_values():
    found = plain({"a": np.float32(0.5), "b": np.array([1, 2]), "c": (np.inf, float("nan")), 3: np.bool_(True)})
    assert found == {"a": 0.5, "b": [1, 2], "c": [None, None], "3": True}
    assert [type(value) for value in found["b"]] == [int, int]


def test_columns_and_exponents_on_known_values():
    assert columns(("a", "b"), [(1, "x"), (2, "y")]) == {"a": [1, 2], "b": ["x", "y"]}
    assert columns(("a",), []) == {"a": []}
    assert exponent([1, 4, 16], [1.0, 0.5, 0.25]) == pytest.approx(-0.5)


def test_alpha_becomes_the_c_of_estimators_that_have_no_alpha():
    model = build("sklearn.svm:LinearSVC", {"alpha": 0.01, "tol": 1e-3}, 300)
    assert model.C == pytest.approx(1 / (0.01 * 300)) and model.tol == 1e-3
    assert build("kernbench.estimators:ROCSVC", {"alpha": 0.01}, 300).alpha == 0.01
    assert build("kernbench.estimators:KernelSVC", {"passes": 5}, 300).max_iter == 1500


@pytest.mark.parametrize("given", [{"batch_size": 64}, {"solver_options": {"batch_size": 64}}])
@pytest.mark.parametrize(("solver", "n_iter"), [("norma", 10), ("pegasos", 10), ("sdca", 600)])
def test_passes_are_batches_where_an_iteration_is_a_step_on_one(given, solver, n_iter):
    model = build("kernbench.estimators:KernelSVC", {**given, "solver": solver, "passes": 2}, 300)
    assert model.solver_options == {"batch_size": 64} and model.max_iter == n_iter


def test_a_batch_size_of_its_own_is_no_option_of_a_solver():
    assert build("kernbench:DoublyStochasticClassifier", {"batch_size": 64}, 300).batch_size == 64


class RanksWith:
    """Ranks by the true score with one alpha, and in reverse with all others."""

    def __init__(self, alpha):
        self.sign = 1 if alpha == 0.1 else -1

    def fit(self, X, y):
        return self

    def decision_function(self, X):
        return self.sign * X.sum(axis=1)


def judged(fit):
    """Metrics of a fit: which model it was."""
    return {"number": fit.model.number}


@pytest.fixture
def named(monkeypatch):
    """Return a function that gives a class an address."""

    def name(kind):
        monkeypatch.setattr(search, kind.__name__, kind, raising=False)
        return f"{search.__name__}:{kind.__name__}"

    return name


@pytest.mark.parametrize("folds", [None, 3])
def test_search_finds_the_alpha_that_ranks_best(named, folds):
    data = load("roc-linear", 300, 10, seed=3)
    grid = {"alphas": [0.01, 0.1, 1.0], "folds": folds, "max_rows": 200, "seed": 0}
    assert search.best_alpha(named(RanksWith), {}, data, "decision_function", **grid) == 0.1


def test_search_finds_the_alpha_that_predicts_best():
    data = load("checkerboard", 400, 10, seed=1)
    params = {"kernel": "rbf", "gamma": 5.0, "fit_intercept": False, "solver": "smo"}
    grid = {"alphas": [100.0, 1e-3], "max_rows": 300, "seed": 0}
    # At 100 all coefficients are equal: a vote of all rows at any distance.
    assert search.best_alpha("kernbench.estimators:KernelSVC", params, data, "predict", **grid) == 1e-3


def test_search_ignores_the_budget_of_the_fit_and_prefers_the_larger_of_equal_alphas(named):
    class Indifferent(RanksWith):
        def __init__(self, alpha):
            self.sign = 1

    data = load("roc-linear", 100, 10, seed=3)
    grid = {"alphas": [0.01, 1.0, 0.1], "max_rows": 80, "seed": 0}
    found = search.best_alpha(named(Indifferent), {"max_seconds": 1.0}, data, "decision_function", **grid)
    assert found == 1.0


@pytest.mark.parametrize("warm, found", [(True, 1.0), (False, 0.1)])
def test_an_alpha_at_which_a_solver_diverges_does_not_spoil_the_next_ones_without_warm_starts(named, warm, found):
    """Down from 1, where it diverges; a path carries that on."""

    class Diverges(RanksWith):
        def __init__(self, alpha=1.0):
            self.sign = 1 if alpha < 1.0 else -1

        def path(self, X, y, alphas):
            return [Diverges() for _ in alphas]

    data = load("roc-linear", 300, 10, seed=3)
    grid = {"alphas": [1.0, 0.1], "max_rows": 200, "seed": 0, "warm": warm}
    assert search.best_alpha(named(Diverges), {}, data, "decision_function", **grid) == found


class Stepping:
    """A model whose scores are right if its options are those of `right`; `seen` are all that were tried."""

    right, seen = {"step_size": 2.0, "mu": 10.0, "gamma": 7.0}, []

    def __init__(self, alpha, max_iter, solver_options):
        assert alpha == 0.01 and max_iter == 30
        self.options = solver_options
        type(self).seen.append(solver_options)

    def fit(self, X, y):
        return self

    def decision_function(self, X):
        return X.sum(axis=1) * (1 if self.options == pytest.approx(self.right) else -1)


def test_options_are_the_best_of_a_grid_at_the_smallest_alpha_with_steps_in_units_of_the_rows(named, monkeypatch):
    monkeypatch.setattr(Stepping, "seen", [])
    data = load("roc-linear", 300, 10, seed=3)
    train = search._splits(data.y_train, None, 0)[0][0]
    c = 2.0 * float(np.square(data.X_train[train]).sum(axis=1).mean())
    given = {"alphas": [1.0, 0.01], "max_rows": 300, "seed": 0}
    params = {"solver_options": {"gamma": 7.0}, "max_iter": 30}
    arguments = (named(Stepping), params, data, "decision_function")
    grid = {"c": [1.0, c], "mu": [1.0, 10.0]}
    assert search.best_options(*arguments, grid=grid, **given) == pytest.approx(Stepping.right)
    assert len(Stepping.seen) == 4
    search.best_options(*arguments, grid=grid, **given, n_points=3)
    assert len(Stepping.seen) == 7


def test_processor_time_is_that_of_fits_without_a_trace():
    cells, _ = plan([get("sbp-libsvm")], "quick")
    few = [replace(cell, arguments=cell.arguments | {"n_train": 300, "n_test": 100}) for cell in cells]
    chosen = {cell.method: cell for cell in few if cell.dataset == "checkerboard" and cell.repeat == 0}
    seconds = race.classify(chosen["libsvm"])["seconds"]
    assert 0 < seconds["fit_cpu"] <= 1.1 * seconds["fit"] + 0.05
    traced = next(cell for cell in chosen.values() if cell.traced and not cell.budget)
    assert "fit_cpu" not in race.classify(traced)["seconds"]


def test_a_short_phase_is_repeated_and_its_shortest_time_counts():
    later = iter([(0.03, 0.05), (0.05, 0.02), (0.04, 0.04), (0.06, 0.06), (9.0, 9.0)])
    again = lambda: dict(zip(("fit", "fit_cpu"), next(later)))  # noqa: E731
    # .04 + .03 + .05 + .04 + .06 s reach .2 s; each clock has its own minimum.
    assert shortest({"fit": 0.04, "fit_cpu": 0.04}, again) == {"fit": 0.03, "fit_cpu": 0.02}
    assert next(later) == (9.0, 9.0)


def test_a_long_phase_is_not_repeated_and_a_tiny_one_ten_times_in_all():
    assert shortest({"fit": 0.25}, lambda: pytest.fail("repeated")) == {"fit": 0.25}
    calls = []
    assert shortest({"fit": 0.0}, lambda: calls.append(1) or {"fit": 0.0}) == {"fit": 0.0}
    assert len(calls) == 9


def test_the_model_of_the_first_fit_is_judged_and_fits_with_a_budget_are_not_repeated(named):
    fitted = []

    class Counts(RanksWith):
        def __init__(self):
            self.sign, self.number = 1, len(fitted)

        def fit(self, X, y):
            fitted.append(self.number)
            return self

        predict = RanksWith.decision_function

    cells, _ = plan([get("sbp-libsvm")], "quick")
    cell = next(cell for cell in cells if cell.method == "libsvm")
    cell = replace(cell, estimator=named(Counts), params={}, evaluate=named(judged), warm_up_rows=0)
    for budget, n_fits in ((None, 10), ({"of": "other"}, 1)):
        fitted.clear()
        assert race.classify(replace(cell, budget=budget))["metrics"] == {"number": 0}
        assert fitted == list(range(n_fits))
