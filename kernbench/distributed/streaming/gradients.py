"""The part of a step that a worker computes: the gradient of one block over its share of the batch."""

from dataclasses import dataclass

import numpy as np

from kernbench.distributed.cluster.actors import Actor
from kernbench.distributed.streaming.fixed_point import largest_of, rounded_sum
from kernbench.estimators.doubly_stochastic.model import as_dtype
from kernbench.features.blocks import FeatureBlocks
from kernbench.kernels.threads import single_threaded_blas
from kernbench.losses.output import OutputLoss
from kernbench.solvers.streaming._doubly_sgd import batch_sums
from kernbench.solvers.streaming.covariance_operator import CovarianceOperator


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
    """Settings that stay the same in all steps.

    Attributes
    ----------
    kernel, n_features, block_size, form, draws, cache_bytes
        Settings of the random features; `n_features` is the number of columns of the rows.
    seed : int
        Seed of the features.
    loss : OutputLoss
    n_outputs : int
    code : callable or None
        Converts labels in y to those of the solver.
    precondition : bool
    dtype : dtype
    maps : list of callable
        Applied to the drawn rows, one after the other.
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


class Gradients(Actor):
    """The strata of one worker, and the coefficients so far.

    Parameters
    ----------
    setup : Setup
    numbers : list of int
        Indices of the strata.
    strata : list of Stratum
    rows : list, optional
        Rows of the strata, if they are passed separately.
    A : ndarray of shape (n_blocks, block_size, n_outputs)
    operator : ndarray or None
        The coefficients of the covariance operator, for a model that has one.
    """

    def __init__(self, setup, numbers, strata, A, operator=None, rows=None):
        self.setup, self.numbers, self.strata, self.A = setup, numbers, strata, np.array(A)
        for stratum, own in zip(strata, rows or ()):
            stratum.rows = own
        self.lower = np.tril_indices(setup.block_size)
        options = {"form": setup.form, "draws": setup.draws}
        self.features = FeatureBlocks(
            setup.kernel, setup.block_size, setup.n_features, cache_bytes=setup.cache_bytes, **options
        )
        self.operator = None
        if operator is not None:
            second = FeatureBlocks(setup.kernel, setup.block_size, setup.n_features, second_stream=True, **options)
            self.operator = CovarianceOperator(self.features, second, setup.seed, operator)

    def step(self, update, draw, k, level, exponents):
        """Return the sums of a step over the strata of this worker.

        Parameters
        ----------
        update : list of (float, int, ndarray), or None before the first step
            The last update: a factor of all blocks, the index and the change of one; then the same for the operator.
        draw : Draw
        k : int
            The block whose gradient is computed.
        level : float
            The parameter of the loss.
        exponents : list of int
            Exponents of the gradient, of the covariance with a preconditioner, and of both for the operator if there is
            one.

        Returns
        -------
        losses, slopes : list of float
            The sum of each stratum.
        sums : list
            See `rounded`.
        """
        if update is not None:
            self._change(*update[0])
            if self.operator is not None:
                self.operator.change(*update[1])
        self.setup.loss.parameter = level
        losses, slopes, terms = [0.0] * len(self.strata), [0.0] * len(self.strata), []
        with single_threaded_blas():
            for own, (number, stratum) in enumerate(zip(self.numbers, self.strata)):
                rows = stratum.order.between(draw.numbers[number], *draw.spans[number])
                if len(rows) == 0:
                    continue
                weight = None if draw.weights is None else draw.weights[number]
                losses[own], slopes[own], *found = self._of_stratum(stratum, rows, k, weight)
                terms.append([term for term in found if term is not None])
        self._terms = list(zip(*terms))
        return losses, slopes, self.rounded(exponents)

    def rounded(self, exponents):
        """Return pairs (integers, largest term) of the sums of the last step; an empty list if it has no rows."""
        return [(rounded_sum(terms, exponent), largest_of(terms)) for terms, exponent in zip(self._terms, exponents)]

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

    def _of_stratum(self, stratum, rows, k, weight):
        setup, features = self.setup, self.features
        X, w = self._mapped(stratum.rows[rows]), None if stratum.weights is None else stratum.weights[rows]
        if weight is not None:
            w = np.full(len(rows), weight)
        y = None if stratum.y is None else stratum.y[rows]
        outputs = features.multiply(X, setup.seed, np.arange(len(self.A)), self.A)
        losses, slopes, gradient, covariance = batch_sums(
            features, setup.seed, k, X, y if setup.code is None else setup.code(y), w, outputs, setup.loss,
            1.0 if setup.precondition else None,
        )  # fmt: skip
        if covariance is not None:
            covariance = covariance[self.lower]
        of_operator = ()
        if self.operator is not None:
            of_operator = self.operator.sums(X, w, k, setup.precondition)
        return losses, slopes, gradient, covariance, *of_operator
