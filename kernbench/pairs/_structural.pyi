from numpy.typing import ArrayLike

from kernbench.pairs._window import RankedLoss

class StructuralBound(RankedLoss):
    def __init__(
        self,
        y: ArrayLike,
        fpr_range: tuple[float, float] = (0.0, 1.0),
        *,
        ranks: tuple[float, float] | None = None,
        sample_weight: ArrayLike | None = None,
        rounding: str = "mass",
    ) -> None: ...
