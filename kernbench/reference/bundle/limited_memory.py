"""Limited-memory BFGS in a Hilbert space (Nocedal 1980), and its line search."""

import numpy as np

SUFFICIENT = 1e-4  # share of the predicted decrease that a step must bring
CURVATURE = 0.5  # share of the first slope that may be left at the end of a step
EVALUATIONS = 40


class LimitedMemory:
    """The last steps, and by how much the gradient changed along each.

    Parameters
    ----------
    design : FeatureDesign or KernelDesign
    capacity : int
        Pairs kept.
    """

    def __init__(self, design, capacity):
        self.design, self.capacity = design, capacity
        self.forget()

    def forget(self):
        """Drop all pairs."""
        self.pairs = []  # (step, its scores, change, its scores); the scores of a kernel only

    def append(self, step, step_scores, change, change_scores):
        """Keep a pair, unless its curvature is not positive."""
        inner = self.design.inner
        curvature = inner(change, step, step_scores)
        lengths = inner(step, step, step_scores) * inner(change, change, change_scores)
        if curvature > 1e-10 * np.sqrt(lengths):
            self.pairs = [*self.pairs, (step, step_scores, change, change_scores)][-self.capacity :]

    def state(self):
        """Return the pairs as arrays, for a solution."""
        names = ("steps", "step_scores", "changes", "change_scores")
        kept = [name for name in names if self.design.is_kernel or not name.endswith("_scores")]
        d, n = self.design.n_coef, self.design.n_samples
        return {name: np.array([pair[names.index(name)] for pair in self.pairs])
                .reshape(len(self.pairs), n if name.endswith("_scores") else d) for name in kept}  # fmt: skip

    def load(self, state):
        """Take pairs from the state of a solution."""
        nothing = [None] * len(state["steps"])
        scores = [state.get(name, nothing) for name in ("step_scores", "change_scores")]
        self.pairs = list(zip(state["steps"], scores[0], state["changes"], scores[1]))[-self.capacity :]

    def solve(self, gradient, preconditioner):
        """Return about the inverse Hessian times the gradient, by the two-loop recursion."""
        inner, q, shares = self.design.inner, gradient.copy(), []
        for step, step_scores, change, _ in self.pairs[::-1]:
            shares.append(inner(q, step, step_scores) / inner(change, step, step_scores))
            q = q - shares[-1] * change
        if preconditioner is not None:
            q = preconditioner.solve(q)
        elif self.pairs:
            step, step_scores, change, change_scores = self.pairs[-1]
            q = q * (inner(change, step, step_scores) / inner(change, change, change_scores))
        for (step, step_scores, change, change_scores), share in zip(self.pairs, shares[::-1]):
            q = q + (share - inner(q, change, change_scores) / inner(change, step, step_scores)) * step
        return q


def wolfe_step(evaluate, value, slope):
    """Return a step t at which a function of t has fallen enough and become flatter (weak Wolfe conditions).

    By bisection. Where the function is concave or has kinks the second condition may fail for all steps tried: the
    longest of those that bring enough is taken then.

    Parameters
    ----------
    evaluate : callable
        ``evaluate(t)``: value and slope at t.
    value, slope : float
        At 0; the slope is negative.

    Returns
    -------
    float
        0.0 if no step brings enough.
    """
    low, high, t = 0.0, np.inf, 1.0
    for _ in range(EVALUATIONS):
        here, slope_here = evaluate(t)
        if not here <= value + SUFFICIENT * t * slope:
            high = t
        elif slope_here < CURVATURE * slope:
            low = t
        else:
            return t
        t = 2.0 * low if high == np.inf else 0.5 * (low + high)
    return low
