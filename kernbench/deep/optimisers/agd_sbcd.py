"""AGD-SBCD for networks: descent on the difference of two Moreau envelopes (Yao, Lin, Yang, Algorithms 1 and 2).

With f^l the sum over the positives i of the l largest losses of a pair (i, j), the partial AUC's loss is f^n - f^m, and
with prox_l(w) = argmin_v f^l(v) + |v - w|^2 / (2 mu) the gradient of its smoothing is (prox_m(w) - prox_n(w)) / mu.
Two runs of stochastic block coordinate descent approximate the two proximal points: networks v_m and v_n that start at
w, and for each of them a threshold lambda_i for every positive, above which the l largest of its losses lie.

Scale-free form: all is divided by the number of pairs P N, so that mu' = mu P N and gamma' = gamma P N do not grow with
the data. While the runs last, the parameters of the module are v_n, and v_m takes their place for its own closures.
"""

from contextlib import contextmanager

import torch

from kernbench.deep.checks import Classes
from kernbench.deep.optimisers.base import NotFinite, ScoreOptimizer
from kernbench.deep.optimisers.thresholds import PAIR_LOSSES, OneThreshold, ThresholdPerPositive
from kernbench.ranking.window import checked_fpr_range
from kernbench.validation.numbers import check_flag, check_name, check_number

RULES = {"stochastic": ThresholdPerPositive, "exact": OneThreshold}


class AGDSBCD(ScoreOptimizer):
    r"""AGD-SBCD: partial AUC of all data over a range of false positive rates, from batches of any size.

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
    n_positives : int, optional
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
        "stochastic": the paper's, a lambda for every positive, 0 at first, that follows its subgradients.
        "exact": one threshold of the negatives' scores in place of them, since the same negatives are the highest for
        all positives; it begins at the quantile of the first batch, or of all negatives where `find_thresholds` is
        called when a stage begins, and follows its subgradients from there.
    threshold_step : float, optional
        threshold_step / (k + 1) is the step of the thresholds. By default `lr` of the first group, as in the paper, or
        1 for "exact".
    shared_batches : bool, default=True
        Whether v_m and v_n see the same batches. False: batches are used by turns, the first by v_n, so that an inner
        step takes two of them.

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
    statistics of batch normalisation, are no parameters and follow all forward passes: recompute them there by
    `torch.optim.swa_utils.update_bn`.

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
    >>> optimizer = AGDSBCD(module.parameters(), (0.05, 0.5), data.n_positives, inner_steps=5)
    >>> for inputs, labels, indices in DataLoader(data, batch_sampler=PairBatchSampler(y, n_batches=30)):
    ...     loss = optimizer.step(lambda: module(inputs), labels, indices)
    >>> with optimizer.averaged():
    ...     scores = module(X)
    >>> optimizer.stage, optimizer.inner_step
    (2, 5)
    """

    shared = (
        "fpr_range",
        "n_positives",
        "inner_steps",
        "loss",
        "thresholds",
        "threshold_step",
        "shared_batches",
    )

    def __init__(self, params, fpr_range, n_positives=None, *, lr=0.1, mu=1000.0, gamma=1000.0, weight_decay=0.0,
                 inner_steps=50, loss="log_loss", thresholds="stochastic", threshold_step=None,
                 shared_batches=True):  # fmt: skip
        low, high = checked_fpr_range(fpr_range)
        check_number("inner_steps", inner_steps, at_least=1, whole=True)
        check_name("loss", loss, tuple(PAIR_LOSSES))
        check_name("thresholds", thresholds, tuple(RULES))
        check_flag("shared_batches", shared_batches)
        if threshold_step is not None:
            check_number("threshold_step", threshold_step, above=0)
        elif thresholds == "exact":
            threshold_step = 1.0
        if n_positives is not None:
            check_number("n_positives", n_positives, at_least=1, whole=True)
        elif thresholds == "stochastic":
            raise ValueError(
                "thresholds='stochastic' needs n_positives, the number of positives in the training set"
            )
        super().__init__(params, {
            "lr": lr, "mu": mu, "gamma": gamma, "weight_decay": weight_decay, "fpr_range": (low, high),
            "n_positives": n_positives, "inner_steps": inner_steps, "loss": loss, "thresholds": thresholds,
            "threshold_step": threshold_step, "shared_batches": shared_batches,
        })  # fmt: skip

    @property
    def copies(self):
        """Names of the tensors kept of each parameter."""
        low, _ = self.param_groups[0]["fpr_range"]
        return ("w", "mean", "low", "low_mean") if low > 0 else ("w", "mean")

    @property
    def stage(self):
        """Stages that have ended."""
        return self._common.get("stage", 0)

    @property
    def inner_step(self):
        """Inner steps of this stage."""
        return self._common.get("inner_step", 0)

    @property
    def inner_steps_of_stage(self):
        """Inner steps that this stage takes, T_k."""
        return self.param_groups[0]["inner_steps"] * (self.stage + 1) ** 2

    @torch.no_grad()
    def step(self, closure, labels, indices=None):
        """Do an inner step on a batch of I positives and J negatives.

        Parameters
        ----------
        closure : callable
            Returns the scores of the batch, shape (B,) or (B, 1), with their graph.
        labels : Tensor of shape (B,) or (B, 1)
            0 and 1, or -1 and 1.
        indices : Tensor of shape (B,), int
            Of each example among those of its class (see `IndexedDataset`); those of negatives are not used, and none
            are with ``thresholds="exact"``.

        Returns
        -------
        Tensor of shape ()
            Mean loss of all pairs of the batch, before the step.
        """
        classes = Classes(labels)
        if indices is not None:
            indices = torch.as_tensor(indices)
            if indices.shape != classes.mask.shape:
                raise ValueError(
                    f"indices must have shape {tuple(classes.mask.shape)}, got {tuple(indices.shape)}"
                )
            indices = indices[classes.rows(indices.device)[0]]
        self._begin()
        state, of_all = self._common, self.param_groups[0]
        two = of_all["fpr_range"][0] > 0
        try:
            if of_all["shared_batches"] or not state.get("half_done", False):
                value = self._run("high", closure, classes, indices)
                if two and not of_all["shared_batches"]:
                    state["half_done"] = True
                    return value
            if two:
                self._exchange("low")
                try:
                    low_value = self._run("low", closure, classes, indices)
                finally:
                    self._exchange("low")
                value = value if of_all["shared_batches"] else low_value
        except NotFinite:
            raise self._return_to_the_last_stage() from None
        state["half_done"], state["inner_step"] = False, self.inner_step + 1
        if state["inner_step"] == self.inner_steps_of_stage:
            self._end_stage()
        return value

    def load_state_dict(self, state_dict):
        """Go on from the state that `state_dict` returned.

        Parameters
        ----------
        state_dict : dict

        Raises
        ------
        ValueError
            If the parameters have other shapes, or the training set another number of positives.
        """
        theirs, ours = (d["param_groups"][0]["n_positives"] for d in (state_dict, vars(self)))
        if theirs != ours:
            raise ValueError(f"the checkpoint is one of {theirs} positives, not of {ours}")
        super().load_state_dict(state_dict)

    def find_thresholds(self, scores):
        """Set the thresholds by the scores of all negatives; for ``thresholds="exact"``, when a stage begins.

        Parameters
        ----------
        scores : Tensor of shape (N,) or (N, 1)
            Of the negatives of the training set, by the module's current parameters.
        """
        if self.param_groups[0]["thresholds"] != "exact":
            raise ValueError("thresholds='stochastic' has thresholds of losses: choose thresholds='exact'")
        for _, rule in self._rules():
            rule.find(scores.detach().reshape(-1).to(torch.promote_types(scores.dtype, torch.float32)))

    @contextmanager
    def averaged(self):
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

    def _check_group(self, group):
        for name in ("lr", "mu", "gamma"):
            check_number(name, group[name], above=0)
        check_number("weight_decay", group["weight_decay"], at_least=0)

    def _run(self, end, closure, classes, indices):
        """One step of Algorithm 1 for the network that is in the parameters."""
        of_all, k, t = self.param_groups[0], self.stage, self.inner_step
        scores, a, b, rows = self._batch(closure, classes)
        loss, slope = PAIR_LOSSES[of_all["loss"]]
        z = a[:, None] - b
        losses, slopes = loss(z), slope(z)
        rule = dict(self._rules()).get(end)
        if rule is not None:
            theta = of_all["lr"] if of_all["threshold_step"] is None else of_all["threshold_step"]
            weight = (t + 1) / self.inner_steps_of_stage
            slopes = slopes * rule.count(losses, b, indices, theta / (k + 1), weight)
        self._backward(scores, rows, slopes.sum(1) / z.numel(), -slopes.sum(0) / z.numel())
        width = of_all["fpr_range"][1] - of_all["fpr_range"][0]
        for group in self.param_groups:
            # v <- (v + eta (w / mu - G)) / (1 + eta / mu + eta ridge), ridge |v|^2 / 2 being a part of f^n
            eta, ridge = group["lr"] / (k + 1), group["weight_decay"] * width if end == "high" else 0.0
            v, means = group["params"], self._states("mean" if end == "high" else "low_mean", group)
            if t == 0:
                torch._foreach_copy_(means, v)
            else:
                torch._foreach_lerp_(means, v, 1.0 / (t + 1))
            torch._foreach_add_(v, [p.grad for p in v], alpha=-eta)
            torch._foreach_add_(v, self._states("w", group), alpha=eta / group["mu"])
            torch._foreach_mul_(v, 1.0 / (1.0 + eta / group["mu"] + eta * ridge))
        return losses.mean()

    def _rules(self):
        """Yield, of both ends of the range that leave pairs out, its name and its thresholds."""
        of_all = self.param_groups[0]
        for end, share in zip(("low", "high"), of_all["fpr_range"]):
            if 0 < share < 1:
                yield end, RULES[of_all["thresholds"]](self._common, end, share, of_all["n_positives"])

    def _exchange(self, name):
        """Exchange parameters and a state of theirs, by way of the gradients' memory."""
        v, others = self._parameters, self._states(name)
        between = [torch.empty_like(p) if p.grad is None else p.grad for p in v]
        for to, source in ((between, v), (v, others), (others, between)):
            torch._foreach_copy_(to, source)

    def _end_stage(self):
        """w <- w - gamma / mu (v_m - v_n), and both runs begin there."""
        for group in self.param_groups:
            w, means, ratio = (
                self._states("w", group),
                self._states("mean", group),
                group["gamma"] / group["mu"],
            )
            if "low" in self.copies:
                change = self._states("low", group)
                torch._foreach_copy_(change, self._states("low_mean", group))
                torch._foreach_sub_(change, means)
                torch._foreach_add_(w, change, alpha=-ratio)
                torch._foreach_copy_(change, w)
            else:  # prox_0 is the identity
                torch._foreach_lerp_(w, means, ratio)
            torch._foreach_copy_(group["params"], w)
        for _, rule in self._rules():
            rule.end_stage()
        state = self._common
        state["stage"], state["inner_step"] = self.stage + 1, 0

    def _return_to_the_last_stage(self):
        """Begin the stage anew, or where w itself is not good, at the mean of v_n; return the error to raise."""
        state, k, t = self._common, self.stage, self.inner_step
        if t == 0 and not state.get("half_done", False) and k > 0:
            torch._foreach_copy_(self._states("w"), self._states("mean"))
        for name in ("low", None):
            if name is None or name in self.copies:
                torch._foreach_copy_(
                    self._parameters if name is None else self._states(name), self._states("w")
                )
        for _, rule in self._rules():
            rule.forget_stage()
        state["inner_step"], state["half_done"] = 0, False
        of_all = self.param_groups[0]
        return ValueError(
            f"scores are NaN or infinite at inner step {t} of stage {k}: lower lr={of_all['lr']:g} (the step was "
            f"{of_all['lr'] / (k + 1):g}) or gamma={of_all['gamma']:g}, or scale the inputs; the parameters are the "
            "last good ones, those that the stage began with"
        )
