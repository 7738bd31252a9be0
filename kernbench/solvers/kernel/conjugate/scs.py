"""Stochastic conjugate subgradients on a growing sample.

Zhang and Sen, "The Stochastic Conjugate Subgradient Algorithm for Kernel Support Vector Machines", with corrections
that make the printed listing work: the first direction is minus the subgradient, the decrease constant of the line
search is the smaller one, steps are judged by the ratio of actual and predicted decrease. An iteration, on a sample of
s examples, with a in [0, 1]^s minus the slopes of the losses (see `active_part` of the reference):

    g  <-  alpha f - (1/s) sum_i w_i y_i a_i k(x_i, .)          a subgradient
    d  <-  minus the shortest vector between -d and g
    t  <-  a search along d for f + t d on the sample, within the radius
    the sample grows
    f  <-  f + t d if validation examples, too, say that this is better: then the radius grows, else it shrinks
"""

import numpy as np

from kernbench.losses.margin import margin_loss
from kernbench.problems.kernel.conjugate import (
    EPS,
    FAR,
    HELD_OUT,
    NO_DIRECTION,
    RECOMPUTED,
    certified_gap,
    check_scs,
    largest,
    scattered,
    settings_of,
    watches_all,
)
from kernbench.problems.margin_problem import require_state
from kernbench.problems.streaming.samples import as_source
from kernbench.problems.whole_objective import Estimate, estimate_objective
from kernbench.solvers.base import Solution
from kernbench.solvers.method import Method

STATE = ("sample", "held_out", "sample_coef", "direction", "part", "radius", "settings")


class SCS(Method):
    """Stochastic conjugate subgradients for alpha/2 ||f||^2 + (1/n) sum_i w_i hinge(y_i (f(x_i) + b)).

    Every iteration turns the last direction towards the subgradient on the sample (the shortest vector between the
    two), searches along it, enlarges the sample, and keeps the step if it also decreases the loss of validation
    examples.

    Parameters
    ----------
    rows : KernelRows or a source of samples
        A source (see ``kernbench.problems.streaming.samples``) has labels and weights of its own; then `y` is None.
    y, alpha, weights : see `MarginProblem`
    fit_intercept : bool, default=True
        b is the exact minimiser for the sample at every point of a search.
    loss : {"hinge"}, default="hinge"
    random_state : None, int, RandomState or Generator
    initial : Solution, optional
        Continue an SCS solution exactly, or from its sample if `alpha`, `weights` or `fit_intercept` differ; or start
        from other coefficients: then the sample begins with the rows whose coefficient is not zero, or with all rows if
        there are no more than `sample_cap`.
    geometry : {"rkhs", "euclidean"}, default="rkhs"
        Inner product of directions: that of the kernel's space, or the paper's, of coefficients.
    line_search : {"exact", "bracket"}, default="exact"
        The minimiser along the direction, or the paper's search for a point with enough decrease and a flat slope. The
        latter finds no step shorter than `delta_min` / `n` in the space of the kernel: lower it where kernel values are
        large.
    validation : {"redraw", "holdout"}, default="redraw"
        Judge steps by examples drawn again each time, or by a fifth of the rows set aside at the start; a start from
        other coefficients, or from a run that set none aside, sets none aside.
    eps : float, default=None
        Length of the direction below which, at the smallest radius, the run ends; with 0 only the gap ends it. None is
        1e-3 for more rows than `sample_cap`, and 0 for fewer: their gap is certified. The run has stagnated, not
        converged, if the certified gap on the sample is more than a tenth of the objective.
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
        The sample grows no further. Memory is at most 3 sample_cap^2 numbers of 8 bytes and 100 MB, whatever n.
    core : {"compiled", "reference"}, default="compiled"

    Attributes
    ----------
    n_accepted : int
        Iterations whose step was kept.
    radius : float
    work : Work
        The state of the core: the sample, its kernel matrix and responses.

    References
    ----------
    Zhang and Sen, "The Stochastic Conjugate Subgradient Algorithm for Kernel Support Vector Machines".
    """

    losses = ("hinge",)
    first_check = 20

    def __init__(self, rows, y, *, alpha, weights=None, fit_intercept=True, loss="hinge", random_state=None,
                 initial=None, geometry="rkhs", line_search="exact", validation="redraw", eps=None, delta_min=1e-3,
                 delta_0=0.5, delta_max=8.0, eta1=0.1, eta2=1e-3, gamma=2.0, n=8, c1=0.25, c2=0.4, s0=50, growth=50,
                 sample_cap=2000, core="compiled"):  # fmt: skip
        super().__init__(core)
        margin_loss(loss, offered=self.losses)
        check_scs(geometry=geometry, line_search=line_search, validation=validation, eps=eps, delta_min=delta_min,
                  delta_0=delta_0, delta_max=delta_max, eta1=eta1, eta2=eta2, gamma=gamma, n=n, c1=c1, c2=c2, s0=s0,
                  growth=growth, sample_cap=sample_cap)  # fmt: skip
        self.source = source = as_source(rows, y, alpha=alpha, weights=weights, fit_intercept=fit_intercept,
                                         random_state=random_state)  # fmt: skip
        self.alpha, self.fit_intercept = float(alpha), bool(fit_intercept)
        self.is_exact, self.n, self.c1, self.c2 = line_search == "exact", n, c1, c2
        self.delta_min, self.delta_max, self.radius = delta_min, delta_max, float(delta_0)
        self.eta1, self.eta2, self.gamma, self.growth = eta1, eta2, gamma, growth
        self.cap, self.growing = min(sample_cap, source.size), False
        self.eps = (0.0 if self._is_small() else EPS) if eps is None else eps
        self.n_accepted, self.started = 0, False  # started: whether there is a direction to turn
        # Of the examples of the sample, in the order they came; part: the active part averaged as the direction is.
        self.coef, self.direction, self.part = np.zeros((3, self.cap))
        state = None if initial is None else require_state(initial, source.size, STATE)
        if state is not None and not self._can_resume(state["sample"].astype(np.intp)):
            state = None  # of a larger sample_cap, or of other weights
        self.held_out = np.empty(0, dtype=np.intp)
        if validation == "holdout" and state is not None:
            self.held_out = source.take(state["held_out"].astype(np.intp))
        elif validation == "holdout" and initial is None:
            self.held_out = source.hold_out(HELD_OUT, self.cap)
        rows = None if len(self.held_out) else source.drawable()
        self.watches_all = rows is not None and watches_all(len(rows), self.cap, source.dtype.itemsize)
        self.work = self.core.Work(source, self.alpha, self.fit_intercept, geometry == "rkhs", self.coef,
                                   self.direction, self.part, rows if self.watches_all else self.held_out,
                                   self.watches_all)  # fmt: skip
        if initial is None:
            self._append(source.fresh(s0, both_classes=True))
        else:
            self._start_from(initial, state, s0)

    @property
    def sample(self):
        """The ids of the sample, in the order they came."""
        return self.work.sample

    @property
    def n_kernel_evaluations(self):
        return self.source.n_evaluations

    n_inner_products = n_kernel_evaluations

    def advance(self, n_iter):
        """Do `n_iter` iterations, or fewer if the stopping rule holds; return how many were done."""
        for done in range(n_iter):
            if self.converged or self.stagnated:
                return done
            self._iterate()
        return n_iter

    def _iterate(self):
        length, steepest = self.core.turn(self.work, self.started)
        self.started = True
        t = self.core.search(self.work, self.is_exact, length, self.radius, self.n, self.c1, self.c2)
        if self.growing and self.work.size < self.cap:
            self._append(self.source.fresh(min(self.growth, self.cap - self.work.size)))
        else:
            self.growing = False
        if self._accepts(t, length):
            self.core.move(self.work, t)
            self.radius = min(self.gamma * self.radius, self.delta_max)
            self.n_accepted += 1
        else:
            self.radius = max(self.radius / self.gamma, self.delta_min)
        self.n_iter += 1
        if self.eps > 0.0:
            if length <= self.eps and self.radius <= self.delta_min:
                # Both are lengths in the space of the kernel: of tiny features even the first direction is short.
                self.stagnated = self.sample_gap() > FAR * self.sample_objective()
                self.converged = not self.stagnated
        elif length <= NO_DIRECTION * steepest:
            self.started = False  # no descent in the hull, but the gap is the rule: restart from the subgradient
        if self.n_iter % RECOMPUTED == 0:
            self.core.recompute(self.work)

    def _accepts(self, t, length):
        """Return whether a step keeps enough of the decrease that the sample predicts on validation examples."""
        predicted = self.core.predict(self.work, t)
        ids = self.held_out if len(self.held_out) else self.source.validation(self.work.size)
        if not (predicted < 0.0 and length > self.eta2 * self.radius):
            return False
        return self.core.judge(self.work, ids, t) <= self.eta1 * predicted

    def _append(self, ids):
        """Add fresh examples to the sample; their coefficients are zero, so no function changes."""
        self.growing = self.growth > 0 and len(ids) > 0
        if len(ids):
            self.core.append(self.work, ids)

    # --- what it found -----------------------------------------------------------------------------------------------

    def _sample_coef(self):
        return self.coef[: self.work.size].copy()

    def _averaged(self):
        """The coefficients of the averaged subgradient."""
        size, source = self.work.size, self.source
        y, weights = source.y[self.sample], source.weights[self.sample]
        return y * weights * self.part[:size] * source.share / (self.alpha * size)

    def sample_objective(self):
        """The objective with the loss averaged over the sample."""
        return self.core.value(self.work)[0]

    def sample_gap(self):
        """`sample_objective` minus a lower bound on its optimum."""
        y, weights = self.source.y[self.sample], self.source.weights[self.sample] * self.source.share
        return certified_gap(self.work.matvec, y, weights, self.alpha, self.fit_intercept, self.sample_objective(),
                             [self._sample_coef(), self._averaged()])  # fmt: skip

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
        """Return the objective over all rows as an `Estimate`.

        Exact for few rows and where the responses of all are kept; else estimated from as many rows outside the sample
        as it holds, at the cost of one validation sample.
        """
        if self._is_small():
            return Estimate(self.objective(), 0.0)
        outside = self.source.outside(self.sample, None if self.watches_all else self.cap)
        inside = self.responses()
        return estimate_objective(self.source, self.sample, outside, intercept=self.core.value(self.work)[1],
                                  penalty=0.5 * self.alpha * float(self._sample_coef() @ inside),
                                  inside_responses=inside,
                                  outside_responses=self.core.responses_of(self.work, outside))  # fmt: skip

    def gap(self):
        """`objective` minus a lower bound on the optimum over all rows; None for more than `sample_cap` rows."""
        return self._whole()[1] if self._is_small() else None

    def check(self, tol):
        """Set `converged` to whether the certified gap is at most `tol` times the objective, and return it.

        For more rows than `sample_cap` the certificate is that of the sample, once it has stopped growing.
        """
        if self._is_small():
            objective, gap = self._whole()
        elif self.growing:
            return self.converged
        else:
            objective, gap = self.sample_objective(), self.sample_gap()
        self.converged = bool(gap <= tol * max(objective, np.finfo(float).tiny))
        return self.converged

    def solution(self):
        """Coefficients by id, the best intercept for the rows of `objective`, and the state of the run."""
        size, coef = self.work.size, self._sample_coef()
        state = {
            "sample": self.sample.astype(np.float64),
            "held_out": self.held_out.astype(np.float64),
            "sample_coef": coef,
            "direction": self.direction[:size].copy() if self.started else np.empty(0),
            "part": self.part[:size].copy(),
            "radius": np.array([self.radius]),
            "settings": self._settings(self.sample),
        }
        if self._is_small() and not self.source.complete(self.sample):
            coef, responses = self._on_all_rows()
            return Solution(coef, self.source.problem.best_intercept(responses), self.n_iter, state)
        _, intercept = self.core.value(self.work)
        return Solution(scattered(self.source.size, self.sample, coef), intercept, self.n_iter, state)

    def responses(self):
        """Return f at the sample."""
        return self.work.responses()

    def _is_small(self):
        """Whether the sample may hold all rows, but those of weight 0; a stream has no problem of all rows."""
        return self.source.problem is not None and self.source.n_drawable <= self.cap

    def _whole(self):
        """Objective and gap over all rows."""
        if self.source.complete(self.sample):
            return self.sample_objective(), self.sample_gap()
        problem = self.source.problem
        coef, responses = self._on_all_rows()
        objective = problem.objective(responses, coef @ responses, problem.best_intercept(responses))
        coefs = [coef, scattered(problem.n, self.sample, self._averaged())]
        gap = certified_gap(problem.rows.matvec, problem.y, problem.weights, self.alpha, self.fit_intercept, objective,
                            coefs)  # fmt: skip
        return objective, gap

    def _on_all_rows(self):
        """Coefficients and responses of all rows."""
        coef = scattered(self.source.size, self.sample, self._sample_coef())
        return coef, self.source.problem.rows.matvec(coef)

    def _settings(self, sample):
        return settings_of(self.alpha, self.fit_intercept, self.source.weights[sample])

    def _can_resume(self, sample):
        """Return whether a sample fits, and rows of both classes in it have a weight."""
        if len(sample) > self.cap:
            return False
        y = self.source.y[sample[self.source.weights[sample] > 0]]
        return bool(np.any(y < 0) and np.any(y > 0))

    def _first_sample(self, coef, s0):
        """Return the ids of a sample to start with from coefficients of all rows."""
        source = self.source
        used = np.arange(source.size) if self._is_small() else largest(coef, self.cap)
        used = used[source.weights[used] > 0]
        if len(used) == 0:
            return source.fresh(s0, both_classes=True)
        is_single = self.fit_intercept and source.problem is not None and np.all(source.y[used] == source.y[used[0]])
        if is_single:  # without a row of the other class there is no best intercept
            other = np.flatnonzero((source.y != source.y[used[0]]) & (source.weights > 0))[:1]
            used = np.concatenate([used[: self.cap - len(other)], other])
        return source.take(used)

    def _start_from(self, initial, state, s0):
        self.n_iter = initial.n_iter
        if state is None:
            self._append(self._first_sample(initial.coef, s0))
            self.coef[: self.work.size] = initial.coef[self.sample]
        else:
            ids = state["sample"].astype(np.intp)
            used = self.source.weights[ids] > 0
            self.source.take(ids)
            self._append(ids[used])  # with one that is held out, too, where all rows of a class are
            size = self.work.size
            self.coef[:size] = state["sample_coef"][used]
            if np.array_equal(state["settings"], self._settings(ids)):
                self.part[:size], self.radius = state["part"][used], float(state["radius"].item())
                self.started = len(state["direction"]) > 0
                if self.started:
                    self.direction[:size] = state["direction"][used]
        self.core.recompute(self.work)
