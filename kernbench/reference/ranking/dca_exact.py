"""Exact DCA for a partial AUC and for a ranked range (see `reference/ranking/dca_base`)."""

from kernbench.problems.ranking.dca_exact import PartialAUCExact, RankedRangeExact
from kernbench.reference.ranking.dca_base import ExactDCA


class PartialAUCDCA(PartialAUCExact, ExactDCA):
    __doc__ = PartialAUCExact.__doc__


class RankedRangeDCA(RankedRangeExact, ExactDCA):
    __doc__ = RankedRangeExact.__doc__
