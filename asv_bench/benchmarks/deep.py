"""One step of the optimisers of networks: ResNet-20 on 16 positives and 16 negatives, and losses of large batches.

They need PyTorch, which the environments that asv makes do not have: ``asv run -E existing --bench deep``.
"""

import time
from statistics import median

SCORES = 100_000  # in the batch of a loss: 2.5 10^9 pairs
REPEATS = 7
PASSES = {"agd-sbcd": 2, "agd-sbcd from 0": 1, "pesg": 1}  # through the network in a step


def require_torch():
    """Return torch and kernbench.deep; where either is missing, asv leaves the benchmark out."""
    try:
        import torch

        from kernbench import deep
    except ImportError as error:
        raise NotImplementedError(str(error)) from None
    torch.set_num_threads(1)
    return torch, deep


class DeepStep:
    """A step on 32 images of 32 x 32 pixels; AGD-SBCD from a false positive rate above 0 steps with two networks."""

    param_names = ("method",)
    params = (tuple(PASSES),)
    timeout = 120
    number = 1
    repeat = (2, 10, 5.0)

    def setup(self, method):
        self.torch, deep = require_torch()
        self.torch.manual_seed(0)
        self.module, self.images = deep.ResNet20(), self.torch.randn(32, 3, 32, 32)
        self.labels, self.indices = self.torch.arange(32) < 16, self.torch.arange(32) % 16
        if method == "pesg":
            optimizer = deep.PESG(self.module.parameters(), lr=1e-3)
            self.step = lambda: optimizer.step(self.scores, self.labels)
        else:
            fpr_range = (0.0, 0.5) if method.endswith("0") else (0.05, 0.5)
            optimizer = deep.AGDSBCD(self.module.parameters(), fpr_range, 1000, lr=1e-3)
            self.step = lambda: optimizer.step(self.scores, self.labels, self.indices)

    def scores(self):
        return self.module(self.images)

    def forward_and_backward(self):
        self.module.zero_grad(set_to_none=True)
        self.torch.nn.functional.softplus(self.scores()).mean().backward()

    def time_step(self, method):
        self.step()

    def peakmem_step(self, method):
        self.step()

    def track_passes(self, method):
        """CPU time of a step over that of as many forward and backward passes of its images; lower is better."""
        ratios = []
        for _ in range(REPEATS):
            begin = time.process_time()
            self.step()
            middle = time.process_time()
            for _ in range(PASSES[method]):
                self.forward_and_backward()
            ratios.append((middle - begin) / (time.process_time() - middle))
        return median(ratios)

    track_passes.unit = "timing: ratio"


class DeepLoss:
    """Value and slopes of a loss of one large batch."""

    param_names = ("loss",)
    params = (("window", "pairs", "ranked range", "AUC margin"),)

    def setup(self, loss):
        torch, deep = require_torch()
        losses = {"window": deep.PartialAUCLoss((0.05, 0.5), "log_loss"), "pairs": deep.PairwiseLoss("log_loss"),
                  "ranked range": deep.RankedRangeLoss(), "AUC margin": deep.AUCMarginLoss()}  # fmt: skip
        self.loss = losses[loss]
        self.scores = torch.randn(SCORES, generator=torch.Generator().manual_seed(0), requires_grad=True)
        self.labels = torch.arange(SCORES) % 2

    def time_loss(self, loss):
        self.loss(self.scores, self.labels).backward()
