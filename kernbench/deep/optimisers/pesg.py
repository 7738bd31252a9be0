"""PESG: proximal epoch stochastic gradient for the min-max margin loss of the AUC (Yuan, Yan, Sonka, Yang, ICCV 2021).

min over w, a, b, max over theta >= 0 of  E+[(h - a)^2] + E-[(h - b)^2] + 2 theta (M + E-[h] - E+[h]) - theta^2
"""

from collections.abc import Callable
from typing import Any

import torch

from kernbench.deep.checks import Classes
from kernbench.deep.optimisers.base import NotFinite, ScoreOptimizer
from kernbench.validation.numbers import check_number


class PESG(ScoreOptimizer):
    """PESG for the min-max margin loss of the AUC.

    With v = (w, a, b) a step does v <- v - lr (clip(gradient) + decay (v - v_ref) + weight_decay w), the last two in
    closed form, then theta <- (theta + lr (2 (M + b - a) - 2 theta))_+ . After each stage lr is divided by 10 and v_ref
    becomes the mean of the stage's iterates.

    Parameters
    ----------
    params : iterable of Parameter, or of dict
    lr : float, default=0.1
        Step size of the first stage; may differ between parameter groups.
    margin : float, default=1.0
        M.
    decay : float, default=0.002
        1/Gamma, LibAUC's ``epoch_decay``. An option of groups.
    weight_decay : float, default=1e-5
        An option of groups.
    clip : float, default=1.0
        Largest entry of the gradient.
    stage_steps : int, optional
        Steps of a stage. By default stages end where `end_stage` is called.

    Attributes
    ----------
    stage : int
        Stages that have ended.

    Notes
    -----
    `step(closure, labels)` calls ``closure()``, which must return the scores of the batch, shape (B,) or (B, 1), with
    their graph, and does the backward pass itself. The state takes twice the memory of the parameters. Parameters with
    ``requires_grad=False`` stay as they are.

    If scores are NaN or infinite, `step` raises ValueError, v is the reference point v_ref, and the stage starts again.

    Examples
    --------
    >>> import torch
    >>> from kernbench.deep import PESG
    >>> X, y = torch.randn(200, 5), torch.arange(200) % 4 == 0
    >>> module = torch.nn.Linear(5, 1)
    >>> optimizer = PESG(module.parameters())
    >>> for epoch in range(10):
    ...     loss = optimizer.step(lambda: module(X), y)
    ...     if epoch == 4:
    ...         optimizer.end_stage()
    """

    shared: tuple[Any, ...]
    copies: tuple[Any, ...]

    shared, copies = ("margin", "clip", "stage_steps"), ("reference", "mean")

    def __init__(
        self,
        params: Any,
        *,
        lr: float = 0.1,
        margin: float = 1.0,
        decay: float = 2e-3,
        weight_decay: float = 1e-5,
        clip: float = 1.0,
        stage_steps: int | None = None,
    ) -> None:
        check_number("margin", margin, above=0)
        check_number("clip", clip, above=0)
        if stage_steps is not None:
            check_number("stage_steps", stage_steps, at_least=1, whole=True)
        super().__init__(params, {"lr": lr, "margin": margin, "decay": decay, "weight_decay": weight_decay,
                                  "clip": clip, "stage_steps": stage_steps})  # fmt: skip

    @property
    def stage(self) -> Any:
        """Stages that have ended."""
        return self._common.get("stage", 0)

    @torch.no_grad()
    def step(self, closure: Callable[..., Any], labels: Any) -> Any:
        """Do a step on a batch of both classes.

        Parameters
        ----------
        closure : callable
            Returns the scores of the batch, shape (B,) or (B, 1), with their graph.
        labels : Tensor of shape (B,) or (B, 1)
            0 and 1, or -1 and 1.

        Returns
        -------
        Tensor of shape ()
            The objective on the batch, before the step.
        """
        classes = Classes(labels)
        self._begin()
        state, of_all = self._common, self.param_groups[0]
        try:
            scores, s, r, rows = self._batch(closure, classes)
        except NotFinite:
            raise self._return_to_the_reference() from None
        if "centres" not in state:
            state.update({"centres": s.new_zeros(2), "dual": s.new_zeros(())})
            state.update({"centres_reference": s.new_zeros(2), "centres_mean": s.new_zeros(2)})
        for name in ("centres", "dual", "centres_reference", "centres_mean"):
            state[name] = state[name].to(s)
        centres, theta = state["centres"], state["dual"]
        from_a, from_b = s - centres[0], r - centres[1]
        short = of_all["margin"] + r.mean() - s.mean()
        value = from_a.square().mean() + from_b.square().mean() + 2.0 * theta * short - theta.square()
        self._backward(scores, rows, 2.0 * (from_a - theta) / len(s), 2.0 * (from_b + theta) / len(r))
        share, rate = 1.0 / (state.get("inner_step", 0) + 1), 0.1**self.stage
        for group, v in self._trained():
            gradients = [p.grad for p in v]
            self._descend(v, gradients, self._states("reference", v), self._states("mean", v), rate * group["lr"],
                          group, group["weight_decay"], share)  # fmt: skip
        eta = rate * of_all["lr"]
        gradient = -2.0 * torch.stack([from_a.mean(), from_b.mean()])
        self._descend([centres], [gradient], [state["centres_reference"]], [state["centres_mean"]], eta, of_all, 0.0,
                      share)  # fmt: skip
        theta += eta * (2.0 * (of_all["margin"] + centres[1] - centres[0]) - 2.0 * theta)
        theta.clamp_(min=0.0)
        state["inner_step"] = state.get("inner_step", 0) + 1
        if state["inner_step"] == of_all["stage_steps"]:
            self.end_stage()
        return value

    @torch.no_grad()
    def end_stage(self) -> Any:
        """Divide lr by 10 and take the mean of the stage's iterates as the next reference point."""
        state = self._common
        if not state.get("inner_step", 0):
            return
        torch._foreach_copy_(self._states("reference"), self._states("mean"))
        state["centres_reference"].copy_(state["centres_mean"])
        state["stage"], state["inner_step"] = self.stage + 1, 0

    def _check_group(self, group):
        check_number("lr", group["lr"], above=0)
        for name in ("decay", "weight_decay"):
            check_number(name, group[name], at_least=0)

    def _descend(self, v, gradients, references, means, eta, group, ridge, share):
        """v <- (v - eta (clip(G) - decay v_ref)) / (1 + eta (decay + ridge)); means take in the new v."""
        torch._foreach_clamp_min_(gradients, -group["clip"])
        torch._foreach_clamp_max_(gradients, group["clip"])
        torch._foreach_add_(v, gradients, alpha=-eta)
        torch._foreach_add_(v, references, alpha=eta * group["decay"])
        torch._foreach_mul_(v, 1.0 / (1.0 + eta * (group["decay"] + ridge)))
        if share == 1.0:
            torch._foreach_copy_(means, v)
        else:
            torch._foreach_lerp_(means, v, share)

    def _return_to_the_reference(self):
        """Restart the stage from v_ref; return the error to raise."""
        torch._foreach_copy_(self._parameters, self._states("reference"))
        state = self._common
        if "centres" in state:
            state["centres"].copy_(state["centres_reference"])
        state["inner_step"] = 0  # the mean so far may hold NaN, and would be the next reference point
        lr, step = self.param_groups[0]["lr"], self.param_groups[0]["lr"] * 0.1**self.stage
        return ValueError(
            f"scores are NaN or infinite in stage {self.stage}: lower lr={lr:g} (the step was {step:g}), or scale the "
            "inputs; the parameters are the last good ones, those of the reference point"
        )
