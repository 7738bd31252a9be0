"""Newton steps on free coefficients: the optimum of SMO in fewer steps, and pair steps where they fail."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

from kernbench.kernels.functions import Gaussian
from kernbench.kernels.rows import KernelRows
from kernbench.problems.margin_problem import MarginProblem
from kernbench.reference.kernel.smo import joint as reference
from kernbench.reference.kernels.rows import KernelRows as ReferenceRows
from kernbench.solvers import driver
from kernbench.solvers.base import Solution
from kernbench.solvers.kernel.smo import _joint, joint
from kernbench.solvers.kernel.smo.dual_state import State
from kernbench.solvers.kernel.smo.face import Face, _rounded
from kernbench.solvers.kernel.smo.joint import JointSMO
from kernbench.solvers.kernel.smo.smo import SMO

N, C = 300, 100.0
CORES = {"compiled": (_joint, KernelRows), "reference": (reference, ReferenceRows)}


def data(n=N, repeats=1):
    X, codes = make_classification(n // repeats, 6, n_informative=4, flip_y=0.1, random_state=0)
    return np.tile(X, (repeats, 1)), np.tile(2.0 * codes - 1.0, repeats)


def problem_of(rows, y, weights=None, C=C):
    return MarginProblem(rows, y, alpha=1.0 / (C * len(y)), weights=np.ones(len(y)) if weights is None else weights)


def zeros(n):
    return Solution(np.zeros(n), state={"products": np.zeros(n)})


def state_for_a_smaller_C(rows, y):
    """The state at the solution for C / 10, whose coefficients at the upper bound are free for C."""
    solver = JointSMO(rows, [problem_of(rows, y, C=C / 10)], [zeros(len(y))], tol=0.01)
    driver.run(solver, tol=0.01)
    beta = solver.states[0].beta
    return State.of(problem_of(rows, y), rows.diagonal()).at(beta, y - rows.matvec(beta))


def rounds(face, rows, core, tol):
    """Newton steps to the optimum; return the dual objective after each."""
    state, duals = face.state, []
    while state.violation(True) > tol and len(duals) < 20:
        before = state.beta.copy()
        face.free_violators(rows, core.kernel_between)
        face.ascend()
        state.e -= rows.matvec(state.beta - before)
        duals.append(state.dual())
    return duals


@pytest.mark.parametrize("repeats", [1, 2])  # equal rows make the kernel matrix singular
@pytest.mark.parametrize("core", list(CORES))
def test_steps_end_at_the_optimum(core, repeats):
    X, y = data(repeats=repeats)
    module, kind = CORES[core]
    rows = kind(X, Gaussian(1.5), dtype=np.float64)
    compiled_rows = KernelRows(X, Gaussian(1.5), dtype=np.float64)
    state = state_for_a_smaller_C(compiled_rows, y)
    assert state.violation(True) > 0.1
    face = Face(state, 0.5e-7)
    duals = rounds(face, rows, module, 1e-7)
    assert not face.failed and 1 < len(duals) < 20 and face.n_hits > 5
    assert np.all((state.lower <= state.beta) & (state.beta <= state.upper))
    assert abs(state.beta.sum()) <= 1e-9 * np.abs(state.beta).sum()
    best = driver.run(SMO(compiled_rows, y, alpha=1.0 / (C * N), tol=1e-9), tol=1e-9)
    np.testing.assert_allclose(duals[-1] / (C * N), best.objective, rtol=1e-6)


def test_coefficients_reach_bounds_and_leave_them():
    X, y = data()
    rows = KernelRows(X, Gaussian(1.5), dtype=np.float64)
    face = Face(state_for_a_smaller_C(rows, y), 0.5e-7)
    face.free_violators(rows, _joint.kernel_between)
    n_first = len(face.members)
    rounds(face, rows, _joint, 1e-7)
    assert face.n_hits > 0 and len(face.members) > n_first and len(np.unique(face.members)) == len(face.members)


def test_coefficients_within_rounding_of_a_bound_are_at_it_and_the_sum_stays():
    lower, upper, reach = np.array([0.0, -1.0, 0.0, -1.0]), np.array([1.0, 0.0, 1.0, 0.0]), np.full(4, 1e-12)
    start = np.array([0.5, -0.5, 0.25, -0.25])
    found = _rounded(np.array([1.0 - 1e-13, -1.0 + 1e-13, 0.4, -0.4]), start, reach, lower, upper)
    assert found[0] == 1.0 and found[1] == -1.0 and found.sum() == start.sum()
    np.testing.assert_allclose(found[2:], [0.4, -0.4], atol=1e-12)
    found = _rounded(np.array([1e-13, -1e-13, 0.4, -0.4]), start, reach, lower, upper)
    assert found[0] == found[1] == 0.0 and found.sum() == start.sum()
    with pytest.raises(np.linalg.LinAlgError):
        _rounded(np.array([1.0, -1.0, 1.0, 0.0]), start, reach, lower, upper)  # none of them can take what is off


@pytest.fixture
def soon(monkeypatch):
    """Newton steps for small problems, too."""
    for name, value in (("LEAST_MEMBERS", 40), ("FACE_LEAST", 2), ("FACE_STEPS", 0.0)):
        monkeypatch.setattr(joint, name, value)


def folds_solved(n_threads=1):
    X, y = data()
    weights = [np.where(np.arange(N) % 3 == k, 0.0, 1.0) for k in range(3)]
    rows = KernelRows(X, Gaussian(1.5))
    problems = [problem_of(rows, y, own) for own in weights]
    solver = JointSMO(rows, problems, [zeros(N) for _ in weights], tol=1e-4, n_threads=n_threads)
    assert driver.run(solver, tol=1e-4).converged
    return solver


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize("n_threads", [1, 2])
def test_they_end_a_joint_run(monkeypatch, n_threads):
    with_steps = folds_solved(n_threads=n_threads)
    monkeypatch.setattr(joint, "FACE_VIOLATION", 0.0)
    without = folds_solved()
    assert with_steps.n_iter < 0.7 * without.n_iter
    for own, other in zip(with_steps.states, without.states, strict=True):
        np.testing.assert_allclose(own.dual(), other.dual(), rtol=1e-5)
        np.testing.assert_allclose(own.scores() + own.intercept(), other.scores() + other.intercept(), atol=2e-2)


@pytest.mark.usefixtures("soon")
def test_threads_do_not_change_a_bit():
    one, two = folds_solved(), folds_solved(n_threads=2)
    assert one.rows.n_evaluations == two.rows.n_evaluations
    for own, other in zip(one.states, two.states, strict=True):
        np.testing.assert_array_equal(own.beta, other.beta)
        np.testing.assert_array_equal(own.e, other.e)


@pytest.mark.usefixtures("soon")
def test_where_they_fail_pair_steps_continue(monkeypatch):
    reference_run = folds_solved()

    def fail(self, rows, kernel_between):
        self.failed = True

    monkeypatch.setattr(Face, "free_violators", fail)
    for own, other in zip(folds_solved().states, reference_run.states, strict=True):
        np.testing.assert_allclose(own.dual(), other.dual(), rtol=1e-5)


@pytest.mark.usefixtures("soon")
def test_steps_that_lower_the_dual_objective_are_taken_back(monkeypatch):
    X, y = data()
    rows = KernelRows(X, Gaussian(1.5), dtype=np.float64)
    solver = JointSMO(rows, [problem_of(rows, y)], [zeros(N)], tol=1e-4)
    while not solver._is_near(0):
        solver._round()
    before, dual = solver.states[0].beta.copy(), solver.states[0].dual()

    def worsen(face):
        free = face.members[face.state.free()[face.members]]
        low, high = free[face.state.e[free].argmin()], free[face.state.e[free].argmax()]
        face.state.beta[low] += 1e-3
        face.state.beta[high] -= 1e-3

    monkeypatch.setattr(Face, "ascend", worsen)
    solver._ascend(0)
    assert solver.states[0].dual() == dual and np.array_equal(solver.states[0].beta, before)
    assert not solver._is_near(0)


def test_a_kernel_that_is_not_positive_definite_fails():
    X, y = data()
    rows = KernelRows(X, Gaussian(1.5), dtype=np.float64)
    state = state_for_a_smaller_C(rows, y)
    beta = state.beta.copy()
    face = Face(state, 1e-3)
    face.free_violators(rows, lambda rows, members: -_joint.kernel_between(rows, members))
    assert face.failed and np.array_equal(state.beta, beta)


@pytest.mark.usefixtures("soon")
def test_the_factor_takes_no_more_memory_than_the_cache():
    X, y = data()
    for cache_size, fits in ((1e9, True), (10 * 4 * N, False)):
        rows = KernelRows(X, Gaussian(1.5), cache_bytes=int(cache_size), keep=True)
        solver = JointSMO(rows, [problem_of(rows, y)], [zeros(N)], tol=1e-3)
        driver.run(solver, tol=1e-3)
        solver.violations[:] = 0.1
        assert solver._is_near(0) == fits
