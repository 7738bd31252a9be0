"""Seconds, memory and worth of a fixed number of iterations on explicit features.

Lower is better for all of them.
"""

import math

from .runs import LinearRuns


class LinearIterations(LinearRuns):
    """Two passes over 2,048 rows of 32 features, or 25 iterations of a solver whose iteration is itself a pass."""

    number = 1
    repeat = (1, 10, 0.5)

    def time_iterations(self, solver):
        self.run(solver)


class LinearQuality(LinearRuns):
    """The solution after these iterations, judged from outside the solver, and its memory."""

    params = (LinearRuns.params[0],)

    def peakmem_iterations(self, solver):
        self.run(solver)

    def track_log10_gap(self, solver):
        """log10 of (objective - optimum) / optimum; lower is better."""
        return math.log10(self.problem.relative_gap(self.run(solver).solution().coef))

    def track_test_error(self, solver):
        """Share of 2,000 test rows misclassified; lower is better."""
        return self.problem.test_error(self.run(solver).solution().coef)

    def track_inner_products(self, solver):
        """Inner products of rows, and steps along them, so far; lower is better."""
        return self.run(solver).n_inner_products

    track_log10_gap.unit = "log10 relative gap"
    track_test_error.unit = "test error"
    track_inner_products.unit = "inner products"
