"""The kernel SVM on more rows than one kernel matrix: a cascade of working sets, certified on all rows.

Parts of the rows are solved by themselves, where they lie. The union of their support vectors is the first working
set: SMO solves it, its function is evaluated on all rows, and those that violate the optimality conditions most join
its support vectors, until none does (Graf, Cosatto, Bottou, Durdanovic, Vapnik, NIPS 2004; Joachims 1999).
"""

import numpy as np

from kernbench.kernels import blocks as kernel_blocks
from kernbench.kernels._rows import KernelRows
from kernbench.problems.intercept import best_intercept
from kernbench.solvers.base import Solution
from kernbench.solvers.kernel.smo._smo import SMO

PART_ROWS = 16_384  # of a part, at most, if there are not fewer than FEWEST_PARTS
FEWEST_PARTS = 4
MOST_JOINING = 4096  # violators of a part in one round
FEW = 256  # rows of a part of one class
PART_TOL = 1e-2  # violation at which a part is left
INNER = 0.5  # of `tol`, for the working set


def parts_of(n_rows):
    """Return the bounds of the parts of the rows: a function of their number alone."""
    n_parts = min(max(FEWEST_PARTS, -(-n_rows // PART_ROWS)), n_rows)
    return n_rows * np.arange(n_parts + 1) // n_parts


def solve_part(X, maps, y, weights, settings):
    """Return the indices of the support vectors of some rows, and their coefficients.

    Parameters
    ----------
    X : ndarray or CSR matrix
    maps : list of callable
        Applied to X one after the other.
    y, weights : ndarray of shape (n,)
    settings : dict
        ``kernel``, ``dtype``, ``C``, ``fit_intercept``, ``cache_bytes``.
    """
    used = weights > 0
    if len(np.unique(y[used])) < 2:
        few = np.flatnonzero(used)
        return few[:: max(1, len(few) // FEW)][:FEW], None
    for function in maps:
        X = function(X)
    solver = make_smo(X, y, weights, settings, tol=PART_TOL)
    while not solver.converged and solver.advance(10_000):
        pass
    beta = solver.solution().coef
    support = np.flatnonzero(beta)
    return support, beta[support]


def make_smo(X, y, weights, settings, *, tol, initial=None):
    """Return the SMO of some rows with the C of all."""
    rows = KernelRows(
        X, settings["kernel"], cache_bytes=settings["cache_bytes"], dtype=np.dtype(settings["dtype"])
    )
    return SMO(
        rows, y, alpha=1.0 / (settings["C"] * len(y)), weights=weights, fit_intercept=settings["fit_intercept"],
        tol=tol, initial=initial,
    )  # fmt: skip


class Outputs:
    """The function of a kernel expansion, for rows where they lie."""

    def __init__(self, kernel, dtype, vectors, coef):
        self.kernel, self.dtype, self.vectors, self.coef = kernel, dtype, vectors, coef

    def __call__(self, X, start):
        return start, kernel_blocks.matmul(self.kernel, X, self.vectors, self.coef, dtype=self.dtype)


class Cascade:
    """Working sets of rows in blocks, for alpha times ½‖f‖² + C sum_i w_i max(0, 1 - y_i (f(x_i) + b)).

    An iteration is a step of SMO on the working set; after its last one, the optimality conditions of all rows are
    tested. The largest violation over all of them, not only the working set, is at most `tol` when it has converged.

    Parameters
    ----------
    blocks : RowBlocks
    y : ndarray of shape (n_rows,)
        -1 and +1.
    weights : ndarray of shape (n_rows,)
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
        Tests of all rows.
    violation : float
        The largest, at the last of them.
    """

    granularity, first_check = 1, None

    def __init__(self, blocks, y, weights, settings, *, tol, found):
        self.blocks, self.y, self.weights, self.settings, self.tol = blocks, y, weights, settings, tol
        self.n_used = int(np.count_nonzero(weights))  # rows of weight 0 do not count, as elsewhere
        self.alpha = 1.0 / (settings["C"] * self.n_used)
        self.n_iter = self.n_rounds = self._n_evaluations = 0
        self.converged, self._is_stuck, self.violation, self._tested = False, False, np.inf, None
        members = np.concatenate([rows for rows, _ in found])
        beta = np.concatenate(
            [np.zeros(len(rows)) if coef is None else coef / len(found) for rows, coef in found]
        )
        order = np.argsort(members)
        self._begin(members[order], beta[order])

    @property
    def n_kernel_evaluations(self):
        """Kernel values of working sets and of outputs; those of the parts are not counted."""
        return self._n_evaluations + self._solver.n_kernel_evaluations

    def advance(self, n_iter):
        """Do up to `n_iter` steps; return how many were done."""
        done = 0
        while done < n_iter and not (self.converged or self._is_stuck):
            steps = 0 if self._solver.converged else self._solver.advance(n_iter - done)
            done += steps
            self.n_iter += steps
            if self._solver.converged or steps == 0:
                self._round()
        return done

    def check(self, tol):
        """Return whether no row violates the optimality conditions by more than `tol`."""
        return self.converged

    def solution(self):
        """Return the coefficients of the working set."""
        solution = self._solver.solution()
        known = self._tested is not None and self._tested[0] == self.n_iter
        return Solution(solution.coef, self._tested[2] if known else solution.intercept, self.n_iter)

    def dual_objective(self):
        """Return the dual objective, which is that of all rows, since the others have coefficients 0."""
        return self._solver.dual_objective() * len(self.members) / self.n_used

    def objective(self):
        """Return the objective over all rows."""
        _, f, b = self._outputs()
        loss = self.weights @ np.maximum(0.0, 1.0 - self.y * (f + b))
        return float(0.5 * self.alpha * self._squared_norm(f) + loss / self.n_used)

    def gap(self):
        """Return the objective minus the dual objective, over all rows."""
        _, f, _ = self._outputs()
        beta = self._solver.solution().coef
        dual = self.alpha * (np.abs(beta).sum() - 0.5 * self._squared_norm(f))
        return float(self.objective() - dual)

    def _squared_norm(self, f):
        return float(self._solver.solution().coef @ f[self.members])

    def _outputs(self):
        """Return the iteration, f of all rows there, and the best intercept."""
        if self._tested is None or self._tested[0] != self.n_iter:
            beta = self._solver.solution().coef
            support = np.flatnonzero(beta)
            function = Outputs(
                self.settings["kernel"], self.settings["dtype"], self.vectors[support], beta[support]
            )
            f = np.empty(len(self.y))
            for start, values in self.blocks.map(function):
                f[start : start + len(values)] = values
            self._n_evaluations += len(f) * len(support)
            b = best_intercept(f, self.y, self.weights) if self.settings["fit_intercept"] else 0.0
            self._tested = self.n_iter, f, b
        return self._tested

    def _round(self):
        """Test all rows; those that violate the conditions join the support vectors."""
        self.n_rounds += 1
        self._tested = None
        _, f, _ = self._outputs()
        beta = np.zeros(len(self.y))
        beta[self.members] = self._solver.solution().coef
        self.violation, b = self._conditions(f, beta)
        outside = self.weights > 0
        outside[self.members] = False
        short = np.where(outside, 1.0 - self.y * (f + b), -np.inf)
        edges = parts_of(len(self.y))
        joining = [a + _largest(short[a:b], 0.5 * self.tol) for a, b in zip(edges[:-1], edges[1:])]
        joining = np.concatenate(joining)
        self.converged = self.violation <= self.tol
        self._is_stuck = len(joining) == 0  # unless it has converged, rounding keeps SMO from it
        if self.converged or self._is_stuck:
            return
        self._n_evaluations += self._solver.n_kernel_evaluations
        members = np.union1d(np.flatnonzero(beta), joining)
        self._begin(members, beta[members])

    def _conditions(self, f, beta):
        """Return the largest violation over all rows, and the intercept in the middle."""
        e, box = self.y - f, self.settings["C"] * self.weights
        size = np.abs(beta)
        inside, off_zero = (size < box * (1 - 1e-12)), size > 0
        up = np.where(self.y > 0, inside, off_zero) & (box > 0)
        low = np.where(self.y > 0, off_zero, inside) & (box > 0)
        highest, lowest = e[up].max(initial=-np.inf), e[low].min(initial=np.inf)
        if not self.settings["fit_intercept"]:
            return max(highest, -lowest, 0.0), 0.0
        return max(highest - lowest, 0.0), 0.5 * (highest + lowest)

    def _begin(self, members, beta):
        self.members, self.vectors = members, self.blocks.rows(members)
        self._solver = make_smo(
            self.vectors, self.y[members], self.weights[members], self.settings, tol=INNER * self.tol,
            initial=Solution(beta),
        )  # fmt: skip


def _largest(values, above):
    """Return the indices of the largest values that are above some number, at most MOST_JOINING."""
    found = np.flatnonzero(values > above)
    return found[np.argsort(-values[found], kind="stable")[:MOST_JOINING]]
