"""Seconds, memory and worth of a pass of the solvers on batches.

Lower is better for all of them.
"""

from .runs import StreamingRuns


class StreamingIterations(StreamingRuns):
    """A pass over 1,024 rows of 10 features, from the data to the last iterate."""

    number = 1
    repeat = (1, 10, 0.5)

    def time_iterations(self, solver):
        self.run(solver)


class StreamingQuality(StreamingRuns):
    """The solution after a pass, judged from outside the solver, and its memory."""

    params = (StreamingRuns.params[0],)

    def peakmem_iterations(self, solver):
        self.run(solver)

    def track_test_error(self, solver):
        """Share of 2,000 test rows misclassified; lower is better."""
        return self.test_error(solver)

    def track_feature_values(self, solver):
        """Features of rows computed so far; lower is better."""
        return self.run(solver).n_feature_values

    track_test_error.unit = "test error"
    track_feature_values.unit = "feature values"
