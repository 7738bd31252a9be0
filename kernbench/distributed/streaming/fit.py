"""The fit of a doubly stochastic model to `Examples`."""

from dataclasses import replace

import numpy as np

from kernbench._random import generator_of
from kernbench.distributed.blocks.random_rows import RowsBetween, origin_of, rows_at_random
from kernbench.distributed.blocks.spread import check_kernel_range
from kernbench.distributed.spaces import kernel_of_blocks
from kernbench.distributed.streaming.doubly_sgd import BlockBatches, PairBlockBatches
from kernbench.distributed.streaming.gradients import Setup, Stratum
from kernbench.distributed.streaming.strata import MOST, Order, strata_of
from kernbench.distributed.streaming.teams import DaskTeam, LocalTeam
from kernbench.estimators.arguments.parameters import precision
from kernbench.estimators.arguments.targets import targets_of_chunk
from kernbench.estimators.arguments.training_data import check_labels, weigh_classes
from kernbench.estimators.doubly_stochastic.classifier import DoublyStochasticClassifier
from kernbench.estimators.doubly_stochastic.density_ratio import DoublyStochasticDensityRatio
from kernbench.estimators.doubly_stochastic.gp import DoublyStochasticGPRegressor
from kernbench.estimators.doubly_stochastic.model import MEGABYTE, Progress
from kernbench.estimators.doubly_stochastic.novelty import DoublyStochasticNoveltyDetector
from kernbench.estimators.doubly_stochastic.parameters import batch_size_of
from kernbench.estimators.doubly_stochastic.regressor import DoublyStochasticRegressor
from kernbench.estimators.fit.solver import make_solver


class BlockStreamTask:
    """A doubly stochastic model on `Examples`.

    A subclass defines `_targets`, which returns labels or targets (or None), and the function that converts them for
    the solver.

    Attributes
    ----------
    blocks : Team
        Computes the sums; counts passes (one for each step) and bytes.
    """

    learns_from = "labels"

    def __init__(self, model, examples):
        model._check_parameters()
        self.model, blocks = model, examples.blocks
        examples.describe(model)
        self.n_rows, self.weights = blocks.n_rows, examples.checked_weights()
        y, code = self._targets(examples)
        n_used = self.n_used
        rng = generator_of(model.random_state)
        self.seeds = tuple(int(seed) for seed in rng.integers(2**62, size=3))
        model.dtype_ = precision(model.dtype, n_used)
        model.kernel_ = kernel_of_blocks(model, blocks, self.weights, self.seeds[0])
        check_kernel_range(blocks, model.kernel_, model.dtype_, getattr(model, "feature_names_in_", None))
        edges = self._edges(examples)
        strata = [self._stratum(k, a, b, y) for k, (a, b) in enumerate(zip(edges[:-1], edges[1:]))]
        options, (origin, maps) = ({**(model.solver_options or {}), **model._problem(n_used)}, origin_of(blocks))
        setup = Setup(
            kernel=model.kernel_, n_features=blocks.n_columns, block_size=0, form=options.get("form", "auto"),
            draws=options.get("draws", "iid"), cache_bytes=int(model.cache_size * MEGABYTE), seed=0, loss=None,
            n_outputs=0, code=code, precondition=False, dtype=np.dtype(model.dtype_), maps=maps,
        )  # fmt: skip
        if blocks.is_remote:
            self.blocks = DaskTeam(setup, strata, origin.parts_at(edges))
            self.blocks.client = blocks.client
        else:
            rows = rows_at_random(origin, examples.room)
            self.blocks = LocalTeam(setup, strata, [RowsBetween(rows, a, b) for a, b in zip(edges[:-1], edges[1:])])
        self.source = self._batches(
            self.blocks, strata, n_features=blocks.n_columns, dtype=model.dtype_,
            batch_size=min(batch_size_of(model, n_used), n_used), code=code,
        )  # fmt: skip

    @property
    def n_used(self):
        """The number of rows that are learned from: those of weight 0 are left out."""
        return self.n_rows if self.weights is None else int(np.count_nonzero(self.weights))

    def _targets(self, examples):
        return targets_of_chunk(examples.y), None

    def _edges(self, examples):
        """Return the bounds of the strata."""
        return strata_of(self.n_rows, batch_size_of(self.model, self.n_rows))

    def _batches(self, team, strata, **settings):
        return BlockBatches(team, strata, **settings)

    def _stratum(self, k, begin, end, y):
        weights, used = None, int(end - begin)
        if self.weights is not None:
            weights = self.weights[begin:end]
            used = np.flatnonzero(weights > 0)
        labels = None if y is None else y[begin:end]
        return Stratum(None, labels, weights, Order(k, used, self.seeds[1], self.model.shuffle))

    def run(self):
        """Fit the model."""
        model, n_used = self.model, self.n_used
        limit = int(model.max_iter)
        if limit == -1:
            limit = max(model._fewest_steps(n_used), self.source.batches_per_pass)
        start = Progress(None, self.seeds, model._identity(), model.kernel_)
        try:
            model._run(self.source, n_used, start, limit, [], make=_make_solver)
        finally:
            self.blocks.release()


class ClassifierTask(BlockStreamTask):
    """`DoublyStochasticClassifier`."""

    def _targets(self, examples):
        model = self.model
        labels, codes = check_labels(examples.y)
        codes, self.weights = weigh_classes(model, labels, examples.y, codes, self.weights)
        plain = type(model)(loss=model.loss)
        plain.classes_ = model.classes_
        return codes, plain._labels_of


class GPTask(BlockStreamTask):
    """`DoublyStochasticGPRegressor`."""

    def _targets(self, examples):
        self.model.n_samples_ = self.n_used
        return super()._targets(examples)


class NoveltyTask(BlockStreamTask):
    """`DoublyStochasticNoveltyDetector`."""

    learns_from = "rows"

    def _targets(self, examples):
        return None, None


class DensityRatioTask(BlockStreamTask):
    """`DoublyStochasticDensityRatio`; y is 1 for rows of the first sample, which come first, and -1 for the second."""

    learns_from = "samples"

    def _targets(self, examples):
        self.n_first = int(np.count_nonzero(examples.y > 0))
        return examples.y, None

    def _edges(self, examples):
        half, most = int(self.model.batch_size) // 2, MOST // 2
        first = strata_of(self.n_first, half, most)
        self.n_strata = len(first) - 1
        return np.concatenate([first, self.n_first + strata_of(self.n_rows - self.n_first, half, most)[1:]])

    def _batches(self, team, strata, **settings):
        return PairBlockBatches(team, strata, n_first=self.n_strata, **settings)


STREAM_TASKS = {
    DoublyStochasticClassifier: ClassifierTask,
    DoublyStochasticRegressor: BlockStreamTask,
    DoublyStochasticGPRegressor: GPTask,
    DoublyStochasticNoveltyDetector: NoveltyTask,
    DoublyStochasticDensityRatio: DensityRatioTask,
}


def _make_solver(model, entry, source, kernel, settings):
    entry = replace(entry, method="kernbench.distributed.streaming.doubly_sgd:BlockDoublySGD")
    settings = {**settings, "window": 0}  # the rows are with the workers
    return make_solver(model, entry, source, kernel, settings)
