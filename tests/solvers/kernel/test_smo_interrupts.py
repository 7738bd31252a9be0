"""SMO and Ctrl-C: rows, gradient and coefficients belong together at any moment, and a run continues."""

import signal
from functools import partial

import numpy as np
import pytest

from kernbench.kernels import Gaussian, _cached_rows
from kernbench.kernels.rows import KernelRows
from kernbench.solvers import driver
from kernbench.solvers.kernel.smo import one_set
from kernbench.solvers.kernel.smo.smo import SMO

double_rows = partial(KernelRows, dtype=np.float64)


def test_an_interrupt_while_coordinates_are_left_out_leaves_a_whole_state(overlapping, monkeypatch):
    X, y = overlapping
    make_engine, n_interrupts = _cached_rows.make_engine, 0

    def interrupted(kernel, queries, columns):
        nonlocal n_interrupts
        if queries.n_rows < len(y) and queries is columns and n_interrupts < 2:
            n_interrupts += 1
            raise KeyboardInterrupt
        return make_engine(kernel, queries, columns)

    monkeypatch.setattr(_cached_rows, "make_engine", interrupted)
    options = {"alpha": 1 / len(y), "tol": 1e-5, "classic_rows": 0, "working_set_size": 16}
    solver = SMO(double_rows(X, Gaussian(3.0)), y, **options)
    results = [driver.run(solver, tol=1e-5) for _ in range(3)]
    assert [result.status for result in results] == ["interrupted", "interrupted", "converged"]
    expected = driver.run(SMO(double_rows(X, Gaussian(3.0)), y, **options), tol=1e-5)
    assert results[-1].objective == pytest.approx(expected.objective, rel=1e-6)


def test_an_interrupt_of_a_new_gradient_leaves_that_of_the_coefficients(overlapping):
    """Those that were left out have the gradient of an earlier point, until all are computed."""
    X, y = overlapping

    class Rows(KernelRows):
        interrupts = False

        def product(self, *arguments, **options):
            if self.interrupts:
                raise KeyboardInterrupt
            return super().product(*arguments, **options)

    rows, K = Rows(X, Gaussian(3.0), dtype=np.float64), Gaussian(3.0)(X)
    solver = SMO(rows, y, alpha=1 / len(y), tol=1e-5, classic_rows=0, working_set_size=16)
    while solver.rounds.active.indices is None:
        solver.advance(1)
    solver.advance(200)
    assert solver.rounds.active.indices is not None
    rows.interrupts = True
    with pytest.raises(KeyboardInterrupt):
        solver.rounds._start_anew()
    rows.interrupts, found = False, solver.solution()
    expected = solver.problem.objective(K @ found.coef, found.coef @ K @ found.coef, found.intercept)
    assert solver.objective() == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("step", ["restrict", "release"])
def test_an_interrupt_where_other_coordinates_become_active_leaves_a_whole_state(overlapping, step, when):
    X, y = overlapping

    class Rows(KernelRows):
        interrupts = True

        def restrict(self, keep):
            self._take("restrict", keep)

        def release(self):
            self._take("release")

        def _take(self, name, *arguments):
            interrupts = self.interrupts and name == step
            if interrupts and when == "before":
                raise KeyboardInterrupt
            getattr(super(), name)(*arguments)
            if interrupts:  # Python delivers signals when a call returns
                signal.raise_signal(signal.SIGINT)

    rows, K = Rows(X, Gaussian(3.0), dtype=np.float64), Gaussian(3.0)(X)
    options = {"alpha": 1 / len(y), "tol": 1e-5, "classic_rows": 0, "working_set_size": 16}
    solver = SMO(rows, y, **options)
    with pytest.raises(KeyboardInterrupt):
        solver.advance(10**6)
    rows.interrupts, found = False, solver.solution()
    assert rows.n_rows == len(solver.rounds.active.state.beta)
    expected = solver.problem.objective(K @ found.coef, found.coef @ K @ found.coef, found.intercept)
    assert solver.objective() == pytest.approx(expected, rel=1e-9)
    result = driver.run(solver, tol=1e-5)
    unbroken = driver.run(SMO(double_rows(X, Gaussian(3.0)), y, **options), tol=1e-5)
    assert result.converged and result.objective == pytest.approx(unbroken.objective, rel=1e-6)


def test_an_interrupt_of_an_extrapolation_leaves_the_gradient_of_the_coefficients(overlapping, monkeypatch):
    X, y = overlapping
    K = Gaussian(3.0)(X)
    solver = SMO(double_rows(X, Gaussian(3.0)), y, alpha=1e-6 / len(y))
    solver.advance(20)
    rounds, state = solver.rounds, solver.rounds.active.state
    rounds.n_checks, rounds.last_checked = one_set.CREEPING, (np.zeros(len(y)), state.linear.copy())
    beta = state.beta.copy()

    def interrupted():
        assert not np.array_equal(state.beta, beta)
        raise KeyboardInterrupt

    monkeypatch.setattr(rounds.active, "compute_gradient", interrupted)
    with pytest.raises(KeyboardInterrupt):
        rounds._check_progress(20)
    np.testing.assert_allclose(state.e, y - K @ state.beta, rtol=1e-9, atol=1e-9 * np.abs(state.beta).max())


@pytest.mark.parametrize("step", ["restrict", "release"])
@pytest.mark.parametrize("where", ["inside", "on return"])
def test_a_run_continues_after_an_interrupt_when_the_rows_have_changed_but_not_the_active_set(
    overlapping, where, step, monkeypatch
):
    """Rows of other coordinates would be read, some of them beyond the end."""
    X, y = overlapping
    full = np.full

    def interrupted(shape, *arguments, **options):
        if isinstance(shape, tuple):  # the order of use, which is new when the number of rows has changed
            raise KeyboardInterrupt
        return full(shape, *arguments, **options)

    class Rows(KernelRows):
        due = None  # the step to interrupt

        def restrict(self, keep):
            self.change("restrict", super().restrict, keep)

        def release(self):
            self.change("release", super().release)

        def change(self, name, call, *arguments):
            if name != self.due:
                call(*arguments)
                return
            self.due, n_rows = None, self.n_rows
            try:
                with monkeypatch.context() as patch:
                    if where == "inside":
                        patch.setattr(np, "full", interrupted)
                    call(*arguments)
                raise KeyboardInterrupt
            finally:
                assert self.n_rows != n_rows

    options = {"alpha": 1 / len(y), "tol": 1e-5, "classic_rows": 0, "working_set_size": 16}
    rows = Rows(X, Gaussian(3.0), dtype=np.float64)
    solver = SMO(rows, y, **options)
    while solver.rounds.active.indices is None:
        solver.advance(1)
    rows.due = step
    with pytest.raises(KeyboardInterrupt):
        solver.rounds._start_anew() if step == "release" else solver.advance(10**6)
    assert rows.n_rows != len(solver.rounds.active.state.beta)
    result = driver.run(solver, tol=1e-5)
    expected = driver.run(SMO(double_rows(X, Gaussian(3.0)), y, **options), tol=1e-5)
    assert result.converged and rows.n_rows == len(y)
    assert result.objective == pytest.approx(expected.objective, rel=1e-6)
