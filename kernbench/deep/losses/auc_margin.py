"""The min-max margin loss of the AUC (Yuan, Yan, Sonka, Yang, ICCV 2021), with its inner variables at their optimum."""

from typing import Any

import torch

from kernbench.deep.checks import scored_batch
from kernbench.validation.numbers import check_number


class AUCMarginLoss(torch.nn.Module):
    r"""The min-max margin loss of the AUC of a batch, at its inner optimum.

    .. math::

        \min_{a, b} \max_{\theta \ge 0} E_+[(h-a)^2] + E_-[(h-b)^2] + 2\theta(M + E_-[h] - E_+[h]) - \theta^2
        = \operatorname{var}_+ + \operatorname{var}_- + \max(0, M + \operatorname{mean}_- - \operatorname{mean}_+)^2 .

    With any optimiser this descends on the loss of batches; :class:`~kernbench.deep.PESG` keeps a, b and theta from
    batch to batch, as the paper does.

    Parameters
    ----------
    margin : float, default=1.0
        M.

    Examples
    --------
    >>> import torch
    >>> from kernbench.deep import AUCMarginLoss
    >>> AUCMarginLoss()(torch.tensor([2.0, 0.0, 1.0, -1.0]), torch.tensor([1, 1, 0, 0]))
    tensor(2.)
    """

    margin: float

    def __init__(self, margin: float = 1.0) -> None:
        super().__init__()
        self.margin = float(check_number("margin", margin, above=0))

    def forward(self, scores: Any, labels: Any) -> Any:
        """Return the loss of a batch.

        Parameters
        ----------
        scores : Tensor of shape (B,) or (B, 1)
        labels : Tensor of shape (B,) or (B, 1)
            0 and 1, or -1 and 1.

        Returns
        -------
        Tensor of shape ()
        """
        scores, classes = scored_batch(scores, labels)
        of_positives, of_negatives = (scores[rows] for rows in classes.rows(scores.device))
        short = torch.relu(self.margin + of_negatives.mean() - of_positives.mean())
        return of_positives.var(correction=0) + of_negatives.var(correction=0) + short.square()

    def extra_repr(self) -> Any:
        return f"margin={self.margin:g}"
