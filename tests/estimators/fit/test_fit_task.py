"""The fit around any estimator: a path of strengths, several problems, threads, Ctrl-C."""

import signal
import threading
import time
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metadata_routing import get_routing_for_object

from kernbench import LinearSVC, PartialAUCClassifier
from kernbench.estimators.fit.continuation import cold_start
from kernbench.estimators.fit.path import fit_task, models_along
from kernbench.estimators.fit.problem import Task
from kernbench.estimators.fit.runs import Runs
from kernbench.solvers import driver, tracing
from kernbench.solvers.base import Solution
from kernbench.solvers.method import Method


class Mean(BaseEstimator):
    """The minimiser of alpha/2 w² + (w - target)²/2 for each of several targets: a minimal estimator."""

    dtype_, solver, solver_options = "float64", "halving", None

    def __init__(self, alpha=1.0, *, tol=1e-6, max_iter=-1, max_seconds=None, n_jobs=None, warm_start=False,
                 callback=None, verbose=0, random_state=None):  # fmt: skip
        self.alpha, self.tol, self.max_iter, self.max_seconds = alpha, tol, max_iter, max_seconds
        self.n_jobs, self.warm_start, self.callback, self.verbose = n_jobs, warm_start, callback, verbose
        self.random_state = random_state

    def fit(self, targets):
        fit_task(MeanTask(self, targets), [self])
        return self

    def path(self, targets, alphas):
        models, in_turn = models_along(self, "alpha", alphas, ascending=False)
        fit_task(MeanTask(in_turn[0], targets), in_turn)
        return models


class MeanTask(Task):
    strength, shared = "alpha", ("classes_",)
    entry = SimpleNamespace(iteration_limit=lambda n_rows, *given: 10_000, stops_by_gap=False)

    def __init__(self, model, targets):
        self.model, self.n_jobs, model.classes_ = model, model.n_jobs, np.arange(len(targets))
        self.last = cold_start(model, (), len(targets), draws=False)
        self.problems = [MeanProblem(k, target) for k, target in enumerate(targets)]
        self.data = []

    def assemble(self, model, results):
        model.weights_ = np.array([result.solution.coef[0] for result in results])


class MeanProblem:
    n_rows = n_coef = 1

    def examined(self, data, solver, alpha):
        return None

    def __init__(self, k, target):
        self.k, self.target, self.starts = k, target, []

    @property
    def title(self):
        return f"target {self.k}"

    def make_data(self):
        return self.target

    def start(self, data):
        return None

    def next_start(self, solution, alpha, following):
        return solution

    def counted_from(self, data):
        return 0

    def make_solver(self, data, alpha, initial):
        self.starts.append(None if initial is None else float(initial.coef[0]))
        return Halving(self.target, alpha, initial)

    def describe(self, model, solution):
        model.weights_ = solution.coef


class Halving(Method):
    """Goes half of the way to the minimiser in each iteration."""

    def __init__(self, target, alpha, initial):
        if target is None:
            raise RuntimeError("no target")
        self.best, self.converged, self.n_iter = target / (1 + alpha), False, 0
        self.w = 0.0 if initial is None else float(initial.coef[0])

    def advance(self, n_iter):
        for _ in range(n_iter):
            self.w += 0.5 * (self.best - self.w)
        self.n_iter += n_iter
        return n_iter

    def check(self, tol):
        self.converged = self.objective() <= tol
        return self.converged

    def solution(self):
        return Solution(np.array([self.w]), n_iter=self.n_iter)

    def objective(self):
        return abs(self.w - self.best)

    gap = objective


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_each_problem_is_solved(n_jobs):
    targets = [1.0, 2.0, 5.0]
    model = Mean(n_jobs=n_jobs, tol=1e-9).fit(targets)
    np.testing.assert_allclose(model.weights_, np.array(targets) / 2, atol=1e-8)
    assert model.converged_ and model.status_ == ["converged"] * 3 and len(model.n_iter_) == 3


def test_a_path_goes_from_solution_to_solution_in_its_own_order():
    model = Mean(tol=1e-9)
    models, in_turn = models_along(model, "alpha", [0.1, 10.0, 1.0], ascending=False)
    task = MeanTask(in_turn[0], [3.0])
    fit_task(task, in_turn)
    assert [one.alpha for one in models] == [0.1, 10.0, 1.0] and [one.alpha for one in in_turn] == [10.0, 1.0, 0.1]
    np.testing.assert_allclose([one.weights_[0] for one in models], [3 / 1.1, 3 / 11, 3 / 2], atol=1e-8)
    assert task.problems[0].starts == [None, *(float(one.weights_[0]) for one in in_turn[:2])]
    assert all(one.classes_ is in_turn[0].classes_ for one in models) and not hasattr(model, "weights_")


def test_models_of_a_path_have_the_metadata_requests_of_the_estimator():
    X = np.random.default_rng(0).standard_normal((40, 2))
    y = np.where(X[:, 0] > 0, 1, -1)
    with config_context(enable_metadata_routing=True):
        linear = LinearSVC().set_fit_request(sample_weight=True)
        window = PartialAUCClassifier((0, 0.5)).set_fit_request(sample_weight=True)
        models = [*linear.path(X, y, [1.0, 2.0]), *window.path(X, y, fpr_ranges=[(0, 0.5), (0, 1)])]
        for model in models:
            assert get_routing_for_object(model).fit.requests["sample_weight"] is True
            model.set_fit_request(sample_weight=False)  # of its own
        assert get_routing_for_object(linear).fit.requests["sample_weight"] is True


def test_each_problem_has_an_equal_share_of_the_time_that_is_left(monkeypatch):
    given = []
    monkeypatch.setattr(Runs, "_solve_path", lambda self, k, problem, data, budget: given.append(budget) or 1.0)
    Runs(MeanTask(Mean(max_seconds=12.0), [1.0] * 3), [1.0])._work()
    assert given == [4.0, 5.5, 10.0]


@pytest.mark.parametrize("alphas", [[], [0.0], [[1.0]], ["x"], [np.inf]])
def test_a_path_needs_positive_strengths(alphas):
    with pytest.raises(ValueError, match="alphas must be a list of positive numbers"):
        Mean().path([1.0], alphas)


def test_a_warning_tells_the_problems_that_stopped_short_and_points_at_the_caller():
    said = r"in 2 of 3 classes.* max_iter=8 with a duality gap of 0.00781 at .* raise max_iter"
    with pytest.warns(ConvergenceWarning, match=said) as caught:
        Mean(tol=1e-3, max_iter=8).fit([1e-3, 1.0, 4.0])
    with pytest.warns(ConvergenceWarning) as also_caught:
        Mean(tol=1e-30, max_iter=3).path([1.0], [1.0])
    assert caught[0].filename == also_caught[0].filename == __file__


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_ctrl_c_in_a_callback_keeps_what_was_reached(n_jobs):
    def press_ctrl_c(model):
        if model.n_iter_[0] > 2:
            raise KeyboardInterrupt

    model = Mean(tol=1e-300, max_iter=10**9, n_jobs=n_jobs, callback=press_ctrl_c)
    with pytest.raises(KeyboardInterrupt):
        model.fit([1.0] * 6)
    assert "interrupted" in model.status_ and model.status_[-1] == "not started"
    assert not model.converged_ and model.weights_[model.status_.index("interrupted")] > 0.2


@pytest.mark.parametrize("where", ["make_data", "make_solver"])
def test_ctrl_c_between_two_runs_keeps_those_that_are_finished(where, monkeypatch):
    make, press_in = getattr(MeanProblem, where), [2]

    def interrupted(problem, *given):
        if problem.k == press_in[0]:
            raise KeyboardInterrupt
        return make(problem, *given)

    monkeypatch.setattr(MeanProblem, where, interrupted)
    monkeypatch.setattr(MeanTask, "shares_data", False)
    model = Mean(tol=1e-9)
    with pytest.raises(KeyboardInterrupt):
        model.fit([1.0, 2.0, 5.0, 6.0])
    assert model.status_ == ["converged"] * 2 + ["not started"] * 2 and not model.converged_
    np.testing.assert_allclose(model.weights_, [0.5, 1.0, 0.0, 0.0], atol=1e-8)

    before, press_in[0] = model.weights_, 0  # nothing is reached
    with pytest.raises(KeyboardInterrupt):
        model.fit([7.0, 8.0, 9.0, 10.0])
    assert model.weights_ is before


def test_ctrl_c_between_two_strengths_keeps_the_models_before_it(monkeypatch):
    make = MeanProblem.make_solver

    def interrupted(problem, data, alpha, initial):
        if alpha == 0.1:
            raise KeyboardInterrupt
        return make(problem, data, alpha, initial)

    monkeypatch.setattr(MeanProblem, "make_solver", interrupted)
    _, in_turn = models_along(Mean(tol=1e-9), "alpha", [0.1, 1.0, 10.0], ascending=False)
    with pytest.raises(KeyboardInterrupt):
        fit_task(MeanTask(in_turn[0], [3.0]), in_turn)
    assert [model.status_ for model in in_turn] == ["converged", "converged", "not started"]
    assert in_turn[1].weights_[0] == pytest.approx(1.5)


@pytest.mark.parametrize("targets", [[3.0], [3.0, 4.0]])
def test_ctrl_c_during_a_certificate_keeps_the_solution(targets, monkeypatch):
    def interrupted(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr(MeanProblem, "examined", interrupted)
    model = Mean(tol=1e-9)
    with pytest.raises(KeyboardInterrupt):
        model.fit(targets)
    assert np.ravel(model.status_)[0] == "interrupted" and not model.converged_
    assert model.weights_[0] == pytest.approx(1.5) and np.isfinite(np.ravel(model.objective_)[0])
    assert model.duality_gap_ is None if len(targets) == 1 else np.isnan(model.duality_gap_).all()


def test_ctrl_c_while_a_model_is_assembled_keeps_it(monkeypatch):
    assemble = MeanTask.assemble

    def interrupted(task, model, results):
        signal.raise_signal(signal.SIGINT)
        assemble(task, model, results)

    monkeypatch.setattr(MeanTask, "assemble", interrupted)
    model = Mean(tol=1e-9)
    with pytest.raises(KeyboardInterrupt):
        model.fit([3.0])
    assert model.weights_[0] == pytest.approx(1.5) and model.status_ == "converged"


def test_a_thread_that_fails_ends_the_others_and_its_error_comes_through():
    model = Mean(tol=1e-300, max_iter=10**12, n_jobs=2)
    with pytest.raises(RuntimeError, match="no target"):
        model.fit([1.0, None])
    assert not hasattr(model, "weights_")


@pytest.mark.usefixtures("begin_together")
def test_callbacks_of_threads_are_called_one_at_a_time():
    inside, threads = [], set()

    def watch(model):
        inside.append(1)
        threads.add(threading.get_ident())
        time.sleep(1e-3)  # time for another thread to come in, were it allowed to
        assert len(inside) == 1
        inside.pop()

    model = Mean(n_jobs=2, callback=[watch, watch], tol=1e-12).fit(np.linspace(1, 2, 6))
    assert model.converged_ and len(threads) == 2


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_the_pace_that_a_callback_asks_for_holds_in_threads_too(n_jobs, monkeypatch):
    class Often:
        pace = 0

        def __call__(self, model):
            pass

    paces = []

    class Watched(tracing.Callbacks):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            paces.append(self.pace)

    monkeypatch.setattr(driver, "Callbacks", Watched)
    Mean(n_jobs=n_jobs, callback=Often(), tol=1e-3).fit([1.0, 2.0])
    assert paces == [0.0, 0.0]


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_an_arithmetic_error_of_a_callback_is_its_own(n_jobs):
    with pytest.raises(ZeroDivisionError):
        Mean(n_jobs=n_jobs, callback=lambda model: 1 / 0).fit([1.0, 2.0])


def test_a_run_that_a_callback_stops_is_no_reason_to_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = Mean(tol=1e-300, callback=lambda model: model.n_iter_[0] > 0).fit([1.0])
    assert model.status_ == "callback"
