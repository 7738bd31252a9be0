"""Stochastic conjugate subgradients on a growing sample.

Zhang and Sen, "The Stochastic Conjugate Subgradient Algorithm for Kernel Support Vector Machines", with corrections
that make the printed listing work: the first direction is minus the subgradient, the decrease constant of the line
search is the smaller one, steps are judged by the ratio of actual and predicted decrease. `SCS.printed` restores the
misprints, for a test of their effect.
"""

import numpy as np

from kernbench.losses.margin import margin_loss
from kernbench.problems.kernel.conjugate import (
    EPS,
    HELD_OUT,
    NO_DIRECTION,
    certified_gap,
    check_scs,
    largest,
    scattered,
    smallest_norm,
    watches_all,
)
from kernbench.problems.margin_problem import require_state
from kernbench.problems.streaming.samples import as_source
from kernbench.problems.whole_objective import Estimate, estimate_objective
from kernbench.reference.kernel.conjugate.hinge_line import Line, active_part, bracket_search, exact_search
from kernbench.solvers.base import Solution


class SCS:
    """Stochastic conjugate subgradients for alpha/2 ||f||^2 + (1/n) sum_i w_i hinge(y_i (f(x_i) + b)).

    Every iteration turns the last direction towards the subgradient on the sample (the shortest vector between the
    two), searches along it, enlarges the sample, and keeps the step if it also decreases the loss of validation
    examples.

    Parameters
    ----------
    rows : KernelRows, or a source of samples
        A source (see ``kernbench.problems.streaming.samples``) has labels and weights of its own; then `y` is None.
    y : array-like of shape (n,)
        -1 and +1.
    alpha : float
    weights : array-like of shape (n,), optional
    fit_intercept : bool, default=True
        b is the exact minimiser for the sample at every point of a search.
    loss : {"hinge"}, default="hinge"
    random_state : None, int, RandomState or Generator
    initial : Solution, optional
        Continue an SCS solution exactly, or start from other coefficients: then the sample begins with the rows whose
        coefficient is not zero, or with all rows if there are no more than `sample_cap`.
    geometry : {"rkhs", "euclidean"}, default="rkhs"
        Inner product of directions: that of the kernel's space, or the paper's, of coefficients.
    line_search : {"exact", "bracket"}, default="exact"
        The minimiser along the direction, or the paper's search for a point with enough decrease and a flat
        slope.
    validation : {"redraw", "holdout"}, default="redraw"
        Judge steps by examples drawn anew each time, or by a fifth of the rows set aside at the start.
    eps : float, default=None
        Length of the direction below which, at the smallest radius, the run ends; with 0 only the gap ends it. None is
        1e-3 for more rows than `sample_cap`, and 0 for fewer: their gap is certified.
    delta_min, delta_0, delta_max : float, default=1e-3, 0.5, 8.0
        Smallest, first and largest radius of a step.
    eta1 : float, default=0.1
        Share of the predicted decrease that a step must keep on the validation sample.
    eta2 : float, default=1e-3
        A direction shorter than eta2 times the radius fails.
    gamma : float, default=2.0
        Factor of the radius after success and failure.
    n : int, default=8
        The shortest step of the bracket search is the radius divided by n.
    c1, c2 : float, default=0.25, 0.4
        Decrease and flatness that the bracket search requires.
    s0, growth : int, default=50
        Size of the first sample, and examples that join in each iteration.
    sample_cap : int, default=2000
        The sample grows no further.
    """

    losses = ("hinge",)
    granularity = 1
    first_check = 20
    printed = frozenset()  # "direction" and "acceptance": as the paper prints them

    def __init__(self, rows, y, *, alpha, weights=None, fit_intercept=True, loss="hinge", random_state=None,
                 initial=None, geometry="rkhs", line_search="exact", validation="redraw", eps=None, delta_min=1e-3,
                 delta_0=0.5, delta_max=8.0, eta1=0.1, eta2=1e-3, gamma=2.0, n=8, c1=0.25, c2=0.4, s0=50, growth=50,
                 sample_cap=2000):  # fmt: skip
        margin_loss(loss, offered=self.losses)
        check_scs(geometry=geometry, line_search=line_search, validation=validation, eps=eps, delta_min=delta_min,
                  delta_0=delta_0, delta_max=delta_max, eta1=eta1, eta2=eta2, gamma=gamma, n=n, c1=c1, c2=c2, s0=s0,
                  growth=growth, sample_cap=sample_cap)  # fmt: skip
        self._source = as_source(rows, y, alpha=alpha, weights=weights, fit_intercept=fit_intercept,
                                 random_state=random_state)  # fmt: skip
        self._alpha, self._fit_intercept = float(alpha), bool(fit_intercept)
        self._geometry, self._line_search, self._validation = geometry, line_search, validation
        self._delta_min, self._delta_max = delta_min, delta_max
        self._eta1, self._eta2, self._gamma, self._n, self._c1, self._c2 = eta1, eta2, gamma, n, c1, c2
        self._growth, self._cap = growth, sample_cap
        self._eps = (0.0 if self._is_small() else EPS) if eps is None else eps
        self.n_iter, self.n_accepted, self.converged = 0, 0, False
        self._coef, self._direction, self._part, self.radius = np.empty(0), None, np.empty(0), float(delta_0)
        self._length, self._growing = np.inf, growth > 0
        self._held_out = np.empty(0, dtype=np.intp)
        self.sample, self._Q = np.empty(0, dtype=np.intp), np.empty((0, 0))
        if initial is not None:
            self._start_from(initial)
            return
        if validation == "holdout":
            self._held_out = self._source.hold_out(HELD_OUT, self._cap)
        self._append(self._source.fresh(s0, both_classes=True))

    @property
    def n_kernel_evaluations(self):
        return self._source.n_evaluations

    n_inner_products = n_kernel_evaluations

    def advance(self, n_iter):
        """Do `n_iter` iterations, or fewer if the stopping rule holds; return how many were done."""
        for done in range(n_iter):
            if self.converged:
                return done
            self._iterate()
        return n_iter

    def _iterate(self):
        y, weights = self._labels()
        Q, alpha, share = self._Q, self._alpha, self._source.share / len(y)
        u = Q @ self._coef
        heading = None if self._direction is None else Q @ self._direction
        intercept = self._line(self._coef, np.zeros_like(u)).intercept(0.0)
        active = active_part(y, weights, u, intercept, self._fit_intercept, heading)
        c = alpha * self._coef - share * y * weights * active
        g = c if self._geometry == "rkhs" else Q @ c
        if self._direction is None:
            self._direction, self._part = (g if "direction" in self.printed else -g), active

        d = self._direction
        gg = self._inner(g, g)
        steepest = np.sqrt(max(gg, 0.0))
        mu = smallest_norm(self._inner(d, d), gg, -self._inner(d, g))
        d = mu * d - (1.0 - mu) * g
        self._part = mu * self._part + (1.0 - mu) * active
        self._length = np.sqrt(max(self._inner(d, d), 0.0))
        t = self._search(d)

        self._direction = d
        self._append(self._source.fresh(min(self._growth, self._cap - len(y))))
        d = self._direction
        if len(self._held_out) == 0:
            self._T = self._source.validation(len(self.sample))
            self._KT = self._source.block(self._T, self.sample).astype(np.float64)
        line = self._line(self._coef, d)
        predicted = line.value(t) - line.value(0.0)
        actual = self._judge(self._coef + t * d, line.intercept(t)) - self._judge(self._coef, line.intercept(0.0))
        if "acceptance" in self.printed:
            success = predicted <= self._eta1 * actual
        else:
            success = predicted < 0.0 and actual <= self._eta1 * predicted and self._length > self._eta2 * self.radius
        if success:
            self._coef = self._coef + t * d
            self.radius = min(self._gamma * self.radius, self._delta_max)
            self.n_accepted += 1
        else:
            self.radius = max(self.radius / self._gamma, self._delta_min)
        self.n_iter += 1
        if self._eps > 0.0:
            self.converged = bool(self._length <= self._eps and self.radius <= self._delta_min)
        elif self._length <= NO_DIRECTION * steepest:
            # No descent in the hull, but the gap is the rule: begin with the subgradient again.
            self._direction = None

    def _inner(self, a, b):
        return a @ (self._Q @ b) if self._geometry == "rkhs" else a @ b

    def _line(self, coef, d):
        u, v = self._Q @ coef, self._Q @ d
        y, weights = self._labels()
        q = coef @ u, d @ u, d @ v
        return Line(y, weights, self._alpha, self._source.share, self._fit_intercept, u, v, q)

    def _search(self, d):
        if not self._length > 0.0:
            return 0.0
        line = self._line(self._coef, d)
        if self._line_search == "exact":
            return exact_search(line, self.radius / self._length)
        return bracket_search(line, self._length, self.radius, self._n, self._c1, self._c2)

    def _append(self, ids):
        """Add fresh examples to the sample; their coefficients are zero, so no function changes."""
        self._growing = self._growth > 0 and len(ids) > 0
        old = self._source.block(ids, self.sample).astype(np.float64)
        new = self._source.block(ids, ids).astype(np.float64)
        self._Q = np.block([[self._Q, old.T], [old, new]])
        self.sample = np.concatenate([self.sample, ids])
        pad = np.zeros(len(ids))
        self._coef, self._part = np.concatenate([self._coef, pad]), np.concatenate([self._part, pad])
        if self._direction is not None:
            self._direction = np.concatenate([self._direction, pad])
        if len(self._held_out):
            self._T = self._held_out
            self._KT = self._source.block(self._T, self.sample).astype(np.float64)

    def _judge(self, coef, intercept):
        """The objective of a function, its loss on the validation sample."""
        y, weights = self._source.y[self._T], self._source.weights[self._T]
        loss = weights @ np.maximum(0.0, 1.0 - y * (self._KT @ coef + intercept)) / len(y)
        return 0.5 * self._alpha * coef @ (self._Q @ coef) + self._source.share * loss

    def _labels(self):
        return self._source.y[self.sample], self._source.weights[self.sample]

    # --- what it found -----------------------------------------------------------------------------------------

    def sample_objective(self):
        """The objective with the loss averaged over the sample."""
        return self._line(self._coef, np.zeros_like(self._coef)).value(0.0)

    def sample_gap(self):
        """`sample_objective` minus a lower bound on its optimum."""
        y, weights = self._labels()
        averaged = y * weights * self._part * self._source.share / (self._alpha * len(y))
        return certified_gap(lambda a: self._Q @ a, y, weights * self._source.share, self._alpha, self._fit_intercept,
                             self.sample_objective(), [self._coef, averaged])  # fmt: skip

    def objective(self):
        """The objective over all rows, if there are no more than `sample_cap`; else `sample_objective`.

        The latter is too low for all rows, since f was fitted to the sample: see `whole_objective`.
        """
        return self._whole()[0] if self._is_small() else self.sample_objective()

    @property
    def is_sampled(self):
        """Whether `objective` is that of a sample only: there are more rows than `sample_cap`."""
        return not self._is_small()

    def whole_objective(self):
        """Return the objective over all rows as an `Estimate`; exact for few rows, or see `watches_all`."""
        if self._is_small():
            return Estimate(self.objective(), 0.0)
        source, inside = self._source, self._Q @ self._coef
        rows = None if len(self._held_out) else source.drawable()
        known = rows is not None and watches_all(len(rows), self._cap, source.dtype.itemsize)
        outside = source.outside(self.sample, None if known else self._cap)
        responses = source.products(outside, self.sample, self._coef[:, None])[:, 0]
        return estimate_objective(source, self.sample, outside, intercept=self._intercept(),
                                  penalty=0.5 * self._alpha * float(self._coef @ inside),
                                  inside_responses=inside, outside_responses=responses)  # fmt: skip

    def gap(self):
        """`objective` minus a lower bound on the optimum over all rows; None for more than `sample_cap` rows."""
        return self._whole()[1] if self._is_small() else None

    def check(self, tol):
        """Set `converged` to whether the certified gap is at most `tol` times the objective, and return it.

        For more rows than `sample_cap` the certificate is that of the sample, once it has stopped growing.
        """
        if self._is_small():
            objective, gap = self._whole()
        elif self._growing:
            return self.converged
        else:
            objective, gap = self.sample_objective(), self.sample_gap()
        self.converged = bool(gap <= tol * max(objective, np.finfo(float).tiny))
        return self.converged

    def solution(self):
        """Coefficients by id, the best intercept for the sample, and the state of the run."""
        coef = scattered(self._source.size, self.sample, self._coef)
        started = self._direction is not None
        state = {
            "sample": self.sample.astype(np.float64),
            "held_out": self._held_out.astype(np.float64),
            "sample_coef": self._coef.copy(),
            "direction": self._direction.copy() if started else np.empty(0),
            "part": self._part.copy(),
            "radius": np.array([self.radius]),
        }
        return Solution(coef, self._intercept(), self.n_iter, state)

    def _intercept(self):
        return float(self._line(self._coef, np.zeros_like(self._coef)).intercept(0.0))

    def _is_small(self):
        return self._source.size <= self._cap

    def _whole(self):
        """Objective and gap over all rows."""
        if self._source.complete(self.sample):
            return self.sample_objective(), self.sample_gap()
        problem, y = self._source.problem, self._labels()[0]
        coef = scattered(problem.n, self.sample, self._coef)
        responses = problem.rows.matvec(coef)
        objective = problem.objective(responses, coef @ responses, problem.best_intercept(responses))
        averaged = self._labels()[1] * y * self._part * self._source.share / (self._alpha * len(y))
        coefs = [coef, scattered(problem.n, self.sample, averaged)]
        gap = certified_gap(problem.rows.matvec, problem.y, problem.weights, self._alpha, self._fit_intercept,
                            objective, coefs)  # fmt: skip
        return objective, gap

    def _start_from(self, initial):
        source = self._source
        keys = ["sample", "held_out", "sample_coef", "direction", "part", "radius"]
        state = require_state(initial, source.size, keys)
        self.n_iter = initial.n_iter
        if state is None:
            used = np.arange(source.size) if self._is_small() else largest(initial.coef, self._cap)
            self._append(source.take(used))
            self._coef = initial.coef[self.sample].copy()
            return
        self._held_out = source.take(state["held_out"].astype(np.intp))
        self._append(source.take(state["sample"].astype(np.intp)))
        self._coef, self._part = state["sample_coef"], state["part"]
        self._direction = state["direction"] if len(state["direction"]) else None
        self.radius = float(state["radius"].item())
