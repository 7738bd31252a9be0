"""SMO for several dual problems on the same kernel rows, in rounds for all of them at once.

The folds of a cross-validation are such problems: they differ in their boxes only, and most of their free coefficients
are the same. In one round

    each problem names its free coordinates and those that violate its conditions most
    --the kernel between their union------->   steps inside the union, for one problem beside the other on threads
    --rows of those that moved anywhere---->   the gradients of all problems, by one product

    problems that took many steps and are near their solution end by Newton steps on their free coordinates (`face`)

so that a kernel row is fetched once for all problems, and the gradient of each is that of all rows: it holds the scores
of rows that are held out.
"""

from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from threading import Event, get_ident, main_thread
from time import perf_counter

import numpy as np

from kernbench.kernels._thread_pool import call_each
from kernbench.solvers.base import Solution
from kernbench.solvers.kernel.smo.dual_state import State
from kernbench.solvers.kernel.smo.face import Face
from kernbench.solvers.kernel.smo.set_size import ROOM, WORKING_SET_SIZE
from kernbench.solvers.kernel.smo.stagnation import Stagnation
from kernbench.solvers.method import Method

LEAST_MEMBERS, MOST_MEMBERS = WORKING_SET_SIZE, 4096  # of the set of one problem
SHARED_MEMBERS = 2048  # of a union of sets: a step takes as long as a larger one, and its block leaves the caches
INNER_ACCURACY = 0.1  # a set is solved until its violation is this share of that of all coordinates
STEPS_PER_MEMBER = 100
# Newton steps on m free coordinates take as long as some m^2 / 100 pair steps (measured with 600 to 3,000, one core).
# They are taken after this share of m^2 pair steps, once the largest violation is at most this multiple of the margin:
# farther away, too many coordinates are at a wrong bound.
FACE_STEPS, FACE_VIOLATION = 0.003, 0.5
FACE_LEAST = 256  # free coordinates: fewer take microseconds a step
FACE_ROUNDS = 12
LOOK_SECONDS = 0.05  # interval at which the main thread checks for Ctrl-C while others work


class JointSMO(Method):
    """Several problems on the same rows by SMO; where progress ends, a run of `SMO` continues from the solutions.

    Parameters
    ----------
    rows : KernelRows
    problems : list of MarginProblem
        On these rows.
    starts : list of Solution
        Feasible, with K times the coefficients in ``state["products"]``.
    tol : float, default=1e-3
        As in `SMO`; without its test of the gap.
    n_threads : int, default=1
    is_settled : callable, optional
        Given the number of a problem and its `State` before a round, returns whether to leave it as it is from then on.
    core : {"compiled", "reference"} or module, default="compiled"

    Attributes
    ----------
    states : list of State
    violations : ndarray of shape (n_problems,)
        The largest ones of the last round.
    settled : ndarray of bool, shape (n_problems,)
        Those that `is_settled` ended.
    """

    first_check = None
    is_interruptible = True

    def __init__(self, rows, problems, starts, *, tol=1e-3, n_threads=1, is_settled=None, core="compiled"):
        super().__init__(core)
        self.rows, self.problems, self.tol, self.n_threads = rows, problems, tol, n_threads
        self.units = np.array([problem.unit() for problem in problems])
        self.with_bias = problems[0].fit_intercept
        self.gradients = np.empty((len(problems), rows.n_rows))
        self.states, diagonal = [], rows.diagonal()
        for problem, start, e in zip(problems, starts, self.gradients, strict=True):
            state = State.of(problem, diagonal)
            e[:] = state.linear - start.state["products"] - state.ridge * start.coef
            self.states.append(state.at(start.coef.copy(), e))
        self.steps = np.zeros(len(problems), dtype=np.int64)
        self.violations = np.full(len(problems), np.inf)
        self.settled, self._is_settled = np.zeros(len(problems), dtype=bool), is_settled
        self._stagnation = Stagnation(self._dual(), rows.dtype == np.float32)
        self._stop, self._deadline = Event(), np.inf
        self._may_use_face = np.array(
            [
                self.with_bias and state.constraint == "sum" and not state.zone and not state.ridge.any()
                for state in self.states
            ]
        )

    @property
    def n_iter(self):
        return int(self.steps.sum())

    @property
    def n_kernel_evaluations(self):
        return self.rows.n_evaluations

    def stop_at(self, time):
        self._deadline = time

    def advance(self, n_iter):
        """Take about `n_iter` steps, in whole rounds; return how many."""
        before = self.n_iter
        while self.n_iter < before + n_iter and not (self.converged or self.finished or self._is_late()):
            self._round()
        return self.n_iter - before

    def check(self, tol):
        """Return whether the rule, which `advance` tests, holds."""
        return self.converged

    def _round(self):
        """Solve one set for all problems and update their gradients; test for the end first."""
        chosen = [None if settled else self._choose(k) for k, settled in enumerate(self.settled)]
        still_open = np.flatnonzero((self.violations > self.tol * self.units) & ~self.settled)
        if self._is_settled is not None:
            self.settled[still_open] = [self._is_settled(k, self.states[k]) for k in still_open]
            still_open = still_open[~self.settled[still_open]]
        self.converged = len(still_open) == 0
        if self.converged:
            return
        n_iter, on_face = self.n_iter, [k for k in still_open if self._is_near(k)]
        for k in on_face:
            self._ascend(k)
        others = [k for k in still_open if k not in on_face]
        with self._updating():
            for problems, members in _groups(others, chosen, self.rows.n_rows):
                self._solve(members, problems)
        done = self.n_iter - n_iter
        violation = float((self.violations / self.units)[still_open].max())
        self.finished = done == 0 or self._stagnation.update(self._dual(), violation, done)

    @contextmanager
    def _updating(self):
        """Update the gradients for changes of coefficients inside the context, also after Ctrl-C."""
        before = [state.beta.copy() for state in self.states]
        try:
            yield
        finally:
            self._update(before)

    def _update(self, before):
        """Update the gradients, given the earlier coefficients."""
        changes = np.array([state.beta - then for state, then in zip(self.states, before, strict=True)])
        moved = np.flatnonzero(changes.any(axis=0))
        for state, change in zip(self.states, changes, strict=True):
            state.e -= state.ridge * change
        self.rows.add_products(moved, -changes[:, moved].T, self.gradients)

    def _choose(self, k):
        """Return the set that problem k needs: its free coordinates, then those that violate its conditions most."""
        state = self.states[k]
        free = np.flatnonzero(state.free())
        needed = max(LEAST_MEMBERS, int(ROOM * len(free)))
        size, slack = min(needed, MOST_MEMBERS, len(state.beta)), 0.5 * self.tol * self.units[k]
        kept = free[:0] if needed > MOST_MEMBERS else free  # or there would be no room for others
        members, self.violations[k] = state.choose(size, kept, slack, self.with_bias)
        return members

    def _solve(self, members, problems):
        """Take the steps inside a set for each of the problems, which share the kernel between its members."""
        matrix = self.core.kernel_between(self.rows, members)

        def solve(k):
            state = self.states[k]
            goal = max(0.5 * self.tol * self.units[k], INNER_ACCURACY * self.violations[k])
            budget = STEPS_PER_MEMBER * len(members)
            state.beta[members], steps = self.core.solve_members(
                matrix, members, state, self.with_bias, goal, budget, self._should_stop
            )
            self.steps[k] += steps

        self._for_each(solve, problems)

    def _is_near(self, k):
        """Return whether Newton steps are to end problem k, and its factor takes no more memory than the cache."""
        n_free, rows = np.count_nonzero(self.states[k].free()), self.rows
        return (
            self._may_use_face[k]
            and n_free >= FACE_LEAST
            and 8 * n_free**2 <= rows.capacity * rows.n_rows * np.dtype(rows.dtype).itemsize
            and self.violations[k] <= FACE_VIOLATION * self.units[k]
            and self.steps[k] >= FACE_STEPS * n_free**2
        )

    def _ascend(self, k):
        """Take Newton steps for problem k until it is solved; where they fail, pair steps continue.

        Problems have their turn one after the other: the rounding of kernel values depends on which rows are cached.
        """
        state, is_open, n_rounds = self.states[k], True, 0
        face = Face(state, 0.5 * self.tol * self.units[k])
        beta, e, dual = state.beta.copy(), state.e.copy(), state.dual()
        while is_open and n_rounds < FACE_ROUNDS and not self._is_late():
            n_rounds += 1
            face.free_violators(self.rows, self.core.kernel_between)
            if not face.failed:
                with self._updating():
                    face.ascend()
            is_open = not face.failed and state.violation(self.with_bias) > self.tol * self.units[k]
        self.steps[k] += 1 + face.n_hits
        self._may_use_face[k] = not face.failed and not is_open
        if state.dual() < dual:  # fixing several bounds at a time need not ascend
            state.beta[:], state.e[:] = beta, e

    def _for_each(self, solve, problems):
        """Call a function for each of the problems, on threads."""
        self._stop.clear()
        # A queue, as Ctrl-C may leave the lock of an Event's wait in a wrong state, and then raises another error.
        begun, ended, over = [], [], SimpleQueue()

        def solve_or_stop(k):
            begun.append(k)
            try:
                solve(k)
                ended.append(k)
                if len(ended) == len(problems):
                    over.put(None)
                elif len(begun) == len(problems) and get_ident() == main_thread().ident:
                    while over.empty():  # in the compiled loop it would not notice Ctrl-C
                        with suppress(Empty):
                            over.get(timeout=LOOK_SECONDS)
                            break
            except BaseException:
                self._stop.set()  # Ctrl-C reaches one thread only
                over.put(None)
                raise

        call_each(solve_or_stop, problems, self.n_threads)

    def _is_late(self):
        return perf_counter() >= self._deadline

    def _should_stop(self):
        return self._stop.is_set() or self._is_late()

    # --- what it found -----------------------------------------------------------------------------------------------

    def solutions(self):
        """Return the coefficients of each problem, with K times them in the state."""
        return [
            Solution(state.beta, self._intercept(state), int(n), {"products": state.scores()})
            for state, n in zip(self.states, self.steps, strict=True)
        ]

    def solution(self):
        """Return the coefficients of all problems, one after the other."""
        return Solution(np.concatenate([state.beta for state in self.states]), 0.0, self.n_iter)

    def objective(self):
        """Return the sum of the primal objectives."""
        total = 0.0
        for problem, state in zip(self.problems, self.states, strict=True):
            scores = state.scores()
            total += problem.objective(scores, float(state.beta @ scores), self._intercept(state))
        return total

    def dual_objective(self):
        return sum(problem.alpha * state.dual() for problem, state in zip(self.problems, self.states, strict=True))

    def _dual(self):
        return sum(state.dual() for state in self.states)

    def _intercept(self, state):
        return state.intercept() if self.with_bias else 0.0


def _groups(problems, sets, n):
    """Yield problems whose sets have a union of at most `SHARED_MEMBERS`, or single ones, and that union, ascending."""
    group, union = [], np.zeros(n, dtype=bool)
    for k in problems:
        larger = union.copy()
        larger[sets[k]] = True
        if group and np.count_nonzero(larger) > SHARED_MEMBERS:
            yield group, np.flatnonzero(union)
            group, larger = [], np.zeros(n, dtype=bool)
            larger[sets[k]] = True
        group.append(k)
        union = larger
    if group:
        yield group, np.flatnonzero(union)
