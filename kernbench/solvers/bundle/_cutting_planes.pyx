"""Cutting planes with Newton steps: alpha/2 ||f||^2 + R(f) to a certified gap, for any convex risk R of scores.

The risk R lies above each of its tangents, R(f) >= <a_k, f> + b_k (a cut). The lower bound of the optimum is

    max over u in the simplex of  b'u - |sum_k u_k a_k|^2 / (2 alpha),

a small dual programme, attained at f = -sum_k u_k a_k / alpha (Teo et al. 2010). As in OCAS (Franc and Sonnenburg 2009)
the next point lies on the line from the best point so far to a minimiser of the model, by a line search on scores.
Three things differ, and divide the number of cuts by five to ten:

* the model is minimised with a quadratic term around the best point, the Hessian of the smoothed risk: a mean over
  many samples or pairs is nearly smooth, and this is a Newton step. Where it does not halve the gap, a plain step
  follows;
* the cut is taken where the line search ends, just beyond the minimiser, so that cuts have the slopes on both sides of it;
* a fit on a sample of the data comes first.

An iteration costs two products with the data, one evaluation of the risk, and the solution of the small problems.

With many features, or more than half as many as samples, steps are plain as long as these close the gap fast; then they
are Newton steps on a smoothed risk (see `_smoothed_newton`), whose gradients are cuts, too. Few cuts of many features are
kept, so that they need about the memory of the data, and columns of sparse data that have no entries are left out.
"""

from libc.math cimport INFINITY, fabs

from kernbench.solvers.bundle._cuts cimport Cuts, weighted_sum
from kernbench.solvers.design._design cimport Design, dot
from kernbench.solvers.bundle._line_search cimport SampledLine
from kernbench.solvers.bundle._preconditioner cimport Preconditioner, preconditioner_for
from kernbench.solvers.bundle._risk cimport Risk, answer_signals, refuse_nan
from kernbench.solvers.bundle._smoothed_newton cimport SmoothedNewton

import numpy as np

from kernbench.problems.margin_problem import require_number, require_state
from kernbench.solvers.base import Solution
from kernbench.problems.draws import seed_of
from kernbench.solvers.bundle._preconditioner import LARGEST
from kernbench.validation.numbers import check_number

cdef enum:
    SAMPLE = 4096          # samples of the first fit, and of the line search
    PER_FEATURE = 4        # ... at least so many of each of many features: fewer are separable, the first fit leaves
                           # them without losses, and the line search would see none of those of the other samples
    COARSE_CUTS = 30
    STUCK = 10             # largest number of consecutive cuts without any change
    MEMORY = 1 << 20       # numbers in the cuts of many features, or four times those of the data if that is more
    FEWEST_CUTS = 10
    SEPARABLE = 2          # fewer samples per feature than this are probably separable (Cover 1965): the pairs at the
                           # kink are as few as the features, and no density tells the Hessian
    PACE = 8               # plain steps on many features between two measurements of gap / objective
    PACES = 5              # ... within which it has to reach `tol` at its present rate of decrease
cdef double COARSE_TOL = 0.03


cdef class CuttingPlanes:
    """The bundle method for a risk. Solvers derive from it, with a constructor that makes the risk and calls `_set_up`.

    Attributes
    ----------
    n_cuts : int
        Cuts held now.
    n_passes : int
        Products with the data, or with the kernel matrix, so far.
    n_inner_products : int
        n_samples for each of them.
    """

    granularity = 1
    first_check = None

    def _settle(self, tol, max_cuts, random_state, initial):
        """Set the parameters that do not depend on the risk; return the generator of the run."""
        self.tol = require_number("tol", tol, positive=True)
        check_number("max_cuts", max_cuts, at_least=3, whole=True)
        self.max_cuts = max_cuts
        self.seed = seed_of(random_state, initial)
        return np.random.default_rng(self.seed)

    def _set_up(self, Risk problem, rng, initial=None):
        self.problem, self.design, self.alpha = problem, problem.design, problem.alpha
        self.n_features = self.design.n_coef
        if self.n_features > LARGEST and not self.design.is_kernel:
            self.design, self.columns = self.design.without_empty_columns()
        d, n = self.design.n_coef, problem.n
        many = d > LARGEST and not self.design.is_kernel
        self.sample = problem.sample(rng, max(SAMPLE, PER_FEATURE * d) if many else SAMPLE)
        # A kernel separates any sample; a product with its matrix takes longer than the line search over all samples.
        searched = np.arange(n) if self.design.is_kernel else self.sample
        small = problem if len(searched) == n else problem.take(searched)
        self.line = SampledLine(small, searched)
        if not self.design.is_kernel and (d > LARGEST or n < SEPARABLE * d):
            self._smooth(small)
        if self.smoothed is None:
            self.preconditioner = preconditioner_for(self.design, problem.centred_by, self.alpha, rng)
        self.cuts = Cuts(self.design, self.max_cuts)
        self.Z = np.empty((self.max_cuts + 1 if self.preconditioner is not None else 1, d))
        self.heights, self.shares = np.empty(self.max_cuts), np.empty(self.max_cuts)
        self.coef, self.next_coef, self.step = np.zeros(d), np.empty(d), np.empty(d)
        self.scores, self.next_scores, self.moved = np.zeros(n), np.empty(n), np.empty(n)
        self.g = np.empty(n)
        self.value, self.bound, self.dual, self.last_gap = INFINITY, 0.0, -INFINITY, INFINITY
        self.last_share = INFINITY
        if initial is not None:
            self._start_from(initial)

    def _smooth(self, Risk small):
        """Prepare steps on the smoothed risk, if there is one, and bound the memory of the cuts."""
        risk = self.problem.smoothed()
        if risk is not None:
            line = SampledLine(small.smoothed(), self.sample)
            self.smoothed = SmoothedNewton(risk, line, self.design, self.alpha)
            size = max(MEMORY, 4 * self.design.n_values)
            self.max_cuts = min(self.max_cuts, max(FEWEST_CUTS, size // self.design.n_coef))

    @property
    def n_cuts(self):
        return self.cuts.n_cuts

    @property
    def n_kernel_evaluations(self):
        return self.design.n_kernel_evaluations

    @property
    def n_passes(self):
        return self.design.n_passes

    @property
    def n_inner_products(self):
        return self.design.n_passes * self.problem.n

    # --- the iteration -----------------------------------------------------------------------------------------------

    def advance(self, n_iter):
        """Take up to `n_iter` more cuts; return how many were taken: fewer once the gap is closed or progress has
        ended."""
        done = 0
        while done < n_iter and not self.converged and self.stuck < STUCK:
            if self.cuts.n_cuts == 0:
                self._first_point()
            else:
                with nogil:
                    self._next_point()
            with nogil:
                self._evaluate()
                self._raise_bound()
            self.n_iter += 1
            done += 1
        return done

    def _first_point(self):
        """Start from the given coefficients, else from the solution for a sample, else from 0."""
        cdef CuttingPlanes coarse
        if not self.warm and self.problem.n > 4 * len(self.sample):
            coarse = CuttingPlanes.__new__(CuttingPlanes)
            coarse.tol, coarse.max_cuts, coarse.seed = COARSE_TOL, self.max_cuts, self.seed
            part = self.problem.take(self.sample, self.design.take(self.sample))
            coarse._set_up(part, np.random.default_rng(self.seed))
            coarse.advance(COARSE_CUTS)
            self.coef = self.design.embed(coarse._found(), self.sample)
            self.warm = True
        self.n_steps = self.warm
        if np.any(self.coef):
            self.design.score(&self.coef[0], &self.scores[0])
        self.next_coef[:], self.next_scores[:] = self.coef, self.scores

    cdef int _evaluate(self) except -1 nogil:
        """Add the cut at the next point; keep the point if it is the best so far."""
        cdef double risk, value, offset
        risk = self.problem.risk(&self.next_scores[0], &self.g[0])
        refuse_nan(risk)
        answer_signals()
        value = risk + 0.5 * self.alpha * self.design.inner(&self.next_coef[0], &self.next_coef[0],
                                                            &self.next_scores[0])
        offset = risk - dot(&self.g[0], &self.next_scores[0], self.problem.n)
        if self.smoothing:
            offset = self.smoothed.take(&self.next_coef[0], &self.next_scores[0], risk, &self.g[0])
        self.cuts.append(&self.g[0], offset)
        self.stuck += 1
        if value <= self.value:
            if value < self.value * (1 - 1e-14):
                self.stuck = 0
            self.value, self.best_risk, self.cuts.kept = value, risk, self.cuts.n_cuts - 1
            self.coef, self.next_coef = self.next_coef, self.coef
            self.scores, self.next_scores = self.next_scores, self.scores
        if self.smoothing:
            # The next step starts from the last point, best or not; steps end once mu is too small.
            self.cuts.kept, self.stuck = self.cuts.n_cuts - 1, 0
        return 0

    cdef int _raise_bound(self) except -1 nogil:
        """Solve the dual programme of the cuts."""
        cdef double dual = self.cuts.maximise(self.alpha)
        if dual > self.dual + 1e-14 * max(fabs(dual), self.value):
            self.stuck = 0
        self.dual = dual
        self.bound = max(self.bound, dual)
        self.cuts.drop_idle()
        self.converged = self._is_within(self.tol)
        return 0

    cdef int add_linear(self, const double *g, double offset, double risk) except -1 nogil:
        self.cuts.add_linear(g, offset)
        self.best_risk = risk
        self.value = risk + 0.5 * self.alpha * self.design.inner(&self.coef[0], &self.coef[0], &self.scores[0])
        self.bound, self.dual, self.last_gap, self.stuck = 0.0, -INFINITY, INFINITY, 0
        return self._raise_bound()

    cdef bint _is_within(self, double tol) noexcept nogil:
        # f = 0 ranks nothing: even if its objective is within `tol` (as for large alpha), take one step from it.
        cdef:
            Py_ssize_t k
            double gap = self.value - self.bound
            bint moved = self.cuts.n_cuts > 1
        for k in range(self.coef.shape[0]):
            moved = moved or self.coef[k] != 0
        return gap <= 0 or (gap <= tol * self.value and moved)

    cdef int _next_point(self) except -1 nogil:
        """Return the end of the line search towards the minimiser of the model, or of a step on the smoothed risk."""
        cdef:
            Py_ssize_t i, k, d = self.design.n_coef, n = self.problem.n
            double gap = self.value - self.bound, share, slope, curvature, t
            bint plain = self.preconditioner is None or (self.was_newton and gap > 0.5 * self.last_gap)
        # The rate is meaningless while the bound is still 0.
        if self.smoothed is not None and not self.smoothing and self.n_iter % PACE == 0 and self.bound > 0.0:
            share = gap / self.value
            self.smoothing = share * (share / self.last_share) ** PACES > self.tol
            self.last_share = share
        if self.smoothing:
            if self.smoothed.may_go_on(&self.cuts.elements[self.cuts.kept, 0]):
                return self.smoothed.next_point(&self.step[0], &self.moved[0], &self.next_coef[0], &self.next_scores[0])
            with gil:
                self.smoothed = None
            # Plain steps from the best point, with exact cuts: the last smoothed ones are rounded differences.
            self.smoothing, self.cuts.n_cuts, self.cuts.kept, self.dual = False, 0, -1, -INFINITY
            self.next_coef[:], self.next_scores[:] = self.coef, self.scores
            return 0
        self.last_gap, self.was_newton = gap, not plain
        if plain:
            for k in range(d):
                self.step[k] = -self.cuts.sum[k] / self.alpha - self.coef[k]
        else:
            self._newton_step()
        answer_signals()
        if self.design.is_kernel:
            for i in range(n):
                self.moved[i] = -self.cuts.sum_scores[i] / self.alpha - self.scores[i]
        else:
            self.design.score(&self.step[0], &self.moved[0])
        # The cut of the best point is the risk's slope there.
        slope = self.alpha * self.design.inner(&self.coef[0], &self.step[0], &self.moved[0])
        slope += self.design.inner(&self.cuts.elements[self.cuts.kept, 0], &self.step[0], &self.moved[0])
        curvature = self.alpha * self.design.inner(&self.step[0], &self.step[0], &self.moved[0])
        t = self.line.search(&self.scores[0], &self.moved[0], slope, curvature)
        for k in range(d):
            self.next_coef[k] = self.coef[k] + t * self.step[k]
        for i in range(n):
            self.next_scores[i] = self.scores[i] + t * self.moved[i]
        return 0

    cdef int _newton_step(self) except -1 nogil:
        """step: f - f_0 for the f that minimises max_k (<a_k, f> + b_k) + alpha/2 |f|^2 + 1/2 (f - f_0)' H (f - f_0),
        f_0 the best point and H the Hessian M - alpha I of the risk."""
        cdef:
            Py_ssize_t k, l, m = self.cuts.n_cuts, d = self.design.n_coef
            double *last = &self.Z[m, 0]
        if self.n_steps in (0, 1, 4, 16, 64, 256):
            # `moved` is free until the step is known.
            self.problem.density(&self.scores[0], &self.moved[0])
            answer_signals()
            self.preconditioner.fit(&self.moved[0])
        self.n_steps += 1
        for k in range(m):
            self.Z[k, :] = self.cuts.elements[k, :]
            self.heights[k] = self.cuts.offsets[k] + dot(&self.cuts.elements[k, 0], &self.coef[0], d)
            self.shares[k] = 0.0
        for l in range(d):
            last[l] = self.alpha * self.coef[l]
        self.preconditioner.half_solve(&self.Z[0, 0], m + 1)
        for k in range(m):
            self.heights[k] -= dot(&self.Z[k, 0], last, d)
            for l in range(k + 1):
                self.cuts.Q[k, l] = self.cuts.Q[l, k] = dot(&self.Z[k, 0], &self.Z[l, 0], d)
        self.cuts.qp.solve(&self.cuts.Q[0, 0], self.cuts.capacity, &self.heights[0], m, &self.shares[0])
        weighted_sum(self.cuts.elements, self.shares, m, -1.0, &self.step[0])
        for l in range(d):
            self.step[l] -= self.alpha * self.coef[l]
        self.preconditioner.solve(&self.step[0])
        return 0

    # --- what it found -----------------------------------------------------------------------------------------------

    def check(self, tol):
        """Set `converged` to whether the gap is at most `tol` times the objective, and return it."""
        self.converged = self.gap() <= tol * self.objective()
        return self.converged

    def objective(self):
        """Return the objective of the best point."""
        if self.cuts.n_cuts:
            return self.value
        if not np.any(self.coef):
            return self.problem.at_zero
        cdef double[::1] scores = self.design.scores(self.coef)
        cdef double risk = self.problem.risk(&scores[0], NULL)
        refuse_nan(risk)
        return 0.5 * self.alpha * self.design.inner(&self.coef[0], &self.coef[0], &scores[0]) + risk

    def gap(self):
        """Return the objective minus the best lower bound."""
        return max(0.0, self.objective() - self.bound)

    def solution(self):
        """Return the best point with the state needed to continue: the cuts, and the position of the iteration."""
        state = self.cuts.state() | {
            "seed": np.array([self.seed]), "settings": self.problem.settings(),
            "signature": self.problem.signature(self._identifying_scores()),
            "hessian": np.empty((0, 0)) if self.preconditioner is None else self.preconditioner.state(),
            "progress": np.array([self.cuts.kept, self.best_risk, self.dual, self.bound, self.last_gap, self.n_steps,
                                  self.was_newton, self.stuck], dtype=np.float64),
        }
        if self.smoothed is not None:
            state |= self.smoothed.state() | {"pace": np.array([self.smoothing, self.last_share])}
        return Solution(self._found(), 0.0, self.n_iter, state)

    def _found(self):
        """The coefficients of the best point, one for each column of the data."""
        if self.columns is None:
            return np.array(self.coef)
        coef = np.zeros(self.n_features)
        coef[self.columns] = self.coef
        return coef

    def _identifying_scores(self):
        """Return scores that identify the data: those of the best point or, where it is 0, of the first cut."""
        if np.any(self.coef) or self.cuts.n_cuts == 0:
            return self.scores
        return self.design.scores(self.cuts.elements[0])

    def _start_from(self, initial):
        keys = ["settings", "cuts", "offsets", "multipliers", "idle", "signature", "hessian", "progress"]
        state = require_state(initial, self.n_features, keys + ["cut_scores"] * self.design.is_kernel)
        coef = np.array(initial.coef, dtype=np.float64)
        self.coef = coef if self.columns is None else coef[self.columns]
        self.warm, self.n_iter = True, initial.n_iter
        if state is None or not self.problem.same_risk(state["settings"]):
            return
        self.design.score(&self.coef[0], &self.scores[0])
        if not self.cuts.load(state):
            return
        if not self.problem.same_data(state["signature"], self._identifying_scores()):
            self.cuts.n_cuts = 0
            return
        kept, self.best_risk, dual, bound, last_gap, n_steps, was_newton, stuck = state["progress"]
        self.cuts.kept = int(kept)
        self.value = self.best_risk + 0.5 * self.alpha * self.design.inner(&self.coef[0], &self.coef[0],
                                                                           &self.scores[0])
        if self.preconditioner is not None:
            self.preconditioner.load(state["hessian"])
        if state["settings"][0] == self.alpha:
            self.dual, self.bound, self.last_gap = dual, bound, last_gap
            self.n_steps, self.was_newton, self.stuck = int(n_steps), bool(was_newton), int(stuck)
            if self.smoothed is not None and "pace" in initial.state:
                smoothing, self.last_share = initial.state["pace"]
                self.smoothing = bool(smoothing)
                if self.smoothing:
                    self.smoothed.load(initial.state, self.problem)
            else:
                self.smoothed = None     # its steps had ended
            self.converged = self._is_within(self.tol)
        else:
            # The Hessian does not depend on alpha: it also serves for two steps at the next alpha.
            self.n_steps = 2 if self.preconditioner is not None and self.preconditioner.fitted else 0
            self._raise_bound()
