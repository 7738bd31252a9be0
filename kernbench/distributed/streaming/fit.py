"""The fit of a doubly stochastic model to `Examples`."""

from dataclasses import replace

import numpy as np

from kernbench._random import generator_of
from kernbench.distributed.random_rows import RowsBetween, origin_of, rows_at_random
from kernbench.distributed.spaces import kernel_of_blocks
from kernbench.distributed.streaming.doubly_sgd import BlockBatches
from kernbench.distributed.streaming.gradients import Setup, Stratum
from kernbench.distributed.streaming.strata import Order, strata_of
from kernbench.distributed.streaming.teams import DaskTeam, LocalTeam
from kernbench.distributed.survey import check_kernel_range
from kernbench.estimators.doubly_stochastic.classifier import DoublyStochasticClassifier
from kernbench.estimators.doubly_stochastic.model import MEGABYTE, Progress
from kernbench.estimators.doubly_stochastic.parameters import batch_size_of
from kernbench.estimators.doubly_stochastic.regressor import DoublyStochasticRegressor
from kernbench.estimators.fit.parameters import precision
from kernbench.estimators.fit.solver import make_solver
from kernbench.estimators.fit.targets import targets_of_chunk
from kernbench.estimators.fit.training_data import check_labels, weigh_classes

MODELS = (DoublyStochasticClassifier, DoublyStochasticRegressor)


class BlockStreamTask:
    """A doubly stochastic model on `Examples`.

    Parameters
    ----------
    model : DoublyStochasticClassifier or DoublyStochasticRegressor
    examples : Examples

    Attributes
    ----------
    blocks : Team
        Counts passes, which are steps here, and bytes.
    """

    def __init__(self, model, examples):
        model._check_parameters()
        self.model, blocks = model, examples.blocks
        examples.describe(model)
        y, code = self._labels(examples)
        n_rows = self.n_rows = blocks.n_rows
        rng = generator_of(model.random_state)
        self.seeds = tuple(int(seed) for seed in rng.integers(2**62, size=3))
        model.dtype_ = precision(model.dtype, n_rows)
        model.kernel_ = kernel_of_blocks(model, blocks, self.weights, self.seeds[0])
        check_kernel_range(blocks, model.kernel_, model.dtype_, getattr(model, "feature_names_in_", None))
        edges = strata_of(n_rows, batch_size_of(model, n_rows))
        strata = [self._stratum(k, a, b, y) for k, (a, b) in enumerate(zip(edges[:-1], edges[1:]))]
        options, (origin, maps) = model.solver_options or {}, origin_of(blocks)
        setup = Setup(
            kernel=model.kernel_, n_features=blocks.n_columns, block_size=0, form=options.get("form", "auto"),
            draws=options.get("draws", "iid"), cache_bytes=int(model.cache_size * MEGABYTE), seed=0, loss=None,
            n_outputs=0, code=code, precondition=False, dtype=np.dtype(model.dtype_), maps=maps,
        )  # fmt: skip
        if blocks.is_remote:
            self.blocks = DaskTeam(setup, strata, origin.parts_at(edges))
            self.blocks.client = blocks.client
        else:
            rows = rows_at_random(origin, examples.keep_bytes)
            self.blocks = LocalTeam(
                setup, strata, [RowsBetween(rows, a, b) for a, b in zip(edges[:-1], edges[1:])]
            )
        self.source = BlockBatches(
            self.blocks, strata, n_features=blocks.n_columns, dtype=model.dtype_,
            batch_size=min(batch_size_of(model, n_rows), n_rows), code=code,
        )  # fmt: skip

    def _labels(self, examples):
        """Return labels or targets, and what makes those of the solver of them."""
        model, self.weights = self.model, examples.checked_weights()
        if not isinstance(model, DoublyStochasticClassifier):
            return targets_of_chunk(examples.y), None
        classes, codes = check_labels(examples.y)
        self.weights = weigh_classes(model, classes, examples.y, codes, self.weights)
        plain = type(model)(loss=model.loss)
        plain.classes_ = classes
        return codes, plain._labels_of

    def _stratum(self, k, begin, end, y):
        weights, used = None, int(end - begin)
        if self.weights is not None:
            weights = self.weights[begin:end]
            used = np.flatnonzero(weights > 0)
        return Stratum(None, y[begin:end], weights, Order(k, used, self.seeds[1], self.model.shuffle))

    def run(self):
        """Fit the model."""
        model, n_rows = self.model, self.n_rows
        limit = int(model.max_iter)
        if limit == -1:
            limit = max(model._fewest_steps(n_rows), self.source.batches_per_pass)
        start = Progress(None, self.seeds, (), model.kernel_)
        try:
            model._run(self.source, n_rows, start, limit, [], make=_make_solver)
        finally:
            self.blocks.release()


def _make_solver(model, entry, source, kernel, settings):
    entry = replace(entry, compiled="kernbench.distributed.streaming.doubly_sgd:BlockDoublySGD")
    return make_solver(model, entry, source, kernel, settings)
