"""Stochastic block coordinate descent on g^l(v, lambda) for two networks, Algorithm 1 of Yao, Lin and Yang.

A step in v is v <- (v + eta (w / mu - G)) / (1 + eta / mu), G being the subgradient of the mean loss of the pairs that
count, estimated on a batch. The parameters of the module are v_n; v_m takes their place for its own steps.
"""

from typing import Any

import torch

from kernbench.deep.losses.formulas import SLOPES, VALUES
from kernbench.deep.optimisers.base import ScoreOptimizer
from kernbench.deep.optimisers.thresholds import OneThreshold, ThresholdPerPositive
from kernbench.validation.numbers import check_number

RULES = {"stochastic": ThresholdPerPositive, "exact": OneThreshold}


class SBCD(ScoreOptimizer):
    """The inner runs of AGD-SBCD: one for each end of the range, "high" and, where it is above 0, "low"."""

    @property
    def copies(self) -> Any:
        """Names of the tensors kept of each parameter."""
        return ("w", "mean", "low", "low_mean") if "low" in self._ends() else ("w", "mean")

    @property
    def stage(self) -> Any:
        """Stages that have ended."""
        return self._common.get("stage", 0)

    @property
    def inner_step(self) -> Any:
        """Inner steps of this stage."""
        return self._common.get("inner_step", 0)

    @property
    def inner_steps_of_stage(self) -> Any:
        """Inner steps that this stage takes, T_k."""
        return self.param_groups[0]["inner_steps"] * (self.stage + 1) ** 2

    def _check_group(self, group):
        for name in ("lr", "mu", "gamma"):
            check_number(name, group[name], above=0)
        check_number("weight_decay", group["weight_decay"], at_least=0)

    def _ends(self):
        """The runs, in the order of their steps; prox_0 is the identity and takes none."""
        return ("high", "low") if self.param_groups[0]["fpr_range"][0] > 0 else ("high",)

    def _run(self, end, closure, classes, indices):
        """Do one step of a run; return the mean loss of all pairs of the batch."""
        if end == "high":
            return self._descend("high", "mean", closure, classes, indices)
        self._exchange("low")
        try:
            return self._descend("low", "low_mean", closure, classes, indices)
        finally:
            self._exchange("low")

    def _descend(self, end, mean, closure, classes, indices):
        """One step of Algorithm 1 for the network that is in the parameters."""
        of_all, k, t = self.param_groups[0], self.stage, self.inner_step
        scores, a, b, rows = self._batch(closure, classes)
        z = a[:, None] - b
        losses, slopes = (table[of_all["loss"]](z) for table in (VALUES, SLOPES))
        rule = dict(self._rules()).get(end)
        if rule is not None:
            theta = of_all["lr"] if of_all["threshold_step"] is None else of_all["threshold_step"]
            weight = (t + 1) / self.inner_steps_of_stage
            slopes = slopes * rule.count(losses, b, indices, theta / (k + 1) ** rule.decay, weight)
        self._backward(scores, rows, slopes.sum(1) / z.numel(), -slopes.sum(0) / z.numel())
        width = of_all["fpr_range"][1] - of_all["fpr_range"][0]
        for group, v in self._trained():
            # v <- (v + eta (w / mu - G)) / (1 + eta / mu + eta ridge), ridge |v|^2 / 2 being a part of f^n
            eta, ridge = group["lr"] / (k + 1), group["weight_decay"] * width if end == "high" else 0.0
            means = self._states(mean, v)
            if t == 0:
                torch._foreach_copy_(means, v)
            else:
                torch._foreach_lerp_(means, v, 1.0 / (t + 1))
            torch._foreach_add_(v, [p.grad for p in v], alpha=-eta)
            torch._foreach_add_(v, self._states("w", v), alpha=eta / group["mu"])
            torch._foreach_mul_(v, 1.0 / (1.0 + eta / group["mu"] + eta * ridge))
        return losses.mean()

    def _rules(self):
        """Yield, of both ends of the range that leave pairs out, its name and its thresholds."""
        of_all = self.param_groups[0]
        for end, share in zip(("low", "high"), of_all["fpr_range"]):
            if 0 < share < 1:
                yield end, RULES[of_all["thresholds"]](self._common, end, share, of_all["n_positive"])
