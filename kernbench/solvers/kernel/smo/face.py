"""Newton steps on the free coefficients of a dual problem, which end a run of SMO with a large C.

Given which coefficients are free, the solution is that of linear equations, at a large C many and ill-conditioned ones:
after the pair steps that find nearly all free coefficients, several times as many are needed for the last digits. A
Cholesky factor of the kernel between them, K = L L', costs as much as some thousand pair steps, and the primal
active-set method (Nocedal and Wright 2006, section 16.5) on it ends after a few rounds:

    free the coefficients that should leave their bound, by the gradient of all; they border the factor
    step to the solution for the free ones; where some reach a bound on the way, fix these and correct the rest

In the variables u = L' d a step d has the objective r'd - 1/2 d'K d = (L^-1 r)'u - 1/2 |u|^2, and a constraint
a'd = 0, on the sum or on a coefficient that is fixed, is orthogonality to L^-1 a. So steps are projections.
"""

import numpy as np
from scipy.linalg import LinAlgError, blas, lapack, solve_triangular

# Added to the diagonal, as a share of its largest entry: rows may be equal, and rounding of 3,000 x 3,000 kernel values
# in float32 shifts eigenvalues by 4e-6. Steps are the less exact for it, and the next ones correct them.
RIDGE = 1e-5
BATCH_SHARE = 1 / 48  # bounds that one step may reach, as a share of the members; many more, and steps descend


class Face:
    """The free coefficients of a problem without ridge and kink, whose coefficients keep their sum.

    Parameters
    ----------
    state : State
        Its coefficients change; the caller updates its gradient.
    slack : float
        Coefficients at a bound that violate the conditions by less are not freed.

    Attributes
    ----------
    members : ndarray of intp, shape (m,)
        Coordinates that are free, or were.
    n_hits : int
        Bounds reached so far.
    failed : bool
        Whether the kernel between the members is not positive definite up to rounding, or all reached a bound.
    """

    def __init__(self, state, slack):
        self.state, self.slack, self.n_hits, self.failed = state, slack, 0, False
        self.members = np.empty(0, dtype=np.intp)
        self._fixed = self.members  # positions of those that have reached a bound

    def free_violators(self, rows, kernel_between):
        """Free the coefficients that should leave their bound; `kernel_between` is that of the core of `joint`."""
        state, level = self.state, self.state.intercept()
        is_free = state.free()
        is_free |= (state.beta < state.upper) & (state.e > level + self.slack)
        is_free |= (state.beta > state.lower) & (state.e < level - self.slack)
        remain = ~is_free[self.members[self._fixed]]
        is_free[self.members] = False
        added = np.flatnonzero(is_free)
        try:
            if len(self.members) == 0:
                self._factorise(rows, added, kernel_between)
                self._constraints = self._forward(np.ones((len(added), 1), order="F"))
            else:
                self._fixed = self._fixed[remain]
                self._constraints = self._constraints[:, np.concatenate([[True], remain])]
                if len(added):
                    self._border(rows, added)
        except LinAlgError:
            self.failed = True
        self.members = np.concatenate([self.members, added])

    def ascend(self):
        """Step to the best point for the free members, by way of the bounds that they reach."""
        state, members = self.state, self.members
        start, lower, upper = state.beta[members], state.lower[members], state.upper[members]
        try:
            beta = _rounded(self._best_point(start, lower, upper), start, state.least_change[members], lower, upper)
        except LinAlgError:
            self.failed = True
        else:
            state.beta[members] = beta

    def _best_point(self, start, lower, upper):
        moves = np.ones(len(start), dtype=bool)
        moves[self._fixed] = False
        self._basis = np.empty((len(start), 0))
        self._extend_basis(self._constraints)
        u = self._forward(self.state.e[self.members])
        now, target = start, start + self._backward(u - self._basis @ (self._basis.T @ u))
        while True:
            step = np.where(moves, target - now, 0.0)
            length, hit = _next_bounds(now, step, lower, upper)
            now = np.clip(now + length * step, lower, upper)
            if not len(hit):
                return now
            now[hit] = np.where(step[hit] > 0.0, upper[hit], lower[hit])
            moves[hit] = False
            self.n_hits += len(hit)
            target = target - self._fix(hit, target[hit] - now[hit])

    def _fix(self, hit, excess):
        """Fix members whose target exceeds their bound; return how the target of all moves back."""
        units = np.zeros((len(self.members), len(hit)), order="F")
        units[hit, np.arange(len(hit))] = 1.0
        vectors = self._forward(units)
        self._fixed = np.concatenate([self._fixed, hit])
        self._constraints = np.concatenate([self._constraints, vectors], axis=1)
        basis, triangle = self._extend_basis(vectors)
        return self._backward(basis @ solve_triangular(triangle, excess, lower=True, check_finite=False))

    def _extend_basis(self, vectors):
        """Append to the orthonormal basis of the constraints; return what is appended, and its triangular factor."""
        vectors = vectors - self._basis @ (self._basis.T @ vectors)
        triangle = _cholesky(vectors.T @ vectors)
        added = solve_triangular(triangle, vectors.T, lower=True, check_finite=False).T
        self._basis = np.concatenate([self._basis, added], axis=1)
        return added, triangle

    # --- the factor, [[first, 0], [border, corner]] ------------------------------------------------------------------

    def _factorise(self, rows, members, kernel_between):
        m = len(members)
        matrix = kernel_between(rows, members)[:, :m].astype(np.float64).T  # symmetric, in Fortran order
        self._ridge = RIDGE * float(matrix.diagonal().max())
        matrix[np.diag_indices(m)] += self._ridge
        self._first = _cholesky(matrix, overwrite=True)
        self._border_rows, self._corner = np.empty((0, m)), np.empty((0, 0))

    def _border(self, rows, added):
        m, before = len(self._first), len(self._corner)
        inner = self._forward(np.asfortranarray(rows.block(self.members, added), dtype=np.float64))
        block = np.array(rows.block(added, added), dtype=np.float64)
        block[np.diag_indices(len(added))] += self._ridge
        own = _cholesky(block - inner.T @ inner)
        corner = np.zeros((before + len(added), before + len(added)))
        corner[:before, :before], corner[before:, :before], corner[before:, before:] = self._corner, inner[m:].T, own
        self._border_rows, self._corner = np.concatenate([self._border_rows, inner[:m].T]), corner
        rest = -inner.T @ self._constraints
        rest[:, 0] += 1.0  # the sum is that of the added ones, too
        rest = solve_triangular(own, rest, lower=True, check_finite=False)
        self._constraints = np.concatenate([self._constraints, rest])

    def _forward(self, right):
        """Return L^-1 times a vector, or times a matrix in Fortran order."""
        m = len(self._first)
        first = _solve(self._first, right[:m])
        if not len(self._corner):
            return first
        rest = right[m:] - self._border_rows @ first
        return np.concatenate([first, solve_triangular(self._corner, rest, lower=True, check_finite=False)])

    def _backward(self, u):
        """Return L'^-1 u."""
        m = len(self._first)
        if not len(self._corner):
            return _solve(self._first, u, trans=True)
        rest = solve_triangular(self._corner, u[m:], lower=True, trans=1, check_finite=False)
        return np.concatenate([_solve(self._first, u[:m] - rest @ self._border_rows, trans=True), rest])


def _next_bounds(now, step, lower, upper):
    """Return the share of a step up to the last bound of a batch, at most 1, and the positions that reach a bound."""
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.where(step > 0.0, upper - now, now - lower) / np.abs(step)
    room[step == 0.0] = np.inf
    last = max(1, int(BATCH_SHARE * len(room))) - 1
    length = min(1.0, float(np.partition(room, last)[last]))
    return length, np.flatnonzero(room < 1.0 if length == 1.0 else room <= length)


def _rounded(beta, start, reach, lower, upper):
    """Return coefficients at a bound where they differ from it by rounding, with the sum of `start`.

    Raises
    ------
    LinAlgError
        Where no free coefficient can take what the sum is off.
    """
    beta = np.where(beta - lower <= reach, lower, beta)
    beta = np.where(upper - beta <= reach, upper, beta)
    room, excess = np.minimum(beta - lower, upper - beta), beta.sum() - start.sum()
    widest = room.argmax()
    if not room[widest] > abs(excess):
        raise LinAlgError("the sum of the coefficients is lost by rounding")
    beta[widest] -= excess
    return beta


def _cholesky(matrix, *, overwrite=False):
    """Return the lower triangular factor; where the matrix is overwritten, its upper triangle stays."""
    factor, failed = lapack.dpotrf(matrix, lower=1, clean=not overwrite, overwrite_a=overwrite)
    if failed:
        raise LinAlgError("the matrix is not positive definite up to rounding")
    return factor


def _solve(factor, right, *, trans=False):
    """Return factor^-1 right, or factor'^-1 right."""
    if right.ndim == 1:
        return blas.dtrsv(factor, right, lower=1, trans=trans)
    return blas.dtrsm(1.0, factor, right, lower=1, trans_a=trans)
