"""Doubly stochastic functional gradients: random examples, and random features that are drawn once and forgotten.

Dai, Xie, He, Liang, Raj, Balcan, Song, *Scalable Kernel Methods via Doubly Stochastic Gradients*, NIPS 2014. A kernel
is a mean over frequencies, k(x, z) = E_w[phi_w(x) phi_w(z)], and so is the functional gradient of a loss:

    l'(f(x), y) k(x, .) = E_w[ l'(f(x), y) phi_w(x) phi_w(.) ].

Step t draws a batch of B examples and block t - 1 of m features, Z of shape (B, m), and does

    G = dl/du (f(X), y),        A_{t-1} = -(gamma_t / B) Z^T G,        A_i <- (1 - gamma_t alpha) A_i for i < t - 1,

where f(x) = sum_i z_i(x) A_i. Block i is a function of the seed and i, so the coefficients A are the model.
"""

import numpy as np

from kernbench.kernels import functions as kernels
from kernbench.losses.output import Novelty
from kernbench.problems.streaming.doubly_stochastic import DoublyStochasticState
from kernbench.reference.features.random_features import ADDITIVE, FOURIER, feature_block
from kernbench.reference.streaming.covariance_operator import CovarianceOperator
from kernbench.solvers.base import Solution


class DoublySGD(DoublyStochasticState):
    """Doubly stochastic gradients for alpha/2 ||f||^2 + E[l(f(x), y)].

    Parameters
    ----------
    batches : ArrayBatches or StreamBatches
        Where examples come from. One iteration is one batch.
    kernel : Kernel
        One that has random features.
    alpha : float
        Regularisation, at least 0; for ``loss="novelty"`` the share of outliers, in (0, 1).
    loss : str, default="hinge"
        A loss of :mod:`kernbench.losses.output`.
    n_outputs : int, default=1
        Columns of f: classes, or tasks.
    block_size : int, default=256
        Features of a block.
    form, draws : str, default="auto", "iid"
        Of the features, as in `kernbench.features.RandomFeatures`.
    schedule : {"bounded", "inverse", "inverse_sqrt", "published"}, default="bounded"
        gamma_t = s / (1 + s alpha t), s / (t + t0), s / sqrt(t), or s / (1 + 1e-4 t), with s the `step_size`.
    step_size : float, default=1.0
    t0 : float, default=0.0
    precondition : bool, default=False
        Multiply the step of a block by (Z^T Z / B + (damping + R alpha) I)^{-1}, R = max_blocks or 1, and let old
        blocks be: alpha acts by way of the damping, and on blocks that are visited again. With max_blocks, batches of
        all rows, no damping and steps of 1 that is the exact minimisation over a block, for the squared error.
    damping : float, default=1e-4
    average : {"last", "all", "tail", "weighted"}, default="last"
        See `kernbench.problems.streaming.averages.Averages`.
    average_from : int, optional
        The first step of ``"tail"``.
    max_blocks : int, optional
        At most so many blocks; after them the first is updated again, and so on.
    delta, epsilon, quantile : float, default=1.0, 0.1, 0.5
        Of the losses ``"huber"``, ``"epsilon_insensitive"`` and ``"quantile"``.
    cache_size : float, default=100
        Megabytes for frequencies, and for the outputs of all rows of arrays from the second pass on. The reference does
        without.
    operator : bool, default=False
        Learn, beside f, the operator that gives a Gaussian process its variance, see
        `kernbench.solvers.streaming.covariance_operator`. For the squared error, with max_blocks; `cache_size` must
        have room for its 20 (max_blocks block_size)^2 bytes.
    random_state : None, int, RandomState or Generator
        Gives the seed of the features; an int is the seed.
    initial : Solution, optional
        Where to start. With the state of a run, and its seed, that run goes on.
    """

    def __init__(self, batches, kernel, *, alpha, loss="hinge", n_outputs=1, block_size=256, form="auto",
                 draws="iid", schedule="bounded", step_size=1.0, t0=0.0, precondition=False, damping=1e-4,
                 average="last", average_from=None, max_blocks=None, delta=1.0, epsilon=0.1, quantile=0.5,
                 cache_size=100, operator=False, random_state=None, initial=None):  # fmt: skip
        self._configure(
            batches, alpha=alpha, loss=loss, n_outputs=n_outputs, block_size=block_size, schedule=schedule,
            step_size=step_size, t0=t0, precondition=precondition, damping=damping, average=average,
            average_from=average_from, max_blocks=max_blocks, delta=delta, epsilon=epsilon,
            quantile=quantile, cache_size=cache_size, operator=operator, random_state=random_state, initial=initial,
        )  # fmt: skip
        self._kernel, self._draws = kernel, draws
        self._form = form if form != "auto" else form_of(kernel, self.block_size, batches.n_features)
        if operator:
            coef = None if initial is None else initial.state.get("operator")
            self._operator = CovarianceOperator(
                self._features, lambda X, k: self._features(X, k, True), self.block_size, coef
            )

    def _features(self, X, block, second_stream=False):
        """The block's features of the rows X, shape (n, block_size)."""
        X = X.toarray() if hasattr(X, "toarray") else X
        self.n_feature_values += len(X) * self.block_size
        return feature_block(
            self.seed, block, self.block_size, X, self._kernel, form=self._form, draws=self._draws,
            second_stream=second_stream,
        )  # fmt: skip

    def solution(self):
        """Return coefficients of shape (n_blocks, block_size, n_outputs), averaged if asked for, and the state.

        The intercept of a novelty detector is minus its level tau.
        """
        return Solution(*self._solution())

    def _step(self, batch, gamma):
        B = len(batch)
        w = np.ones(B) if batch.weights is None else batch.weights
        f = np.zeros((B, self.n_outputs))
        for i, A_i in enumerate(self.A):
            f += self._features(batch.X, i) @ A_i
        self._note_losses(w @ self.loss.value(f, batch.y), B)
        G = w[:, None] * self.loss.slope(f, batch.y)

        k = self._next_block()
        Z = self._features(batch.X, k)
        direction = Z.T @ G / B
        if self.precondition:
            if k < len(self.A):  # the gradient of alpha/2 T ||A||^2
                direction += self.alpha * len(self.A) * self.A[k]
            covariance = Z.T @ (w[:, None] * Z) / B
            ridge = self._ridge() * np.eye(self.block_size)
            direction = np.linalg.solve(covariance + ridge, direction)

        self._averages.add(self._iterate(), self.n_iter + 1)
        if not self.precondition:
            self.A *= 1.0 - gamma * self.alpha
        if k < len(self.A):
            self.A[k] -= gamma * direction
        else:
            self.A = np.concatenate([self.A, -gamma * direction[None]])
        if isinstance(self.loss, Novelty):  # G is minus the share of rows below the level
            self.loss.parameter += gamma * (self.alpha + G.sum() / B)
        if self._operator is not None:
            ridge = self._ridge() if self.precondition else None
            self._operator.step(batch.X, batch.weights, k, gamma, self.alpha, ridge)
        self.n_iter += 1

    def _more_state(self):
        return {} if self._operator is None else {"operator": self._operator.coef}


def form_of(kernel, m, d):
    """The form of features that ``"auto"`` means, of a kernel that is no sum."""
    factors = kernel.kernels if isinstance(kernel, kernels.Product) else (kernel,)
    if any(isinstance(factor, FOURIER) for factor in factors):
        return "pair" if m % 2 == 0 else "phase"
    if len(factors) == 1 and isinstance(kernel, ADDITIVE):
        return "vector" if m % (2 * d) == 0 else "scalar"
    return "tensor-sketch" if isinstance(kernel, kernels.Polynomial) else "random"
