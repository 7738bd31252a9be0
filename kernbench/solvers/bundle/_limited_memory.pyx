"""Limited-memory BFGS in a Hilbert space (Nocedal 1980): the last steps, and the changes of the gradient along them."""

from libc.math cimport sqrt

from kernbench.solvers.design._design cimport dot

import numpy as np

cdef double CURVED = 1e-10     # <change, step> as a share of the product of the lengths, up to which a pair is left out


cdef class LimitedMemory:
    """Room for pairs.

    Parameters
    ----------
    design : FeatureDesign or KernelDesign
    capacity : int
        Pairs kept.

    Attributes
    ----------
    n_pairs : int
    """

    def __init__(self, Design design, capacity):
        self.design, self.capacity = design, capacity
        self.steps, self.changes = (np.empty((capacity, design.n_coef)) for _ in range(2))
        shape = (capacity, design.n_samples) if design.is_kernel else (1, 1)
        self.step_scores, self.change_scores = np.empty(shape), np.empty(shape)
        self.curvatures, self.shares = np.empty(capacity), np.empty(capacity)

    cdef void forget(self) noexcept nogil:
        self.n_pairs = self.oldest = 0

    cdef void append(self, double t, const double *step, const double *step_scores, const double *change,
                     const double *change_scores) noexcept nogil:
        cdef:
            Py_ssize_t l, k = (self.oldest + self.n_pairs) % self.capacity
            double curvature = t * self.design.inner(change, step, step_scores)
            double lengths = t * t * self.design.inner(step, step, step_scores)
        lengths *= self.design.inner(change, change, change_scores)
        if not curvature > CURVED * sqrt(lengths):
            return
        for l in range(self.design.n_coef):
            self.steps[k, l], self.changes[k, l] = t * step[l], change[l]
        if self.design.is_kernel:
            for l in range(self.design.n_samples):
                self.step_scores[k, l], self.change_scores[k, l] = t * step_scores[l], change_scores[l]
        self.curvatures[k] = curvature
        if self.n_pairs < self.capacity:
            self.n_pairs += 1
        else:
            self.oldest = (self.oldest + 1) % self.capacity

    cdef void solve(self, double *v, Preconditioner preconditioner) noexcept nogil:
        """The two-loop recursion."""
        cdef:
            Py_ssize_t j, k, l, d = self.design.n_coef
            bint kernel = self.design.is_kernel
            double share, scale
        for j in range(self.n_pairs - 1, -1, -1):
            k = (self.oldest + j) % self.capacity
            self.shares[k] = self.design.inner(v, &self.steps[k, 0], &self.step_scores[k if kernel else 0, 0])
            self.shares[k] /= self.curvatures[k]
            for l in range(d):
                v[l] -= self.shares[k] * self.changes[k, l]
        if preconditioner is not None:
            preconditioner.solve(v)
        elif self.n_pairs > 0:
            k = (self.oldest + self.n_pairs - 1) % self.capacity
            scale = self.curvatures[k] / self.design.inner(&self.changes[k, 0], &self.changes[k, 0],
                                                           &self.change_scores[k if kernel else 0, 0])
            for l in range(d):
                v[l] *= scale
        for j in range(self.n_pairs):
            k = (self.oldest + j) % self.capacity
            share = self.design.inner(v, &self.changes[k, 0], &self.change_scores[k if kernel else 0, 0])
            share = self.shares[k] - share / self.curvatures[k]
            for l in range(d):
                v[l] += share * self.steps[k, l]

    def state(self):
        """Return the pairs as arrays, the oldest first, for a solution."""
        order = (self.oldest + np.arange(self.n_pairs)) % self.capacity
        state = {"steps": np.asarray(self.steps)[order], "changes": np.asarray(self.changes)[order]}
        if self.design.is_kernel:
            state["step_scores"] = np.asarray(self.step_scores)[order]
            state["change_scores"] = np.asarray(self.change_scores)[order]
        return state

    def load(self, state):
        """Take pairs from the state of a solution."""
        cdef Py_ssize_t k
        m = self.n_pairs = min(len(state["steps"]), self.capacity)
        self.oldest = 0
        np.asarray(self.steps)[:m], np.asarray(self.changes)[:m] = state["steps"][-m:], state["changes"][-m:]
        if self.design.is_kernel:
            np.asarray(self.step_scores)[:m] = state["step_scores"][-m:]
            np.asarray(self.change_scores)[:m] = state["change_scores"][-m:]
        for k in range(m):
            self.curvatures[k] = self.design.inner(&self.changes[k, 0], &self.steps[k, 0],
                                                   &self.step_scores[k if self.design.is_kernel else 0, 0])
