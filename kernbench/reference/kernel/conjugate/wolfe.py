"""Wolfe's method of conjugate subgradients on all rows.

P. Wolfe, "A method of conjugate subgradients for minimizing nondifferentiable functions", Math. Prog. Study 3
(1975).
"""

import numpy as np

from kernbench.losses.margin import margin_loss
from kernbench.problems.kernel.conjugate import certified_gap, check_wolfe, smallest_norm
from kernbench.problems.margin_problem import MarginProblem, require_state
from kernbench.reference.bundle.simplex_qp import simplex_qp
from kernbench.reference.kernel.conjugate.hinge_line import Line, active_part, exact_search, wolfe_search
from kernbench.solvers.base import Solution


class Wolfe:
    """Conjugate subgradients for alpha/2 ||f||^2 + (1/n) sum_i w_i hinge(y_i (f(x_i) + b)).

    The direction is minus the shortest vector in the convex hull of the last direction (with its sign
    changed) and the newest subgradients; when it is short, the method restarts from the subgradient, and ends if that
    is short too.

    Parameters
    ----------
    rows : KernelRows
    y : array-like of shape (n,)
        -1 and +1.
    alpha : float
    weights : array-like of shape (n,), optional
    fit_intercept : bool, default=True
        b is the exact minimiser at every point of a search.
    loss : {"hinge"}, default="hinge"
    random_state : None, int, RandomState or Generator
        Not used: nothing is drawn.
    initial : Solution, optional
        Continue from a solution of this method, or from other coefficients. Only the direction of a bundle is kept.
    geometry : {"rkhs", "euclidean"}, default="rkhs"
        Inner product of directions: that of the kernel's space, or that of coefficients, which needs a product with the
        whole kernel matrix in each iteration.
    line_search : {"exact", "bracket"}, default="exact"
        The minimiser along the direction, or a point with enough decrease and a flat slope.
    bundle_size : int, default=2
        Vectors whose hull is searched: minus the last direction, and ``bundle_size - 1`` subgradients.
    eps : float, default=1e-6
        Length of the direction that ends the run.
    c1, c2 : float, default=0.25, 0.4
        Decrease and flatness that the bracket search requires.
    """

    losses = ("hinge",)
    granularity = 1
    first_check = 20

    def __init__(
        self,
        rows,
        y,
        *,
        alpha,
        weights=None,
        fit_intercept=True,
        loss="hinge",
        random_state=None,
        initial=None,
        geometry="rkhs",
        line_search="exact",
        bundle_size=2,
        eps=1e-6,
        c1=0.25,
        c2=0.4,
    ):
        margin_loss(loss, offered=self.losses)
        check_wolfe(alpha=alpha, geometry=geometry, line_search=line_search, bundle_size=bundle_size, eps=eps, c1=c1,
                    c2=c2)  # fmt: skip
        problem = MarginProblem(rows, y, alpha=alpha, weights=weights, fit_intercept=fit_intercept)
        self.problem, self._rows = problem, rows
        self._K = rows.batch(np.arange(problem.n)).astype(np.float64)
        self._geometry, self._line_search, self._size = geometry, line_search, bundle_size
        self._eps, self._c1, self._c2 = eps, c1, c2
        self.n_iter, self.n_null, self.converged, self._reset = 0, 0, False, True
        self._coef, self._direction, self._part = (np.zeros(problem.n), np.zeros(problem.n), np.zeros(problem.n))
        self._bundle = []  # newest last: (subgradient, its active part)
        self._bound = 0.0  # the best lower bound on the optimum so far
        if initial is not None:
            self._start_from(initial)

    @property
    def n_kernel_evaluations(self):
        return self._rows.n_evaluations

    n_inner_products = n_kernel_evaluations

    def advance(self, n_iter):
        """Do `n_iter` iterations, or fewer if the stopping rule holds; return how many were done."""
        for done in range(n_iter):
            if self.converged:
                return done
            self._iterate()
        return n_iter

    def _iterate(self):
        g, active = self._subgradient()
        if self._reset:
            self._direction, self._part, self._bundle = -g, active, []
        self._bundle = [*self._bundle, (g, active)][-(self._size - 1) :]
        self._shorten()
        length = np.sqrt(max(self._inner(self._direction, self._direction), 0.0))
        self.n_iter += 1
        if length <= self._eps:
            self.converged = bool(self._reset or np.sqrt(max(self._inner(g, g), 0.0)) <= self._eps)
            self._reset = True
            return
        self._reset = False
        line = self._line()
        if self._line_search == "exact":
            t = exact_search(line)
        else:
            t = wolfe_search(line, length, self._c1, self._c2) or 0.0
        self._coef = self._coef + t * self._direction
        self.n_null += t == 0.0

    def _subgradient(self):
        """The subgradient ahead of the current point, which after a null step adds new information."""
        problem, u = self.problem, self._K @ self._coef
        active = active_part(problem.y, problem.weights, u, problem.best_intercept(u), problem.fit_intercept,
                             self._K @ self._direction)  # fmt: skip
        c = problem.alpha * self._coef - problem.y * problem.weights * active / problem.n
        return (c if self._geometry == "rkhs" else self._K @ c), active

    def _shorten(self):
        """Set the direction to minus the shortest vector in the convex hull of the bundle."""
        vectors = [-self._direction] + [g for g, _ in self._bundle]
        gram = np.array([[self._inner(a, b) for b in vectors] for a in vectors])
        if len(vectors) == 2:
            share = smallest_norm(gram[0, 0], gram[1, 1], gram[0, 1])
            shares = np.array([share, 1.0 - share])
        else:
            shares = simplex_qp(gram, np.zeros(len(vectors)), np.zeros(len(vectors)))
        self._direction = -sum(share * vector for share, vector in zip(shares, vectors))
        self._part = shares[0] * self._part + sum(s * active for s, (_, active) in zip(shares[1:], self._bundle))

    def _inner(self, a, b):
        return float(a @ (self._K @ b) if self._geometry == "rkhs" else a @ b)

    def _line(self):
        problem, d = self.problem, self._direction
        u, v = self._K @ self._coef, self._K @ d
        q = self._coef @ u, d @ u, d @ v
        return Line(problem.y, problem.weights, problem.alpha, 1.0, problem.fit_intercept, u, v, q)

    # --- what it found
    # ------------------------------------------------------------------------------------------

    def check(self, tol):
        """Set `converged` to whether the certified gap is at most `tol` times the objective, and return it."""
        self.converged = bool(self.gap() <= tol * max(self.objective(), np.finfo(float).tiny))
        return self.converged

    def objective(self):
        """The objective as of now."""
        responses = self._K @ self._coef
        return self.problem.objective(responses, self._coef @ responses, self.problem.best_intercept(responses))

    def gap(self):
        """`objective` minus a lower bound on the optimum."""
        problem = self.problem
        averaged = problem.y * problem.weights * self._part / (problem.alpha * problem.n)
        gap = certified_gap(lambda a: self._K @ a, problem.y, problem.weights, problem.alpha, problem.fit_intercept,
                            self.objective(), [self._coef, averaged])  # fmt: skip
        self._bound = max(self._bound, self.objective() - gap)
        return gap

    def known_gap(self):
        """`objective` minus the best lower bound that `gap` has found so far, 0 before."""
        return max(0.0, self.objective() - self._bound)

    def solution(self):
        """Coefficients and their best intercept."""
        state = {
            "direction": self._direction.copy(),
            "part": self._part.copy(),
            "reset": np.array([float(self._reset)]),
        }
        intercept = self.problem.best_intercept(self._K @ self._coef)
        return Solution(self._coef.copy(), intercept, self.n_iter, state)

    def _start_from(self, initial):
        state = require_state(initial, self.problem.n, ["direction", "part", "reset"])
        self.n_iter, self._coef = initial.n_iter, np.array(initial.coef, dtype=np.float64)
        if state is not None:
            self._direction, self._part, self._reset = (state["direction"], state["part"], bool(state["reset"].item()))
