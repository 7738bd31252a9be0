"""Kernel machines on more rows than one kernel matrix: a cascade of working sets, certified on all rows.

Parts of the rows are solved separately, on the workers that hold them (`parts`). The union of their support vectors is
the first working set. SMO solves it, and its function is evaluated on all rows; the rows that violate the optimality
conditions most are added to its support vectors, until no row violates them (Graf, Cosatto, Bottou, Durdanovic, Vapnik,
NIPS 2004; Joachims 1999).

The problem is that of a box for each coefficient, a kink at 0 and at most one sum (`solvers.kernel.smo.dual_state`):
classification with the hinge loss, regression with an epsilon-insensitive, absolute or quantile loss, and the one-class
machine.
"""

from types import SimpleNamespace

import numpy as np

from kernbench.distributed.parts import make_smo, parts_of, rough_tolerance, set_tolerance
from kernbench.kernels import blocks as kernel_blocks
from kernbench.problems.novelty_problem import OneClass
from kernbench.problems.nu_problem import kernel_problem
from kernbench.solvers.base import Solution
from kernbench.solvers.kernel.smo.certificate import MOST_GAP
from kernbench.solvers.method import Method

MOST_JOINING = 4096  # rows of a part in one round
INNER = 0.5  # fraction of the violation to reach, for the last working set
LOOSE = 0.1  # fraction of the violation over the tested rows, for intermediate working sets
# How far, in multiples of the largest violation, a row with coefficient 0 may be from violating its condition
NEAR = 3.0  # ... to be tested in the next round; the other rows are tested once these satisfy the conditions
JOIN = 0.5  # ... to join the next working set,
WIDEST = 0.3  # but at most this far, in units of a violation
SAME_BOX = 1e-12  # share of its bound within which a coefficient is at it
LESS = 0.1  # factor of the violation to reach where the gap is too large at the last one
LEAST = 1e-3  # ... down to this share of `tol`


class Outputs:
    """Evaluate a kernel expansion at the rows of the mask `chosen`, where the rows are held."""

    def __init__(self, kernel, dtype, vectors, coef, chosen):
        self.kernel, self.dtype = kernel, dtype
        self.vectors, self.coef, self.chosen = vectors, coef, chosen

    def __call__(self, X, start):
        rows = np.flatnonzero(self.chosen[start : start + X.shape[0]])
        if len(rows) == 0:
            return rows, np.empty(0)
        X = X if len(rows) == X.shape[0] else X[rows]
        return start + rows, kernel_blocks.matmul(self.kernel, X, self.vectors, self.coef, dtype=self.dtype)


class Cascade(Method):
    """Working sets of rows in blocks, for alpha times ½‖f‖² + C sum_i w_i l_i(f(x_i) + b).

    An iteration is a step of SMO on the working set; after its last one, the optimality conditions of the rows near the
    margin are tested and, once these satisfy them, those of all rows. When it has converged, the largest violation over
    all of them is at most `tol` times that of a margin, or of the targets, and the gap at most `tol` times the
    objective (or what rounding leaves of it).

    Parameters
    ----------
    blocks : RowBlocks
    y : ndarray of shape (n_rows,)
        -1 and +1, or targets.
    weights : ndarray of shape (n_rows,)
        Rows of weight 0 are ignored.
    n_counted : int
        Rows of which the objective is the mean.
    settings : dict
        As for `solve_part`.
    tol : float
    found : list of (ndarray, ndarray)
        Row indices and coefficients of the support vectors of the parts.

    Attributes
    ----------
    members : ndarray of intp
        The working set, sorted.
    n_rounds : int
        Working sets so far.
    violation : float
        The largest, over the rows that were tested last.
    """

    first_check = None

    def __init__(self, blocks, y, weights, settings, *, n_counted, tol, found):
        self.blocks, self.y, self.weights, self.settings, self.tol = blocks, y, weights, settings, tol
        self.used, self.n_counted = weights > 0, n_counted
        self.alpha = 1.0 / (settings["C"] * n_counted)
        self.problem = kernel_problem(
            SimpleNamespace(n_rows=len(y)), y, alpha=1.0 / (settings["C"] * len(y)), weights=weights,
            fit_intercept=settings["fit_intercept"], loss=settings["loss"],
        )  # fmt: skip
        self.lower, self.upper = self.problem.box()
        self.is_one_class = isinstance(settings["loss"], OneClass)
        self.unit, self.zone = self.problem.unit() or 1.0, self.problem.loss.zone
        self.n_iter = self.n_rounds = self._n_evaluations = 0
        self.converged, self._is_stuck, self.violation = False, False, np.inf
        self._f, self._known, self._known_at, self._best = (np.zeros(len(y)), np.zeros(len(y), dtype=bool), -1, None)
        self._near = self.used
        beta = np.zeros(len(y))
        for rows, coef in found:
            if coef is not None:
                # Those of one-class machines have the right sum together.
                beta[rows] = coef if self.is_one_class else coef / len(found)
        self._goal = tol * self.unit
        self._inner = INNER * self._goal
        self._begin(np.sort(np.concatenate([rows for rows, _ in found])), beta)
        self._inner = max(rough_tolerance(self._solver, settings["loss"]), self._inner)
        set_tolerance(self._solver, self._inner)
        self.n_iter = self._solver.n_iter

    @property
    def n_kernel_evaluations(self):
        """Kernel values of working sets and of outputs; those of the parts are not counted."""
        return self._n_evaluations + self._solver.n_kernel_evaluations

    def advance(self, n_iter):
        """Take up to `n_iter` steps; return the number taken."""
        done = 0
        while done < n_iter and not (self.converged or self._is_stuck):
            steps = 0 if self._solver.converged else self._solver.advance(n_iter - done)
            done += steps
            self.n_iter += steps
            if self._solver.converged or steps == 0:
                self._round(steps)
        return done

    def check(self, tol):
        """Return whether no row violates the optimality conditions by more than `tol`."""
        return self.converged

    def solution(self):
        """Return the coefficients of all rows."""
        solution = self._solver.solution()
        known = self._best is not None and self._best[0] == self.n_iter
        intercept = self._best[2] if known else solution.intercept
        return Solution(self._beta(), intercept, self.n_iter)

    def dual_objective(self):
        """Return the dual objective, which is that of all rows, since the others have coefficients 0."""
        return self._solver.dual_objective() * len(self.members) / self.n_counted

    def objective(self):
        """Return the objective over all rows."""
        f, b = self._outputs()
        return float(0.5 * self.alpha * self._squared_norm(f) + self.problem.loss_sum(f, b) / self.n_counted)

    def gap(self):
        """Return the objective minus the dual objective, over all rows."""
        f, _ = self._outputs()
        beta = self._solver.solution().coef
        linear = float(beta @ self.problem.linear[self.members] - self.zone * np.abs(beta).sum())
        return float(self.objective() - self.alpha * (linear - 0.5 * self._squared_norm(f)))

    def _squared_norm(self, f):
        return float(self._solver.solution().coef @ f[self.members])

    def _beta(self):
        beta = np.zeros(len(self.y))
        beta[self.members] = self._solver.solution().coef
        return beta

    def _outputs(self):
        """Return f of all rows, from kernel values in float64, and the best intercept.

        The gap is a difference of sums over all rows, in which the rounding of float32 values may exceed it.
        """
        if self._best is None or self._best[0] != self.n_iter:
            if np.dtype(self.settings["dtype"]) == np.float64:
                f = self._evaluated(self.used)
            else:
                f = self._write_outputs(np.zeros(len(self.y)), self.used, "float64")
            self._best = self.n_iter, f, self.problem.best_intercept(f)
        return self._best[1:]

    def _evaluated(self, chosen):
        """Return f, up to date at the rows of a mask."""
        if self._known_at != self.n_iter:
            self._known[:], self._known_at = False, self.n_iter
        missing = chosen & ~self._known
        if missing.any():
            self._write_outputs(self._f, missing, self.settings["dtype"])
            self._known |= missing
        return self._f

    def _write_outputs(self, f, chosen, dtype):
        """Write f at the rows of a mask, from kernel values of a precision; return the array."""
        beta = self._solver.solution().coef
        support = np.flatnonzero(beta)
        function = Outputs(self.settings["kernel"], dtype, self.vectors[support], beta[support], chosen)
        for rows, values in self.blocks.map(function):
            f[rows] = values
        self._n_evaluations += np.count_nonzero(chosen) * len(support)
        return f

    def _round(self, steps):
        """Test rows after some steps; those that violate the conditions, and some near it, join the support vectors."""
        self.n_rounds += 1
        beta, tested = self._beta(), self._near
        while True:
            f = self._evaluated(tested)
            self.violation, b = self._conditions(f, beta, tested)
            short = np.where(tested, self._slopes_at_zero(f, b), -np.inf)
            conforms, outside = self.violation <= self._goal, short > self._inner
            outside[self.members] = False
            if not conforms and (outside.any() or self._inner > INNER * self._goal):
                break
            if tested is self.used:
                if conforms and not self._is_certified():
                    self._goal = LESS * min(self._goal, self.violation)
                    break
                if not conforms:  # rounding prevents SMO from it
                    conforms = self.violation <= self.tol * self.unit and self._is_certified(is_last=True)
                self.converged, self._is_stuck = conforms, not conforms
                return
            tested = self.used
        widest = WIDEST * (abs(b) if self.is_one_class else self.unit)
        self._near = (short > -min(NEAR * self.violation, widest)) | (beta != 0)
        last, before = (self._inner if outside.any() else LOOSE * self._inner), (self._inner, self.members)
        self._inner = max(INNER * self._goal, min(LOOSE * self.violation, last))
        short[beta != 0] = -np.inf  # these stay; those at their bound would crowd others out
        above, edges = -min(JOIN * self.violation, widest), parts_of(len(self.y))
        joining = [a + _largest(short[a:b], above) for a, b in zip(edges[:-1], edges[1:])]
        members = np.union1d(np.flatnonzero(beta), np.concatenate(joining))
        self._is_stuck = not steps and self._inner == before[0] and np.array_equal(members, before[1])
        if not self._is_stuck:
            self._near[members] = True
            n_evaluations = self._solver.n_kernel_evaluations
            self._begin(members, beta, f)
            self._n_evaluations += n_evaluations

    def _is_certified(self, is_last=False):
        """Return whether the gap over all rows is small enough, or what rounding leaves of it if this is the last."""
        is_last |= LESS * min(self._goal, self.violation) < LEAST * self.tol * self.unit
        return self.gap() <= (max(self.tol, MOST_GAP) if is_last else self.tol) * abs(self.objective())

    def _conditions(self, f, beta, tested):
        """Return the largest violation over some rows, and the intercept in the middle."""
        e = self.problem.linear - f
        up = tested & (beta < self.upper - SAME_BOX * np.abs(self.upper))
        low = tested & (beta > self.lower + SAME_BOX * np.abs(self.lower))
        grow = e - np.where(beta >= 0.0, self.zone, -self.zone)
        shrink = e - np.where(beta > 0.0, self.zone, -self.zone)
        highest, lowest = grow[up].max(initial=-np.inf), shrink[low].min(initial=np.inf)
        if not self.problem.fit_intercept:
            return max(highest, -lowest, 0.0), 0.0
        ends = [end for end in (highest, lowest) if np.isfinite(end)]
        return max(highest - lowest, 0.0), sum(ends) / max(1, len(ends))

    def _slopes_at_zero(self, f, b):
        """Return by how much the dual objective would grow with the coefficient of each row, from 0."""
        e = self.problem.linear - f - b
        return np.maximum(np.where(self.upper > 0.0, e, -np.inf), np.where(self.lower < 0.0, -e, -np.inf)) - self.zone

    def _begin(self, members, beta, f=None):
        """Begin with a working set, its coefficients and, if known, f of its rows."""
        vectors = self.blocks.rows(members)
        state = {} if f is None else {"products": f[members]}
        solver = make_smo(
            vectors, self.y[members], self.weights[members], self.settings,
            mass=getattr(self.problem, "mass", None), initial=Solution(beta[members], state=state),
        )  # fmt: skip
        set_tolerance(solver, self._inner)
        # Together, and last: Ctrl-C may come before.
        self.members, self.vectors, self._solver = members, vectors, solver


def _largest(values, above):
    """Return the indices of the largest values that are above some number, at most MOST_JOINING."""
    found = np.flatnonzero(values > above)
    return found[np.argsort(-values[found], kind="stable")[:MOST_JOINING]]
