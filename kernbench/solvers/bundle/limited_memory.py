"""Limited-memory BFGS in a Hilbert space (Nocedal 1980): the last steps, and the changes of the gradient along them."""

import math

import numpy as np

CURVED = 1e-10  # <change, step> as a share of the product of the lengths, up to which a pair is left out


class LimitedMemory:
    """Pairs of a step and the change of the gradient along it, in a ring.

    Parameters
    ----------
    core : module
    design : FeatureDesign or KernelDesign
    capacity : int
        Pairs kept.

    Attributes
    ----------
    n_pairs : int
    """

    def __init__(self, core, design, capacity):
        self.core, self.design, self.capacity = core, design, capacity
        self.steps, self.changes = (np.empty((capacity, design.n_coef)) for _ in range(2))
        shape = (capacity, design.n_samples) if design.is_kernel else (1, 1)
        self.step_scores, self.change_scores = np.empty(shape), np.empty(shape)  # of a kernel only
        self.curvatures = np.empty(capacity)  # <change, step>
        self.forget()

    def forget(self):
        """Drop all pairs."""
        self.n_pairs = self.oldest = 0
        self._set_order()

    def append(self, t, step, step_scores, change, change_scores):
        """Keep the pair of t * `step` and `change`, unless its curvature is not positive."""
        design = self.design
        product, square, of_change = self.core.products(design, step, step_scores, change, change_scores)
        if not t * product > CURVED * math.sqrt(t * t * square * of_change):
            return
        k = (self.oldest + self.n_pairs) % self.capacity
        self.steps[k], self.changes[k], self.curvatures[k] = t * step, change, t * product
        if design.is_kernel:
            self.step_scores[k], self.change_scores[k] = t * step_scores, change_scores
        if self.n_pairs < self.capacity:
            self.n_pairs += 1
        else:
            self.oldest = (self.oldest + 1) % self.capacity
        self._set_order()

    def _set_order(self):
        self.order = (self.oldest + np.arange(self.n_pairs)) % self.capacity

    def solve(self, v, preconditioner):
        """v <- about the inverse Hessian times v."""
        pairs = self.steps, self.step_scores, self.changes, self.change_scores, self.curvatures
        self.core.solve(self.design, preconditioner, self.order, *pairs, v)

    def state(self):
        """Return the pairs as arrays, the oldest first, for a solution."""
        names = ["steps", "changes"] + ["step_scores", "change_scores"] * self.design.is_kernel
        return {name: getattr(self, name)[self.order] for name in names}

    def load(self, state):
        """Take pairs from the state of a solution."""
        m, self.oldest = min(len(state["steps"]), self.capacity), 0
        for name in self.state():
            getattr(self, name)[:m] = state[name][-m:]
        kernel = self.design.is_kernel
        for k in range(m):
            j = k if kernel else 0
            pair = self.steps[k], self.step_scores[j], self.changes[k], self.change_scores[j]
            self.curvatures[k] = self.core.products(self.design, *pair)[0]
        self.n_pairs = m
        self._set_order()
