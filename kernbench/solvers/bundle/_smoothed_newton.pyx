"""Newton steps on a smoothed risk, by conjugate gradients: the directions of cutting planes on many features.

Where there are too many features for a Hessian matrix, the risk R is smoothed: R_mu takes the Moreau envelope of each
hinge, whose kink is rounded over a width mu. Truncated Newton steps minimise alpha/2 |f|^2 + R_mu, and mu is reduced as
soon as the point is nearer to that minimum than R_mu is to R:

    |gradient|^2 / (2 alpha)  <=  BALANCE (R - R_mu).

The gradient of R_mu is the slope of a cut of R, so every point raises the lower bound, which rises to within
R - R_mu + |gradient|^2 / (2 alpha) of the objective at the point by this cut alone.
"""

from libc.math cimport INFINITY, fabs

from kernbench.solvers.bundle._risk cimport Risk, answer_signals, refuse_nan
from kernbench.solvers.design._design cimport dot

import numpy as np

cdef enum:
    LARGEST_CG = 40                # Hessian products per step; with 15, nearly separable pairs stall at small alpha
cdef double WIDEST = 2.0           # the first mu, in units of the margin: at f = 0 half the slope of the hinge
cdef double SHRINK = 0.3
cdef double NARROWEST = 1e-10      # mu below which the gradient, a difference divided by mu, loses too many digits
cdef double BALANCE = 0.5
cdef double RESIDUAL = 0.1         # of the Newton equation, as a share of the gradient
cdef double PROGRESS = 1e-12       # relative decrease of the smoothed objective below which mu is reduced


cdef class SmoothedNewton:
    """The point and the smoothing of Newton's method, which starts at 0, where the smoothest problem is easy.

    Parameters
    ----------
    risk : SmoothedRisk
    line : SampledLine
        Of the smoothed risk.
    design : FeatureDesign
    alpha : float
    """

    def __init__(self, SmoothedRisk risk, SampledLine line, Design design, double alpha):
        self.risk, self.line, self.design, self.alpha = risk, line, design, alpha
        d, n = design.n_coef, design.n_samples
        self.coef, self.gradient, self.residual = np.zeros(d), np.empty(d), np.empty(d)
        self.p, self.product = np.empty(d), np.empty(d)
        self.scores, self.p_scores, self.curved = np.zeros(n), np.empty(n), np.empty(n)
        self._smooth_by(WIDEST)

    def _smooth_by(self, mu):
        self.risk.mu = (<SmoothedRisk> self.line.problem).mu = mu
        self.value, self.excess, self.progress = INFINITY, 0.0, True

    def state(self):
        """Return the point, and mu with the rest."""
        return {"iterate": np.array(self.coef), "smoothing": np.array([self.risk.mu, self.value, self.progress])}

    def load(self, state, Risk risk):
        """Continue from the state of a solution of the same problem; `risk` is the risk before smoothing."""
        cdef double[::1] g = np.empty(self.design.n_samples)
        cdef double[::1] coef = state["iterate"]
        mu, value, progress = state["smoothing"]
        self._smooth_by(mu)
        self.design.score(&coef[0], &self.scores[0])
        self.take(&coef[0], &self.scores[0], risk.risk(&self.scores[0], NULL), &g[0])
        self.value, self.progress = value, bool(progress)

    cdef double take(self, const double *coef, const double *scores, double risk, double *g) except? -1 nogil:
        """Move to a point where the risk is known; set g to the slopes of a cut there and return its offset."""
        cdef:
            Py_ssize_t k, d = self.coef.shape[0], n = self.scores.shape[0]
            double smoothed = self.risk.risk(scores, g), value
        refuse_nan(smoothed)
        for k in range(d):
            self.coef[k] = coef[k]
        for k in range(n):
            self.scores[k] = scores[k]
        value = smoothed + 0.5 * self.alpha * dot(coef, coef, d)
        self.progress = value < self.value - PROGRESS * fabs(value)
        self.value, self.excess = value, risk - smoothed
        return self.risk.offset

    cdef bint may_go_on(self, const double *element) noexcept nogil:
        """Compute the gradient of the smoothed risk, reducing mu when due. Return False once mu is too small."""
        cdef Py_ssize_t k, d = self.coef.shape[0]
        for k in range(d):
            self.gradient[k] = self.alpha * self.coef[k] + element[k]
        if self.progress and dot(&self.gradient[0], &self.gradient[0], d) > 2.0 * self.alpha * BALANCE * self.excess:
            return True
        self.risk.mu *= SHRINK
        (<SmoothedRisk> self.line.problem).mu = self.risk.mu
        self.value = INFINITY
        return self.risk.mu >= NARROWEST

    cdef int next_point(self, double *step, double *moved, double *next_coef, double *next_scores) except -1 nogil:
        """Return the end of a line search along the Newton direction; the same point if mu has just been reduced."""
        cdef:
            Py_ssize_t k, d = self.coef.shape[0], n = self.scores.shape[0]
            double t = 0.0
        if self.value < INFINITY:
            self._newton_step(step, moved)
            t = self.line.search(&self.scores[0], moved, dot(&self.gradient[0], step, d),
                                 self.alpha * dot(step, step, d))
            for k in range(d):
                next_coef[k] = self.coef[k] + t * step[k]
            for k in range(n):
                next_scores[k] = self.scores[k] + t * moved[k]
        else:
            for k in range(d):
                next_coef[k] = self.coef[k]
            for k in range(n):
                next_scores[k] = self.scores[k]
        return 0

    cdef int _newton_step(self, double *step, double *moved) except -1 nogil:
        """Solve (alpha I + X' H X) step = -gradient by conjugate gradients; moved = X step."""
        cdef:
            Py_ssize_t k, turn, d = self.coef.shape[0], n = self.scores.shape[0]
            double rr, last, goal, length, share
        for k in range(d):
            step[k] = 0.0
            self.residual[k] = self.p[k] = -self.gradient[k]
        for k in range(n):
            moved[k] = 0.0
        rr = dot(&self.residual[0], &self.residual[0], d)
        goal = RESIDUAL * RESIDUAL * rr
        for turn in range(LARGEST_CG):
            answer_signals()
            self.design.score(&self.p[0], &self.p_scores[0])
            self.risk.hessian_product(&self.p_scores[0], &self.curved[0])
            self.design.gather_up(&self.curved[0], &self.product[0])
            for k in range(d):
                self.product[k] += self.alpha * self.p[k]
            length = rr / dot(&self.p[0], &self.product[0], d)
            for k in range(d):
                step[k] += length * self.p[k]
                self.residual[k] -= length * self.product[k]
            for k in range(n):
                moved[k] += length * self.p_scores[k]
            last, rr = rr, dot(&self.residual[0], &self.residual[0], d)
            if rr <= goal:
                break
            share = rr / last
            for k in range(d):
                self.p[k] = self.residual[k] + share * self.p[k]
        return 0
