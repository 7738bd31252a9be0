"""Losses of the pairs of a batch, in O(B log B): the compiled sums of `kernbench.pairs` behind autograd.

Value and subgradient come from one sort in float64 on the host. The B scores go there and the B slopes come back, so
that a batch on a GPU costs two small transfers; no pair is ever listed.
"""

from typing import Any

import torch
from torch.autograd.function import once_differentiable

from kernbench.deep.checks import scored_batch
from kernbench.losses.pairwise import PAIRWISE_LOSSES
from kernbench.pairs import AllPairs, WindowPairs
from kernbench.pairs.window import checked_fpr_range
from kernbench.validation.numbers import check_name, is_integer

DEFAULT_RANGE = (0.0, 0.1)  # what `fpr_range` is unless it is given


class _OnTheHost(torch.autograd.Function):
    """A function of scores that is given as float64 arrays of its value and subgradient."""

    @staticmethod
    def forward(ctx, scores, value_and_subgradient):
        value, slopes = value_and_subgradient(scores.detach().cpu().double().numpy())  # mps has no float64
        # Half precision would lose small slopes before a `torch.amp.GradScaler` multiplies them.
        wide = torch.promote_types(scores.dtype, torch.float32)
        ctx.save_for_backward(torch.from_numpy(slopes).to(wide).to(scores.device))
        ctx.dtype = scores.dtype
        return scores.new_tensor(value)

    @staticmethod
    @once_differentiable
    def backward(ctx, slope):
        (slopes,) = ctx.saved_tensors
        return (slope * slopes).to(ctx.dtype), None


class PartialAUCLoss(torch.nn.Module):
    r"""Mean loss of the pairs of a batch whose negative lies in a window of false positive rates.

    With P positives of scores :math:`a_i` and N negatives of scores :math:`b_1 \ge b_2 \ge \ldots` this is the mean of
    :math:`\ell(a_i - b_j)` over the negatives from place N a to place N b; an end that falls inside a negative counts
    a part of it. The window is that of the batch: its expectation is not the loss over the window of all data, the
    less so the smaller the batch. :class:`~kernbench.deep.AGDSBCD` has no such bias.

    Parameters
    ----------
    fpr_range : (float, float), default=(0.0, 0.1)
        (a, b) with 0 <= a < b <= 1.
    loss : {"hinge", "squared_hinge", "log_loss"}, default="hinge"
        Of the difference t of two scores: max(0, 1 - t), its square, or log(1 + exp(-t)).
    ranks : (int, int), default=None
        (m, n) instead of `fpr_range`, which is then left at its default: the negatives of rank m + 1 to n.

    Notes
    -----
    Where negatives are tied at an end of the window, those of the lower index belong to the upper ranks. Subgradients
    are those of `kernbench.pairs.WindowPairs`; there are no second derivatives.

    Examples
    --------
    >>> import torch
    >>> from kernbench.deep import PartialAUCLoss
    >>> scores = torch.tensor([1.0, 0.0, 2.0, 0.5, -1.0, 0.0], requires_grad=True)
    >>> loss = PartialAUCLoss((0.25, 0.75))(scores, torch.tensor([1, 1, 0, 0, 0, 0]))
    >>> loss.backward()
    >>> loss.item(), scores.grad.tolist()
    (0.75, [-0.25, -0.5, 0.0, 0.5, 0.0, 0.25])
    """

    def __init__(
        self, fpr_range: tuple[float, float] = DEFAULT_RANGE, loss: str = "hinge", ranks: tuple[int, int] | None = None
    ) -> None:
        super().__init__()
        self.loss = check_name("loss", loss, PAIRWISE_LOSSES)
        self.fpr_range, self.ranks = checked_fpr_range(fpr_range), None
        if ranks is not None:
            if self.fpr_range != DEFAULT_RANGE:
                raise ValueError(f"{ranks=} and {fpr_range=} both give the range: pass only one of them")
            self.fpr_range, self.ranks = (0.0, 1.0), _checked_ranks(ranks)

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
        pairs = WindowPairs(classes.mask.cpu().numpy(), self.fpr_range, ranks=self.ranks, loss=self.loss)
        return _OnTheHost.apply(scores, pairs.value_and_subgradient)

    def extra_repr(self) -> Any:
        window = f"fpr_range={self.fpr_range}" if self.ranks is None else f"ranks={self.ranks}"
        return f"{window}, loss={self.loss!r}"


class PairwiseLoss(torch.nn.Module):
    """Mean loss of all pairs of a positive and a negative of a batch, in O(B log B).

    Parameters
    ----------
    loss : {"hinge", "squared_hinge", "log_loss"}, default="hinge"
        Of the difference t of two scores: max(0, 1 - t), its square, or log(1 + exp(-t)).

    Notes
    -----
    Subgradients are those of `kernbench.pairs.AllPairs`; there are no second derivatives.

    Examples
    --------
    >>> import torch
    >>> from kernbench.deep import PairwiseLoss
    >>> PairwiseLoss("hinge")(torch.tensor([2.0, 0.5, 0.0, 1.0]), torch.tensor([1, 1, 0, 0]))
    tensor(0.5000)
    """

    def __init__(self, loss: str = "hinge") -> None:
        super().__init__()
        self.loss = check_name("loss", loss, PAIRWISE_LOSSES)

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
        pairs = AllPairs(classes.mask.cpu().numpy())
        return _OnTheHost.apply(scores, lambda s: pairs.value_and_subgradient(s, self.loss))

    def extra_repr(self) -> Any:
        return f"loss={self.loss!r}"


def _checked_ranks(ranks):
    try:
        m, n = ranks
    except (TypeError, ValueError):
        m = n = None
    if not (is_integer(m) and is_integer(n) and 0 <= m < n):
        raise ValueError(f"ranks must be two integers (m, n) with 0 <= m < n, got {ranks!r}")
    return int(m), int(n)
