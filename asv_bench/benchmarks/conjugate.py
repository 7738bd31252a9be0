"""Conjugate subgradients: the cost of a small gap, and whether a stream's length costs anything.

The time of their iterations is in ``solvers_time``, and the memory in ``solvers_quality``, where all solvers are.
"""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from kernbench import KernelSVC
from kernbench.kernels.threads import single_threaded_blas

from . import problems
from .runs import KernelRuns

ALPHA = 1e-2  # of the paper's reference problem that has support vectors
GAP = 1e-3  # above the optimum, relative to it
STRETCH = 10  # iterations between two looks at the gap
MOST = 2000


class ToSmallGap(KernelRuns):
    """The cost of coming within 0.1% of the optimum at a larger alpha than the others have."""

    params = (("scs", "wolfe"),)

    def run_to_gap(self, name):
        problem = self.problem = problems.hinge_problem(C=1.0 / (ALPHA * problems.N_TRAIN))
        solver = self.new_solver(name)
        with single_threaded_blas():  # as the driver does
            while solver.n_iter < MOST:
                advanced = solver.advance(STRETCH)
                if problem.relative_gap(solver.solution()) <= GAP:
                    return solver
                if advanced == 0:
                    break
        raise RuntimeError(f"stopped after {solver.n_iter} iterations with a gap above {GAP:g}")

    def track_iterations(self, solver):
        """Iterations by then; lower is better."""
        return self.run_to_gap(solver).n_iter

    def track_kernel_evaluations(self, solver):
        """Values k(x, z) computed by then; lower is better."""
        return self.run_to_gap(solver).n_kernel_evaluations

    track_iterations.unit = "iterations"
    track_kernel_evaluations.unit = "kernel evaluations"


class Stream:
    """``KernelSVC(solver="scs").fit_chunks``, its sample capped, on more and more rows: to be flat in their number.

    Memory is flat apart from the rows themselves, 19 MB for the most: here they are an array.
    """

    param_names = ("times_as_many",)
    params = (("1", "10", "100"),)
    number = 1
    repeat = (3, 20, 3.0)
    timeout = 120

    def setup(self, times_as_many):
        if not hasattr(KernelSVC, "fit_chunks"):
            raise NotImplementedError("this commit has no streams")  # asv leaves the cell out
        rng = np.random.default_rng(8)
        self.X = rng.standard_normal((problems.N_FIT * int(times_as_many), 16), dtype=np.float32)
        self.y = np.where(self.X[:, 0] * self.X[:, 1] + self.X[:, 2] > 0, 1, -1)
        problems.prepare_process()

    def time_fit_chunks(self, times_as_many):
        options = {"sample_cap": 300, "alpha": ALPHA}
        model = KernelSVC(solver="scs", gamma=0.1, max_iter=30, tol=1e-9, random_state=0, solver_options=options)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit_chunks([(self.X, self.y)])

    def peakmem_fit_chunks(self, times_as_many):
        self.time_fit_chunks(times_as_many)
