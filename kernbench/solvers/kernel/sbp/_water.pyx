"""The water level of the stochastic batch perceptron, in one pass over the heights.

The level minimises (V + S(mu)) / mu over the covered mass mu, S(mu) being the sum of the lowest heights of that mass
(Cotter et al. 2012, section 3.2; with two basins, one for each class, the same mass is covered in both, and S is the
sum over both). The heights are the responses y_i f(x_i). A step of the perceptron changes all heights, but similar
heights by similar amounts, so the new level is near the examples that were at the edge of the previous one. So one pass
sums the heights below a bracket around the median of these examples and collects those inside; only a part of the
bracket is sorted. Early steps change the order of thousands of heights, but the covered mass only a little: if the
bracket holds many heights, a histogram finds the part in which the previous mass ends. If the new level is not there, a
larger part of the bracket is sorted, then a wider bracket, and finally everything. The result is always exact, and the
cost is usually linear.
"""

from libc.math cimport INFINITY, fabs

import numpy as np

from kernbench.problems.water_level import NO_LEVEL

from kernbench.problems.draws import cumulative_weights

cdef double SAME_MASS = 1e-12    # sums of weights that differ by less than this share are equal up to rounding

cdef enum:
    FEW = 16                     # the fewest heights that a bracket should hold,
    MANY = 64                    # and the most
    NEAR = 32                    # about this many heights of a larger bracket are sorted
    BUCKETS = 512                # of the histogram that selects them


cdef class Basin:
    """The examples of one class, or all of them.

    Parameters
    ----------
    members : ndarray of shape (m,), intp
        Ascending indices of the examples of positive weight.
    weights : ndarray of shape (m,)
    """

    def __init__(self, members, weights):
        self.members = np.ascontiguousarray(members, dtype=np.intp)
        self.weights = np.ascontiguousarray(weights, dtype=np.float64)
        self.size, self.total = len(members), weights.sum()
        cumulative = cumulative_weights(weights)
        self.uniform = cumulative is None
        self.cumulative = np.empty(0) if self.uniform else cumulative
        self.heights, self.masses = np.empty(self.size), np.empty(self.size)
        self.wide_heights, self.wide_masses = np.empty(self.size), np.empty(self.size)
        self.owners, self.wide_owners = np.empty(self.size, dtype=np.intp), np.empty(self.size, dtype=np.intp)
        self.landmarks[0], self.n_landmarks, self.reach = members[0], 1, INFINITY
        self.bracket.heights, self.bracket.masses = &self.wide_heights[0], &self.wide_masses[0]
        self.bracket.owners = &self.wide_owners[0]

    cdef void set_bracket(self, const double *c, bint everywhere) noexcept nogil:
        """Set the wide bracket around the predicted edge, or to all heights."""
        self.centre = self.predicted_edge(c)
        self.bracket.low, self.bracket.high = self.centre - self.reach, self.centre + self.reach
        if everywhere:
            self.bracket.low, self.bracket.high = -KB_NO_LIMIT, KB_NO_LIMIT

    cdef double predicted_edge(self, const double *c) noexcept nogil:
        """Return the median height of the examples around the last edge (a step may change a single one a lot)."""
        cdef double sorted_heights[LANDMARKS]
        cdef double height
        cdef Py_ssize_t k, j
        for k in range(self.n_landmarks):
            height, j = c[self.landmarks[k]], k
            while j > 0 and sorted_heights[j - 1] > height:
                sorted_heights[j] = sorted_heights[j - 1]
                j -= 1
            sorted_heights[j] = height
        return sorted_heights[self.n_landmarks // 2]

    cdef void select_near(self, double sum_below, double target) noexcept nogil:
        """After the pass over the heights, select the part of the bracket where the mass `target` ends."""
        self.wide_mass, self.wide_sum, self.wide_count = self.bracket.mass_below, sum_below, self.bracket.n_inside
        self.wide_above = self.size - self.bracket.n_below - self.wide_count
        self.scans += 1
        self.middle, self.half_width = self.centre, INFINITY
        if self.wide_count > NEAR:
            self.choose_interval(target)
        self.sort_interval()

    cdef void choose_interval(self, double target) noexcept nogil:
        """Choose an interval with about NEAR examples around the height at which the mass `target` ends."""
        cdef:
            Py_ssize_t counts[BUCKETS]
            double masses[BUCKETS]
            Py_ssize_t k, b, left, right, n_inside, last = min(<Py_ssize_t> BUCKETS, self.wide_count) - 1
            double low = INFINITY, high = -INFINITY, width, per_width, covered = self.wide_mass
        for k in range(self.wide_count):
            low = min(low, self.wide_heights[k])
            high = max(high, self.wide_heights[k])
        width = (high - low) / (last + 1)
        if not width > 1e-12 * fabs(high):  # all heights are equal up to rounding
            return
        per_width = 1.0 / width
        if per_width == INFINITY:  # of heights near the smallest floats: a product with it may have no integer
            return
        for b in range(last + 1):
            counts[b], masses[b] = 0, 0.0
        for k in range(self.wide_count):
            b = min(<Py_ssize_t> ((self.wide_heights[k] - low) * per_width), last)
            counts[b] += 1
            masses[b] += self.wide_masses[k]
        b = 0
        while b < last and covered + masses[b] < target:
            covered += masses[b]
            b += 1
        left, right, n_inside = b, b, counts[b]
        while n_inside < NEAR and (left > 0 or right < last):
            if left > 0:
                left -= 1
                n_inside += counts[left]
            if right < last:
                right += 1
                n_inside += counts[right]
        self.half_width = 0.5 * (right + 1 - left) * width
        self.middle = low + left * width + self.half_width

    cdef void sort_interval(self) noexcept nogil:
        """Sort the part of the wide bracket in the interval; add up the heights below it."""
        cdef:
            Py_ssize_t k, count = 0, n_below = 0
            double low, high, mass = 0.0, total = 0.0, height, weight
            bint below, inside
        low, high = self.middle - self.half_width, self.middle + self.half_width
        if self.half_width == INFINITY:
            low, high = -INFINITY, INFINITY
        for k in range(self.wide_count):
            height, weight = self.wide_heights[k], self.wide_masses[k]
            below = height < low
            inside = (height >= low) & (height <= high)
            n_below += below
            mass += weight * below
            total += weight * height * below
            self.heights[count] = height
            self.masses[count] = weight
            self.owners[count] = self.wide_owners[k]
            count += inside
        self.below_mass, self.below_sum, self.count = self.wide_mass + mass, self.wide_sum + total, count
        self.above = self.wide_above + self.wide_count - n_below - count
        _sort_bracket(&self.heights[0], &self.masses[0], &self.owners[0], count)

    cdef bint sort_wider(self) noexcept nogil:
        """After a miss, sort a larger part of the wide bracket; return False if all of it was sorted."""
        if self.half_width == INFINITY:
            return False
        self.half_width = INFINITY if self.count * 4 > self.wide_count else 4.0 * self.half_width
        self.sort_interval()
        return True

    cdef void set_level(self, double mass) noexcept nogil:
        """Set the edge of the covered mass and its covered share, and move the bracket there.

        `mass` ends inside the bracket or at its upper end.
        """
        cdef:
            double covered = self.below_mass, at_edge = 0.0, before
            Py_ssize_t k = 0, l, first
        while k < self.count - 1 and covered + self.masses[k] < mass * (1.0 - SAME_MASS):
            covered += self.masses[k]
            k += 1
        self.edge = self.heights[k]
        first = min(max(k - LANDMARKS // 2, 0), max(self.count - LANDMARKS, 0))
        self.n_landmarks = min(self.count, LANDMARKS)
        for l in range(self.n_landmarks):
            self.landmarks[l] = self.owners[first + l]
        # Examples of the same height are treated alike, on either side of k.
        l, before = k, covered
        while l > 0 and self.heights[l - 1] == self.edge:
            l -= 1
            before -= self.masses[l]
        while l < self.count and self.heights[l] == self.edge:
            at_edge += self.masses[l]
            l += 1
        self.share = min((mass - before) / at_edge, 1.0)
        # The next wide bracket covers twice the last error of the prediction.
        self.move = max(0.9 * self.move, fabs(self.edge - self.centre))
        if self.reach == INFINITY:
            self.reach = max(self.heights[min(k + MANY // 2, self.count - 1)] - self.edge,
                             self.edge - self.heights[max(k - MANY // 2, 0)])
        elif self.wide_count > MANY:
            self.reach *= 0.8
        elif self.wide_count < FEW:
            self.reach *= 1.5
        self.reach = max(self.reach, 2.0 * self.move)

    cdef void widen(self) noexcept nogil:
        self.reach = self.reach * 4.0 if 0.0 < self.reach and self.wide_count < self.size // 2 else INFINITY

    cdef Py_ssize_t propose(self, double u) noexcept nogil:
        cdef Py_ssize_t low = 0, high = self.size, middle
        cdef double target
        if self.uniform:
            return min(<Py_ssize_t> (u * self.size), self.size - 1)
        # As searchsorted(cumulative, target, side="right").
        target = u * self.cumulative[self.size - 1]
        while low < high:
            middle = (low + high) // 2
            if self.cumulative[middle] <= target:
                low = middle + 1
            else:
                high = middle
        return min(low, self.size - 1)

    cdef Py_ssize_t walk(self, const double *c, double mass, double rank, double tie) noexcept nogil:
        """Return the example drawn from p* by a pass: by `rank` in the mass below the edge, or by `tie` at the edge."""
        cdef Py_ssize_t k, last = -1
        cdef double target = rank * mass, covered = 0.0, at_edge = 0.0
        for k in range(self.size):
            if c[self.members[k]] < self.edge:
                covered += self.weights[k]
                if covered > target:
                    return self.members[k]
            elif c[self.members[k]] == self.edge:
                at_edge += self.weights[k]
        target, covered = tie * at_edge, 0.0
        for k in range(self.size):
            if c[self.members[k]] == self.edge:
                covered += self.weights[k]
                last = self.members[k]
                if covered > target:
                    break
        return last


cdef void _sort_bracket(double *heights, double *masses, Py_ssize_t *owners, Py_ssize_t n) noexcept nogil:
    """Shell sort by height, ascending, carrying masses and owners along: brackets are short."""
    cdef Py_ssize_t gap = 1, i, j, owner
    cdef double height, mass
    while gap < n // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, n):
            height, mass, owner, j = heights[i], masses[i], owners[i], i
            while j >= gap and heights[j - gap] > height:
                heights[j], masses[j], owners[j] = heights[j - gap], masses[j - gap], owners[j - gap]
                j -= gap
            heights[j], masses[j], owners[j] = height, mass, owner
        gap //= 3


cdef class Water:
    """The water level over one basin, or over two with a free intercept.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Labels; two basins if `two`.
    weights : ndarray of shape (n,)
    two : bool
    """

    def __init__(self, y, weights, bint two):
        self.two = two
        basins = (y > 0, y < 0) if two else (np.ones(len(y), dtype=bool),)
        parts = [np.flatnonzero(part & (weights > 0)) for part in basins]
        self.first = Basin(parts[0], weights[parts[0]])
        self.second = Basin(parts[len(parts) - 1], weights[parts[len(parts) - 1]])
        self.sides = np.where(weights > 0, y if two else 1.0, np.nan)
        self.masses = np.array(weights, dtype=np.float64)
        self.uniform = bool(np.all(weights[weights > 0] == 1.0))

    cdef bint level(self, const double *c, double volume) noexcept nogil:
        """Set gamma, mass, and edge and share of each basin; return False if heights or weights have no level.

        There is no level if heights are not finite, or if weights of the two classes differ by more than rounding.
        """
        cdef bint first, second, everywhere
        everywhere = False
        self._scan(c)
        while not (_solve_two(self, self.first, self.second, volume) if self.two
                   else _solve_one(self, self.first, volume)):
            first = self.first.sort_wider()
            second = self.two and self.second.sort_wider()
            if not (first or second):
                if self.first.reach == INFINITY and (not self.two or self.second.reach == INFINITY):
                    if everywhere:  # all heights were in the brackets
                        return False
                    everywhere = True
                self.first.widen()
                if self.two:
                    self.second.widen()
                self._scan(c)
        self.first.set_level(self.mass)
        if self.two:
            self.second.set_level(self.mass)
        return True

    cdef void _scan(self, const double *c) noexcept nogil:
        """One pass over all heights, which selects the part where the previously covered mass ends."""
        cdef bint everywhere = self.first.reach == INFINITY or self.two and self.second.reach == INFINITY
        cdef kb_bracket unused
        cdef kb_bracket *second = &self.second.bracket
        cdef double sum_below
        self.first.set_bracket(c, everywhere)
        if self.two:
            self.second.set_bracket(c, everywhere)
        else:  # no example is on the other side of a single basin
            unused = self.first.bracket
            second = &unused
        sum_below = scan_heights(c, &self.sides[0], NULL if self.uniform else &self.masses[0], self.sides.shape[0],
                                 &self.first.bracket, second)
        self.first.select_near(sum_below, self.mass)
        if self.two:  # sums below both brackets are kept in the first
            self.second.select_near(0.0, self.mass)


cdef bint _solve_one(Water self, Basin basin, double volume) noexcept nogil:
    """Compute the level from the bracket of one basin; return False if it lies outside."""
    cdef double mass = basin.below_mass, total = volume + basin.below_sum
    cdef Py_ssize_t k = 0
    # Cover one more as long as it lies below the level over the others.
    while k < basin.count and (mass == 0.0 or basin.heights[k] * mass < total):
        mass += basin.masses[k]
        total += basin.masses[k] * basin.heights[k]
        k += 1
    if k == 0 or (k == basin.count and basin.above > 0):
        return False
    self.mass, self.gamma = mass, total / mass
    return True

cdef bint _solve_two(Water self, Basin P, Basin N, double volume) noexcept nogil:
    """Compute the level from the brackets of two basins with equal covered mass; return False if it lies outside."""
    cdef:
        double mass = max(P.below_mass, N.below_mass), total = volume + P.below_sum + N.below_sum, part, pair
        double left_p, left_n, limit = min(P.total, N.total), rounding = SAME_MASS * mass
        Py_ssize_t p = 0, n = 0
        bint covered_one = False
    if P.count == 0 or N.count == 0:
        return False
    left_p, left_n = P.masses[0], N.masses[0]
    # Cover more of the basin with less mass below its bracket, up to that of the other.
    if (not _cover(P, mass - P.below_mass, rounding, &p, &left_p, &total)
            or not _cover(N, mass - N.below_mass, rounding, &n, &left_n, &total)):
        return False
    while p < P.count and n < N.count and mass < limit * (1.0 - SAME_MASS):
        pair = P.heights[p] + N.heights[n]
        if mass > 0.0 and pair * mass >= total:
            break
        part = min(left_p, left_n)
        mass += part
        total += part * pair
        left_p -= part
        left_n -= part
        covered_one = True
        if left_p <= SAME_MASS * mass:
            p += 1
            left_p = P.masses[p] if p < P.count else 0.0
        if left_n <= SAME_MASS * mass:
            n += 1
            left_n = N.masses[n] if n < N.count else 0.0
    if not covered_one or (p == P.count and P.above > 0) or (n == N.count and N.above > 0):
        return False
    self.mass, self.gamma = mass, 0.5 * total / mass
    return True


cdef bint _cover(Basin basin, double mass, double rounding, Py_ssize_t *k, double *left,
                 double *total) noexcept nogil:
    """Cover `mass` more of the bracket of one basin, up to `rounding`; return False if the bracket holds less."""
    cdef double part
    while mass > rounding:
        if k[0] == basin.count:
            return False
        part = min(mass, left[0])
        total[0] += part * basin.heights[k[0]]
        left[0] -= part
        mass -= part
        if left[0] <= rounding:
            k[0] += 1
            left[0] = basin.masses[k[0]] if k[0] < basin.count else 0.0
    return True


def water_level(c, weights, volume, y=None):
    """Return the level, covered mass and edges of given heights by the compiled pass, for tests.

    Parameters
    ----------
    c : ndarray of shape (n,), or (n_levels, n) for one level after the other, each from the bracket of the one before
    weights, volume, y
        As for `problems.water_level`.

    Returns
    -------
    tuple (gamma, mass, edge of the first basin, edge of the second)
    """
    cdef double[:, ::1] heights = np.atleast_2d(np.ascontiguousarray(c, dtype=np.float64))
    cdef Py_ssize_t k
    weights = np.asarray(weights, dtype=np.float64)
    water = Water(np.ones(len(weights)) if y is None else np.asarray(y), weights, y is not None)
    for k in range(heights.shape[0]):
        for _ in range(3 if heights.shape[0] == 1 else 1):  # once over everything, then from narrow brackets
            if not (<Water> water).level(&heights[k, 0], volume):
                raise ValueError(NO_LEVEL)
    second = (<Water> water).second if y is not None else (<Water> water).first
    return (<Water> water).gamma, (<Water> water).mass, (<Water> water).first.edge, (<Basin> second).edge
