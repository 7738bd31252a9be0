"""A linear problem that the compiled stochastic solvers and the optimisers of networks both solve."""

import numpy as np
import torch

from kernbench.deep import AGDSBCD, IndexedDataset, PairBatchSampler
from kernbench.solvers.base import Solution
from kernbench.solvers.design import as_design

WEIGHT_DECAY = 0.01


class LinearProblem:
    """300 examples of five features, a fifth of them positive."""

    def __init__(self, dtype=torch.float64):
        rng = np.random.default_rng(0)
        self.X = rng.normal(size=(300, 5))
        self.y = np.where(self.X[:, 0] + 0.7 * rng.normal(size=300) > 0.8, 1.0, -1.0)
        self.start = 0.3 * rng.normal(size=5)
        self.data = IndexedDataset(self.X, self.y)
        self.inputs, self.labels = torch.tensor(self.X, dtype=dtype), torch.tensor(self.y)
        self.indices = torch.tensor(self.data.indices)

    def module(self):
        module = torch.nn.Linear(5, 1, bias=False, dtype=self.inputs.dtype)
        with torch.no_grad():
            module.weight.copy_(torch.tensor(self.start))
        return module

    def compiled(self, solver_class, **options):
        """A solver that starts at the module's weights, and a sampler that draws its batches."""
        initial = Solution(self.start.copy(), 0.0, 0, {})
        solver = solver_class(as_design(self.X), self.y, alpha=WEIGHT_DECAY, random_state=3, initial=initial,
                              n_positive=16, n_negative=16, **options)  # fmt: skip
        return solver, PairBatchSampler(self.y, seed=int(solver.solution().state["seed"][0]))

    def optimizer(self, module, fpr_range=(0.05, 0.5), **options):
        options = {"lr": 0.5, "gamma": 2000.0, "inner_steps": 20, "weight_decay": WEIGHT_DECAY, **options}
        return AGDSBCD(module.parameters(), fpr_range, self.data.n_positive, **options)

    def step(self, optimizer, module, batch):
        """A step on examples; returns what the optimiser does."""
        return optimizer.step(lambda: module(self.inputs[batch]), self.labels[batch], self.indices[batch])

    def train(self, optimizer, module, n_steps, seed=0, first=0):
        sampler = PairBatchSampler(self.y, seed=seed)
        sampler.batch = first
        for _ in range(n_steps):
            self.step(optimizer, module, sampler.draw())
