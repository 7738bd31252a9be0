"""Exact DCA for a partial AUC and for a ranked range (see `solvers/ranking/_dca_base`)."""

from kernbench.problems.ranking.dca_exact import PartialAUCExact, RankedRangeExact
from kernbench.solvers.ranking._dca_base import ExactDCA


class PartialAUCDCA(PartialAUCExact, ExactDCA):
    __doc__ = PartialAUCExact.__doc__


class RankedRangeDCA(RankedRangeExact, ExactDCA):
    __doc__ = RankedRangeExact.__doc__
