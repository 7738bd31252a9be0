"""The regularised hinge loss along a direction, and line searches: reference/kernel/conjugate/hinge_line.py, compiled.

Given the responses u of f and v of the direction, an evaluation at t is one pass over the sample, and the best
intercept another two.
"""

from libc.math cimport INFINITY, fabs, frexp, ldexp
from libc.stdlib cimport qsort

import numpy as np

from kernbench.problems.kernel.newton import NOT_DEFINITE
from kernbench.solvers.base import Diverged

cdef extern from "_hinge_line.h" nogil:
    double KB_KINK, KB_SEARCH_KINK
    ctypedef struct Sums "struct kb_hinge_sums":
        double loss
        double slope
        double excess
        double tied
    void hinge_pass "kb_hinge_pass"(const double *y, const double *w, const double *r, const double *v, ptrdiff_t n,
                                    double b, Sums *out)
    void along "kb_along"(const double *u, const double *v, double t, ptrdiff_t n, double *out)

cdef enum:
    HALVINGS = 60
cdef double SHORTEST = 1e-12
cdef double OF_LONGEST = 1e-6
cdef double ROOM = 1.0 + 1e-9       # tolerance: doubling and halving reach the ends of the range only up to rounding
cdef double FARTHEST = 2.0 ** 40    # largest change of a response at the end of a bracket


cdef struct Tie:
    double heading      # the direction's value
    Py_ssize_t example


cdef inline bint is_active(double y, double u, double v, double t) noexcept nogil:
    return 1.0 - y * (u + t * v) > KB_SEARCH_KINK


cdef class HingeLine:
    """F(t) = min over b of alpha/2 ||f + t d||^2 + share/n sum_i w_i max(0, 1 - y_i (u_i + t v_i + b)).

    Parameters
    ----------
    y, weights : ndarray of shape (n,), float64
    alpha, share : float
    fit_intercept : bool
        Otherwise b = 0.
    """

    def __init__(self, y, weights, alpha, share, fit_intercept):
        self.y, self.weights, self.n = y, weights, len(y)
        self.alpha, self.share, self.fit_intercept = alpha, share / len(y), fit_intercept
        self.trial, self.open = np.empty(self.n), np.empty(self.n, dtype=np.intp)
        self.finder = InterceptFinder(y, weights) if fit_intercept else None
        self.ties = np.empty((self.n if fit_intercept else 0, 2))

    def along(self, const double[::1] u, const double[::1] v, q):
        """Set the responses u of f and v of the direction; for tests."""
        self.kept = u, v
        self.set_line(&u[0], &v[0], q[0], q[1], q[2])
        return self

    cdef void set_line(self, const double *u, const double *v, double q0, double q1, double q2) noexcept:
        self.u, self.v, self.q0, self.q1, self.q2 = u, v, q0, q1, q2

    cpdef int evaluate(self, double t) except -1:
        cdef Sums sums
        along(self.u, self.v, t, self.n, &self.trial[0])
        self.intercept = self.finder.find(self.trial) if self.fit_intercept else 0.0
        hinge_pass(&self.y[0], &self.weights[0], &self.trial[0], self.v, self.n, self.intercept, &sums)
        if self.fit_intercept and sums.tied > 0.0:
            sums.slope += self._split_ties(sums.excess, KB_SEARCH_KINK, NULL)
        self.value = 0.5 * self.alpha * (self.q0 + 2.0 * t * self.q1 + t * t * self.q2) + self.share * sums.loss
        self.slope = self.alpha * (self.q1 + t * self.q2) - self.share * sums.slope
        return 0

    cdef double _split_ties(self, double excess, double kink, double *active) noexcept:
        """Return sum w y a v over the examples at the kink, where a is as in `split_ties` of the reference.

        `excess` is sum w y a over the others. Writes a to `active` unless it is NULL.
        """
        cdef:
            Tie *ties = <Tie *> &self.ties[0, 0]
            Py_ssize_t i, k, first = 0, end, n_ties = 0
            double left = -excess, mass, share, a, total = 0.0
        for i in range(self.n):
            if fabs(1.0 - self.y[i] * (self.trial[i] + self.intercept)) <= kink:
                ties[n_ties].heading, ties[n_ties].example = self.v[i], i
                n_ties += 1
                left += self.weights[i] if self.y[i] < 0.0 else 0.0
        qsort(ties, n_ties, sizeof(Tie), _by_heading)
        while first < n_ties:
            end, mass = first + 1, self.weights[ties[first].example]
            while end < n_ties and ties[end].heading == ties[first].heading:
                mass += self.weights[ties[end].example]
                end += 1
            share = min(1.0, max(0.0, left / mass)) if mass > 0.0 else 0.0
            for k in range(first, end):
                i = ties[k].example
                a = share if self.y[i] > 0.0 else 1.0 - share
                total += self.weights[i] * self.y[i] * a * self.v[i]
                if active != NULL:
                    active[i] = a
            left -= mass
            first = end
        return total

    cdef int active_part(self, double *active) except -1:
        cdef:
            Py_ssize_t i
            double room, excess = 0.0
            bint ties = False
        along(self.u, self.v, 0.0, self.n, &self.trial[0])
        self.intercept = self.finder.find(self.trial) if self.fit_intercept else 0.0
        for i in range(self.n):
            room = 1.0 - self.y[i] * (self.trial[i] + self.intercept)
            active[i] = 1.0 if room > KB_KINK else 0.0
            excess += self.weights[i] * self.y[i] * active[i]
            ties = ties or fabs(room) <= KB_KINK
        if ties and self.fit_intercept:
            self._split_ties(excess, KB_KINK, active)
        elif ties:
            for i in range(self.n):
                if fabs(1.0 - self.y[i] * self.trial[i]) <= KB_KINK and self.y[i] * self.v[i] < 0.0:
                    active[i] = 1.0
        return 0

    cpdef double exact(self, double high) except? -1.0:
        cdef double low = 0.0, limit = INFINITY if high < 0.0 else high, t
        cdef int _turn
        high = _first_step(self, 1.0 if high < 0.0 else high)
        self.evaluate(high)
        while self.slope < 0.0 and high < limit:
            high = min(2.0 * high, limit)
            if high == INFINITY:
                raise Diverged(NOT_DEFINITE)
            self.evaluate(high)
        if high == limit and self.slope <= 0.0:
            return limit
        self.evaluate(0.0)
        if self.slope >= 0.0:
            return 0.0
        if not self.fit_intercept:
            return self._halve_apart(high)
        for _turn in range(HALVINGS):
            t = 0.5 * (low + high)
            self.evaluate(t)
            if self.slope < 0.0:
                low = t
            else:
                high = t
        return high

    cdef double _halve_apart(self, double high) noexcept:
        """The search by halving without an intercept, where examples are independent of each other.

        A margin passes 1 at one t: an example on the same side at both ends of the range stays there, and each halving
        decides the side of about half of the others. So all halvings together cost some three passes.
        """
        cdef:
            double low = 0.0, t, decided = 0.0, undecided, gain
            Py_ssize_t i, q, n_open = 0, n_left
            bint rising, active
            int _turn
        for i in range(self.n):
            active = is_active(self.y[i], self.u[i], self.v[i], 0.0)
            if active != is_active(self.y[i], self.u[i], self.v[i], high):
                self.open[n_open] = i
                n_open += 1
            elif active:
                decided += self.weights[i] * self.y[i] * self.v[i]
        for _turn in range(HALVINGS):
            t = 0.5 * (low + high)
            undecided = 0.0
            for q in range(n_open):
                i = self.open[q]
                if is_active(self.y[i], self.u[i], self.v[i], t):
                    undecided += self.weights[i] * self.y[i] * self.v[i]
            rising = self.alpha * (self.q1 + t * self.q2) - self.share * (decided + undecided) >= 0.0
            if rising:
                high = t
            else:
                low = t
            n_left = 0
            for q in range(n_open):
                i = self.open[q]
                active = is_active(self.y[i], self.u[i], self.v[i], t)
                gain = self.weights[i] * self.y[i] * self.v[i]
                # Active at one end only: at the nearer end if its margin grows (gain > 0), otherwise at the farther
                # one.
                if active == (rising == (gain > 0.0)):
                    decided += gain if active else 0.0
                else:
                    self.open[n_left] = i
                    n_left += 1
            n_open = n_left
        return high

    cpdef double bracket(self, double length, double radius, double n, double c1, double c2) except? -1.0:
        cdef double start, square = length * length, shortest = radius / n, t, low, high
        cdef int _turn
        self.evaluate(0.0)
        start = self.value
        t = max(shortest, 0.5 * radius) / length
        self.evaluate(t)
        if self.value - start <= -c1 * square * t:
            if self.slope >= -c2 * square:
                return t
            while self.slope < -c2 * square:
                t *= 2.0
                if t * length > ROOM * radius:
                    return 0.5 * t
                self.evaluate(t)
            if self.value - start <= -c1 * square * t:
                return t
            low, high = 0.5 * t, t
        else:
            while self.value - start > -c1 * square * t:
                t *= 0.5
                if ROOM * t * length < shortest:
                    return 0.0
                self.evaluate(t)
            if self.slope >= -c2 * square:
                return t
            low, high = t, 2.0 * t
        for _turn in range(HALVINGS):
            t = 0.5 * (low + high)
            self.evaluate(t)
            if self.value - start <= -c1 * square * t:
                if self.slope >= -c2 * square:
                    return t
                low = t
            else:
                high = t
        return low

    cpdef double wolfe(self, double length, double c1, double c2) except? -1.0:
        cdef double start, square = length * length, low = 0.0, high = INFINITY, t = 1.0
        cdef double shortest = SHORTEST * _first_step(self, 1.0), curvature = self.alpha * self.q2
        if curvature > 0.0 and square / curvature < INFINITY:
            shortest, t = min(shortest, OF_LONGEST * square / curvature), max(t, SHORTEST * square / curvature)
        self.evaluate(0.0)
        start = self.value
        while high - low > shortest and t != low and t != high:
            self.evaluate(t)
            if self.value - start > -c1 * square * t:
                high = t
            elif self.slope < -c2 * square:
                low = t
            else:
                return t
            t = 2.0 * t if high == INFINITY else 0.5 * (low + high)
            if t == INFINITY:
                raise Diverged(NOT_DEFINITE)
        return 0.0


cdef double _first_step(HingeLine line, double high) noexcept:
    """As first_step of the reference."""
    cdef double largest = 0.0
    cdef Py_ssize_t i
    cdef int exponent
    for i in range(line.n):
        largest = max(largest, fabs(line.v[i]))
    if not (high * largest > FARTHEST and largest < INFINITY):
        return high
    frexp(largest, &exponent)
    return ldexp(1.0, -exponent)


cdef int _by_heading(const void *a, const void *b) noexcept nogil:
    """By heading, then by number, so that every C library sorts alike."""
    cdef:
        const Tie *x = <const Tie *> a
        const Tie *z = <const Tie *> b
    if x.heading != z.heading:
        return 1 if x.heading > z.heading else -1
    return (x.example > z.example) - (x.example < z.example)
