"""Solvers of the problems with a share nu: what two passes cost and how near the optimum they come."""

import math

from .runs import NoveltyRuns, NuRegressionRuns, NuRuns


class _Costs:
    number = 1
    repeat = (1, 10, 0.5)

    def time_run(self, solver):
        self.run(solver)


class _Quality:
    def peakmem_run(self, solver):
        self.run(solver)

    def track_log10_gap(self, solver):
        """log10 of the certified gap / the magnitude of the objective, after two passes; lower is better."""
        made = self.run(solver)
        return math.log10(max(made.gap() / abs(made.objective()), 1e-12))

    track_log10_gap.unit = "log10 relative gap"


class Nu(NuRuns, _Costs):
    """Time of solvers for two classes."""


class NuQuality(NuRuns, _Quality):
    """What these solvers are worth, and their memory."""

    params = (NuRuns.params[0],)


class NuRegression(NuRegressionRuns, _Costs):
    """Time of solvers for targets."""


class NuRegressionQuality(NuRegressionRuns, _Quality):
    """What these solvers are worth, and their memory."""

    params = (NuRegressionRuns.params[0],)


class Novelty(NoveltyRuns, _Costs):
    """Time of solvers for one class."""


class NoveltyQuality(NoveltyRuns, _Quality):
    """What these solvers are worth, and their memory."""

    params = (NoveltyRuns.params[0],)
