"""Settings and state of doubly stochastic gradients: checks, losses of the batches so far, what resuming needs."""

import numpy as np

from kernbench._random import as_generator
from kernbench.losses.output import Novelty, Softmax, output_loss
from kernbench.losses.table import losses_of
from kernbench.problems.streaming.averages import Averages
from kernbench.problems.streaming.recent import RecentRows
from kernbench.problems.streaming.step_sizes import StepSizes
from kernbench.solvers.base import Solution
from kernbench.solvers.method import Method
from kernbench.validation.numbers import check_flag, check_number, is_integer

MAX_SEED = 2**64 - 1
MEGABYTE, BYTES_OF_OPERATOR = 2**20, 20  # the latter for each entry
EARLY, EXPLODED = 10, 1e3  # a mean loss this many times that of f = 0, in these first steps, counts as divergence


class DoublyStochasticState(Method):
    """Settings and state of the method, without its step: `kernbench.solvers.streaming.doubly_sgd.DoublySGD` adds this.

    Attributes
    ----------
    A : ndarray of shape (n_blocks, block_size, n_outputs)
        The coefficients of the last iterate.
    """

    losses = losses_of("output")

    def _configure(self, batches, *, alpha, loss, n_outputs, block_size, schedule, step_size, t0, precondition,
                   damping, window, average, average_from, max_blocks, delta, epsilon, quantile, floor, cache_size,
                   operator, random_state, initial):  # fmt: skip
        self.batches = batches
        self.alpha = float(check_number("alpha", alpha, at_least=0))
        self.loss = output_loss(loss, delta=delta, epsilon=epsilon, quantile=quantile, floor=floor)
        self.n_outputs = int(check_number("n_outputs", n_outputs, at_least=1, whole=True))
        if isinstance(self.loss, Softmax) and self.n_outputs < 2:
            raise ValueError("loss='softmax' needs n_outputs of at least 2, one for each class")
        if isinstance(self.loss, Novelty) and not 0 < self.alpha < 1:
            raise ValueError(f"loss='novelty' needs alpha, the share of outliers, in (0, 1), got {alpha!r}")
        self.block_size = int(check_number("block_size", block_size, at_least=1, whole=True))
        self.max_blocks = (
            None if max_blocks is None else int(check_number("max_blocks", max_blocks, at_least=1, whole=True))
        )
        check_flag("precondition", precondition)
        self.precondition, self.damping = (bool(precondition), float(check_number("damping", damping, at_least=0)))
        window = int(check_number("window", window, at_least=0, whole=True))
        self.recent = RecentRows(window, self.loss.of_two_samples) if window else None
        self._room_bytes = int(check_number("cache_size", cache_size, above=0, unit=" of megabytes") * MEGABYTE)
        check_flag("operator", operator)
        self.operator = None
        if operator:
            self._check_room_for_operator(loss)
        self._step_at = StepSizes(schedule, step_size, self.alpha, t0)
        self._step_words = f"step_size={step_size:g} with schedule={schedule!r}"
        self._averages = Averages(average, average_from)
        self.seed = _seed_of(random_state)
        self.A = np.zeros((0, self.block_size, self.n_outputs))
        self.n_iter = self.n_feature_values = 0
        self._loss_sum = self._n_seen = 0.0  # of the pass under way
        self._loss_of_zero = np.nan  # the largest mean loss of f = 0 on one of the first batches
        self._pending, self._place = None, 0  # a batch whose step is not done, and its place
        if initial is not None:
            self._resume(initial)

    def advance(self, n_iter):
        """Do up to `n_iter` steps, of a batch each; return how many were done."""
        for done in range(n_iter):
            batch = self._next_batch()
            if batch is None:
                self.finished = True
                return done
            if batch.begins_pass:
                self._loss_sum = self._n_seen = 0.0
            self._step(batch, self._step_at(self.n_iter + 1))
            self._pending = None
        return n_iter

    def _next_batch(self):
        """The next batch; it is pending until its step is done."""
        if self._pending is None:
            self._place = self.batches.place
            self._pending = self.batches.next()
        return self._pending

    def _note_losses(self, losses, batch):
        """Add the sum of the weighted losses of a batch; raise ValueError if they show that the steps are too long.

        Long steps make f worse than 0. The loss of f = 0 is the largest of the batches so far: targets that are rare
        need not be in each of them.
        """
        mean = losses / len(batch)
        is_finite, is_early = np.isfinite(mean), self.n_iter < EARLY and not isinstance(self.loss, Novelty)
        if is_early or not is_finite:
            self._loss_of_zero = np.fmax(self._loss_of_zero, self._mean_loss_of_zero(batch))
            base = self._loss_of_zero if self._loss_of_zero > 0 else 1.0  # 0 says nothing
            if not is_finite or mean > EXPLODED * base:
                self._pending = None
                raise ValueError(
                    f"{self._step_words} diverges: the mean loss is {mean:.3g} in step {self.n_iter + 1}, and that of "
                    f"f = 0 at most {self._loss_of_zero:.3g}. Lower step_size"
                )
        self._loss_sum += losses
        self._n_seen += len(batch)

    def _mean_loss_of_zero(self, batch):
        """The weighted mean loss of f = 0 on a batch."""
        losses = self.loss.value(np.zeros((len(batch), self.n_outputs)), batch.y)
        return float((losses if batch.weights is None else batch.weights * losses).mean())

    def _next_block(self):
        """The number of the block that the next step changes."""
        n_blocks = len(self.A)
        if self.max_blocks is None or n_blocks < self.max_blocks:
            return n_blocks
        return self.n_iter % self.max_blocks

    def _check_room_for_operator(self, loss):
        """Raise ValueError for settings without a covariance operator, and if it is larger than the cache.

        It is three matrices: that of the run, that of its solution, both float64, and float32 in the model.
        """
        if loss != "squared_error":
            raise ValueError(f"operator=True is for loss='squared_error', not {loss!r}")
        if self.max_blocks is None:
            raise ValueError("the covariance operator has (max_blocks block_size)^2 numbers: give max_blocks")
        size = self.max_blocks * self.block_size
        n_bytes = BYTES_OF_OPERATOR * size**2
        if n_bytes > self._room_bytes:
            raise ValueError(
                f"the covariance operator of {self.max_blocks} blocks of {self.block_size} features takes "
                f"{n_bytes / MEGABYTE:,.0f} MB, more than cache_size={self._room_bytes / MEGABYTE:g}: "
                "raise cache_size, or lower max_blocks or block_size"
            )
        self._room_bytes -= n_bytes

    def _ridge(self):
        """The ridge that the preconditioner adds to the covariance of a block."""
        return self.damping + self.alpha * (self.max_blocks or 1)

    def objective(self):
        """Return the mean loss of the batches of this pass, each before it was learned from, plus alpha/2 ||f||^2.

        ||f||^2 is T ||A||^2 with T blocks, the norm of f in the space of their features. Before the first step: the
        loss of f = 0 on the first batch, NaN if there is none.
        """
        if self._n_seen == 0:
            batch = self._next_batch() if self.n_iter == 0 else None
            return float("nan") if batch is None else self._mean_loss_of_zero(batch)
        value = self._loss_sum / self._n_seen + 0.5 * self.alpha * len(self.A) * np.vdot(self.A, self.A)
        return float(value - self.alpha * self.loss.parameter * isinstance(self.loss, Novelty))

    def solution(self):
        """Return the model and the state of the run.

        Coefficients of shape (n_blocks, block_size, n_outputs), averaged if asked for, and the state. The intercept of
        a novelty detector is minus its level tau.
        """
        average = self._averages.of(self._iterate())
        tau = isinstance(self.loss, Novelty)
        coef = (average[1:] if tau else average).reshape(self.A.shape)
        state = {
            "seed": np.array([self.seed], dtype=np.uint64),
            "place": np.array([self.batches.place if self._pending is None else self._place]),
            "losses": np.array([self._loss_sum, self._n_seen, self._loss_of_zero]),
            "counts": np.array([self.n_feature_values]),
            **self._averages.state(),
            **self._more_state(),
        }
        if self._averages.kind != "last":
            state["iterate"] = self.A.copy()
        if tau:
            state["level"] = np.array([self.loss.parameter])
        return Solution(coef, -float(average[0]) if tau else 0.0, self.n_iter, state)

    def _iterate(self):
        """The coefficients as a vector, after the level tau where there is one."""
        flat = self.A.ravel()
        return np.concatenate([[self.loss.parameter], flat]) if isinstance(self.loss, Novelty) else flat

    def _more_state(self):
        return {}

    def _resume(self, initial):
        state = initial.state
        coef = np.array(state.get("iterate", initial.coef), dtype=np.float64)
        if coef.ndim != 3 or coef.shape[1:] != self.A.shape[1:]:
            raise ValueError(
                f"initial has coefficients of shape {coef.shape}, blocks and outputs are {self.A.shape[1:]}"
            )
        self.A, self.n_iter = coef, initial.n_iter
        if isinstance(self.loss, Novelty):
            self.loss.parameter = float(state["level"][0]) if "level" in state else -initial.intercept
        if "seed" in state:
            self.seed = int(state["seed"][0])
        if "losses" in state:
            self._loss_sum, self._n_seen, self._loss_of_zero = state["losses"].tolist()
        if "counts" in state:
            self.n_feature_values = int(state["counts"][0])
        if "place" in state and self.batches.X is not None:
            self.batches.place = int(state["place"][0])
        self._averages.resume(state, self.n_iter + 1)


def _seed_of(random_state):
    """An integer is the seed of the features itself."""
    if is_integer(random_state) and 0 <= random_state <= MAX_SEED:
        return int(random_state)
    return int(as_generator(random_state).integers(MAX_SEED, dtype=np.uint64, endpoint=True))
