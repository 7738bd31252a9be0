"""Doubly stochastic functional gradients: random examples, and random features that are drawn once and forgotten.

Dai, Xie, He, Liang, Raj, Balcan, Song, *Scalable Kernel Methods via Doubly Stochastic Gradients*, NIPS 2014. A kernel
is a mean over frequencies, k(x, z) = E_w[phi_w(x) phi_w(z)], and so is the functional gradient of a loss:

    l'(f(x), y) k(x, .) = E_w[ l'(f(x), y) phi_w(x) phi_w(.) ].

Step t draws a batch of B examples and block t - 1 of m features, Z of shape (B, m), and does

    G = dl/du (f(X), y),        A_{t-1} = -(gamma_t / B) Z^T G,        A_i <- (1 - gamma_t alpha) A_i for i < t - 1,

where f(x) = sum_i z_i(x) A_i. Block i is a function of the seed and i, so the coefficients A are the model.

With a `window` the sums of a step are over the latest rows, those of the batch and of batches before it, at the present
f. A row then takes part in several steps, so the noise of a step and of its preconditioner is that of the window, while
a batch of any size is learned from as soon as it comes.
"""

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from kernbench.losses.output import Novelty
from kernbench.solvers.streaming.covariance_operator import CovarianceOperator
from kernbench.solvers.streaming.state import DoublyStochasticState

GROWTH = 1.25  # of the room for coefficients


class DoublySGD(DoublyStochasticState):
    """Doubly stochastic gradients for alpha/2 ||f||^2 + E[l(f(x), y)].

    Parameters
    ----------
    batches : ArrayBatches or StreamBatches
        The source of the examples; an iteration takes one batch.
    kernel : Kernel
        A kernel that has random features.
    alpha : float
        Regularisation, at least 0; for ``loss="novelty"`` the share of outliers, in (0, 1).
    loss : str, default="hinge"
        A loss of :mod:`kernbench.losses.output`.
    n_outputs : int, default=1
        Columns of f: classes, or tasks.
    block_size : int, default=256
        Features of a block.
    form, draws : str, default="auto", "iid"
        How features are made and drawn, as in `kernbench.features.RandomFeatures`.
    schedule : {"bounded", "inverse", "inverse_sqrt", "published", "late_inverse"}, default="bounded"
        gamma_t = s / (1 + s alpha t), s / (t + t0), s / sqrt(t), or s / (1 + 1e-4 t), with s the `step_size`; the last
        up to step t0, and t0 / t times that afterwards.
    step_size : float, default=1.0
    t0 : float, default=0.0
        Of ``"inverse"`` and ``"late_inverse"``; the other schedules ignore it.
    precondition : bool, default=False
        Multiply the step of a block by (Z^T Z / B + (damping + R alpha) I)^{-1}, R = max_blocks or 1, and do not
        shrink older blocks: alpha acts through the damping, and on blocks that are updated again. With max_blocks,
        batches of all rows, no damping and steps of 1 that is the exact minimisation over a block, for the squared
        error.
    damping : float, default=1e-4
    window : int, default=0
        Rows of a step, the batch among them; 0 stands for the batch alone. With the losses of two samples a step is on
        whole batches, so that both have the same mass: the fewest of the latest ones that have as many rows.
    average : {"last", "all", "tail", "weighted"}, default="last"
        See `kernbench.problems.streaming.averages.Averages`. The operator is not averaged, but that of the last step.
    average_from : int, optional
        The first step of ``"tail"``; the other kinds ignore it.
    max_blocks : int, optional
        Largest number of blocks; once they exist, they are updated in turn.
    delta, epsilon, quantile, floor : float, default=1.0, 0.1, 0.5, 0.1
        Parameters of the losses ``"huber"``, ``"epsilon_insensitive"``, ``"quantile"`` and ``"truncated_ratio"``.
    cache_size : float, default=100
        Megabytes for frequencies, and for the outputs of all rows of arrays from the second pass on: with them a step
        costs the features of one block for all rows, without them those of all blocks for a batch.
    operator : bool, default=False
        Learn, beside f, the operator that gives a Gaussian process its variance, see
        `kernbench.solvers.streaming.covariance_operator`. For the squared error, with max_blocks; `cache_size` must
        have room for its 20 (max_blocks block_size)^2 bytes.
    random_state : None, int, RandomState or Generator
        Gives the seed of the features; an int is the seed.
    initial : Solution, optional
        The starting point. The state of a run with the same seed continues that run.
    core : {"compiled", "reference"}, default="compiled"
    """

    compiled_core = "kernbench.solvers.streaming._doubly_sgd"

    def __init__(self, batches, kernel, *, alpha, loss="hinge", n_outputs=1, block_size=256, form="auto",
                 draws="iid", schedule="bounded", step_size=1.0, t0=0.0, precondition=False, damping=1e-4,
                 window=0, average="last", average_from=None, max_blocks=None, delta=1.0, epsilon=0.1, quantile=0.5,
                 floor=0.1, cache_size=100, operator=False, random_state=None, initial=None,
                 core="compiled"):  # fmt: skip
        super().__init__(core)
        self._outputs = None  # f of all rows of the arrays
        self._configure(
            batches, alpha=alpha, loss=loss, n_outputs=n_outputs, block_size=block_size, schedule=schedule,
            step_size=step_size, t0=t0, precondition=precondition, damping=damping, window=window, average=average,
            average_from=average_from, max_blocks=max_blocks, delta=delta, epsilon=epsilon,
            quantile=quantile, floor=floor, cache_size=cache_size, operator=operator, random_state=random_state,
            initial=initial,
        )  # fmt: skip
        self._room = self.A  # A is the beginning of it
        room = self._room_bytes
        n_rows = 0 if batches.X is None else batches.X.shape[0]
        self._keeps_outputs = n_rows > 0 and 8 * n_rows * self.n_outputs <= room // 2
        if self._keeps_outputs:
            room -= 8 * n_rows * self.n_outputs
        space = kernel, self.block_size, batches.n_features, form, draws
        self.features = self.core.feature_blocks(*space, cache_bytes=room)
        if operator:
            coef = None if initial is None else initial.state.get("operator")
            second = self.core.feature_blocks(*space, second_stream=True)
            self.operator = CovarianceOperator(self.features, second, self.seed, coef, self.core)

    def _step(self, batch, gamma):
        before = None if self.recent is None else (self.recent.batch, self.recent.sizes)
        try:
            self._take_step(batch, gamma)
        except BaseException:
            # The outputs may be those before the step or after it, and the batch, which was refused or may come again,
            # is in the window.
            self._outputs = None
            if self.recent is not None:
                self.recent.return_to(*before)
            raise

    def _take_step(self, batch, gamma):
        B, k = len(batch), self._next_block()
        losses, slopes, direction, covariance = self._sums(batch, k)
        self._note_losses(losses, batch)
        if self.precondition:
            direction = self._preconditioned(covariance, direction, k)
        self.n_feature_values += B * self.block_size

        self._averages.add(self._iterate(), self.n_iter + 1)
        shrink = 1.0 if self.precondition else 1.0 - gamma * self.alpha
        self._update(shrink, k, -gamma * direction)
        if isinstance(self.loss, Novelty):  # the slopes are minus the share of rows below the level
            self.loss.parameter += gamma * (self.alpha + slopes / B)
        if self.operator is not None:
            self._step_operator(batch, k, gamma)
            self.n_feature_values += B * (len(self.operator.coef) + self.block_size)
        self.n_iter += 1

    def _sums(self, batch, k):
        """Return the sums of the losses and of their slopes, the mean gradient with regard to block k, and, with a
        preconditioner, the mean of z z^T over the rows (its lower half)."""
        B, f, losses_of_batch = len(batch), self._outputs_of(batch), None
        if self.recent is not None:
            values = self.loss.value(f, batch.y)
            losses_of_batch = values.sum() if batch.weights is None else batch.weights @ values
            if self.recent.batch is not None and self.recent.f is None:  # after Ctrl-C, or rows of a fit
                self.recent.f = self.outputs(self.recent.batch.X)
            self.recent.add(batch, f)
            batch, f = self.recent.batch, self.recent.f
        n = len(batch)
        losses, slopes, direction, covariance = self.core.batch_sums(
            self.features, self.seed, k, batch.X, batch.y, batch.weights, f, self.loss,
            1.0 / n if self.precondition else None,
        )  # fmt: skip
        self.n_feature_values += (n - B) * self.block_size
        return losses if losses_of_batch is None else losses_of_batch, slopes * (B / n), direction / n, covariance

    def _step_operator(self, batch, k, gamma):
        sums = self._operator_sums(batch, k)
        return self.operator.take(*sums, len(batch), k, gamma, self.alpha, self._ridge())

    def _operator_sums(self, batch, k):
        return self.operator.sums(batch.X, batch.weights, k, self.precondition)

    @property
    def operator_coef(self):
        """The coefficients of the operator, None without one."""
        return None if self.operator is None else self.operator.coef

    def _update(self, shrink, k, change):
        """Multiply all blocks by `shrink`, and add a change to block k, perhaps a new one."""
        if shrink != 1.0:
            self.A *= shrink
        if k < len(self.A):
            self.A[k] += change
        else:
            self._append(change)
        if self.recent is not None:
            self.recent.f *= shrink
            self.features.multiply(self.recent.batch.X, self.seed, [k], change[None], self.recent.f)
            self.n_feature_values += len(self.recent.batch) * self.block_size
        if self._outputs is not None:
            self._outputs *= shrink
            self.features.multiply(self.batches.X, self.seed, [k], change[None], self._outputs)
            self.n_feature_values += self.batches.X.shape[0] * self.block_size

    def _outputs_of(self, batch):
        """f of the rows of a batch."""
        if self._outputs is None and self._keeps_outputs and batch.n_pass > 0:
            self._outputs = self.outputs(self.batches.X)
        return self.outputs(batch.X) if self._outputs is None else self._outputs[batch.rows]

    def outputs(self, X):
        """Return f of rows for the last iterate, shape (n, n_outputs); the features are counted."""
        self.n_feature_values += X.shape[0] * self.block_size * len(self.A)
        return self.features.multiply(X, self.seed, np.arange(len(self.A)), self.A)

    def _preconditioned(self, covariance, direction, k):
        """(Z^T Z / B + (damping + R alpha) I)^{-1} times the gradient, which on a second visit has a part of alpha."""
        if k < len(self.A):  # the gradient of alpha/2 T ||A||^2
            direction = direction + self.alpha * len(self.A) * self.A[k]
        covariance[np.diag_indices_from(covariance)] += self._ridge()
        if not np.isfinite(covariance).all():
            raise ValueError(
                "the covariance of features on the rows of a batch is not finite: scale the features, or the weights"
            )
        try:
            factor = cho_factor(covariance, lower=True, overwrite_a=True, check_finite=False)
        except np.linalg.LinAlgError:
            raise ValueError(
                f"the covariance of a block of {self.block_size} features on the rows of a batch is singular with "
                f"damping={self.damping:g}: raise damping, or take smaller blocks or larger batches"
            ) from None
        return cho_solve(factor, direction, check_finite=False)

    def _append(self, block):
        n = len(self.A)
        if n == len(self._room):
            room = np.empty((max(n + 4, int(GROWTH * n)), *self.A.shape[1:]))
            room[:n] = self.A
            self._room = room
        self._room[n] = block
        self.A = self._room[: n + 1]

    def _more_state(self):
        state = {} if self._outputs is None else {"outputs": self._outputs.copy()}
        if self.operator is not None:
            state["operator"] = self.operator.coef.copy()
        return state if self.recent is None else {**state, **self.recent.state()}

    def _resume(self, initial):
        super()._resume(initial)
        if "outputs" in initial.state:
            self._outputs = np.array(initial.state["outputs"])
        if self.recent is not None:
            self.recent.resume(initial.state)
