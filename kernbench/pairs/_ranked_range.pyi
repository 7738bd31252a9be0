from numpy.typing import ArrayLike

from kernbench.pairs._window import RankedLoss

class RankedRange(RankedLoss):
    def __init__(
        self,
        y: ArrayLike,
        ranked_range: tuple[float, float],
        *,
        loss: str = "log_loss",
        sample_weight: ArrayLike | None = None,
    ) -> None: ...
    @property
    def loss(self) -> str: ...
