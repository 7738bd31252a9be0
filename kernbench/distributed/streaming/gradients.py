"""What a worker does in a step: the gradient of one block over its share of the batch."""

from dataclasses import dataclass

import numpy as np

from kernbench.distributed.streaming.fixed_point import largest_of, rounded_sum
from kernbench.estimators.doubly_stochastic.model import as_dtype
from kernbench.features.blocks import FeatureBlocks
from kernbench.kernels.threads import single_threaded_blas
from kernbench.losses._output import values_and_slopes
from kernbench.losses.output import OutputLoss
from kernbench.solvers.streaming.doubly_sgd import lower_covariance


@dataclass
class Stratum:
    """A part of the rows, and the order in which they are drawn.

    Attributes
    ----------
    rows : object
        ``rows[indices]`` are some rows.
    y, weights : ndarray or None
    order : Order
    """

    rows: object
    y: np.ndarray | None
    weights: np.ndarray | None
    order: object


@dataclass
class Setup:
    """What does not change from step to step.

    Attributes
    ----------
    kernel, n_features, block_size, form, draws, cache_bytes
        Of the random features; `n_features` are the columns of the rows.
    seed : int
        Of the features.
    loss : OutputLoss
    n_outputs : int
    code : callable or None
        Makes the labels of a batch of those in y.
    precondition : bool
    dtype : dtype
    maps : list of callable
        Applied to the rows that are drawn, one after the other.
    """

    kernel: object
    n_features: int
    block_size: int
    form: str
    draws: str
    cache_bytes: int
    seed: int
    loss: OutputLoss
    n_outputs: int
    code: object
    precondition: bool
    dtype: np.dtype
    maps: list


class Gradients:
    """The strata of one worker, and the coefficients so far.

    Parameters
    ----------
    setup : Setup
    numbers : list of int
        Of the strata.
    strata : list of Stratum
    rows : list, optional
        Those of the strata, where they come by themselves.
    A : ndarray of shape (n_blocks, block_size, n_outputs)
    """

    def __init__(self, setup, numbers, strata, A, rows=None):
        self.setup, self.numbers, self.strata, self.A = setup, numbers, strata, np.array(A)
        for stratum, own in zip(strata, rows or ()):
            stratum.rows = own
        self.lower = np.tril_indices(setup.block_size)
        self.features = FeatureBlocks(
            setup.kernel, setup.block_size, setup.n_features, form=setup.form, draws=setup.draws,
            cache_bytes=setup.cache_bytes,
        )  # fmt: skip

    def step(self, update, draw, k, level, exponents):
        """Return the sums of a step over the strata here.

        Parameters
        ----------
        update : (float, int, ndarray), or None before the first step
            The last one: all blocks times the first, and the change of a block.
        draw : Draw
        k : int
            The block whose gradient is asked for.
        level : float
            The parameter of the loss.
        exponents : list of int
            Of the gradient and the covariance.

        Returns
        -------
        losses, slopes : list of float
            The sum of each stratum.
        sums : list
            See `rounded`.
        """
        if update is not None:
            self._change(*update)
        self.setup.loss.parameter = level
        losses, slopes, self._terms = [], [], [[], []]
        with single_threaded_blas():
            for number, stratum in zip(self.numbers, self.strata):
                found = self._of_stratum(stratum, draw.number, *draw.spans[number], k)
                losses.append(found[0])
                slopes.append(found[1])
                self._terms[0].append(found[2])
                if found[3] is not None:
                    self._terms[1].append(found[3])
        return losses, slopes, self.rounded(exponents)

    def rounded(self, exponents):
        """Return pairs (integers, largest term) of the gradient and the covariance of the last step."""
        return [
            (rounded_sum(terms, exponent), largest_of(terms))
            for terms, exponent in zip(self._terms, exponents)
            if terms
        ]

    def _change(self, shrink, k, change):
        if shrink != 1.0:
            self.A *= shrink
        if k < len(self.A):
            self.A[k] += change
        else:
            self.A = np.concatenate([self.A, change[None]])

    def _mapped(self, X):
        for function in self.setup.maps:
            X = function(X)
        return as_dtype(X, self.setup.dtype)

    def _of_stratum(self, stratum, number, start, stop, k):
        setup, features = self.setup, self.features
        rows = stratum.order.between(number, start, stop)
        if len(rows) == 0:
            nothing = np.zeros((setup.block_size, setup.n_outputs))
            square = np.zeros(setup.block_size * (setup.block_size + 1) // 2)
            return 0.0, 0.0, nothing, square if setup.precondition else None
        X, w = self._mapped(stratum.rows[rows]), None if stratum.weights is None else stratum.weights[rows]
        y = None if stratum.y is None else stratum.y[rows]
        outputs = features.multiply(X, setup.seed, np.arange(len(self.A)), self.A)
        losses, G = values_and_slopes(setup.loss, outputs, y if setup.code is None else setup.code(y))
        losses = losses.sum() if w is None else w @ losses
        G = G if w is None else w[:, None] * G
        if not setup.precondition:
            return losses, G.sum(), features.transposed(X, setup.seed, k, G), None
        Z = features.features(X, setup.seed, k).astype(np.float64, copy=False)
        covariance = lower_covariance(Z, w, 1.0)
        return losses, G.sum(), Z.T @ G, covariance[self.lower]
