"""Doubly stochastic gradients whose sums over a batch are computed by workers."""

import numpy as np

from kernbench.distributed.streaming.fixed_point import as_floats, exponent_for, is_fit
from kernbench.distributed.streaming.strata import draw, joined
from kernbench.solvers.streaming.doubly_sgd import DoublySGD

MOST_REPEATS = 8


class BlockBatch:
    """A batch of rows held by workers; see `kernbench.problems.streaming.batches.Batch`."""

    def __init__(self, rows, source, n_pass, begins_pass):
        self.rows, self.source, self.n_pass, self.begins_pass = rows, source, n_pass, begins_pass

    def __len__(self):
        return len(self.rows)

    @property
    def y(self):
        return self.source.labels_of(self.rows)

    @property
    def weights(self):
        return self.source.weights_of(self.rows)


class BlockBatches:
    """Batches of strata of rows, each row once in a pass.

    Parameters
    ----------
    team : object
        ``step(...)`` and ``rounded(...)`` return those of `Gradients` for each of its members; see `teams`.
    strata : list of Stratum
        Labels, weights and orders, without rows.
    n_features : int
    dtype : dtype
    batch_size : int
    code : callable or None
    """

    X = None

    def __init__(self, team, strata, *, n_features, dtype, batch_size, code=None):
        self.team, self.strata, self.n_features, self.dtype = team, strata, n_features, np.dtype(dtype)
        self.batch_size, self.code, self.place = batch_size, code, 0
        self.counts = [s.order.rows if np.ndim(s.order.rows) == 0 else len(s.order.rows) for s in strata]
        self.n_rows = int(sum(self.counts))

    @property
    def batches_per_pass(self):
        return -(-self.n_rows // self.batch_size)

    def next(self):
        """Return the next batch."""
        begins_pass = False
        while True:
            number, start = divmod(self.place, self.n_rows)
            begins_pass |= start == 0  # also of an empty batch
            stop = min(start + self.batch_size, self.n_rows)
            rows = draw(self.counts, start, stop, number)
            self.place += stop - start
            if len(rows):
                return BlockBatch(rows, self, number, begins_pass)

    def labels_of(self, rows):
        """Return the labels of a batch, None without any."""
        y = self._of(rows, "y")
        return y if y is None or self.code is None else self.code(y)

    def weights_of(self, rows):
        """Return the weights of a batch, None without any."""
        return self._of(rows, "weights")

    def _of(self, rows, name):
        if getattr(self.strata[0], name) is None:
            return None
        return np.concatenate([
            getattr(stratum, name)[stratum.order.between(number, *span)]
            for stratum, number, span in zip(self.strata, rows.numbers, rows.spans)
        ])  # fmt: skip


class PairBlockBatches(BlockBatches):
    """Batches of the strata of two samples, half of each from either; see `PairBatches`.

    Parameters
    ----------
    n_first : int
        Strata of the first sample.
    """

    def __init__(self, team, strata, *, n_first, batch_size, **settings):
        super().__init__(team, strata, batch_size=batch_size, **settings)
        settings["batch_size"] = max(1, batch_size // 2)
        self._sides = [BlockBatches(team, side, **settings) for side in (strata[:n_first], strata[n_first:])]

    @property
    def batches_per_pass(self):
        return max(side.batches_per_pass for side in self._sides)

    def next(self):
        """Return the next batch; a pass is one over the larger sample."""
        n_pass, number = divmod(self.place, self.batches_per_pass)
        self.place += 1
        return BlockBatch(joined([side.next().rows for side in self._sides]), self, n_pass, number == 0)

    def weights_of(self, rows):
        """Return the weights of a batch, which give both samples the same mass."""
        return np.repeat(rows.weights, rows.spans[:, 1] - rows.spans[:, 0])


class BlockDoublySGD(DoublySGD):
    """`DoublySGD` on `BlockBatches`: losses and gradients of a batch are summed up by workers.

    Gradients are summed as integers, so that the sums do not depend on which worker holds which strata.
    """

    def _configure(self, batches, **settings):
        self._update_sent = None
        super()._configure(batches, **settings)
        # Of the gradient, the covariance of a preconditioner, and both of an operator.
        self._exponents = [0] * ((1 + self.precondition) * (1 + settings["operator"]))

    def _sums(self, batch, k):
        team, B = self.batches.team, len(batch)
        losses, slopes, sums = team.step(self, self._update_sent, batch.rows, k, self.loss.parameter, self._exponents)
        for _ in range(MOST_REPEATS):
            largest = [max(float(part[1]) for part in parts) for parts in sums]
            if not np.all(np.isfinite(largest)):
                break
            if all(map(is_fit, self._exponents, largest)):
                break
            self._exponents = [exponent_for(value) if value else 0 for value in largest]
            sums = team.rounded(self._exponents)
        losses = np.add.reduce(losses)  # in the order of the strata
        if not np.all(np.isfinite(largest)):
            losses = np.inf  # reported as divergence
        gradient, *totals = [
            as_floats(sum(part[0] for part in parts), exponent) for parts, exponent in zip(sums, self._exponents)
        ]
        # Some room, so that sums of the next step that are twice as large need not be repeated.
        self._exponents = [
            exponent_for(value) - 4 if value and np.isfinite(value) else exponent
            for value, exponent in zip(largest, self._exponents)
        ]
        covariance = None
        if self.precondition:
            covariance = np.zeros((self.block_size, self.block_size), order="F")
            covariance[np.tril_indices(self.block_size)] = totals.pop(0) / B
        self._sums_of_operator = (*totals, None)[:2]
        return losses, np.add.reduce(slopes), gradient / B, covariance

    def _operator_sums(self, batch, k):
        return self._sums_of_operator

    def _update(self, shrink, k, change):
        self._update_sent = [(shrink, k, change)]
        super()._update(shrink, k, change)

    def _step_operator(self, batch, k, gamma):
        step = super()._step_operator(batch, k, gamma)
        self._update_sent.append(step)
        return step
