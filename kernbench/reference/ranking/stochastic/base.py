"""What the stochastic solvers of ranking share: draws, stages, the stopping rule, what they report."""

import numpy as np

from kernbench.problems.draws import UniformStream, seed_of
from kernbench.problems.margin_problem import require_number, require_state
from kernbench.problems.ranking.pools import THRESHOLDS, first_coefficients, step_of, threshold_step_of
from kernbench.reference.ranking.stochastic.sbcd import SBCD
from kernbench.solvers.base import Diverged, Solution
from kernbench.validation.numbers import check_name, check_number


class _Stochastic:
    """A run in stages: the last two ends of stages are what the stopping rule compares.

    A method defines `_step`, which does one iteration with ``self._numbers`` uniform numbers, `_current`, the
    coefficients as of now, `_risk`, the mean loss at given scores, and `_own_arrays`, what it must keep to go on.
    """

    granularity = 1
    n_kernel_evaluations = 0

    def _set_up(self, design, alpha, numbers, settings, first_stage, random_state, initial):
        self.design, self.alpha, self._numbers = design, require_number("alpha", alpha), numbers
        self._seed = seed_of(random_state, initial)
        self._stream = UniformStream(self._seed, 0)
        self._settings = np.array([alpha, *settings], dtype=np.float64)
        self.n_iter = self.n_inner_products = 0
        self.converged, self.first_check = False, first_stage
        self._t = self._stage = 0  # steps done in this stage, stages done
        self._begin_at(first_coefficients(self._seed, design.n_coef))
        if initial is not None:
            self._start_from(initial)

    def _begin_at(self, coef):
        """Take the coefficients of a start."""
        self.w = coef
        self._ended, self._before = coef.copy(), coef.copy()  # after the last stage, and after the one before

    def advance(self, n_iter):
        """Do `n_iter` iterations; return `n_iter`."""
        for _ in range(n_iter):
            u = self._stream.ahead(self._numbers)[: self._numbers, 0]
            with np.errstate(all="ignore"):
                self._step(u)
            self._stream.position += self._numbers
            self.n_iter += 1
        return n_iter

    def _end_stage(self, coef):
        """Take the coefficients that a stage ends with."""
        self._refuse_overflow(coef)
        self._before, self._ended = self._ended, coef
        self._t, self._stage = 0, self._stage + 1

    def _refuse_overflow(self, values):
        if not np.isfinite(values).all():
            raise Diverged(
                f"the iterates are not finite after {self.n_iter} iterations: lower {self.step_name}, or scale the "
                "features"
            )

    # --- what it found -----------------------------------------------------------------------------------------

    def _reported(self):
        current = self._current()
        return current if np.isfinite(current).all() else self._ended

    def _value_at(self, coef):
        return 0.5 * self.alpha * (coef @ coef) + self._risk(self.design.scores(coef))

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
        if self._stage >= 2:
            value = self._value_at(self._ended)
            change = abs(self._value_at(self._before) - value) / max(abs(value), 1e-300)
        self.converged = bool(change <= tol)
        return self.converged

    def solution(self):
        """Return the coefficients as of now; see the class for which these are."""
        scalars = [self._stream.position, self.n_inner_products, self._t, self._stage]
        state = {
            "seed": np.array([self._seed]), "settings": self._settings.copy(),
            "scalars": np.array(scalars, dtype=np.float64), "ended": self._ended.copy(),
            "before": self._before.copy(), **{name: array.copy() for name, array in self._own_arrays().items()},
        }  # fmt: skip
        return Solution(self._reported().copy(), 0.0, self.n_iter, state)

    def _own_arrays(self):
        return {"w": self.w}

    def _start_from(self, initial):
        own = self._own_arrays()
        state = require_state(initial, self.design.n_coef, ["settings", "scalars", "ended", "before", *own])
        self.n_iter = initial.n_iter
        if (
            state is not None
            and np.array_equal(state["settings"], self._settings)
            and all(state[name].shape == array.shape for name, array in own.items())
        ):
            position, self.n_inner_products, self._t, self._stage = (int(number) for number in state["scalars"])
            self._stream = UniformStream(self._seed, 0, position=position)
            self._ended, self._before = state["ended"], state["before"]
            for name, array in own.items():
                array[:] = state[name]
        else:
            self._begin_at(np.array(initial.coef, dtype=np.float64))


class _Ranged(_Stochastic):
    """A method with runs of SBCD, in outer iterations k = 0, 1, ..., which are the stages."""

    step_name = "step"

    def _set_up_ranged(
        self,
        window,
        batches,
        alpha,
        numbers,
        *settings,
        step,
        threshold_step,
        inner_steps,
        thresholds,
        random_state,
        initial,
    ):
        check_number("inner_steps", inner_steps, at_least=1, whole=True)
        check_name("thresholds", thresholds, THRESHOLDS)
        pools = batches.pools
        self.window, self.batches, self._exact = window, batches, thresholds == "exact"
        self._inner_steps = inner_steps
        self._step_size = step_of(step, batches.design, self.step_scale, pools.steep)
        self._threshold_step = threshold_step_of(threshold_step, self._step_size, thresholds)
        settings = (
            *settings,
            self._step_size,
            self._threshold_step,
            inner_steps,
            self._exact,
            batches.loss.code,
            pools.batch,
            pools.low,
            pools.high,
        )
        self._set_up(batches.design, alpha, numbers, settings, inner_steps, random_state, initial)

    def _schedule(self):
        """Return eta_k, theta_k and T_k."""
        k = self._stage
        return self._step_size / (k + 1), self._threshold_step / (k + 1), self._inner_steps * (k + 1) ** 2

    def _step_of(self, run, batch, eta, theta):
        self._refuse_overflow(run.v)
        run.step(self._t, batch, eta, theta)
        self.n_inner_products += 2 * self.batches.pools.batch  # scores, and the rows of G

    def _scores(self, w):
        self.n_inner_products += self.design.n_samples
        scores = self.design.scores(w)
        self._refuse_overflow(scores)
        return scores

    def _find_thresholds(self, scores):
        for run in self._runs.values():
            run.lam[:] = self.batches.exact_threshold(scores, run.share)

    def _risk(self, scores):
        if not np.isfinite(scores).all():
            return np.nan
        return self.window.value_and_subgradient(scores)[0]

    def _own_arrays(self):
        of_runs = ((f"{end}_{name}", getattr(run, name)) for end, run in self._runs.items() for name in SBCD.arrays)
        return {"w": self.w, **dict(of_runs)}
