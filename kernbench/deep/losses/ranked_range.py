"""The mean of one list of losses between two ranks (Hu, Ying, Wang and Lyu, NeurIPS 2020)."""

from collections.abc import Callable
from typing import Any

import torch

from kernbench._names import unknown_name
from kernbench.deep.checks import Classes, column_of, require_labels
from kernbench.deep.losses.formulas import OF_MARGINS, RANKED, VALUES
from kernbench.estimators.windows.parameters import masses_of, shares_or_ranks


class RankedRangeLoss(torch.nn.Module):
    """Mean of the losses of a batch that lie between two ranks, the largest loss first.

    Leaving out the first ranks makes training robust against outliers; leaving out the last ones turns it to the hard
    examples.

    Parameters
    ----------
    ranked_range : (m, n), default=(0.05, 1.0)
        Two integers are ranks, 0 <= m < n: the losses of rank m + 1 to n. Two floats are shares of all losses,
        0 <= m < n <= 1; an end that falls inside a loss counts a part of it.
    loss : str or callable, default="log_loss"
        A loss of the margin y h, for labels 0 and 1, or -1 and 1: "hinge", "squared_hinge", "log_loss"; a loss of
        the residual h - y, for any numbers: "squared_error", "absolute_error", "huber" (delta = 1),
        "epsilon_insensitive" (epsilon = 0.1); or a function of outputs and targets that returns the B losses of a
        batch, such as ``torch.nn.CrossEntropyLoss(reduction="none")``.

    Notes
    -----
    Where losses are tied at an end of the range, those of the lower index belong to the upper ranks, as in
    `kernbench.pairs.RankedRange`.

    Examples
    --------
    >>> import torch
    >>> from kernbench.deep import RankedRangeLoss
    >>> scores, targets = torch.tensor([5.0, 1.0, 4.0, 2.0, -3.0]), torch.zeros(5)
    >>> RankedRangeLoss((1, 3), loss="absolute_error")(scores, targets)
    tensor(3.5000)
    """

    ranked_range: tuple[Any, ...]
    loss: Any

    def __init__(self, ranked_range: Any = (0.05, 1.0), loss: str | Callable[..., Any] = "log_loss") -> None:
        super().__init__()
        shares_or_ranks(ranked_range)
        if not callable(loss) and loss not in RANKED:
            raise ValueError(unknown_name("loss", loss, RANKED))
        self.ranked_range, self.loss = tuple(ranked_range), loss

    def forward(self, scores: Any, labels: Any) -> Any:
        """Return the loss of a batch.

        Parameters
        ----------
        scores : Tensor of shape (B,) or (B, 1)
            Whatever the function takes if `loss` is one.
        labels : Tensor of shape (B,) or (B, 1)
            Labels or targets; whatever the function takes if `loss` is one.

        Returns
        -------
        Tensor of shape ()
        """
        losses, keys = self._losses(scores, labels)
        if not len(losses):
            raise ValueError("the batch holds no example")
        if not torch.isfinite(losses.detach()).all():
            raise ValueError("the losses are not finite: lower the learning rate, or scale the inputs")
        m, n = masses_of(self.ranked_range, len(losses))
        order = torch.argsort(keys.detach(), descending=True, stable=True)
        wide = torch.promote_types(losses.dtype, torch.float32)  # half precision counts to 2,048, and sums to 65,504
        places = torch.arange(len(losses), device=losses.device, dtype=wide)
        shares = (n - places).clamp(0.0, 1.0) - (m - places).clamp(0.0, 1.0)
        return ((shares * losses[order]).sum() / (n - m)).to(losses.dtype)

    def _losses(self, scores, labels):
        """The losses, and what ranks them."""
        if callable(self.loss):
            losses = self.loss(scores, labels)
            if losses.ndim != 1:
                raise ValueError(
                    f"loss must return one number per example, got shape {tuple(losses.shape)}: choose reduction='none'"
                )
            return losses, losses
        scores = column_of(scores)
        require_labels(scores, labels)
        if self.loss in OF_MARGINS:
            mask = Classes(labels, both=False).mask.to(scores.device)
            margins = torch.where(mask, scores, -scores)
            # Losses fall as the margin grows, so that minus the margin ranks them exactly, also where they underflow.
            return VALUES[self.loss](margins), -margins
        residuals = scores - column_of(torch.as_tensor(labels).to(scores))
        return VALUES[self.loss](residuals), residuals.abs()

    def extra_repr(self) -> Any:
        return f"ranked_range={self.ranked_range}, loss={self.loss!r}"
