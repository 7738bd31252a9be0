"""PartialAUCClassifier: its objective, starts, paths, validation and thresholds."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from kernbench import ROCSVC, PartialAUCClassifier, RankedRangeClassifier, load
from kernbench.estimators.roc import validation
from kernbench.estimators.roc.space_task import SpaceTask
from kernbench.estimators.windows.partial_auc_task import PARTIAL_AUC
from kernbench.metrics import partial_auc, roc_auc
from kernbench.reference.pairs.window import WindowPairs
from kernbench.solvers import driver, tracing
from kernbench.solvers.base import Solution
from kernbench.solvers.bundle.cutting_planes import CuttingPlanes


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(
        900, 8, n_informative=5, n_clusters_per_class=3, weights=[0.8], flip_y=0.05, random_state=0
    )
    return StandardScaler().fit_transform(X), y


def objective(model, X, y, window, loss, alpha):
    """The objective by the reference: its value, at the scores without the intercept."""
    scores = model.decision_function(X) - model.intercept_[0]
    value, _ = WindowPairs(np.where(y == 1, 1, -1), window, loss=loss).value_and_subgradient(scores)
    return alpha / 2 * np.sum(model.coef_**2) + value


@pytest.mark.parametrize("loss", ["log_loss", "hinge", "squared_hinge"])
@pytest.mark.parametrize("window", [(0.0, 0.1), (0.05, 0.5), (0.123, 0.4567)])
def test_the_objective_is_that_of_the_window(data, loss, window):
    X, y = data
    model = PartialAUCClassifier(window, loss=loss, alpha=1e-3).fit(X, y)
    assert model.objective_ == pytest.approx(objective(model, X, y, window, loss, 1e-3), rel=1e-9)
    assert model.converged_ and model.duality_gap_ is None
    assert 0 <= model.subproblem_gap_ <= 1e-3 * model.objective_


def test_the_whole_range_is_the_roc_svm(data):
    X, y = data
    settings = {"alpha": 1e-3, "tol": 1e-5}
    window = PartialAUCClassifier((0, 1), loss="hinge", **settings).fit(X, y)
    assert window.objective_ == pytest.approx(ROCSVC(**settings).fit(X, y).objective_, rel=1e-4)


def test_it_is_better_in_its_window_than_the_whole_range(data):
    X, y = data
    window = (0.0, 0.4)
    fitted = PartialAUCClassifier(window, alpha=1e-4).fit(X, y)
    others = ROCSVC(alpha=1e-4).fit(X, y)
    value = [partial_auc(y, model.decision_function(X), window) for model in (fitted, others)]
    assert value[0] >= value[1] - 0.005
    assert fitted.objective_ < objective(others, X, y, window, "log_loss", 1e-4)


def test_a_window_that_is_too_hard_is_said_to_be_so():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 3)), rng.integers(2, size=400)
    with pytest.warns(UserWarning, match="does better than f = 0 over fpr_range=.*Widen the range"):
        PartialAUCClassifier((0.0, 0.1), alpha=1e-2).fit(X, y)


def test_a_window_of_which_a_tiny_f_ranks_half_is_too_hard(data):
    """A smaller alpha would not help."""
    with pytest.warns(UserWarning, match="Widen the range") as caught:
        model = PartialAUCClassifier((0.0, 0.2), random_state=0).fit(*data)
    assert len(caught) == 1 and partial_auc(data[1], model.decision_function(data[0]), (0.0, 0.2)) > 0.5


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("weighted", [False, True])
def test_an_alpha_that_keeps_the_scores_of_an_easy_window_equal_is_said_to_do_so(kernel, weighted):
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    X = rng.normal(size=(200, 3)) + 3.0 * y[:, None]
    weights = rng.integers(1, 3, size=200).astype(float) if weighted else None
    with pytest.warns(UserWarning, match="does better than f = 0 over fpr_range=.*Reduce alpha=10000") as caught:
        model = PartialAUCClassifier((0.0, 0.1), alpha=1e4, kernel=kernel, random_state=0).fit(X, y, weights)
    assert len(caught) == 1 and "Widen" not in str(caught[0].message)
    assert model.converged_ and partial_auc(y, model.decision_function(X), (0.0, 0.1)) > 0.9


def test_ranks_are_another_way_to_say_the_range(data):
    X, y = data
    n = int(np.sum(y == 0))
    rates = PartialAUCClassifier((10 / n, 90 / n)).fit(X, y)
    ranks = PartialAUCClassifier(ranks=(10, 90)).fit(X, y)
    np.testing.assert_allclose(ranks.coef_, rates.coef_, rtol=1e-6)
    assert ranks.fpr_range_ == pytest.approx((10 / n, 90 / n))


@pytest.mark.parametrize("start", ["logistic", "auc", "solver"])
def test_no_start_is_stuck_where_all_scores_are_tied(data, start):
    X, y = data
    model = PartialAUCClassifier((0.05, 0.5), start=start).fit(X, y)
    assert np.any(model.coef_) and roc_auc(y, model.decision_function(X)) > 0.7


def test_a_path_over_alphas_ends_where_single_fits_do(data):
    X, y = data
    alphas = [1e-4, 1e-2, 1e-3]
    models = PartialAUCClassifier((0.0, 0.3), tol=1e-4).path(X, y, alphas)
    assert [model.alpha for model in models] == alphas
    for model in models:
        single = PartialAUCClassifier((0.0, 0.3), tol=1e-4, alpha=model.alpha).fit(X, y)
        assert model.objective_ == pytest.approx(single.objective_, rel=0.02)


def test_a_path_over_ranges_sets_each_models_range(data):
    X, y = data
    ranges = [(0, 1), (0, 0.5), (0, 0.1)]
    models = PartialAUCClassifier().path(X, y, fpr_ranges=ranges)
    assert [model.fpr_range_ for model in models] == [pytest.approx(r) for r in ranges]
    single = PartialAUCClassifier((0, 0.1)).fit(X, y)
    assert models[-1].objective_ == pytest.approx(single.objective_, rel=0.02)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("solver", ["dca-exact", "agd-sbcd"])
def test_validation_is_followed_and_its_best_iterate_kept(data, solver):
    X, y = data
    other = PartialAUCClassifier((0, 0.2), solver=solver, validation=(X[::3], y[::3]), max_iter=2000, random_state=0)
    model = clone(other).fit(X, y)
    trace = model.trace_["validation_partial_auc"]
    assert model.validation_score_ == max(trace)
    assert model.best_n_iter_ in model.trace_["n_iter"]
    own = partial_auc(y[::3], model.decision_function(X[::3]), (0, 0.2))
    assert own == pytest.approx(model.validation_score_, abs=1e-9)
    last = clone(other).set_params(keep="last").fit(X, y)
    own = partial_auc(y[::3], last.decision_function(X[::3]), (0, 0.2))
    assert own == pytest.approx(last.trace_["validation_partial_auc"][-1], abs=1e-9)
    for name in ("objective_", "converged_", "status_", "subproblem_gap_"):  # of the last iterate, whichever is kept
        assert getattr(model, name, None) == getattr(last, name, None)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("solver", ["dca-exact", "agd-sbcd"])
def test_the_best_iterate_does_not_depend_on_the_speed_of_the_machine(data, solver, monkeypatch):
    X, y = data
    validation = X[::3], y[::3]
    model = PartialAUCClassifier((0, 0.2), solver=solver, validation=validation, max_iter=300, random_state=0)
    fitted = []
    for seconds in (1e-6, 0.05, 10.0):
        monkeypatch.setattr("kernbench.solvers.driver.CHUNK_SECONDS", seconds)
        fitted.append(clone(model).fit(X, y))
    for other in fitted[1:]:
        assert other.trace_["n_iter"] == fitted[0].trace_["n_iter"]
        assert other.best_n_iter_ == fitted[0].best_n_iter_
        np.testing.assert_array_equal(other.coef_, fitted[0].coef_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_warm_start_keeps_the_best_iterate_of_the_fits_before(data, monkeypatch):
    """Scores fall from point to point, so that the first point of all is the best."""
    falling = itertools.count(0, -1)
    task = "kernbench.estimators.windows.partial_auc_task"
    monkeypatch.setattr(f"{task}.partial_auc", lambda *args, **kwargs: next(falling))
    X, y = data
    model = PartialAUCClassifier((0, 0.2), validation=(X[::3], y[::3]), tol=1e-9, max_iter=2, random_state=0)
    first = model.set_params(warm_start=True).fit(X, y).coef_.copy()
    assert (model.validation_score_, model.best_n_iter_) == (0.0, 0)
    model.fit(X, y)
    assert (model.validation_score_, model.best_n_iter_) == (0.0, 0) and model.trace_["n_iter"][0] == 2
    np.testing.assert_array_equal(model.coef_, first)
    for changed in ({"alpha": 1e-2}, {"validation": (X[::2], y[::2])}):  # other problems, or scores of other rows
        last = model.validation_score_
        assert model.set_params(**changed).fit(X, y).validation_score_ < last


@pytest.mark.parametrize("keep", ["best", "last"])
def test_the_first_of_the_best_iterates_is_kept_if_it_shall_be(keep, monkeypatch):
    monkeypatch.setattr(validation, "scores_of", lambda model, X: np.zeros(2))
    values, described = iter([0.5, 0.9, 0.9, 0.2]), []
    task = SimpleNamespace(describe=lambda model, solution: described.append(solution.coef))
    runs = validation.ValidatedRuns(task, None, None, None, "score")
    runs.begin(lambda y, scores, weights: next(values))
    model = SimpleNamespace(intercept_=np.zeros(1), keep=keep)
    for k in range(4):
        model.n_iter_, task.described = [k], Solution(np.full(1, float(k)))
        runs(model)
    runs.finish(model)
    assert (model.validation_score_, model.best_n_iter_) == (0.9, 1)
    assert described == ([np.ones(1)] if keep == "best" else [])


def test_a_share_for_validation_is_left_out_of_the_fit(data):
    (X, y), window = data, (0.05, 0.5)
    model = PartialAUCClassifier(window, validation=0.3, keep="last", random_state=0)
    rows = SpaceTask(PARTIAL_AUC, clone(model), X, y, None).rows.indices
    np.testing.assert_allclose(np.bincount(y[rows]), 0.7 * np.bincount(y), atol=1)
    part = clone(model).fit(X, y)
    alone = clone(model).set_params(validation=None).fit(X[rows], y[rows])
    np.testing.assert_allclose(part.coef_, alone.coef_, rtol=1e-9)
    assert "validation_partial_auc" in part.trace_ and "validation_partial_auc" not in alone.trace_
    left = np.setdiff1d(np.arange(len(y)), rows)
    scores = partial_auc(y[left], part.decision_function(X[left]), window)
    assert scores == pytest.approx(part.trace_["validation_partial_auc"][-1], abs=1e-9)


def test_the_windows_threshold_is_its_upper_end(data):
    X, y = data
    model = PartialAUCClassifier((0.05, 0.3), threshold="window").fit(X, y)
    rate = np.mean(model.predict(X)[y == 0] == 1)
    assert 0.28 <= rate <= 0.3
    model.adjust_threshold(X[::2], y[::2], "window")
    assert np.mean(model.predict(X[::2])[y[::2] == 0] == 1) <= 0.3


def test_a_window_without_a_threshold_at_its_end_is_refused_before_the_run(data, monkeypatch):
    def fails(self, n_iter):
        raise AssertionError("it ran")

    monkeypatch.setattr("kernbench.solvers.ranking.lbfgs_dca.ExactDCA.advance", fails)
    X, y = data
    with pytest.raises(ValueError, match="the range ends at 1: choose another threshold"):
        PartialAUCClassifier(ranks=(10, int(np.sum(y == 0))), threshold="window").fit(X, y)
    with pytest.raises(ValueError, match="every row is positive"):
        PartialAUCClassifier(threshold="window").path(X, y, fpr_ranges=[(0.0, 0.1), (0.5, 1.0)])


def test_a_file_keeps_the_range_a_pair(data, tmp_path):
    """It was a list."""
    model = PartialAUCClassifier((0.05, 0.3)).fit(*data)
    model.save(tmp_path / "model.npz")
    assert load(tmp_path / "model.npz").fpr_range_ == model.fpr_range_


def test_a_weight_of_two_is_two_copies(data):
    X, y = data
    weights = np.where(np.arange(len(y)) % 3 == 0, 2.0, 1.0)
    doubled = np.repeat(np.arange(len(y)), weights.astype(int))
    settings = {"fpr_range": (0.05, 0.3), "alpha": 1e-3, "tol": 1e-5}
    weighted = PartialAUCClassifier(**settings).fit(X, y, sample_weight=weights)
    repeated = PartialAUCClassifier(**settings).fit(X[doubled], y[doubled])
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-3)


def test_a_warm_start_goes_on(data):
    X, y = data
    model = PartialAUCClassifier((0.05, 0.5), warm_start=True, random_state=0, tol=1e-5).fit(X, y)
    first = model.objective_
    assert model.fit(X, y).objective_ <= first * (1 + 1e-9)
    assert model.n_iter_[0] <= 5


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"fpr_range": (0.5, 0.2)}, "fpr_range must be"),
        ({"fpr_range": (-0.1, 0.2)}, "fpr_range must be"),
        ({"fpr_range": 0.2}, "fpr_range must be a pair"),
        ({"fpr_range": (False, True)}, "fpr_range must be a pair"),
        ({"ranks": (5, 5)}, "ranks must be"),
        ({"ranks": (5, 50), "fpr_range": (0.0, 0.5)}, "pass only one of them"),
        ({"ranks": (0, 10**6)}, "beyond"),
        ({"loss": "squared"}, "unknown loss"),
        ({"solver": "svmpauc-tight", "loss": "log_loss"}, "minimises loss='hinge' only; .*solver='dca-exact'"),
        ({"solver": "newton"}, "unknown solver"),
        ({"start": "zero"}, "unknown start"),
        ({"keep": "first"}, "unknown keep"),
        ({"validation": 1.5}, "validation must be"),
        ({"validation": "yes"}, "validation must be"),
        ({"fpr_range": (0.5, 1.0), "threshold": "window"}, "every row is positive"),
        ({"threshold": "no"}, "unknown threshold"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(data, settings, words):
    with pytest.raises(ValueError, match=words):
        PartialAUCClassifier(**settings).fit(*data)


def test_validation_rows_of_one_class_are_refused(data):
    X, y = data
    with pytest.raises(ValueError, match="must hold both classes"):
        PartialAUCClassifier(validation=(X[y == 1], y[y == 1])).fit(X, y)


def test_three_classes_are_refused_with_the_way_out(data):
    X, y = data
    with pytest.raises(ValueError, match="OneVsRestClassifier"):
        PartialAUCClassifier().fit(X, np.arange(len(y)) % 3)
    with pytest.raises(ValueError, match="weight 0"):
        PartialAUCClassifier().fit(X, y, sample_weight=(y == 1).astype(float))


@pytest.mark.parametrize("model", [ROCSVC(alpha=0.1, tol=1e-9), PartialAUCClassifier((0, 0.5), tol=1e-9)])
def test_a_third_class_without_weight_is_left_out(model, data):
    X, y = data
    third = np.arange(len(y)) % 5 == 0
    found = clone(model).fit(X, np.where(third, 7, y), sample_weight=np.where(third, 0.0, 1.0))
    expected = clone(model).fit(X[~third], y[~third])
    np.testing.assert_array_equal(found.classes_, expected.classes_)
    np.testing.assert_allclose(found.objective_, expected.objective_, rtol=1e-6)


def test_criticality_is_small_at_a_solution_and_large_elsewhere(data):
    X, y = data
    window = (0.05, 0.5)
    exact = PartialAUCClassifier(window, alpha=1e-3, tol=1e-6).fit(X, y)
    rough = PartialAUCClassifier(window, alpha=1e-3, solver="agd-sbcd", max_iter=20, random_state=0)
    with pytest.warns(ConvergenceWarning):
        rough.fit(X, y)
    assert exact.criticality(X, y) < 0.1 * rough.criticality(X, y)
    assert exact.criticality(X, y, np.ones(len(y))) == pytest.approx(exact.criticality(X, y), rel=0.05, abs=1e-4)
    with pytest.raises(ValueError, match="svmpauc-tight"):
        PartialAUCClassifier(window, solver="svmpauc-tight").fit(X, y).criticality(X, y)


def test_the_range_of_weighted_rows_is_the_one_that_was_asked_for(data):
    X, y = data
    model = PartialAUCClassifier((0.05, 0.3)).fit(X, y, sample_weight=np.where(y == 0, 3.0, 1.0))
    assert model.fpr_range_ == pytest.approx((0.05, 0.3))


def test_the_start_does_not_depend_on_the_share_of_a_class(data):
    X, y = data
    starts = []
    for weights in (None, np.where(y == 1, 5.0, 1.0)):
        task = SpaceTask(PARTIAL_AUC, PartialAUCClassifier(random_state=0), X, y, weights)
        starts.append(task.start(task.design).coef)
    np.testing.assert_allclose(*starts, rtol=1e-6)


def test_the_start_of_the_auc_counts_weights(data):
    X, y = data
    weights = np.where(X[:, 0] > 0, 3.0, 1.0)
    rows = np.repeat(np.arange(len(y)), weights.astype(int))
    starts = []
    for data_of_fit in ((X, y, weights), (X[rows], y[rows], None)):
        task = SpaceTask(PARTIAL_AUC, PartialAUCClassifier(start="auc", alpha=0.1, random_state=0), *data_of_fit)
        starts.append(task.start(task.design).coef)
    np.testing.assert_allclose(*starts, atol=0.05 * np.abs(starts[1]).max())


STARTED = pytest.mark.parametrize(
    "model",
    [PartialAUCClassifier((0.0, 0.2), random_state=0), RankedRangeClassifier(random_state=0)],
    ids=lambda model: type(model).__name__,
)


@pytest.fixture
def clock_of_cuts(monkeypatch):
    """A simulated clock, which each cut moves by a second."""
    now, evaluate = [0.0], CuttingPlanes._evaluate
    for module in (driver, tracing):
        monkeypatch.setattr(module, "perf_counter", lambda: now[0])

    def evaluate_slowly(self):
        now[0] += 1.0
        return evaluate(self)

    monkeypatch.setattr(CuttingPlanes, "_evaluate", evaluate_slowly)
    return now


@STARTED
def test_the_start_is_charged_to_the_time_budget(model, data, clock_of_cuts, monkeypatch):
    run, given = driver.run, []

    def noted(solver, *, max_seconds, **settings):
        given.append((max_seconds, clock_of_cuts[0]))
        return run(solver, max_seconds=max_seconds, **settings)

    monkeypatch.setattr(driver, "run", noted)
    clone(model).set_params(max_seconds=1000.0).fit(*data)
    (of_start, _), (left, n_cuts) = given
    assert of_start == 1000.0 and n_cuts > 1 and left == 1000.0 - n_cuts


@STARTED
def test_a_start_that_takes_all_of_the_time_is_the_model(model, data, clock_of_cuts):
    with pytest.warns(ConvergenceWarning, match="after max_seconds=2.5 and 0 iterations"):
        fitted = clone(model).set_params(max_seconds=2.5).fit(*data)
    assert clock_of_cuts == [3.0] and fitted.status_ == "max_seconds" and np.any(fitted.coef_)


@STARTED
def test_ctrl_c_in_the_start_leaves_it_as_the_model(model, data, monkeypatch):
    next_point = CuttingPlanes._next_point

    def interrupted(self):
        if self.n_iter == 3:
            raise KeyboardInterrupt
        next_point(self)

    monkeypatch.setattr(CuttingPlanes, "_next_point", interrupted)
    fitted = clone(model)
    with pytest.raises(KeyboardInterrupt):
        fitted.fit(*data)
    assert fitted.status_ == "interrupted" and fitted.n_iter_.tolist() == [0] and np.any(fitted.coef_)


def test_criticality_counts_weights_and_the_penalty(data):
    X, y = data
    weights = np.arange(len(y)) % 3
    copies = np.repeat(np.arange(len(y)), weights)
    model = PartialAUCClassifier((0.05, 0.5), alpha=0.1, tol=1e-9).fit(X, y, sample_weight=weights)
    found = model.criticality(X, y, weights)
    assert found == pytest.approx(model.criticality(X[copies], y[copies]), abs=1e-4)
    assert found < 1e-3


def test_a_warm_start_of_the_published_cutting_planes_with_another_alpha_solves_the_other_problem():
    X, y = make_classification(300, 5, random_state=0)
    settings = {"solver": "svmpauc-tight", "solver_options": {"plain": True}}
    warm = PartialAUCClassifier((0.05, 0.5), alpha=1.0, warm_start=True, **settings).fit(X, y)
    warm.set_params(alpha=1e-3).fit(X, y)
    cold = PartialAUCClassifier((0.05, 0.5), alpha=1e-3, **settings).fit(X, y)
    assert warm.converged_ and warm.objective_ == pytest.approx(cold.objective_, rel=1e-3)
