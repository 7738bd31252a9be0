"""The kernel SVM on more rows than one kernel matrix: a cascade of working sets, certified on all rows.

Parts of the rows are solved separately, on the workers that hold them. The union of their support vectors is the first
working set. SMO solves it, and its function is evaluated on all rows; the rows that violate the optimality conditions
most are added to its support vectors, until no row violates them (Graf, Cosatto, Bottou, Durdanovic, Vapnik, NIPS 2004;
Joachims 1999).
"""

import numpy as np

from kernbench.kernels import blocks as kernel_blocks
from kernbench.kernels._rows import KernelRows
from kernbench.problems.intercept import best_intercept
from kernbench.solvers.base import Solution
from kernbench.solvers.kernel.smo._smo import SMO

PART_ROWS = 16_384  # of a part, at most, if there are not fewer than FEWEST_PARTS
FEWEST_PARTS = 4
MOST_JOINING = 4096  # rows of a part in one round
FEW = 256  # rows of a part of one class
PART_TOL = 1e-2  # violation at which a part is left
INNER = 0.5  # fraction of `tol`, for the last working set
LOOSE = 0.1  # fraction of the violation over the tested rows, for intermediate working sets
# Rows whose y f exceeds 1 by less than so many times the largest violation
NEAR = 3.0  # ... are tested in the next round, the others once these satisfy the conditions
JOIN = 0.5  # ... belong to the next working set
WIDEST = 0.3  # but not by more than this


def parts_of(n_rows):
    """Return the bounds of the parts of the rows, which depend only on the number of rows."""
    n_parts = min(max(FEWEST_PARTS, -(-n_rows // PART_ROWS)), n_rows)
    return n_rows * np.arange(n_parts + 1) // n_parts


def solve_part(X, maps, y, weights, settings):
    """Solve the problem of some rows.

    Parameters
    ----------
    X : ndarray or CSR matrix
    maps : list of callable
        Applied to X one after the other.
    y, weights : ndarray of shape (n,)
    settings : dict
        ``kernel``, ``dtype``, ``C``, ``fit_intercept``, ``cache_bytes``.

    Returns
    -------
    support : ndarray of intp
        Indices of the support vectors.
    coef : ndarray
        Their coefficients; None if the rows are of one class (then some rows are returned).
    """
    used = np.flatnonzero(weights > 0)
    y = y[used]
    if len(np.unique(y)) < 2:
        return used[:: max(1, len(used) // FEW)][:FEW], None
    X = X[used]
    for function in maps:
        X = function(X)
    solver = make_smo(X, y, weights[used], settings, tol=PART_TOL)
    solver.rough = True
    while not solver.converged and solver.advance(10_000):
        pass
    beta = solver.solution().coef
    support = np.flatnonzero(beta)
    return used[support], beta[support]


def make_smo(X, y, weights, settings, *, tol, initial=None):
    """Return an SMO solver for some rows, with the C of the whole problem."""
    rows = KernelRows(X, settings["kernel"], cache_bytes=settings["cache_bytes"], dtype=np.dtype(settings["dtype"]))
    return SMO(
        rows, y, alpha=1.0 / (settings["C"] * len(y)), weights=weights, fit_intercept=settings["fit_intercept"],
        tol=tol, initial=initial,
    )  # fmt: skip


class Outputs:
    """Values of a kernel expansion at some rows, computed where these are held; `chosen` is a mask of all rows."""

    def __init__(self, settings, vectors, coef, chosen):
        self.kernel, self.dtype = settings["kernel"], settings["dtype"]
        self.vectors, self.coef, self.chosen = vectors, coef, chosen

    def __call__(self, X, start):
        rows = np.flatnonzero(self.chosen[start : start + X.shape[0]])
        if len(rows) == 0:
            return rows, np.empty(0)
        X = X if len(rows) == X.shape[0] else X[rows]
        return start + rows, kernel_blocks.matmul(self.kernel, X, self.vectors, self.coef, dtype=self.dtype)


class Cascade:
    """Working sets of rows in blocks, for alpha times ½‖f‖² + C sum_i w_i max(0, 1 - y_i (f(x_i) + b)).

    An iteration is a step of SMO on the working set; after its last one, the optimality conditions of the rows near the
    margin are tested and, once these satisfy them, those of all rows. The largest violation over all of them is at most
    `tol` when it has converged.

    Parameters
    ----------
    blocks : RowBlocks
    y : ndarray of shape (n_rows,)
        -1 and +1.
    weights : ndarray of shape (n_rows,)
        Rows of weight 0 are ignored.
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

    granularity, first_check = 1, None

    def __init__(self, blocks, y, weights, settings, *, tol, found):
        self.blocks, self.y, self.weights, self.settings, self.tol = blocks, y, weights, settings, tol
        self.used = weights > 0
        self.n_used = int(np.count_nonzero(self.used))
        self.alpha = 1.0 / (settings["C"] * self.n_used)
        self.n_iter = self.n_rounds = self._n_evaluations = 0
        self.converged, self._is_stuck, self.violation = False, False, np.inf
        self._f, self._known, self._known_at, self._best = (np.zeros(len(y)), np.zeros(len(y), dtype=bool), -1, None)
        self._inner = max(PART_TOL, INNER * tol)
        self._near = self.used
        beta = np.zeros(len(y))
        for rows, coef in found:
            if coef is not None:
                beta[rows] = coef / len(found)
        self._begin(np.sort(np.concatenate([rows for rows, _ in found])), beta)

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
        intercept = self._best[1] if known else solution.intercept
        return Solution(self._beta(), intercept, self.n_iter)

    def dual_objective(self):
        """Return the dual objective, which is that of all rows, since the others have coefficients 0."""
        return self._solver.dual_objective() * len(self.members) / self.n_used

    def objective(self):
        """Return the objective over all rows."""
        f, b = self._outputs()
        loss = self.weights @ np.maximum(0.0, 1.0 - self.y * (f + b))
        return float(0.5 * self.alpha * self._squared_norm(f) + loss / self.n_used)

    def gap(self):
        """Return the objective minus the dual objective, over all rows."""
        f, _ = self._outputs()
        beta = self._solver.solution().coef
        dual = self.alpha * (np.abs(beta).sum() - 0.5 * self._squared_norm(f))
        return float(self.objective() - dual)

    def _squared_norm(self, f):
        return float(self._solver.solution().coef @ f[self.members])

    def _beta(self):
        beta = np.zeros(len(self.y))
        beta[self.members] = self._solver.solution().coef
        return beta

    def _outputs(self):
        """Return f of all rows, and the best intercept."""
        f = self._evaluated(self.used)
        if self._best is None or self._best[0] != self.n_iter:
            b = best_intercept(f, self.y, self.weights) if self.settings["fit_intercept"] else 0.0
            self._best = self.n_iter, b
        return f, self._best[1]

    def _evaluated(self, chosen):
        """Return f, up to date at the rows of a mask."""
        if self._known_at != self.n_iter:
            self._known[:], self._known_at = False, self.n_iter
        missing = chosen & ~self._known
        if missing.any():
            beta = self._solver.solution().coef
            support = np.flatnonzero(beta)
            function = Outputs(self.settings, self.vectors[support], beta[support], missing)
            for rows, values in self.blocks.map(function):
                self._f[rows] = values
            self._known |= missing
            self._n_evaluations += np.count_nonzero(missing) * len(support)
        return self._f

    def _round(self, steps):
        """Test rows after some steps; those that violate the conditions, and some near it, join the support vectors."""
        self.n_rounds += 1
        beta, tested = self._beta(), self._near
        while True:
            f = self._evaluated(tested)
            self.violation, b = self._conditions(f, beta, tested)
            short = np.where(tested, 1.0 - self.y * (f + b), -np.inf)
            conforms, outside = self.violation <= self.tol, short > self._inner
            outside[self.members] = False
            if not conforms and (outside.any() or self._inner > INNER * self.tol):
                break
            if tested is self.used:  # unless it has converged, rounding prevents SMO from converging
                self.converged, self._is_stuck = conforms, not conforms
                return
            tested = self.used
        self._near = (short > -min(NEAR * self.violation, WIDEST)) | (beta != 0)
        last, before = (self._inner if outside.any() else LOOSE * self._inner), (self._inner, self.members)
        self._inner = max(INNER * self.tol, min(LOOSE * self.violation, last))
        short[beta != 0] = -np.inf  # these stay; those at their bound would crowd others out
        above, edges = -min(JOIN * self.violation, WIDEST), parts_of(len(self.y))
        joining = [a + _largest(short[a:b], above) for a, b in zip(edges[:-1], edges[1:])]
        members = np.union1d(np.flatnonzero(beta), np.concatenate(joining))
        self._is_stuck = not steps and self._inner == before[0] and np.array_equal(members, before[1])
        if not self._is_stuck:
            self._near[members] = True
            self._n_evaluations += self._solver.n_kernel_evaluations
            self._begin(members, beta, f)

    def _conditions(self, f, beta, tested):
        """Return the largest violation over some rows, and the intercept in the middle."""
        e, box = self.y - f, self.settings["C"] * self.weights
        size = np.abs(beta)
        inside, off_zero = (size < box * (1 - 1e-12)), size > 0
        up = np.where(self.y > 0, inside, off_zero) & tested
        low = np.where(self.y > 0, off_zero, inside) & tested
        highest, lowest = e[up].max(initial=-np.inf), e[low].min(initial=np.inf)
        if not self.settings["fit_intercept"]:
            return max(highest, -lowest, 0.0), 0.0
        return max(highest - lowest, 0.0), 0.5 * (highest + lowest)

    def _begin(self, members, beta, f=None):
        """Begin with a working set, its coefficients and, if known, f of its rows."""
        self.members, self.vectors = members, self.blocks.rows(members)
        state = {} if f is None else {"products": f[members]}
        self._solver = make_smo(
            self.vectors, self.y[members], self.weights[members], self.settings, tol=self._inner,
            initial=Solution(beta[members], state=state),
        )  # fmt: skip


def _largest(values, above):
    """Return the indices of the largest values that are above some number, at most MOST_JOINING."""
    found = np.flatnonzero(values > above)
    return found[np.argsort(-values[found], kind="stable")[:MOST_JOINING]]
