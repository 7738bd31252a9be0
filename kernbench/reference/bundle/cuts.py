"""The cuts of a bundle: tangents R(f) >= <a_k, f> + b_k of a convex risk, and the lower bound that follows from them.

    min_f  alpha/2 |f|^2 + max_k (<a_k, f> + b_k)  =  max over u in the simplex of  b'u - |sum_k u_k a_k|^2 / (2 alpha).

Their number is bounded: a cut whose multiplier has been zero for a while is dropped; if all multipliers are positive,
one cut is replaced by the weighted sum of all, which is a cut too and gives the same bound alone.
"""

import numpy as np

from kernbench.reference.bundle.simplex_qp import simplex_qp

IDLE = 20  # bounds after which a cut of multiplier zero is dropped


class Cuts:
    """Cuts of one risk.

    Parameters
    ----------
    design : FeatureDesign or KernelDesign
    capacity : int
        Cuts kept at the most.
    """

    def __init__(self, design, capacity):
        self.design, self.capacity = design, capacity
        self.forget()

    def forget(self):
        """Drop all cuts."""
        design = self.design
        self.kept = -1  # the cut of the best point, never dropped
        self.elements = np.zeros((0, design.n_coef))  # a_k
        self.scores = np.zeros((0, design.n_samples))  # of a kernel: theirs
        self.offsets, self.multipliers, self.idle = np.zeros(0), np.zeros(0), np.zeros(0, dtype=int)
        self.products = np.zeros((0, 0))  # <a_k, a_l>
        self._sum_up()

    @property
    def n_cuts(self):
        """Cuts held now."""
        return len(self.offsets)

    def element(self, k):
        """Return a_k, not a copy."""
        return self.elements[k]

    def append(self, g, offset):
        """Add the cut with slopes g at the samples."""
        self._make_room()
        element = self.design.combine(g)
        scores = self.design.scores(element) if self.design.is_kernel else None
        self.elements = np.vstack([self.elements, element])
        if self.design.is_kernel:
            self.scores = np.vstack([self.scores, scores])
        column = np.array([self.design.inner(a, element, scores) for a in self.elements])
        self.products = np.block([[self.products, column[:-1, None]], [column]])
        self.offsets, self.multipliers = np.append(self.offsets, offset), np.append(self.multipliers, 0.0)
        self.idle = np.append(self.idle, 0)

    def add_linear(self, g, offset):
        """Take into account that <g, s> + offset has been added to the risk, for scores s."""
        element = self.design.combine(g)
        self.elements = self.elements + element
        if self.design.is_kernel:
            self.scores = self.scores + self.design.scores(element)
        self.offsets = self.offsets + offset
        self.products = self.elements @ (self.scores if self.design.is_kernel else self.elements).T
        self._sum_up()

    def maximise(self, alpha):
        """Find the multipliers and the sum of the cuts; return the lower bound.

        Any multipliers of the simplex give a bound, optimal or not. The squared norm is computed from the sum itself:
        u'Qu adds terms of size |a_k|^2 / alpha that cancel, and for small alpha their rounding errors would invalidate
        the bound.
        """
        self.multipliers = simplex_qp(self.products / alpha, self.offsets, self.multipliers)
        self._sum_up()
        square = self.design.inner(self.sum, self.sum, self.sum_scores)
        return float(self.multipliers @ self.offsets - square / (2 * alpha))

    def _sum_up(self):
        self.sum = self.multipliers @ self.elements
        self.sum_scores = self.multipliers @ self.scores if self.design.is_kernel else None

    def drop_idle(self):
        """Count the bounds in which each cut had multiplier zero; drop cuts that have been idle for too long."""
        self.idle = np.where(self.multipliers > 0, 0, self.idle + 1)
        for k in np.flatnonzero(self.idle > IDLE)[::-1]:
            if k != self.kept:
                self._drop(int(k))

    def _make_room(self):
        if self.n_cuts < self.capacity:
            return
        others = np.arange(self.n_cuts) != self.kept
        idle = np.where(others, self.idle, -1)
        if idle.max() > 0:
            self._drop(int(np.argmax(idle)))
            return
        # The sum of all replaces the cut of least multiplier, and the one of second least multiplier is dropped.
        u = self.multipliers
        least, second = np.argsort(np.where(others, u, np.inf), kind="stable")[:2]
        products = self.products @ u
        self.elements[least], self.offsets[least] = u @ self.elements, u @ self.offsets
        if self.design.is_kernel:
            self.scores[least] = u @ self.scores
        self.products[least] = self.products[:, least] = products
        self.products[least, least] = u @ products
        self.multipliers = np.zeros(self.n_cuts)
        self.multipliers[least] = 1.0
        self._drop(int(second))

    def _drop(self, k):
        """Drop cut k; the last one takes its place."""
        last = self.n_cuts - 1
        order = np.arange(last)
        order[k : k + 1] = last
        for name in ("elements", "scores", "offsets", "multipliers", "idle"):
            if name != "scores" or self.design.is_kernel:
                setattr(self, name, getattr(self, name)[order])
        self.products = self.products[np.ix_(order, order)]
        if self.kept == last:
            self.kept = k

    def state(self):
        """Return the cuts as arrays, for a solution."""
        state = {"cuts": self.elements.copy(), "offsets": self.offsets.copy(),
                 "multipliers": self.multipliers.copy(), "idle": self.idle.copy()}  # fmt: skip
        return state | ({"cut_scores": self.scores.copy()} if self.design.is_kernel else {})

    def load(self, state):
        """Take cuts from the state of a solution; return whether there were any and they all fit."""
        if not 0 < len(state["cuts"]) <= self.capacity or state["cuts"].shape[1] != self.design.n_coef:
            return False
        self.elements, self.offsets, self.multipliers = state["cuts"], state["offsets"], state["multipliers"]
        self.idle = state["idle"].astype(int)
        self.scores = state["cut_scores"] if self.design.is_kernel else self.scores
        self.products = self.elements @ (self.scores if self.design.is_kernel else self.elements).T
        self._sum_up()
        return True
