"""Seconds of a fixed number of iterations."""

from .runs import KernelRuns


class Iterations(KernelRuns):
    """Two passes over 1,024 rows, from the data to the last iterate."""

    number = 1
    repeat = (1, 10, 0.5)

    def time_iterations(self, solver):
        self.run(solver)
