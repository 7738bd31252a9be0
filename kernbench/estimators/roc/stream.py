"""`ROCSVC.partial_fit`: stochastic gradient descent on fresh pairs from a stream.

The incomplete U-statistic of a stream pairs each new row with a row of the other class. A reservoir of each class keeps
some: every slot holds one row of the stream so far, drawn in proportion to the weights, independently of the other
slots, so a pair of a new row and a slot is a fair draw among all pairs.
"""

from copy import deepcopy
from dataclasses import dataclass, field, replace

import numpy as np
from scipy import sparse

from kernbench.estimators.arguments.training_data import check_batch
from kernbench.estimators.fit.fitted_state import check_floats, require
from kernbench.estimators.fit.outcome import drop_outcome
from kernbench.estimators.roc.parameters import SQUARED, check_roc_svc, loss_of
from kernbench.estimators.roc.scores import set_function, set_intercept, set_space, space_of, weights_of
from kernbench.estimators.roc.space import Space, fit_space
from kernbench.estimators.roc.space_task import draw_seeds
from kernbench.kernels.domain import check_range, is_precomputed
from kernbench.losses.margin import MARGIN_LOSSES

MINIBATCH = 32  # pairs of one step
BEND_OF_A_KINK = 0.25  # stands for the curvature of a loss that has a kink; found by experiment
PARTNERS = 8  # of each row, with pairs="all"
STEPS_OF_A_FIT = 10_000  # number of steps that the solution of `fit` stands for in the average and in the step length


@dataclass
class Reservoir:
    """Rows of one class of the stream so far, drawn with replacement in proportion to their weights.

    Attributes
    ----------
    rows : ndarray or CSR matrix of shape (size, n_features), or None before the first row
    weight : float
        Total weight of the rows seen.
    """

    rows: object = None
    weight: float = 0.0

    def join(self, V, weights, size, rng):
        """Replace each slot by a new row with probability weight of the new rows / weight of all rows."""
        if len(weights) == 0:
            return
        total = weights.sum()
        self.weight += total
        drawn = rng.choice(len(weights), size, p=weights / total)
        if self.rows is None:
            self.rows = V[drawn]
            return
        fresh = rng.random(size) < total / self.weight
        if sparse.issparse(V):
            both = sparse.vstack([self.rows, V], format="csr")
            self.rows = both[np.where(fresh, size + drawn, np.arange(size))]
        else:
            self.rows = np.array(self.rows)  # the old ones are of a model that a failure leaves as it was, or read-only
            self.rows[fresh] = V[drawn[fresh]]


@dataclass
class Stream:
    """The state of `partial_fit`.

    Attributes
    ----------
    space : Space
    rng : Generator
    size : int
        Slots of each reservoir.
    coef, average : ndarray of shape (n_coef,)
        The iterate, and the average of the iterates so far, later ones weighing more: the solution.
    n_steps : int
        With those that the solution of `fit` stands for, if the stream began with it.
    n_of_a_fit : int
        The number of these.
    spread : float
        Largest mean of ‖phi(x_i) - phi(x_j)‖² over the pairs of a step.
    largest : float
        Largest k(x, x) so far.
    reservoirs : list of two Reservoir
        Reservoirs of the negatives and the positives.
    """

    space: Space
    rng: np.random.Generator
    size: int
    coef: np.ndarray
    average: np.ndarray
    n_steps: int = 0
    n_of_a_fit: int = 0
    spread: float = 0.0
    largest: float = 0.0
    reservoirs: list = field(default_factory=lambda: [Reservoir(), Reservoir()])

    def copy(self):
        """Return a stream whose steps, rows and draws leave this one as it is."""
        return replace(self, rng=deepcopy(self.rng), reservoirs=[replace(one) for one in self.reservoirs])

    def step(self, differences, alpha, slope, bend):
        """Do one step of gradient descent on a few pairs, of length 1 / (alpha t + bend · spread)."""
        self.n_steps += 1
        self.spread = max(self.spread, _mean_square(differences))
        g = differences.T @ slope(differences @ self.coef) / differences.shape[0] + alpha * self.coef
        self.coef = self.coef - g / (alpha * (self.n_steps + 1) + bend * self.spread)
        self.average = self.average + (self.coef - self.average) * (2.0 / (self.n_steps + 1))


def has_features(model):
    """Whether rows of a stream can share a feature map; if not, raise AttributeError with the alternatives."""
    if model.features == "exact" or is_precomputed(model.kernel):
        raise AttributeError(
            "partial_fit needs explicit features, which the rows of a stream can share: kernel='linear', "
            "features='nystroem' or features='random'"
        )
    return True


def partial_fit(model, X, y, classes, sample_weight):
    """Learn from a batch; see `ROCSVC.partial_fit`."""
    check_roc_svc(model)
    stream = getattr(model, "_stream", None)
    known = hasattr(model, "intercept_")
    X, y, labels, weights = check_batch(model, X, y, classes, sample_weight, reset=not known)
    X, y, weights = X[weights > 0], y[weights > 0], weights[weights > 0]
    positive = y == labels[1]
    if stream is None:
        stream = _opened(model, X, positive, weights if sample_weight is not None else None, known)
    else:
        stream = stream.copy()  # after Ctrl-C the model is that of the batches before, from which it can go on
    names = getattr(model, "feature_names_in_", None)
    check_range(X, stream.space.kernel, stream.space.dtype, feature_names=names)
    V = stream.space.features(X)
    stream.largest = max(stream.largest, stream.space.largest(X))
    if len(stream.coef) == 0:
        stream.coef = stream.average = np.zeros(V.shape[1])
    if not sparse.issparse(V) and any(sparse.issparse(reservoir.rows) for reservoir in stream.reservoirs):
        V = sparse.csr_matrix(V)  # earlier batches were sparse
    for reservoir, members in zip(stream.reservoirs, (~positive, positive), strict=True):
        reservoir.join(V[members], weights[members], stream.size, stream.rng)
    if all(reservoir.rows is not None for reservoir in stream.reservoirs):
        _descend(model, stream, V, positive, weights)
    model.classes_, model.loss_, model._stream, model._continuation = labels, loss_of(model), stream, None
    drop_outcome(model)
    set_space(model, stream.space)
    set_function(model, stream.average)
    _set_threshold(model, stream)
    model.n_iter_ = np.array([stream.n_steps - stream.n_of_a_fit])  # last: by it Ctrl-C knows an outcome


def to_save(model):
    """Return the state of the stream of a model as plain data, an attribute for its file; none without a stream."""
    stream = getattr(model, "_stream", None)
    if stream is None:
        return {}
    state = {name: getattr(stream, name) for name in ("size", "coef", "n_steps", "n_of_a_fit", "spread", "largest")}
    state["reservoirs"] = [{"rows": one.rows, "weight": one.weight} for one in stream.reservoirs]
    return {"stream_": {**state, "rng": stream.rng.bit_generator.state}}


def restore(model):
    """Turn what `to_save` returned into the stream of a model that was read from a file; checks it."""
    state = vars(model).pop("stream_", None)
    if state is None:
        return
    rng = np.random.default_rng(0)
    rng.bit_generator.state = state.pop("rng")
    reservoirs = [Reservoir(**one) for one in state.pop("reservoirs")]
    require(len(reservoirs) == 2, "stream_ does not have two reservoirs")
    stream = Stream(space_of(model), rng, average=weights_of(model), reservoirs=reservoirs, **state)
    check_floats(stream, {"coef": stream.average.shape})
    for reservoir in reservoirs:
        if reservoir.rows is not None:
            check_floats(reservoir, {"rows": (stream.size, len(stream.coef))})
    model._stream = stream


def _opened(model, X, positive, weights, known):
    """Return the stream of the first batch, or one that continues from `fit`."""
    seeds = draw_seeds(model.random_state)
    rng, size = np.random.default_rng(seeds.solver), int(model.reservoir_size)
    if known and model.features_ != "exact":
        coef = weights_of(model).copy()
        return Stream(space_of(model), rng, size, coef, coef.copy(), STEPS_OF_A_FIT, STEPS_OF_A_FIT)
    space = fit_space(model, X, positive, weights, (seeds.kernel, seeds.map), needs_features=True)
    return Stream(space, rng, size, np.empty(0), np.empty(0))


def _descend(model, stream, V, positive, weights):
    n_pairs = {"all": PARTNERS * len(weights), "n_samples": len(weights)}.get(model.pairs, model.pairs)
    fresh = _in_turn(stream.rng, weights, n_pairs)
    partners = stream.rng.integers(stream.size, size=n_pairs)
    (slope, bend), alpha = _slope_and_bend(loss_of(model)), float(model.alpha)
    negatives, positives = (reservoir.rows for reservoir in stream.reservoirs)
    for start in range(0, n_pairs, MINIBATCH):
        rows, slots = fresh[start : start + MINIBATCH], partners[start : start + MINIBATCH]
        up = positive[rows]
        # x_i - x_j, i positive: a new positive minus a slot, or a slot minus a new negative.
        parts = (V[rows[up]] - negatives[slots[up]], positives[slots[~up]] - V[rows[~up]])
        if sparse.issparse(V):
            differences = sparse.vstack(parts, format="csr", dtype=np.float64)
        else:
            differences = np.concatenate(parts).astype(np.float64, copy=False)
        stream.step(differences, alpha, slope, bend)


def _slope_and_bend(name):
    """Return the slope of a loss as a function of margins, and its curvature, which limits the first steps."""
    if name == SQUARED:
        return (lambda margins: 2.0 * (margins - 1.0)), 2.0
    loss = MARGIN_LOSSES[name]
    return loss.slope, loss.smoothness if np.isfinite(loss.smoothness) else BEND_OF_A_KINK


def _in_turn(rng, weights, count):
    """Return `count` indices, each row equally often, or in proportion to the weights if they differ."""
    n = len(weights)
    if np.any(weights != weights[:1]):
        return rng.choice(n, count, p=weights / weights.sum())
    return np.concatenate([rng.permutation(n) for _ in range(-(-count // n))])[:count]


def _mean_square(differences):
    squares = differences.multiply(differences) if sparse.issparse(differences) else np.square(differences)
    return squares.sum() / differences.shape[0]


def _set_threshold(model, stream):
    """Set the threshold on the reservoirs; as long as there is only one class that of `fit`, or 0."""
    rows = [reservoir.rows for reservoir in stream.reservoirs]
    if any(part is None for part in rows):
        if stream.n_steps == 0:
            model.intercept_ = np.zeros(1)
        return
    scores = [np.asarray(part @ stream.average, dtype=np.float64).ravel() for part in rows]
    positive = np.repeat([False, True], [len(part) for part in scores])
    set_intercept(model, model.threshold, lambda: stream.largest, np.concatenate(scores), positive, None)
