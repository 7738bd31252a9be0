"""Seconds of a fixed number of iterations, compiled beside reference."""

from .solver_runs import SolverRuns


class Iterations(SolverRuns):
    """Two passes over 1,024 rows, and 256 iterations of the reference, from the data to the last iterate."""

    number = 1
    repeat = (1, 10, 0.5)

    def time_iterations(self, solver, twin):
        self.run(twin)

    time_iterations.version = "2"
