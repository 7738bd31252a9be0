"""What the optimisers share: scores from a closure, slopes into gradients, state that a checkpoint must fit."""

from typing import Any

import torch

from kernbench.deep.checks import column_of, require_labels


class ScoreOptimizer(torch.optim.Optimizer):
    """Base class of optimisers that compute the slope of their objective in each score of a batch.

    What belongs to no parameter is kept in the state of the first one, as in `torch.optim.LBFGS`, so that `state_dict`,
    copies and pickles hold it.

    A subclass names in ``shared`` the options that are the same for all groups, in ``copies`` the tensors of a
    parameter's state that have its shape, and checks the other options in `_check_group`.
    """

    shared, copies = (), ()

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add parameters with options of their own.

        Parameters
        ----------
        param_group : dict
        """
        for name in self.shared:
            if param_group.get(name, self.defaults[name]) != self.defaults[name]:
                raise ValueError(f"{name} is an option of the whole optimiser, not of a group of parameters")
        super().add_param_group(param_group)
        self._check_group(self.param_groups[-1])

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Continue from the state that `state_dict` returned.

        Parameters
        ----------
        state_dict : dict

        Raises
        ------
        ValueError
            If the parameters or the examples that it was made for have another shape.
        """
        for group, saved in zip(self.param_groups, state_dict["param_groups"]):
            for parameter, number in zip(group["params"], saved["params"]):
                for name, value in state_dict["state"].get(number, {}).items():
                    if name in self.copies and value.shape != parameter.shape:
                        raise ValueError(
                            f"the checkpoint is one of other parameters: parameter {number} had the shape "
                            f"{tuple(value.shape)} there and has {tuple(parameter.shape)} here"
                        )
        super().load_state_dict(state_dict)
        # PyTorch gives all tensors of a parameter its dtype: what belongs to no parameter would lose digits.
        first = state_dict["param_groups"][0]["params"][0]
        for name, value in state_dict["state"].get(first, {}).items():
            if name not in self.copies and torch.is_tensor(value):
                self._common[name] = value.detach().clone().to(self._common[name].device)

    def _check_group(self, group):
        pass

    @property
    def _parameters(self):
        return [p for group in self.param_groups for p in group["params"]]

    @property
    def _common(self):
        """The state that belongs to no parameter."""
        return self.state[self.param_groups[0]["params"][0]]

    def _states(self, name, parameters=None):
        """The tensors called `name` of some parameters, by default of all."""
        return [self.state[p][name] for p in (self._parameters if parameters is None else parameters)]

    def _trained(self):
        """Yield each group with those of its parameters that require gradients: frozen ones do not even decay."""
        for group in self.param_groups:
            if trained := [p for p in group["params"] if p.requires_grad]:
                yield group, trained

    def _exchange(self, name):
        """Exchange parameters and a state of theirs, through the gradients' memory."""
        v, others = self._parameters, self._states(name)
        between = [torch.empty_like(p) if p.grad is None else p.grad for p in v]
        for to, source in ((between, v), (v, others), (others, between)):
            torch._foreach_copy_(to, source)

    def _begin(self):
        """Give parameters that have no state yet copies of themselves; no number is stored for the others."""
        for p in self._parameters:
            if self.copies[0] not in self.state[p]:
                self.state[p].update({name: p.detach().clone() for name in self.copies})

    def _batch(self, closure, classes):
        """Call the closure; return its scores, and detached those of the positives and of the negatives with their
        rows, in float32 at least."""
        self.zero_grad(set_to_none=True)
        with torch.enable_grad():
            scores = column_of(closure())
        if not scores.requires_grad:
            raise ValueError(
                "the closure must return scores that depend on the parameters: call the module, undetached"
            )
        require_labels(scores, classes.mask)
        values = scores.detach().to(torch.promote_types(scores.dtype, torch.float32))
        if not torch.isfinite(values).all():
            raise NotFinite
        rows = classes.rows(values.device)
        return scores, values[rows[0]], values[rows[1]], rows

    def _backward(self, scores, rows, of_positives, of_negatives):
        """Propagate the slopes of the objective in the scores to the parameters; trained ones without one get zeros."""
        slopes = torch.empty(len(scores), dtype=of_positives.dtype, device=scores.device)
        slopes[rows[0]], slopes[rows[1]] = of_positives, of_negatives
        torch.autograd.backward(scores, slopes.to(scores.dtype))
        for p in self._parameters:
            if p.grad is None and p.requires_grad:
                p.grad = torch.zeros_like(p)


class NotFinite(Exception):
    """Scores of a batch are NaN or infinite."""
