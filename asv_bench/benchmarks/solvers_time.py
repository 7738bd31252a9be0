"""Seconds and memory of a fixed number of iterations, compiled beside reference."""

from .solver_runs import SolverRuns


class Iterations(SolverRuns):
    """Two passes over 1,024 rows, from the data to the last iterate."""

    number = 1
    repeat = (2, 20, 2.0)

    def time_iterations(self, solver, twin):
        self.run(twin)

    def peakmem_iterations(self, solver, twin):
        self.run(twin)
