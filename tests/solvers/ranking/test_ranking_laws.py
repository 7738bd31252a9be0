"""Laws of every solver of the ROC-SVM: continuation and invariances."""

import pickle
from contextlib import suppress

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from kernbench.distributed.blocks.local_blocks import LocalBlocks
from kernbench.solvers import driver
from kernbench.solvers.base import Solution
from kernbench.solvers.design import KernelDesign, as_design
from kernbench.solvers.registry import SOLVERS

RANKING_SOLVERS = [entry for entry in SOLVERS if entry.problem == "roc-svm"]
by_name = pytest.mark.parametrize("entry", RANKING_SOLVERS, ids=lambda entry: entry.name)
CERTIFIED = [entry for entry in RANKING_SOLVERS if entry.name in ("bundle", "newton")]
certified = pytest.mark.parametrize("entry", CERTIFIED, ids=lambda entry: entry.name)
COMBINATIONS = [(entry, loss) for entry in RANKING_SOLVERS for loss in entry.losses]
with_loss = pytest.mark.parametrize("entry, loss", COMBINATIONS, ids=lambda c: getattr(c, "name", c))


@pytest.mark.parametrize("options", [{}, {"n_pairs": 300}], ids=["all", "drawn"])
@pytest.mark.parametrize("form", ["dense", "kernel", "tiles"])
@with_loss
def test_resumed_is_one_long_run(entry, loss, form, options, ranking, rank):
    problem = ranking(150, 7, form=form, weighted=True)
    options = {"loss": loss, "tol": 1e-6} | options if entry in CERTIFIED else {"loss": loss, "average": True} | options
    for first in (0, 1, 3):
        whole = rank(entry, "compiled", problem, **options)
        begun = rank(entry, "compiled", problem, **options)
        whole.advance(first)
        whole.advance(2)
        begun.advance(first)
        state = pickle.loads(pickle.dumps(begun.solution()))
        rest = rank(entry, "compiled", problem, **{**options, "random_state": 99}, initial=state)
        assert rest.n_iter == first
        assert rest.objective() == pytest.approx(begun.objective(), rel=1e-10)
        assert rest.gap() == pytest.approx(begun.gap(), rel=1e-6, abs=1e-10)
        rest.advance(2)
        assert rest.n_iter == whole.n_iter
        assert rest.converged == whole.converged
        assert rest.objective() == pytest.approx(whole.objective(), rel=1e-6)
        scale = np.abs(whole.solution().coef).max()
        np.testing.assert_allclose(rest.solution().coef, whole.solution().coef, rtol=0, atol=1e-4 * scale)


@by_name
def test_splitting_the_run_changes_nothing(entry, ranking, rank):
    problem = ranking(150, 8)
    whole, parts = rank(entry, "compiled", problem), rank(entry, "compiled", problem)
    whole.advance(9)
    for count in (1, 3, 5):
        parts.advance(count)
    np.testing.assert_array_equal(whole.solution().coef, parts.solution().coef)
    assert whole.gap() == parts.gap()


@by_name
def test_any_coefficients_are_a_start(entry, ranking, rank):
    problem = ranking(120, 9)
    best = driver.run(rank(RANKING_SOLVERS[0], "compiled", problem, loss="squared_hinge", tol=1e-6)).solution
    solver = rank(entry, "compiled", problem, loss="squared_hinge", initial=Solution(best.coef))
    start = solver.objective()
    solver.advance(25)
    assert solver.objective() <= start
    if entry in CERTIFIED:
        assert solver.converged
    with pytest.raises(ValueError, match="coefficients"):
        rank(entry, "compiled", problem, initial=Solution(np.zeros(7)))


@certified
def test_a_path_of_alphas_keeps_what_it_learnt(entry, ranking, rank):
    """Cuts and metric do not depend on alpha: the passes of a path are fewer than those of its fits."""
    problem = ranking(400, 10)
    alphas = np.logspace(0, -3, 8)
    loss = entry.losses[0]
    on_path = alone = 0
    solution = None
    for alpha in alphas:
        fresh = rank(entry, "compiled", problem, alpha=alpha, loss=loss, tol=1e-3)
        warm = rank(entry, "compiled", problem, alpha=alpha, loss=loss, tol=1e-3, initial=solution)
        for solver in (fresh, warm):
            solver.advance(1000)
            assert solver.converged
        assert warm.objective() - warm.gap() <= fresh.objective() * (1 + 1e-12)
        assert fresh.objective() - fresh.gap() <= warm.objective() * (1 + 1e-12)
        solution = warm.solution()
        on_path, alone = on_path + warm.n_passes, alone + fresh.n_passes
    assert on_path < alone


def test_cuts_of_another_loss_or_other_pairs_are_not_kept(ranking, rank):
    problem = ranking(100, 11)
    bundle = RANKING_SOLVERS[0]
    known = rank(bundle, "compiled", problem)
    known.advance(5)
    for other in ({"loss": "squared_hinge"}, {"n_pairs": 200}, {"n_pairs": 200, "balanced": True}):
        solver = rank(bundle, "compiled", problem, initial=known.solution(), **other)
        assert solver.n_cuts == 0
        solver.advance(100)
        assert solver.converged
    assert rank(bundle, "compiled", problem, alpha=0.02, initial=known.solution()).n_cuts == known.n_cuts


@certified
def test_what_was_learnt_from_other_data_is_not_believed(entry, ranking, rank):
    """Cuts and bounds of other data, or other labels, would make a false certificate."""
    problem = ranking(100, 22)
    known = rank(entry, "compiled", problem, loss="squared_hinge")
    known.advance(1000)
    for change in ("X", "y", "weights"):
        other = ranking(100, 22)
        if change == "X":
            other.X = other.X + 0.5 * ranking(100, 23).X
        elif change == "y":
            other.y[5:9] *= -1
        else:
            other.weights = np.linspace(1, 2, 100)
        for alpha in (0.01, 0.02):
            warm = rank(entry, "compiled", other, loss="squared_hinge", alpha=alpha, initial=known.solution())
            assert not warm.converged
            fresh = rank(entry, "compiled", other, loss="squared_hinge", alpha=alpha)
            for solver in (warm, fresh):
                solver.advance(1000)
                assert solver.converged
            assert abs(warm.objective() - fresh.objective()) <= warm.gap() + fresh.gap()


class InterruptedRows(LocalBlocks):
    """Rows of an array; some of the products with them are interrupted, fewer and fewer, so that every step ends."""

    def __init__(self, X):
        self.X, self.n_products, self.n_interrupts, self.interrupted_next = X, 0, 0, 3
        self._set_shape(*X.shape, X.dtype)

    def read(self, start, stop):
        return self.X[start:stop]

    def scores(self, coef, out=None):
        self._count()
        return super().scores(coef, out)

    def combine(self, g):
        self._count()
        return super().combine(g)

    def _count(self):
        self.n_products += 1
        if self.n_products == self.interrupted_next:
            self.n_interrupts += 1
            self.interrupted_next += 3 + 2 * self.n_interrupts
            raise KeyboardInterrupt


@with_loss
def test_an_interrupted_run_goes_on_to_the_same_end(entry, loss, ranking, rank):
    problem = ranking(20_000, 24)
    options = {"tol": 1e-6} if entry in CERTIFIED else {}
    whole = rank(entry, "compiled", problem, loss=loss, **options)
    problem.X = rows = InterruptedRows(problem.X)
    broken = rank(entry, "compiled", problem, loss=loss, **options)
    steps = 30 if entry in CERTIFIED else 12
    while not whole.converged and whole.n_iter < steps and whole.advance(steps - whole.n_iter):
        pass
    for _ in range(steps):  # more than there are interrupts
        with suppress(KeyboardInterrupt):
            broken.advance(whole.n_iter - broken.n_iter)
    assert rows.n_interrupts > 0
    # A step that was broken off is taken again; Newton and the bundle may take it from a fresher metric.
    assert broken.objective() == pytest.approx(whole.objective(), rel=1e-5 if entry in CERTIFIED else 1e-12)


# --- invariances
# ----------------------------------------------------------------------------------------------------


@with_loss
def test_weight_k_equals_repeat_k(entry, loss, ranking, rank):
    problem = ranking(60, 12, weighted=True)
    repeated = ranking(60, 12)
    times = problem.weights.astype(int)
    repeated.X, repeated.y = np.repeat(problem.X, times, axis=0), np.repeat(problem.y, times)
    a, b = (rank(entry, "compiled", p, loss=loss) for p in (problem, repeated))
    for solver in (a, b):
        solver.advance(300 if entry in CERTIFIED else 30)
    assert a.objective() == pytest.approx(b.objective(), rel=2e-3 if entry in CERTIFIED else 1e-9)


@with_loss
def test_format_agnosticism(entry, loss, ranking, rank):
    problem = ranking(150, 13, form="csr")
    answers = []
    changes = (
        lambda X: X, lambda X: X.toarray(), lambda X: np.asfortranarray(X.toarray()), lambda X: X.tocsc(),
        lambda X: X.astype(np.float32),
    )  # fmt: skip
    for change in changes:
        other = ranking(150, 13, form="csr")
        other.X = change(problem.X)
        solver = rank(entry, "compiled", other, loss=loss)
        solver.advance(3)
        answers.append(solver.solution().coef)
    scale = np.abs(answers[0]).max()
    for answer in answers[1:-1]:
        np.testing.assert_allclose(answer, answers[0], rtol=0, atol=1e-9 * scale)
    np.testing.assert_allclose(answers[-1], answers[0], rtol=0, atol=1e-3 * scale)


@pytest.mark.parametrize("form", ["dense", "csr", "float32"])
@with_loss
def test_threads_agnosticism(entry, loss, form, ranking, rank):
    problem = ranking(100_000, 14, d=4, form=form)  # fewer stored values are not worth threads
    answers = []
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="openmp"):
            solver = rank(entry, "compiled", problem, loss=loss)
            solver.advance(2)
            answers.append(solver.solution().coef)
    np.testing.assert_array_equal(*answers)


@with_loss
def test_a_kernel_is_its_features(entry, loss, ranking, rank):
    """The linear kernel's matrix gives the function that its features give, to the same objective."""
    problem = ranking(70, 15)
    options = {"alpha": 0.05, "loss": loss, "random_state": 0}
    if entry in CERTIFIED:
        options["tol"] = 1e-6
    a = entry.load("compiled")(as_design(problem.X), problem.y, **options)
    b = entry.load("compiled")(KernelDesign(problem.X @ problem.X.T), problem.y, **options)
    if entry.name == "adamax":  # not invariant: its steps are by coordinate
        for solver in (a, b):
            solver.advance(3000)
        assert b.objective() == pytest.approx(a.objective(), rel=0.05)
        return
    for solver in (a, b):
        solver.advance(200)
    assert a.objective() == pytest.approx(b.objective(), rel=2e-6)
    np.testing.assert_allclose(problem.X.T @ b.solution().coef, a.solution().coef, atol=5e-3)


@by_name
def test_an_input_that_is_float32_is_not_copied(entry, ranking, rank):
    problem = ranking(200, 16, form="float32")
    solver = rank(entry, "compiled", problem)
    assert np.shares_memory(solver.problem.design.X, problem.X)


@pytest.mark.parametrize("twin", ["compiled", "reference"])
@by_name
def test_objectives_and_bounds_of_other_data_are_not_kept(entry, twin, ranking, rank):
    known = rank(entry, twin, ranking(100, 22), loss="squared_hinge")
    known.advance(40)
    other = ranking(100, 22)
    other.X = other.X + 0.5 * ranking(100, 23).X
    best = rank(CERTIFIED[0], "compiled", other, loss="squared_hinge", tol=1e-9)
    best.advance(1000)
    warm = rank(entry, twin, other, loss="squared_hinge", initial=known.solution())
    coef = np.array(warm.solution().coef)
    margins = np.subtract.outer(other.X[other.y > 0] @ coef, other.X[other.y < 0] @ coef)
    exact = 0.5 * warm.alpha * coef @ coef + np.mean(np.maximum(0.0, 1.0 - margins) ** 2)
    assert warm.objective() >= best.objective() - best.gap() - 1e-12
    assert warm.gap() >= warm.objective() - best.objective() - 1e-12
    assert warm.objective() == pytest.approx(exact)
