"""Iterations of stochastic conjugate subgradients with the matrix of the sample: the core of
`solvers.kernel.conjugate.scs`."""

import numpy as np

from kernbench.problems.kernel.conjugate import smallest_norm
from kernbench.reference.kernel.conjugate.hinge_line import Line, active_part, bracket_search, exact_search


class Work:
    """The sample and its kernel matrix.

    Parameters
    ----------
    source : a source of samples
        See ``kernbench.problems.streaming.samples``.
    alpha : float
    fit_intercept : bool
    rkhs : bool
        Whether inner products are those of the kernel's space, not of coefficients.
    coef, direction, part : ndarray of shape (cap,)
        Of f, of the direction, and the active part averaged as the direction is; changed in place. The first entries
        are those of the sample, in the order it grew.
    watched : ndarray of intp
        Examples whose responses are kept by the compiled core, in the sample or not; not used here.
    watches_all : bool
        Whether these are all rows, not held-out ones.

    Attributes
    ----------
    sample : ndarray of intp
        Ids.
    size : int
        Their number.
    """

    def __init__(self, source, alpha, fit_intercept, rkhs, coef, direction, part, watched, watches_all):
        self.source, self.alpha, self.fit_intercept, self.rkhs = source, alpha, fit_intercept, rkhs
        self.all = coef, direction, part
        self.sample, self.size, self.Q = np.empty(0, dtype=np.intp), 0, np.empty((0, 0))

    @property
    def coef(self):
        """Of the sample, as are `direction` and `part`: views."""
        return self.all[0][: self.size]

    @property
    def direction(self):
        return self.all[1][: self.size]

    @property
    def part(self):
        return self.all[2][: self.size]

    def matvec(self, a):
        """Return the kernel matrix of the sample times a."""
        return self.Q @ a

    def responses(self):
        """Return f at the sample."""
        return self.Q @ self.coef

    def inner(self, a, b):
        """Return the inner product of the geometry."""
        return a @ (self.Q @ b) if self.rkhs else a @ b

    def line(self):
        """Return the objective on the sample along the direction."""
        coef, d = self.coef, self.direction
        u, v = self.Q @ coef, self.Q @ d
        q = coef @ u, d @ u, d @ v
        return Line(self.y, self.weights, self.alpha, self.source.share, self.fit_intercept, u, v, q)


def append(work, ids):
    """Add examples of coefficient 0 to the sample."""
    old = work.source.block(ids, work.sample).astype(np.float64)
    new = work.source.block(ids, ids).astype(np.float64)
    work.Q = np.block([[work.Q, old.T], [old, new]])
    work.sample, work.size = np.concatenate([work.sample, ids]), work.size + len(ids)
    work.y, work.weights = work.source.y[work.sample], work.source.weights[work.sample]


def turn(work, started):
    """Turn the direction, if there is one, towards minus the subgradient; return its length, and the subgradient's."""
    y, weights, line = work.y, work.weights, work.line()
    active = active_part(y, weights, line.u, line.intercept(0.0), work.fit_intercept, line.v)
    c = work.alpha * work.coef - work.source.share / work.size * y * weights * active
    g, d = c if work.rkhs else work.Q @ c, work.direction
    gg = work.inner(g, g)
    mu = smallest_norm(work.inner(d, d), gg, -work.inner(d, g)) if started else 0.0
    d[:] = mu * d - (1.0 - mu) * g
    work.part[:] = mu * work.part + (1.0 - mu) * active
    return float(np.sqrt(max(work.inner(d, d), 0.0))), float(np.sqrt(max(gg, 0.0)))


def search(work, exact, length, radius, n, c1, c2):
    """Return the step along the direction: the minimiser within the radius, or a point with enough decrease and a flat
    slope."""
    if not length > 0.0:
        return 0.0
    line = work.line()
    return exact_search(line, radius / length) if exact else bracket_search(line, length, radius, n, c1, c2)


def predict(work, t):
    """Return the change of the objective on the sample by a step."""
    line = work.line()
    return line.value(t) - line.value(0.0)


def judge(work, ids, t):
    """Return the change of the objective on validation examples, with the intercepts of `predict`."""
    line, source = work.line(), work.source
    K, y, weights = source.block(ids, work.sample).astype(np.float64), source.y[ids], source.weights[ids]

    def value(coef, intercept):
        loss = weights @ np.maximum(0.0, 1.0 - y * (K @ coef + intercept)) / len(y)
        return 0.5 * work.alpha * coef @ (work.Q @ coef) + source.share * loss

    after = value(work.coef + t * work.direction, line.intercept(t))
    return float(after - value(work.coef, line.intercept(0.0)))


def move(work, t):
    """Add t times the direction to f."""
    work.coef[:] += t * work.direction


def recompute(work):
    """Nothing: no response is updated by recurrences."""


def value(work):
    """Return the objective on the sample and the best intercept for it."""
    line = work.line()
    return line.value(0.0), float(line.intercept(0.0))


def responses_of(work, ids):
    """Return f at some ids."""
    return work.source.products(ids, work.sample, work.coef[:, None])[:, 0]
