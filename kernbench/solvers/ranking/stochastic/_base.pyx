"""What the stochastic solvers of ranking share: draws, stages, the stopping rule, what they report."""

from libc.math cimport isfinite

import numpy as np

from kernbench.problems.draws import UniformStream, seed_of
from kernbench.problems.margin_problem import require_number, require_state
from kernbench.problems.ranking.pools import THRESHOLDS, first_coefficients, step_of, threshold_step_of
from kernbench.solvers.base import Diverged, Solution
from kernbench.validation.numbers import check_name, check_number

cdef enum:
    DRAWS = 1 << 16        # random numbers drawn at a time


cdef class Stochastic:
    """A run in stages: the last two ends of stages are what the stopping rule compares.

    A method defines `_step`, which does one iteration, `_current`, the coefficients as of now, and `_own_arrays`, what
    it must keep to go on: these are read and written in place.
    """

    granularity = 1
    n_kernel_evaluations = 0
    step_name = "step"

    def _set_up(self, design, alpha, numbers, settings, first_stage, random_state, initial):
        self.design, self.alpha, self.numbers = design, require_number("alpha", alpha), numbers
        self.seed = seed_of(random_state, initial)
        self.stream = UniformStream(self.seed, 0)
        self.settings = np.array([alpha, *settings], dtype=np.float64)
        self.first_check = first_stage
        self._begin_at(first_coefficients(self.seed, self.design.n_coef))
        if initial is not None:
            self._start_from(initial)

    def _begin_at(self, coef):
        """Take the coefficients of a start."""
        self.w, self.ended, self.before = coef, coef.copy(), coef.copy()

    def advance(self, n_iter):
        """Do `n_iter` iterations; return `n_iter`."""
        cdef Py_ssize_t k, steps, done = 0, most = max(<Py_ssize_t> 1, DRAWS // self.numbers)
        cdef long long first
        cdef const double[::1] u
        while done < n_iter:
            steps, first = min(most, n_iter - done), self.n_iter
            u = self.stream.ahead(steps * self.numbers)[: steps * self.numbers, 0].copy()
            try:
                with nogil:
                    for k in range(steps):
                        self._step(&u[k * self.numbers])
                        self.n_iter += 1
            finally:
                self.stream.position += (self.n_iter - first) * self.numbers
            done += steps
        return done

    cdef int _step(self, const double *u) except -1 nogil:
        return 0

    cdef int _end_stage(self, const double *coef) except -1 nogil:
        """Take the coefficients that a stage ends with."""
        cdef Py_ssize_t k
        cdef double total = 0.0
        for k in range(self.design.n_coef):
            total += coef[k]
        if not isfinite(total):
            self._refuse_overflow()
        self.before[:] = self.ended
        for k in range(self.design.n_coef):
            self.ended[k] = coef[k]
        self.t = 0
        self.stage += 1
        return 0

    cdef int _refuse_overflow(self) except -1 nogil:
        with gil:
            raise Diverged(
                f"the iterates are not finite after {self.n_iter} iterations: lower {self.step_name}, or scale the "
                "features"
            )

    # --- what it found -----------------------------------------------------------------------------------------------

    def _reported(self):
        current = np.asarray(self._current())
        return current if np.isfinite(current).all() else np.asarray(self.ended)

    def _value_at(self, coef):
        return 0.5 * self.alpha * float(coef @ coef) + self._risk(self.design.scores(coef))

    def _risk(self, const double[::1] scores):
        cdef double value
        with nogil:
            value = self.window.difference(&scores[0], NULL)
        return value

    def objective(self):
        """Return the objective of `solution`, by a pass over the data."""
        return float(self._value_at(self._reported()))

    def gap(self):
        """Return None: the method has no certificate."""
        return None

    def check(self, tol):
        """Set `converged`: the objective changed by at most `tol` times itself over the last stage; return it.

        Before two stages have ended the change counts as 1.
        """
        change = 1.0
        if self.stage >= 2:
            value = self._value_at(np.asarray(self.ended))
            change = abs(self._value_at(np.asarray(self.before)) - value) / max(abs(value), 1e-300)
        self.converged = change <= tol
        return self.converged

    def solution(self):
        """Return the coefficients as of now; see the class for which these are."""
        scalars = [self.stream.position, self.n_inner_products, self.t, self.stage]
        own = {name: values.copy() for name, values in self._own_arrays().items()}
        state = {
            "seed": np.array([self.seed]), "settings": self.settings.copy(),
            "scalars": np.array(scalars, dtype=np.float64), "ended": np.array(self.ended),
            "before": np.array(self.before), **own,
        }
        return Solution(np.array(self._reported()), 0.0, self.n_iter, state)

    def _start_from(self, initial):
        own = self._own_arrays()
        state = require_state(initial, self.design.n_coef, ["settings", "scalars", "ended", "before", *own])
        self.n_iter = initial.n_iter
        if (state is not None and np.array_equal(state["settings"], self.settings)
                and all(state[name].shape == values.shape for name, values in own.items())):
            position, self.n_inner_products, self.t, self.stage = (int(number) for number in state["scalars"])
            self.stream = UniformStream(self.seed, 0, position=position)
            self.ended, self.before = state["ended"], state["before"]
            for name, values in own.items():
                values[:] = state[name]
        else:
            self._begin_at(np.array(initial.coef, dtype=np.float64))


cdef class Ranged(Stochastic):
    """A method with runs of SBCD, in outer iterations k = 0, 1, ..., which are the stages."""

    def _set_up_ranged(self, RankedLoss window, Batches batches, alpha, numbers, *settings, step, threshold_step,
                       inner_steps, thresholds, random_state, initial):
        check_number("inner_steps", inner_steps, at_least=1, whole=True)
        check_name("thresholds", thresholds, THRESHOLDS)
        pools = batches.pools
        self.window, self.batches, self.exact, self.inner_steps = window, batches, thresholds == "exact", inner_steps
        self.step_size = step_of(step, batches.design, self.step_scale, pools.steep)
        self.threshold_step = threshold_step_of(threshold_step, self.step_size, thresholds)
        self.scores = np.empty(batches.design.n_samples)
        settings = (*settings, self.step_size, self.threshold_step, inner_steps, self.exact, batches.loss, pools.batch,
                    pools.low, pools.high)
        self._set_up(batches.design, alpha, numbers, settings, inner_steps, random_state, initial)

    cdef void _schedule(self, double *eta, double *theta, long long *T) noexcept nogil:
        eta[0], theta[0] = self.step_size / (self.stage + 1), self.threshold_step / (self.stage + 1)
        T[0] = self.inner_steps * (self.stage + 1) ** 2

    cdef int _step_of(self, SBCD run, double eta, double theta) except -1 nogil:
        if not run.step(self.t, eta, theta):
            self._refuse_overflow()
        self.n_inner_products += 2 * self.batches.size   # scores, and the rows of G
        return 0

    cdef int _score(self, const double *w) except -1 nogil:
        self.n_inner_products += self.design.n_samples
        self.design.score(w, &self.scores[0])
        if not self.batches.rank(&self.scores[0]):
            self._refuse_overflow()
        return 0

    cdef int _find_threshold(self, SBCD run) except -1 nogil:
        run.lam[0] = self.batches.exact_threshold(run.share)
        return 0

    def _own_arrays(self):
        arrays = {"w": np.asarray(self.w)}
        for name, run in self.runs:
            arrays.update((<SBCD> run).arrays(f"{name}_"))
        return arrays
