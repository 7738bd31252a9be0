"""Exact minimisation over a range of ranks: L-BFGS on the objective, then DCA by cutting planes, which certifies.

    F(f) = alpha/2 |f|^2 + U(f) - L(f)

is a difference of convex functions. DCA (Hu et al. 2020) linearises L at the last point f_k and minimises what is
convex then, a bound of F from above. A point is critical if that does not move it. DCA alone takes many steps, each of
them the solution of such a subproblem; so F itself is minimised first:

* L-BFGS, preconditioned by the Hessian of the smoothed objective, with a line search on the scores, which are linear in
  the step. The gradient alone certifies f_k: the subproblem's minimum is at least F(f_k) - |gradient|^2 / (2 alpha).
* Where F falls no longer and this gap is not closed, because F has kinks, cutting planes take over. The subproblem is
  solved until what it gained exceeds what it may still gain; then L is linearised anew. The cuts are cuts of U, which
  are kept: each changes by the change of the linear part.

It has converged when the gap of the subproblem, and the decrease of F since L was last linearised, are at most tol
times F.
"""

from libc.math cimport INFINITY

from kernbench.solvers.bundle._cutting_planes cimport CuttingPlanes
from kernbench.solvers.bundle._limited_memory cimport LimitedMemory
from kernbench.solvers.bundle._preconditioner cimport Preconditioner, preconditioner_for
from kernbench.solvers.bundle._risk cimport answer_signals, refuse_nan
from kernbench.solvers.design._design cimport Design, dot
from kernbench.solvers.ranking._ranked_risk cimport RankedRisk

import numpy as np

from kernbench.problems.ranking.criticality import criticality
from kernbench.problems.draws import seed_of
from kernbench.problems.margin_problem import require_number, require_state
from kernbench.solvers.base import Solution
from kernbench.solvers.bundle._preconditioner import LARGEST

cdef enum:
    SAMPLE = 4096              # samples of the first fit
    COARSE_STEPS = 60
    MEMORY = 30                # pairs of L-BFGS
    MAX_CUTS = 300
    EVALUATIONS = 40           # of a line search
cdef double COARSE_TOL = 1e-3
cdef double CLOSED = 1e-14     # gap / objective of a subproblem that is rounding
cdef double NOWHERE = 2.0 ** -20    # multiple of the first direction that counts as 0
cdef double SUFFICIENT = 1e-4  # share of the predicted decrease that a step must bring
cdef double CURVATURE = 0.5    # share of the first slope that may be left at the end of a step
INNER = "bundle_"              # prefix, in a state, of what belongs to the cutting planes


cdef class ExactDCA:
    """The algorithm; a solver is this, and a constructor that says what is ranked."""

    cdef readonly long long n_iter
    cdef readonly bint converged
    cdef public double tol
    cdef readonly double subproblem_gap
    cdef readonly RankedRisk problem
    cdef RankedRisk risk                 # of the subproblem
    cdef Design design
    cdef Preconditioner preconditioner
    cdef LimitedMemory memory
    cdef CuttingPlanes bundle            # None before cutting planes take over
    cdef object sample, columns
    cdef Py_ssize_t n_features
    cdef long long seed
    cdef double alpha, proximal, value
    cdef bint begun, warm, stuck
    # the point, its scores, the slopes there and the gradient with, for a kernel, its scores
    cdef double[::1] coef, scores, g, gradient, gradient_scores
    cdef double[::1] step, moved, next_coef, next_scores, last, last_scores

    granularity = 1
    first_check = None

    def _set_up(self, Design design, ranked, *, alpha, tol, proximal, random_state, initial):
        self.tol = require_number("tol", tol, positive=True)
        self.alpha = require_number("alpha", alpha)
        self.proximal = require_number("proximal", proximal, positive=True)
        self.seed = seed_of(random_state, initial)
        self.n_features = design.n_coef
        if not design.is_kernel and design.n_coef > LARGEST:
            design, self.columns = design.without_empty_columns()
        self.design = design
        self.problem = RankedRisk(design, ranked, self.alpha)
        rng = np.random.default_rng(self.seed)
        self.sample = ranked.sample(rng, SAMPLE)
        self.preconditioner = preconditioner_for(design, self.problem.centred_by, self._strength(), rng)
        self.memory = LimitedMemory(design, MEMORY)
        d, n = design.n_coef, ranked.n
        self.coef, self.gradient, self.step, self.next_coef, self.last = (np.zeros(d) for _ in range(5))
        self.scores, self.g, self.moved, self.next_scores = (np.zeros(n) for _ in range(4))
        self.gradient_scores, self.last_scores = (np.zeros(n if design.is_kernel else 1) for _ in range(2))
        self.subproblem_gap = INFINITY
        if initial is not None:
            self._start_from(initial)

    cdef double _strength(self) noexcept nogil:
        """Of the quadratic term of a subproblem: alpha or, without it, the weight of the proximal term."""
        return self.alpha if self.alpha > 0.0 else self.proximal

    @property
    def n_kernel_evaluations(self):
        """Kernel values computed so far."""
        return self.design.n_kernel_evaluations

    @property
    def n_passes(self):
        """Products with the data, or with the kernel matrix, so far."""
        return self.design.n_passes

    @property
    def n_inner_products(self):
        """d-dimensional inner products so far."""
        return self.design.n_passes * self.problem.n

    @property
    def n_cuts(self):
        """Cuts held now."""
        return 0 if self.bundle is None else self.bundle.n_cuts

    @property
    def vanishes(self):
        """Whether no f that was found has a smaller objective than f = 0, up to `tol`."""
        return bool(self.objective() >= (1 - self.tol) * self.problem.at_zero)

    # --- the iteration -----------------------------------------------------------------------------------------------

    def advance(self, n_iter):
        """Take up to `n_iter` steps of L-BFGS, or cuts; return how many, fewer once it has converged or is stuck."""
        done = 0
        while done < n_iter and not self.converged and not self.stuck:
            if not self.begun:
                self._begin()
            elif self.bundle is None:
                if self._descend():
                    self._open_bundle(None)
            else:
                self._cut()
            self.n_iter += 1
            done += 1
        return done

    def _begin(self):
        """Evaluate the first point: what was given, else the solution for a sample, else a Newton step from 0."""
        if not self.warm:
            self._first_point()
        elif np.any(self.coef):
            self.design.score(&self.coef[0], &self.scores[0])
        with nogil:
            self._fit_preconditioner()
            self.value = self._value_at(&self.coef[0], &self.scores[0], &self.g[0])
            self._differentiate()
        self.begun = True

    def _first_point(self):
        """The solution for a sample; or the Newton step from f = 0 for the mean of all losses, which is convex, scaled.

        f = 0 itself is critical: there all scores are tied.
        """
        cdef ExactDCA coarse
        cdef RankedRisk convex
        cdef Py_ssize_t l
        cdef double t = 1.0, here, there
        if self.problem.n > 4 * len(self.sample):
            coarse = type(self).__new__(type(self))
            part, settings = self.problem.ranked.take(self.sample), {"alpha": self.alpha, "tol": COARSE_TOL}
            coarse._set_up(self.design.take(self.sample), part, **settings, proximal=self.proximal,
                           random_state=self.seed, initial=None)
            coarse.advance(COARSE_STEPS)
            self.coef = np.array(self.design.embed(np.asarray(coarse.coef), self.sample))
            self.design.score(&self.coef[0], &self.scores[0])
            return
        convex = RankedRisk(self.design, self.problem.ranked.whole(), self.alpha)
        self.scores[:] = 0.0
        refuse_nan(convex.risk(&self.scores[0], &self.g[0]))
        self.design.gather_up(&self.g[0], &self.step[0])
        if self.preconditioner is not None:
            convex.density(&self.scores[0], &self.moved[0])
            self.preconditioner.fit(&self.moved[0])
            self.preconditioner.solve(&self.step[0])
        for l in range(self.design.n_coef):
            self.step[l] = -self.step[l]
        self.design.score(&self.step[0], &self.moved[0])
        # Double or halve 1 as long as that lowers the objective.
        here = self._try(t, NULL)
        for factor in (2.0, 0.5):
            while NOWHERE < t < 1 / NOWHERE:
                there = self._try(factor * t, NULL)
                if not there < here:
                    break
                t, here = factor * t, there
        self._try(t, NULL)
        self.coef[:], self.scores[:] = self.next_coef, self.next_scores

    cdef int _fit_preconditioner(self) except -1 nogil:
        if self.preconditioner is not None:
            self.problem.density(&self.scores[0], &self.g[0])
            self.preconditioner.fit(&self.g[0])
        return 0

    cdef double _value_at(self, const double *coef, const double *scores, double *g) except? -1 nogil:
        cdef double value = self.problem.window(scores, g)
        refuse_nan(value)
        return 0.5 * self.alpha * self.design.inner(coef, coef, scores) + value

    cdef double _try(self, double t, double *g) except? -1 nogil:
        """The objective a step of length t away; its slopes unless g is NULL."""
        cdef Py_ssize_t k
        answer_signals()
        for k in range(self.coef.shape[0]):
            self.next_coef[k] = self.coef[k] + t * self.step[k]
        for k in range(self.scores.shape[0]):
            self.next_scores[k] = self.scores[k] + t * self.moved[k]
        return self._value_at(&self.next_coef[0], &self.next_scores[0], g)

    cdef int _differentiate(self) except -1 nogil:
        """The gradient, its scores where there is a kernel, and the gap that follows."""
        cdef Py_ssize_t k
        self.design.gather_up(&self.g[0], &self.gradient[0])
        for k in range(self.gradient.shape[0]):
            self.gradient[k] += self.alpha * self.coef[k]
        if self.design.is_kernel:
            self.design.score(&self.gradient[0], &self.gradient_scores[0])
        self.subproblem_gap = self.design.inner(&self.gradient[0], &self.gradient[0], &self.gradient_scores[0])
        self.subproblem_gap /= 2.0 * self._strength()
        return 0

    cdef double _line_search(self, double slope) except? -1 nogil:
        """A step at which the objective has fallen enough and become flatter (weak Wolfe conditions), by bisection.

        Where it is concave or has kinks the second condition may fail for all steps tried: the longest of those that
        bring enough is taken then. The next point lies there, and `g` holds its slopes; 0 if there is none.
        """
        cdef:
            Py_ssize_t turn
            double low = 0.0, high = INFINITY, t = 1.0, here, slope_here
            double shrink = self.alpha * self.design.inner(&self.coef[0], &self.step[0], &self.moved[0])
            double curvature = self.alpha * self.design.inner(&self.step[0], &self.step[0], &self.moved[0])
        for turn in range(EVALUATIONS):
            here = self._try(t, &self.g[0])
            slope_here = shrink + t * curvature + dot(&self.g[0], &self.moved[0], self.problem.n)
            if not here <= self.value + SUFFICIENT * t * slope:
                high = t
            elif slope_here < CURVATURE * slope:
                low = t
            else:
                return t
            t = 2.0 * low if high == INFINITY else 0.5 * (low + high)
        if low > 0.0:
            self._try(low, &self.g[0])
        return low

    def _descend(self):
        """A step of L-BFGS; return whether it brought nothing to speak of, and the gap is not closed."""
        cdef bint flat
        with nogil:
            flat = self._descent_step()
        return flat

    cdef bint _descent_step(self) except -1 nogil:
        cdef:
            Py_ssize_t k, d = self.design.n_coef
            double before = self.value, slope, t
        for k in range(d):
            self.step[k] = -self.gradient[k]
        self.memory.solve(&self.step[0], self.preconditioner)
        self.design.score(&self.step[0], &self.moved[0])
        slope = self.design.inner(&self.gradient[0], &self.step[0], &self.moved[0])
        t = self._line_search(slope) if slope < 0.0 else 0.0
        if t > 0.0:
            self.last, self.gradient = self.gradient, self.last
            self.last_scores, self.gradient_scores = self.gradient_scores, self.last_scores
            self.coef, self.next_coef = self.next_coef, self.coef
            self.scores, self.next_scores = self.next_scores, self.scores
            self.value = self._value_at(&self.coef[0], &self.scores[0], NULL)
            self._differentiate()
            for k in range(d):
                self.last[k] = self.gradient[k] - self.last[k]
            for k in range(self.last_scores.shape[0]):
                self.last_scores[k] = self.gradient_scores[k] - self.last_scores[k]
            self.memory.append(t, &self.step[0], &self.moved[0], &self.last[0], &self.last_scores[0])
        elif self.memory.n_pairs > 0:
            self.memory.forget()
            return False
        if before - self.value > self.tol * self.value:
            return False
        self.converged = self.subproblem_gap <= self.tol * self.value
        return not self.converged

    def _open_bundle(self, state):
        """Linearise the lower part at the point; set up the cutting planes of the subproblem, from a state or afresh.

        Without alpha the subproblem has a proximal term: its variable is the step from the point.
        """
        coef, self.risk = np.array(self.coef), self.problem
        if self.alpha == 0.0:
            self.risk = RankedRisk(self.design, self.problem.ranked, self.proximal, np.array(self.scores))
            coef[:] = 0.0
        self.risk.linearise(&self.scores[0])
        self.bundle = CuttingPlanes.__new__(CuttingPlanes)
        rng = self.bundle._settle(CLOSED, MAX_CUTS, self.seed, None)
        start = Solution(coef) if state is None else Solution(state.pop("coef"), state=state)
        self.bundle._set_up(self.risk, rng, start)

    def _cut(self):
        """One more cut; linearise anew where the subproblem is solved, or has gained more than it may still gain."""
        cdef:
            CuttingPlanes bundle = self.bundle
            double value, decrease
            bint closed
        if bundle.advance(1) == 0 and not bundle.converged:
            self.stuck = True
            return
        self.subproblem_gap = bundle.gap()
        closed = self.subproblem_gap <= self.tol * self.value
        if not closed and self.value - bundle.value < self.subproblem_gap:
            return
        if self.alpha > 0.0:
            self.coef[:], self.scores[:] = bundle.coef, bundle.scores
        else:
            self.step[:], self.moved[:] = bundle.coef, bundle.scores
            self._try(1.0, NULL)
            self.coef[:], self.scores[:] = self.next_coef, self.next_scores
        value = self._value_at(&self.coef[0], &self.scores[0], NULL)
        decrease, self.value = self.value - value, value
        self.converged = closed and decrease <= self.tol * value
        if not self.converged:
            self._linearise_anew()

    def _linearise_anew(self):
        """Move the linear part of the subproblem to the point; the cuts change by the change of the linear part."""
        cdef Py_ssize_t i
        cdef double constant = self.risk.constant, value
        if self.alpha == 0.0:
            self._open_bundle(None)
            return
        self.g[:] = self.risk.slopes
        value = self.risk.linearise(&self.scores[0])
        for i in range(self.problem.n):
            self.g[i] -= self.risk.slopes[i]
        self.bundle.add_linear(&self.g[0], self.risk.constant - constant, value)

    # --- what it found -----------------------------------------------------------------------------------------------

    def check(self, tol):
        """Set `converged` to whether the gap of the last subproblem is at most `tol` times F, and return it."""
        self.converged = self.subproblem_gap <= tol * self.objective()
        return self.converged

    def objective(self):
        """Return the objective of the point."""
        if self.begun:
            return self.value
        cdef double[::1] scores = self.design.scores(self.coef) if np.any(self.coef) else np.array(self.scores)
        return self._value_at(&self.coef[0], &scores[0], NULL)

    def gap(self):
        """None: the problem is not convex. `subproblem_gap` says how far the point is from being critical."""
        return None

    def criticality(self, mu=1.0, tol=1e-2):
        """Return how far the point is from being critical, certified (see `kernbench.problems.ranking.criticality`)."""
        twin, coef = (CuttingPlanes, RankedRisk), np.array(self.coef)
        return criticality(self.design, self.problem.ranked, coef, twin=twin, alpha=self.alpha, mu=mu, tol=tol)[0]

    def solution(self):
        """Return the point, and what it takes to go on."""
        state = {"seed": np.array([self.seed])}
        if self.begun:
            state |= self.memory.state() | {
                "settings": np.append(self.problem.settings(), self.proximal),
                "signature": self.problem.signature(self.scores),
                "hessian": np.empty((0, 0)) if self.preconditioner is None else self.preconditioner.state(),
                "progress": np.array([self.subproblem_gap, self.converged, self.stuck], dtype=np.float64),
            }
        if self.bundle is not None:
            inner = self.bundle.solution()
            state |= {f"{INNER}{name}": value for name, value in ({"coef": inner.coef} | inner.state).items()}
        return Solution(self._found(), 0.0, self.n_iter, state)

    def _found(self):
        """The coefficients, one for each column of the data."""
        if self.columns is None:
            return np.array(self.coef)
        coef = np.zeros(self.n_features)
        coef[self.columns] = self.coef
        return coef

    def _start_from(self, initial):
        keys = ["settings", "signature", "hessian", "progress", "steps", "changes"]
        keys += ["step_scores", "change_scores"] * self.design.is_kernel
        state = require_state(initial, self.n_features, keys)
        coef = np.array(initial.coef, dtype=np.float64)
        self.coef = coef if self.columns is None else coef[self.columns]
        self.warm, self.n_iter = bool(np.any(self.coef)), initial.n_iter
        if state is None or not np.array_equal(state["settings"], np.append(self.problem.settings(), self.proximal)):
            return
        self.design.score(&self.coef[0], &self.scores[0])
        if not self.problem.same_data(state["signature"], self.scores):
            return
        if self.preconditioner is not None:
            self.preconditioner.load(state["hessian"])
        self.memory.load(state)
        self.value = self._value_at(&self.coef[0], &self.scores[0], &self.g[0])
        inner = {name.removeprefix(INNER): value for name, value in initial.state.items() if name.startswith(INNER)}
        if inner:
            self._open_bundle(inner)
        else:
            self._differentiate()
        self.subproblem_gap, self.converged, self.stuck = state["progress"]
        self.begun = True
