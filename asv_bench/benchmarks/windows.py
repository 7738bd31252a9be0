"""Solvers of partial AUC, ranked ranges and the AUC margin loss."""

from .runs import MarginRuns, RangeRuns, WindowRuns


class _Costs:
    """25 steps of an exact solver or 1,000 on batches, of 4,096 rows."""

    number = 1
    repeat = (1, 10, 0.5)

    def time_run(self, solver):
        self.run(solver)

    time_run.version = "2"


class _Quality:
    """The solution of that run."""

    def peakmem_run(self, solver):
        self.run(solver)

    def track_one_minus_partial_auc(self, solver):
        """1 - partial AUC over [0.05, 0.5] of test rows; lower is better."""
        return self.one_minus_partial_auc(solver)

    def track_products(self, solver):
        """Inner products with rows; lower is better."""
        return self.run(solver).n_inner_products

    track_one_minus_partial_auc.unit = "1 - pAUC"
    track_products.unit = "inner products"


class PartialAUC(WindowRuns, _Costs):
    """Time of solvers of the partial AUC."""


class PartialAUCQuality(WindowRuns, _Quality):
    """What these solvers are worth, and their memory."""

    params = (WindowRuns.params[0],)


class RankedRange(RangeRuns, _Costs):
    """Time of solvers of a ranked range."""


class RankedRangeQuality(RangeRuns, _Quality):
    """What these solvers are worth, and their memory."""

    params = (RangeRuns.params[0],)


class AUCMargin(MarginRuns, _Costs):
    """Time of solvers of the margin loss."""


class AUCMarginQuality(MarginRuns, _Quality):
    """What these solvers are worth, and their memory."""

    params = (MarginRuns.params[0],)
