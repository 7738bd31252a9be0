"""Invalid input of the solvers of the ROC-SVM, and unusual problems that they must solve."""

import numpy as np
import pytest

from kernbench.kernels.rows import KernelRows
from kernbench.problems.ranking.pairwise_problem import PairwiseProblem
from kernbench.solvers.design import as_design
from kernbench.solvers.registry import SOLVERS, get

RANKING_SOLVERS = [entry for entry in SOLVERS if entry.problem == "roc-svm"]
by_name = pytest.mark.parametrize("entry", RANKING_SOLVERS, ids=lambda entry: entry.name)
CERTIFIED = [entry for entry in RANKING_SOLVERS if entry.name in ("bundle", "newton")]


@pytest.mark.parametrize("twin", ["compiled", "reference"])
@by_name
def test_bad_problems_are_refused_with_a_sentence(entry, twin, ranking, rank):
    problem = ranking(20, 17)
    squared = {"loss": "squared_hinge"}
    for change, sentence in (
        ({"alpha": 0.0}, "alpha"), ({"alpha": np.nan}, "alpha"), ({"alpha": np.inf}, "alpha"),
        ({"weights": -np.ones(20)}, "at least 0"), ({"weights": np.full(20, np.nan)}, "finite"),
        ({"weights": np.ones(3)}, "sample_weight"), ({"weights": np.where(problem.y > 0, 1.0, 0.0)}, "negative sample"),
        ({"loss": "hing"}, "did you mean|unknown loss"), ({"n_pairs": 0}, "n_pairs"), ({"n_pairs": 2.5}, "n_pairs"),
        ({"tol": 0.0} if entry in CERTIFIED else {"step_size": -1.0}, "tol|step_size"),
        ({"balanced": "no"} if entry in CERTIFIED else {"average": "no"}, "must be True or False, got 'no'"),
        ({"balanced": True}, "balanced=True is for drawn pairs, .*n_pairs="),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=sentence):
            rank(entry, twin, problem, **(squared | change))
    for y, sentence in ((np.ones(20), "both classes"), (problem.y[:5], "one label per sample"),
                        (problem.y * 2, r"-1 and \+1")):  # fmt: skip
        other = ranking(20, 17)
        other.y = y
        with pytest.raises(ValueError, match=sentence):
            rank(entry, twin, other)


@pytest.mark.parametrize("twin", ["compiled", "reference"])
@by_name
def test_labels_may_be_a_column_of_a_boolean_array(entry, twin, ranking, rank):
    problem, other = ranking(40, 26), ranking(40, 26)
    table = np.zeros((40, 2), dtype=bool)
    other.y = table[:, 0]
    other.y[:] = problem.y > 0
    a, b = (rank(entry, twin, p, loss="squared_hinge") for p in (problem, other))
    table[:] = False  # the solver keeps labels of its own
    for solver in (a, b):
        solver.advance(3)
    np.testing.assert_array_equal(a.solution().coef, b.solution().coef)


@pytest.mark.parametrize("twin", ["compiled", "reference"])
def test_bad_settings_of_one_solver_are_refused(twin, ranking, rank):
    problem = ranking(20, 18)
    bundle, newton, _, adamax = RANKING_SOLVERS
    for cuts in (2, 10.5):
        with pytest.raises(ValueError, match="max_cuts"):
            rank(bundle, twin, problem, max_cuts=cuts)
    for beta in (-0.1, 1.0, np.nan):
        with pytest.raises(ValueError, match="beta_2"):
            rank(adamax, twin, problem, beta_2=beta)
    with pytest.raises(ValueError, match="squared_hinge"):
        rank(newton, twin, problem, loss="hinge")


@by_name
def test_features_that_cannot_be_computed_with_are_refused(entry, ranking, rank):
    for spoil in (lambda X: X * 1e300, lambda X: np.where(X == X[3, 1], np.nan, X)):
        problem = ranking(40, 19)
        problem.X = spoil(problem.X)
        if entry.name == "adamax" and np.isfinite(problem.X).all():
            continue  # its steps do not grow with the features
        with pytest.raises(ValueError, match="scale the features"):
            rank(entry, "compiled", problem).advance(5)
    for X in (np.zeros((0, 3)), np.zeros((3, 0)), np.zeros(4)):
        with pytest.raises(ValueError, match="X must have"):
            as_design(X)


@by_name
@pytest.mark.parametrize("X", [np.zeros((30, 2)), np.ones((30, 2))], ids=["zeros", "constant"])
def test_scores_that_cannot_differ_leave_the_start(entry, X):
    y = np.where(np.arange(30) % 3, -1, 1)
    for loss in entry.losses:
        solver = entry.load("compiled")(as_design(X), y, alpha=0.1, loss=loss)
        start = np.log(2.0) if loss == "log_loss" else 1.0
        assert solver.objective() == pytest.approx(start, rel=1e-15)
        solver.advance(5)
        np.testing.assert_allclose(solver.solution().coef, 0.0, atol=1e-14)  # equal rows cancel to rounding
        assert solver.objective() == pytest.approx(start, rel=1e-14)


@by_name
def test_two_samples_are_a_problem(entry):
    solver = entry.load("compiled")(as_design(np.array([[1.0], [0.0]])), [1, -1], alpha=1.0, loss="squared_hinge")
    solver.advance(2000)
    assert solver.solution().coef[0] == pytest.approx(2 / 3, abs=0.05)  # min w^2/2 + (1 - w)^2


def test_tiles_compute_what_the_matrix_holds(ranking):
    problem = ranking(300, 21)
    kept = as_design(KernelRows(problem.X, problem.kernel, dtype=np.float64))
    tiled = as_design(KernelRows(problem.X, problem.kernel, dtype=np.float64, cache_bytes=8 * 300 * 5))
    f = np.random.default_rng(0).normal(size=300)
    np.testing.assert_allclose(tiled.scores(f), kept.scores(f), rtol=1e-9, atol=1e-12)
    assert kept.n_kernel_evaluations == 300**2 and tiled.n_kernel_evaluations == 300**2
    tiled.scores(f)
    kept.scores(f)
    assert kept.n_kernel_evaluations == 300**2 and tiled.n_kernel_evaluations == 2 * 300**2
    assert kept.n_passes == tiled.n_passes == 2


def test_drawn_pairs_of_a_part_are_numbered_within_it():
    y = np.array([1.0, 1.0, -1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
    problem = PairwiseProblem(8, y, alpha=1.0, n_pairs=40, rng=np.random.default_rng(0))
    part = problem.take(np.array([1, 3, 4, 7]))
    first, second = part.drawn
    assert len(first) == len(second) > 0 and part.n == 4
    assert part.positive[first].all() and not part.positive[second].any()


@pytest.mark.filterwarnings("ignore:(overflow|invalid value):RuntimeWarning")
@pytest.mark.parametrize("form", ["dense", "kernel"])
@pytest.mark.parametrize("name", ["gradient", "adamax"])
def test_twins_stop_where_the_risk_is_not_finite(name, form, ranking, rank):
    """They refuse to go on alike, and keep the best iterate before."""
    problem, found = ranking(30, 27, form=form), []
    for twin in ("compiled", "reference"):
        solver = rank(get(name, "roc-svm"), twin, problem, loss="squared_hinge", step_size=1e200)
        with pytest.raises(ValueError, match="the iterates leave all bounds"):
            solver.advance(30)
        found.append((solver.n_iter, float(solver.progress[0]), solver.best_coef.any()))
    assert found[0] == found[1] == (1, 1.0, False)
