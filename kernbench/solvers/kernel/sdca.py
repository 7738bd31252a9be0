"""Stochastic dual coordinate ascent, with kernel rows: one coordinate a step, or two where there is an intercept.

Hsieh et al., ICML 2008; Shalev-Shwartz and Zhang, JMLR 14 (2013). With f = 1/(alpha n) sum_i w_i y_i a_i
k(x_i, .) and psi the loss's dual (`losses.margin`), the dual

    maximise  D(a) = (1/n) sum_i w_i psi(a_i) - alpha/2 ||f||^2

(in a regression z_i = f(x_i) - t_i takes the place of the margin, see `losses.regression`)
is maximised by setting one a_i at a time to its best value, which costs one row of the kernel matrix if a_i changes.

With an intercept D has the constraint sum_i w_i y_i a_i = 0, which steps of single coordinates violate. So pairs move:
a batch of examples is drawn, and each of them in turn exchanges signed mass w_i y_i a_i with the example of the batch
that promises the largest gain. Each such step maximises D over a segment of the feasible set, so D never decreases;
random permutations put every two examples into one batch with positive probability in every epoch, and a feasible point
at which no pair can increase D is optimal (the conditions of optimality compare two examples at a time: y_i psi'(a_i) -
f(x_i) of one that can grow with that of one that can shrink). So the iterates approach the optimum that SMO finds. And
since they are feasible, D is a lower bound of the optimum at any time, and the gap costs no kernel value.

With a `batch_size` the coordinates of a batch move together, all from the same f. Their best single steps do not add
up: the curvature w_i k(x_i, x_i) of a step is replaced by the row sum sum_j w_j |k(x_i, x_j)| over the batch. The
diagonal matrix of these sums dominates the batch's block of the quadratic form, so D never decreases. Takac, Bijral,
Richtarik, Srebro, ICML 2013, enlarge all curvatures by one factor instead, which is safe in expectation and needs the
norm of the whole kernel matrix.
"""

import numpy as np

from kernbench.losses.regression import EXAMPLE_LOSSES, ResidualLoss
from kernbench.problems.draws import PASSES, as_generator, draw_indices
from kernbench.problems.margin_problem import MarginProblem, require_state
from kernbench.solvers.base import Solution
from kernbench.solvers.method import Method
from kernbench.validation.numbers import check_flag, check_name, check_number

BATCH = 256  # examples drawn together; pairs are found among them
SAME = 1e-9  # relative change of coefficients, to make them feasible, that counts as rounding


class SDCA(Method):
    """Kernel SVM by stochastic dual coordinate ascent, for alpha/2 ||f||^2 + (1/n) sum_i w_i l(y_i (f(x_i) + b)).

    Parameters
    ----------
    rows, y, alpha, weights : see `MarginProblem`
    fit_intercept : bool, default=True
        Move pairs, which keep the constraint an intercept brings; False moves single coordinates.
    loss : str or ResidualLoss, default="hinge"
        One of `losses`.
    random_state : None, int, RandomState or Generator
    initial : Solution, optional
        Continue an SDCA solution exactly, or use other coefficients as a warm start, clipped to the domain.
    order : {"permutation", "uniform"}, default="permutation"
        Whether an epoch visits every example once, in random order, or as many drawn with replacement.
    shrinking : bool, default=True
        Visit only examples that are not at a bound and pushed against it when the epoch begins. Their responses are
        updated, so no example is left out for longer than an epoch.
    batch_size : int, default=1
        Examples whose coordinates move together; more than one need ``fit_intercept=False``. An iteration is a visit of
        one example.
    core : {"compiled", "reference"}, default="compiled"

    References
    ----------
    Hsieh, Chang, Lin, Keerthi, Sundararajan, ICML 2008; Shalev-Shwartz and Zhang, JMLR 14 (2013); batches: Takac,
    Bijral, Richtarik, Srebro, ICML 2013.
    """

    losses = EXAMPLE_LOSSES
    granularity = BATCH

    def __init__(self, rows, y, *, alpha, weights=None, fit_intercept=True, loss="hinge", random_state=None,
                 initial=None, order="permutation", shrinking=True, batch_size=1, core="compiled"):  # fmt: skip
        super().__init__(core)
        check_name("order", order, PASSES)
        check_flag("shrinking", shrinking)
        self.batch_size = int(check_number("batch_size", batch_size, at_least=1, whole=True))
        if self.batch_size > 1 and fit_intercept:
            raise ValueError(
                f"batch_size={batch_size} moves single coordinates together: it needs fit_intercept=False, with an "
                "intercept pairs move"
            )
        problem = MarginProblem(rows, y, alpha=alpha, weights=weights, fit_intercept=fit_intercept, loss=loss)
        if problem.alpha is None:
            raise ValueError("SDCA needs alpha, a positive number")
        self.problem, self.rows, self.order, self.shrinking = problem, rows, order, shrinking
        self.loss, self.scale = problem.loss, 1.0 / (problem.alpha * problem.n)
        self.rng = as_generator(random_state)
        size = BATCH if self.batch_size == 1 else self.batch_size
        self.granularity = size
        self.first_check = -(-problem.n // size) * size
        self.dual, self.responses = np.zeros(problem.n), 0.0 - problem.targets  # a; f(x_i), minus targets
        self.visits, self.position = np.empty(0, dtype=np.intp), 0  # of this epoch
        largest = min(size, problem.n) if order == "permutation" else size
        self.work = self.core.Work(rows, problem, self.scale, size, largest)
        if initial is not None:
            self._start_from(initial)

    @property
    def n_kernel_evaluations(self):
        return self.work.n_kernel_evaluations

    @property
    def n_inner_products(self):
        return self.work.n_kernel_evaluations

    def advance(self, n_iter):
        """Visit `n_iter` examples; return `n_iter`."""
        done = 0
        step = self.core.pair_steps if self.problem.fit_intercept else self.core.single_steps
        while done < n_iter:
            if self.position == len(self.visits):
                self._begin_epoch()
            if self.batch_size > 1:
                done += self._batch_step(n_iter - done)
                continue
            visits, visited = self.visits[self.position : self.position + n_iter - done], np.zeros(1, dtype=np.int64)
            try:
                step(self.work, visits, self.n_iter % BATCH, self.dual, self.responses, visited)
            finally:  # after Ctrl-C too
                length = int(visited[0])
                self.position, self.n_iter, done = self.position + length, self.n_iter + length, done + length
        return done

    def _batch_step(self, most):
        """Do the step of the present batch, on up to `most` of its examples; return how many were visited.

        A batch ends where `n_iter` is a multiple of its size, as calls of `advance` do, and where an epoch ends.
        """
        length = min(most, self.batch_size - self.n_iter % self.batch_size, len(self.visits) - self.position)
        batch = self.visits[self.position : self.position + length]
        distinct = np.array(list(dict.fromkeys(batch)), dtype=np.intp)  # uniform draws may come twice
        self.core.batch_step(self.work, distinct, self.dual, self.responses)
        self.position, self.n_iter = self.position + length, self.n_iter + length
        return length

    def _begin_epoch(self):
        used = self.problem.weights > 0
        open_ones = np.flatnonzero(used & ~self._shrinkable()) if self.shrinking else np.flatnonzero(used)
        if len(open_ones) == 0:
            open_ones = np.flatnonzero(used)
        size = len(open_ones)
        drawn = self.rng.permutation(size) if self.order == "permutation" else draw_indices(self.rng, size, size)
        self.visits, self.position = open_ones[drawn], 0

    def _shrinkable(self):
        """Mark the examples at a bound whose gradient pushes them against it by more than any other pulls."""
        y, a = self.problem.y, self.dual
        if isinstance(self.loss, ResidualLoss):
            left, right = self.loss.dual_slopes(a, self.responses)
            held = (left == -np.inf) | (right == np.inf) | (left < right)
            return held & (left < 0.0) & (right > 0.0)
        e = y * self.loss.dual_slope(a) - self.responses
        highest, lowest = a >= self.loss.upper, a <= 0.0
        at_upper, at_lower = np.where(y > 0, highest, lowest), np.where(y > 0, lowest, highest)
        top = bottom = 0.0
        if self.problem.fit_intercept:
            top = e.max(where=~at_upper, initial=-np.inf)
            bottom = e.min(where=~at_lower, initial=np.inf)
        return (at_upper & (e > top)) | (at_lower & (e < bottom))

    # --- what it found -----------------------------------------------------------------------------------------------

    def _coef(self):
        return self.problem.y * self.problem.weights * self.dual * self.scale

    def _f(self):
        return self.responses + self.problem.targets

    def solution(self):
        """The current coefficients, with the best intercept for them."""
        state = {"dual": self.dual.copy(), "responses": self.responses.copy(), "visits": self.visits.astype(np.float64),
                 "position": np.array([float(self.position)])}  # fmt: skip
        return Solution(self._coef(), self.problem.best_intercept(self._f()), self.n_iter, state)

    def objective(self):
        """The objective of `solution`."""
        f = self._f()
        return self.problem.objective(f, self._coef() @ f, self.problem.best_intercept(f))

    def gap(self):
        """The objective of `solution` minus the dual objective; no kernel value is needed."""
        f = self._f()
        return self.problem.gap(self._coef(), f, self.problem.best_intercept(f))

    def _start_from(self, initial):
        problem = self.problem
        state = require_state(initial, problem.n, ["dual", "responses", "visits", "position"])
        self.n_iter = initial.n_iter
        coef = problem.feasible(initial.coef)  # alpha, the weights, the loss or the intercept may differ
        if state is not None:
            self.dual = state["dual"]
        is_same = state is not None and np.array_equal(self._coef(), initial.coef)
        if is_same and np.allclose(coef, initial.coef, rtol=SAME, atol=0.0):
            self.visits, self.position = state["visits"].astype(np.intp), int(state["position"].item())
            self.responses = state["responses"]
            return
        a = np.divide(
            problem.y * coef, problem.weights * self.scale, out=np.zeros(problem.n), where=problem.weights > 0
        )
        self.dual = np.clip(a, self.loss.lower, self.loss.upper)
        known = state is not None and np.allclose(self._coef(), initial.coef, rtol=1e-13, atol=0.0)
        self.responses = state["responses"] if known else self.rows.matvec(self._coef()) - problem.targets
