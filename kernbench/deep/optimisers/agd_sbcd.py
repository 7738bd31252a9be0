"""AGD-SBCD for networks: descent on the difference of two Moreau envelopes (Yao, Lin, Yang, Algorithms 1 and 2).

With f^l the sum over the positives i of the l largest losses of a pair (i, j), the partial AUC's loss is f^n - f^m, and
with prox_l(w) = argmin_v f^l(v) + |v - w|^2 / (2 mu) the gradient of its smoothing is (prox_m(w) - prox_n(w)) / mu.
Two runs of stochastic block coordinate descent approximate the two proximal points: networks v_m and v_n that start at
w, and for each of them a threshold lambda_i for every positive, above which the l largest of its losses lie.

Scale-free form: all is divided by the number of pairs P N, so that mu' = mu P N and gamma' = gamma P N do not grow with
the data. While the runs last, the parameters of the module are v_n, and v_m takes their place for its own closures.
"""

from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

import torch

from kernbench.deep.checks import Classes
from kernbench.deep.losses.formulas import PAIRED
from kernbench.deep.optimisers.base import NotFinite
from kernbench.deep.optimisers.sbcd import RULES, SBCD
from kernbench.pairs.window import checked_fpr_range
from kernbench.validation.numbers import check_flag, check_name, check_number


class AGDSBCD(SBCD):
    r"""AGD-SBCD: an optimiser for the partial AUC of all data over a range of false positive rates, from small batches.

    Minimises over the parameters w of a module h

    .. math::

        \frac{1}{P N (b - a)} \sum_{i: y_i = +} \; \sum_{j \in J_{a,b}(w)} \ell\bigl(h_w(x_i) - h_w(x_j)\bigr)
        + \frac{\text{weight decay}}{2} \|w\|^2 ,

    where J holds the negatives that h ranks from place N a to place N b of all N. Stage k = 0, 1, ... takes
    T_k = inner_steps (k + 1)^2 inner steps with both networks v_m and v_n from w, at rate lr / (k + 1), then moves
    w by gamma / mu (v_n - v_m), where v_m and v_n are now means over the stage.

    Parameters
    ----------
    params : iterable of Parameter, or of dict
    fpr_range : (float, float)
        (a, b) with 0 <= a < b <= 1.
    n_positive : int, optional
        P, positives in the training set; needed for ``thresholds="stochastic"``.
    lr : float, default=0.1
        The paper's c. An option of groups.
    mu, gamma : float, default=1000.0
        The paper's mu' and gamma'; a smaller mu keeps v_m and v_n nearer to w. gamma <= mu is safe where inner runs
        are exact. Options of groups.
    weight_decay : float, default=0.0
        An option of groups.
    inner_steps : int, default=50
        T_0.
    loss : {"log_loss", "hinge", "squared_hinge"}, default="log_loss"
    thresholds : {"stochastic", "exact"}, default="stochastic"
        "stochastic" is the paper's form: a threshold lambda for every positive, initially 0, that is updated by its
        subgradients. "exact" is one threshold on the scores of the negatives, since the highest negatives are the same
        for all positives. It starts at the quantile of the first batch (or of all negatives if `find_thresholds` is
        called when a stage begins), and is then updated by its subgradients.
    threshold_step : float, optional
        Factor of the step of the thresholds. For "stochastic" the step is threshold_step / (k + 1), by default with the
        `lr` of the first group, as in the paper; for "exact" it is threshold_step / sqrt(k + 1), by default with 1.
    shared_batches : bool, default=True
        Whether v_m and v_n use the same batches. With False they take turns, v_n first, so that an inner step takes two
        batches.

    Attributes
    ----------
    stage, inner_step : int
        Stages that have ended (k), and inner steps done in this one; 0 when `step` has just ended a stage.

    Notes
    -----
    `step(closure, labels, indices)` does one inner step (half of one with ``shared_batches=False``). It calls
    ``closure()``, which must return the scores of the batch, shape (B,) or (B, 1), with their graph, once for v_n and
    once, if a > 0, for v_m: it computes slopes and does the backward passes itself, so that the closure calls the
    module and nothing else. The gradients are overwritten.

    Between steps the module's parameters are the current v_n, and w when a stage has just ended. The result of the
    method is the mean of v_n over the last stage: evaluate inside ``with optimizer.averaged():``. Buffers, such as the
    statistics of batch normalisation, are not parameters and follow all forward passes: recompute them there by
    `torch.optim.swa_utils.update_bn`. Parameters with ``requires_grad=False`` stay as they are.

    The state takes four times the memory of the parameters (w, the other network, two means; twice if a = 0), and 16
    bytes a positive in float32.

    If scores are NaN or infinite, `step` raises ValueError, and the parameters are those that the stage began with.

    References
    ----------
    Y. Yao, Q. Lin, T. Yang, "Large-scale optimization of partial AUC in a range of false positive rates", NeurIPS 2022.

    Examples
    --------
    >>> import torch
    >>> from torch.utils.data import DataLoader
    >>> from kernbench.deep import AGDSBCD, IndexedDataset, PairBatchSampler
    >>> X, y = torch.randn(200, 5), torch.arange(200) % 4 == 0
    >>> module, data = torch.nn.Linear(5, 1), IndexedDataset(X, y)
    >>> optimizer = AGDSBCD(module.parameters(), (0.05, 0.5), data.n_positive, inner_steps=5)
    >>> for inputs, labels, indices in DataLoader(data, batch_sampler=PairBatchSampler(y, n_batches=30)):
    ...     loss = optimizer.step(lambda: module(inputs), labels, indices)
    >>> with optimizer.averaged():
    ...     scores = module(X)
    >>> optimizer.stage, optimizer.inner_step
    (2, 5)
    """

    # fmt: off
    shared = ("fpr_range", "n_positive", "inner_steps", "loss", "thresholds", "threshold_step", "shared_batches")
    # fmt: on

    def __init__(
        self,
        params: Any,
        fpr_range: tuple[float, float],
        n_positive: int | None = None,
        *,
        lr: float = 0.1,
        mu: float = 1000.0,
        gamma: float = 1000.0,
        weight_decay: float = 0.0,
        inner_steps: int = 50,
        loss: str = "log_loss",
        thresholds: str = "stochastic",
        threshold_step: float | None = None,
        shared_batches: bool = True,
    ) -> None:
        low, high = checked_fpr_range(fpr_range)
        check_number("inner_steps", inner_steps, at_least=1, whole=True)
        check_name("loss", loss, PAIRED)
        check_name("thresholds", thresholds, tuple(RULES))
        check_flag("shared_batches", shared_batches)
        if threshold_step is not None:
            check_number("threshold_step", threshold_step, above=0)
        elif thresholds == "exact":
            threshold_step = 1.0
        if n_positive is not None:
            check_number("n_positive", n_positive, at_least=1, whole=True)
        elif thresholds == "stochastic":
            raise ValueError("thresholds='stochastic' needs n_positive, the number of positives in the training set")
        super().__init__(params, {
            "lr": lr, "mu": mu, "gamma": gamma, "weight_decay": weight_decay, "fpr_range": (low, high),
            "n_positive": n_positive, "inner_steps": inner_steps, "loss": loss, "thresholds": thresholds,
            "threshold_step": threshold_step, "shared_batches": shared_batches,
        })  # fmt: skip

    @torch.no_grad()
    def step(self, closure: Callable[..., Any], labels: Any, indices: Any = None) -> Any:
        """Do an inner step on a batch of I positives and J negatives.

        Parameters
        ----------
        closure : callable
            Returns the scores of the batch, shape (B,) or (B, 1), with their graph.
        labels : Tensor of shape (B,) or (B, 1)
            0 and 1, or -1 and 1.
        indices : Tensor of shape (B,), int, default=None
            Of each example among those of its class (see `IndexedDataset`); those of negatives are not used, and none
            are with ``thresholds="exact"``.

        Returns
        -------
        Tensor of shape ()
            Mean loss of all pairs of the batch, before the step.
        """
        classes = Classes(labels)
        if indices is not None:
            indices = self._of_positives(torch.as_tensor(indices), classes)
        self._begin()
        state, ends = self._common, self._ends()
        if len(ends) == 2 and not self.param_groups[0]["shared_batches"]:
            ends = ends[1:] if state.get("half_done", False) else ends[:1]
        try:
            values = [self._run(end, closure, classes, indices) for end in ends]
        except NotFinite:
            raise self._return_to_the_last_stage() from None
        state["half_done"] = ends[-1] != self._ends()[-1]
        if not state["half_done"]:
            state["inner_step"] = self.inner_step + 1
            if state["inner_step"] == self.inner_steps_of_stage:
                self._end_stage()
        return values[0]

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Continue from the state that `state_dict` returned.

        Parameters
        ----------
        state_dict : dict

        Raises
        ------
        ValueError
            If the parameters have other shapes, or the training set another number of positives.
        """
        theirs, ours = (d["param_groups"][0]["n_positive"] for d in (state_dict, vars(self)))
        if theirs != ours:
            raise ValueError(f"the checkpoint is one of {theirs} positives, not of {ours}")
        super().load_state_dict(state_dict)

    def find_thresholds(self, scores: Any) -> None:
        """Set the thresholds by the scores of all negatives; for ``thresholds="exact"``, when a stage begins.

        Parameters
        ----------
        scores : Tensor of shape (N,) or (N, 1)
            Scores of the negatives of the training set with the module's current parameters.
        """
        if self.param_groups[0]["thresholds"] != "exact":
            raise ValueError("thresholds='stochastic' has thresholds of losses: choose thresholds='exact'")
        for _, rule in self._rules():
            rule.find(scores.detach().reshape(-1).to(torch.promote_types(scores.dtype, torch.float32)))

    @contextmanager
    def averaged(self) -> Any:
        """Put the mean of v_n over the last stage into the parameters, for the time of a ``with`` block.

        Within a stage, once it has begun, the mean over its steps so far.
        """
        self._begin()
        with torch.no_grad():
            self._exchange("mean")
        try:
            yield
        finally:
            with torch.no_grad():
                self._exchange("mean")

    def _of_positives(self, indices, classes):
        """The indices of the positives of a batch."""
        if indices.shape != classes.mask.shape or indices.is_floating_point():
            raise ValueError(
                f"indices must be integers of shape {tuple(classes.mask.shape)}, got {indices.dtype} of shape "
                f"{tuple(indices.shape)}"
            )
        return indices[classes.rows(indices.device)[0]]

    def _end_stage(self):
        """w <- w - gamma / mu (v_m - v_n), and both runs begin there."""
        for group, trained in self._trained():
            w, means = self._states("w", trained), self._states("mean", trained)
            ratio = group["gamma"] / group["mu"]
            if "low" in self.copies:
                change = self._states("low", trained)
                torch._foreach_copy_(change, self._states("low_mean", trained))
                torch._foreach_sub_(change, means)
                torch._foreach_add_(w, change, alpha=-ratio)
            else:  # prox_0 is the identity
                torch._foreach_lerp_(w, means, ratio)
        self._put_runs_at_w()
        for _, rule in self._rules():
            rule.end_stage()
        state = self._common
        state["stage"], state["inner_step"] = self.stage + 1, 0

    def _put_runs_at_w(self):
        """Set v_n, the parameters, and v_m to w."""
        torch._foreach_copy_(self._parameters, self._states("w"))
        if "low" in self.copies:
            torch._foreach_copy_(self._states("low"), self._states("w"))

    def _return_to_the_last_stage(self):
        """Restart the stage from w, or where w itself is bad, from the mean of v_n; return the error to raise."""
        state, k, t = self._common, self.stage, self.inner_step
        if t == 0 and not state.get("half_done", False) and k > 0:
            torch._foreach_copy_(self._states("w"), self._states("mean"))
        self._put_runs_at_w()
        for _, rule in self._rules():
            rule.forget_stage()
        state["inner_step"], state["half_done"] = 0, False
        of_all = self.param_groups[0]
        return ValueError(
            f"scores are NaN or infinite at inner step {t} of stage {k}: lower lr={of_all['lr']:g} (the step was "
            f"{of_all['lr'] / (k + 1):g}) or gamma={of_all['gamma']:g}, or scale the inputs; the parameters are the "
            "last good ones, those that the stage began with"
        )
