"""Seconds, memory and worth of a pass of the solvers on batches, compiled beside reference.

Lower is better for all of them.
"""

from .streaming_runs import StreamingRuns, error


class StreamingIterations(StreamingRuns):
    """A pass over 1,024 rows of 10 features, from the data to the last iterate."""

    number = 1
    repeat = (1, 10, 0.5)

    def time_iterations(self, solver):
        self.run()


class StreamingQuality(StreamingRuns):
    """The solution after a pass, judged from outside the solver, and its memory."""

    params = (StreamingRuns.params[0],)

    def peakmem_iterations(self, solver):
        self.run()

    def track_test_error(self, solver):
        """Share of 2,000 test rows misclassified; lower is better."""
        return error(self.run(), self.X_test, self.y_test)

    def track_feature_values(self, solver):
        """Features of rows computed so far; lower is better."""
        return self.run().n_feature_values

    track_test_error.unit = "test error"
    track_feature_values.unit = "feature values"
