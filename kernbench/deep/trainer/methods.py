"""The four methods of training: what a batch is, which loss it has, which optimiser takes the step."""

import math
from contextlib import contextmanager

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from kernbench.deep.losses import PartialAUCLoss
from kernbench.deep.optimisers import AGDSBCD, PESG
from kernbench.deep.trainer.batches import PairBatches, ShuffledBatches
from kernbench.deep.trainer.examples import column_of_scores, reference_tensor
from kernbench.validation.numbers import check_flag, check_number

BATCH_NORMS = nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.SyncBatchNorm
NORM_BATCHES = 50  # for the statistics of batch normalisation of an averaged network


class Diverged(Exception):
    """A score or a parameter is NaN or infinite."""


class Method:
    """A module in training; one step after the other.

    Parameters
    ----------
    module : torch.nn.Module
        In training mode, on its device.
    examples : Examples
    settings : Settings

    Attributes
    ----------
    steps_per_epoch : int
        Batches of `n_positive` + `n_negative` examples that hold as many as there are.
    optimiser : torch.optim.Optimizer
    batches : object
        ``draw()`` returns the indices of a batch; with ``state_dict`` and ``load_state_dict``.
    """

    def __init__(self, module, examples, settings):
        self.module, self.examples, self.settings = module, examples, settings
        self.steps_per_epoch = -(-len(examples) // (settings.n_positive + settings.n_negative))
        self.like = reference_tensor(module)
        if not any(parameter.requires_grad for parameter in module.parameters()):
            raise ValueError("the module has no parameters to train: all of them have requires_grad=False")
        check_number("weight_decay", self.option("weight_decay"), at_least=0)

    def option(self, name):
        """The value of an option of the method, its default unless it was given."""
        return self.settings.options.get(name, self.options[name])

    def step(self):
        """Take one step; return the loss of its batch.

        Raises
        ------
        Diverged
            If a score is not finite; the step is not taken.
        """
        raise NotImplementedError

    @property
    def decay_steps(self):
        """Steps after which the step size is divided by ten."""
        return check_number("decay_every", self.option("decay_every"), at_least=1, whole=True) * self.steps_per_epoch

    @property
    def learning_rate(self):
        """The step size now."""
        return self.optimiser.param_groups[0]["lr"]

    @contextmanager
    def judged_weights(self):
        """Yield the module with the weights that are the method's answer so far."""
        yield self.module

    def scores(self, indices):
        """Return the scores of some training examples, which autograd follows."""
        return self.scores_of(self.examples.inputs(indices, self.like))

    def scores_of(self, inputs):
        """Return the scores of inputs, which autograd follows."""
        scores = column_of_scores(self.module(inputs), len(inputs))
        if not bool(torch.isfinite(scores.detach()).all()):
            raise Diverged
        return scores

    def labels(self, indices):
        """Return their labels, -1 and +1, as a tensor like the scores."""
        return torch.from_numpy(self.examples.y[indices]).to(self.like.device, self.like.dtype)

    def state_dict(self):
        """All that the next step depends on, except for torch's random numbers."""
        return {
            "module": self.module.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "batches": self.batches.state_dict(),
        }

    def load_state_dict(self, state):
        """Go on from a `state_dict`."""
        self.module.load_state_dict(state["module"])
        self.optimiser.load_state_dict(state["optimiser"])
        self.batches.load_state_dict(state["batches"])


class CrossEntropy(Method):
    """The mean cross-entropy log(1 + exp(-y f(x))) by Adam.

    Batches are those of a shuffled order; balanced ones hold as many examples of each class as those of pairs. In these
    the log-odds of a class are larger by log(I N / (J P)), with I of P positives and J of N negatives in a batch: they
    are added to the scores in the loss, so that f(x) remains the log-odds among all examples.
    """

    default_rate = 1e-3
    options = {"weight_decay": 0.0, "decay_every": 5, "balanced": False}

    def __init__(self, module, examples, settings):
        super().__init__(module, examples, settings)
        self.shift = 0.0
        check_flag("balanced", self.option("balanced"))
        if self.option("balanced"):
            self.batches = PairBatches(examples.y, settings, settings.seed)
            sampler = self.batches.sampler
            of_batch, of_all = sampler.n_positive / sampler.n_negative, len(sampler.positives) / len(sampler.negatives)
            self.shift = math.log(of_batch / of_all)
        else:
            self.batches = ShuffledBatches(len(examples), settings.n_positive + settings.n_negative, settings.seed)
        self.optimiser = torch.optim.Adam(
            module.parameters(), lr=settings.rate(self.default_rate), weight_decay=self.option("weight_decay")
        )
        self.decay = torch.optim.lr_scheduler.StepLR(self.optimiser, self.decay_steps)

    def step(self):
        indices = self.batches.draw()
        loss = functional.softplus(-self.labels(indices) * (self.scores(indices) + self.shift)).mean()
        self.optimiser.zero_grad()
        loss.backward()
        self.optimiser.step()
        self.decay.step()
        return loss.item()

    def state_dict(self):
        return {**super().state_dict(), "decay": self.decay.state_dict()}

    def load_state_dict(self, state):
        super().load_state_dict(state)
        self.decay.load_state_dict(state["decay"])


class Pairs(Method):
    """A method whose batches hold both classes, drawn again for every step.

    An optimiser of scores calls a closure for them and does the backward passes itself.
    """

    def __init__(self, module, examples, settings):
        super().__init__(module, examples, settings)
        self.batches = PairBatches(examples.y, settings, settings.seed)

    def closure(self, indices):
        """A function that returns the scores of a batch, of the same inputs at every call."""
        inputs = self.examples.inputs(indices, self.like)
        return lambda: self.scores_of(inputs)


class Minibatch(Pairs):
    """The loss over the window of the batch, by steps c / sqrt(t) (Kar, Narasimhan, Jain)."""

    default_rate = 0.3
    options = {"loss": "log_loss", "weight_decay": 0.0}

    def __init__(self, module, examples, settings):
        super().__init__(module, examples, settings)
        self.loss = PartialAUCLoss(settings.fpr_range, self.option("loss"))
        self.rate, self.n_iter = settings.rate(self.default_rate), 0
        self.optimiser = torch.optim.SGD(module.parameters(), lr=self.rate, weight_decay=self.option("weight_decay"))

    def step(self):
        indices = self.batches.draw()
        loss = self.loss(self.scores(indices), self.labels(indices))
        self.optimiser.zero_grad()
        loss.backward()
        self.n_iter += 1
        for group in self.optimiser.param_groups:
            group["lr"] = self.rate / self.n_iter**0.5
        self.optimiser.step()
        return loss.item()

    def state_dict(self):
        return {**super().state_dict(), "n_iter": self.n_iter}

    def load_state_dict(self, state):
        super().load_state_dict(state)
        self.n_iter = state["n_iter"]


class AUCMargin(Pairs):
    """The min-max margin loss of the AUC, by PESG."""

    default_rate = 0.1
    options = {"margin": 1.0, "decay": 2e-3, "weight_decay": 1e-5, "clip": 1.0, "decay_every": 5}

    def __init__(self, module, examples, settings):
        super().__init__(module, examples, settings)
        named = {name: self.option(name) for name in ("margin", "decay", "weight_decay", "clip")}
        rate = settings.rate(self.default_rate)
        self.optimiser = PESG(module.parameters(), lr=rate, stage_steps=self.decay_steps, **named)

    def step(self):
        indices = self.batches.draw()
        return self.optimiser.step(self.closure(indices), self.labels(indices)).item()

    @property
    def learning_rate(self):
        return super().learning_rate * 0.1**self.optimiser.stage


class AGD(Pairs):
    """AGD-SBCD; its answer is the mean of v_n over the stage."""

    default_rate = 0.3
    options = {"loss": "log_loss", "mu": 1e3, "gamma": 1e3, "weight_decay": 0.0, "inner_steps": 50,
               "thresholds": "stochastic", "threshold_step": None, "shared_batches": True}  # fmt: skip

    def __init__(self, module, examples, settings):
        super().__init__(module, examples, settings)
        positive = examples.positive
        self.of_class = np.where(positive, np.cumsum(positive), np.cumsum(~positive)) - 1
        self.optimiser = AGDSBCD(
            module.parameters(),
            settings.fpr_range,
            int(positive.sum()),
            lr=settings.rate(self.default_rate),
            **{name: self.option(name) for name in self.options},
        )

    def step(self):
        indices = self.batches.draw()
        of_class = torch.from_numpy(self.of_class[indices])
        return self.optimiser.step(self.closure(indices), self.labels(indices), of_class).item()

    @property
    def learning_rate(self):
        return super().learning_rate / (self.optimiser.stage + 1)

    @contextmanager
    def judged_weights(self):
        """Yield the module with the mean of v_n, and with statistics of batch normalisation that belong to it.

        The running ones follow all forward passes, those of v_m too.
        """
        kept = {name: tensor.clone() for name, tensor in self.module.named_buffers()}
        with self.optimiser.averaged():
            self._renew_statistics()
            try:
                yield self.module
            finally:
                for name, tensor in self.module.named_buffers():
                    tensor.copy_(kept[name])

    @torch.no_grad()
    def _renew_statistics(self):
        """Set the running statistics of batch normalisation to their means over some batches.

        Those of other normalisations are left: without a momentum they take no mean. So are those of layers that the
        module keeps in evaluation mode.
        """
        self.module.train()
        norms = (layer for layer in self.module.modules() if isinstance(layer, BATCH_NORMS))
        layers = [layer for layer in norms if layer.training and layer.track_running_stats]
        if not layers:
            return
        momenta = [layer.momentum for layer in layers]
        batches = PairBatches(self.examples.y, self.settings, self.settings.seed + 1)
        try:
            for layer in layers:
                layer.reset_running_stats()
                layer.momentum = None  # a plain mean
            for _ in range(min(NORM_BATCHES, self.steps_per_epoch)):
                self.module(self.examples.inputs(batches.draw(), self.like))
        finally:  # also where Ctrl-C, pressed twice, ends an evaluation
            for layer, momentum in zip(layers, momenta):
                layer.momentum = momentum


METHODS = {"agd-sbcd": AGD, "minibatch": Minibatch, "cross-entropy": CrossEntropy, "auc-margin": AUCMargin}
