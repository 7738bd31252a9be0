"""A run of a registered solver on batches, on the problem they all share."""

import numpy as np

from kernbench.kernels import Gaussian
from kernbench.kernels.threads import single_threaded_blas
from kernbench.solvers import registry
from kernbench.solvers.kinds import KINDS

from . import problems

KIND = "doubly-stochastic"
BATCH, BLOCK, STEPS = 64, 32, 16  # of a run: one pass over 1,024 rows


class StreamingRuns:
    """Every registered solver on batches, on the hinge loss."""

    param_names = ("solver",)
    params = (tuple(problems.solver_names(KIND)),)
    timeout = 120

    def setup(self, solver):
        self.solver_class = problems.solver_class(KIND, solver)
        rng = np.random.default_rng(0)
        n = BATCH * STEPS
        self.X, self.X_test = rng.normal(size=(n, 10)), rng.normal(size=(2000, 10))
        self.y, self.y_test = (np.where(X[:, 0] + X[:, 1] * X[:, 2] > 0, 1.0, -1.0) for X in (self.X, self.X_test))
        problems.prepare_process()

    def run(self):
        """The solver after a pass, in one call."""
        batches = KINDS[KIND].make_data(self.X, y=self.y, batch_size=BATCH)
        solver = self.solver_class(batches, Gaussian(4.0), alpha=1e-4, loss="hinge", block_size=BLOCK, random_state=0)
        with single_threaded_blas():  # as the driver does
            solver.advance(STEPS)
        return solver


def error(solver, X, y):
    """Share of rows misclassified by a solution."""
    compiled = registry.get("doubly-sgd", KIND).load()
    features = compiled(
        KINDS[KIND].make_data(X, y=y), Gaussian(4.0), alpha=1e-4, block_size=BLOCK, random_state=0,
        initial=solver.solution(),
    )  # fmt: skip
    return float(np.mean(features.outputs(X)[:, 0] * y <= 0))
