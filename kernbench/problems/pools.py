"""What the stochastic solvers of ranking draw from: pools of samples, and a range of ranks as shares of their weight.

Batches are uniform draws without replacement, whatever the weights: these multiply the terms of the sum instead. So
every estimate is unbiased, and a sample of weight k counts as k copies in expectation. Weights are divided by their
mean over the pool: a mean over a batch of u_i times a term estimates the weighted mean over the pool.
"""

import numpy as np

from kernbench.losses.margin import MARGIN_LOSSES, margin_loss
from kernbench.losses.regression import REGRESSION_LOSSES
from kernbench.ranking.checks import checked_weights, ranked_targets
from kernbench.ranking.window import range_of, window_of
from kernbench.validation.numbers import check_name, check_number

PAIR_LOSSES = ("log_loss", "hinge", "squared_hinge")
LIST_LOSSES = (*PAIR_LOSSES, *REGRESSION_LOSSES)
THRESHOLDS = ("exact", "stochastic")
START = 0.01  # standard deviation of the coefficients that a run starts from by default


class Pool:
    """Samples of positive weight, and how many of them a batch holds.

    Parameters
    ----------
    rows : ndarray of shape (m,), intp
        Indices of the samples.
    weights : ndarray of shape (n,)
        Of all samples; those of weight 0 are left out.
    batch : int
        The batch is the whole pool where this is more than its size.
    name : str
        Of the parameter that gives `batch`.

    Attributes
    ----------
    rows : ndarray of shape (size,), intp
    weights : ndarray of shape (size,)
        Divided by their mean.
    size, batch : int
    total : float
        Sum of the weights, undivided.
    """

    def __init__(self, rows, weights, batch, name):
        check_number(name, batch, at_least=1, whole=True)
        self.rows = rows[weights[rows] > 0]
        self.size = len(self.rows)
        self.batch = min(int(batch), self.size)
        of_rows = weights[self.rows]
        self.total = float(of_rows.sum())
        self.weights = of_rows / of_rows.mean()


class PairPools:
    """The pools of both classes, and a window of false positive rates.

    Parameters
    ----------
    design : FeatureDesign
    y : array-like of shape (n,)
        Labels, -1 or +1.
    weights : array-like of shape (n,), optional
    fpr_range, ranks
        See :func:`kernbench.ranking.window.window_of`.
    n_positive, n_negative : int
        Samples in a batch.

    Attributes
    ----------
    positives, negatives : Pool
    low, high : float
        The ends of the window as shares of the weight of the negatives: the paper's m/N_- and n/N_-.
    """

    def __init__(self, design, y, weights, fpr_range, ranks, n_positive, n_negative):
        y = checked_features(design, y)
        masses = window_of(y, fpr_range, ranks, weights)
        weights = np.ones(len(y)) if weights is None else checked_weights(weights, len(y))
        self.positives = Pool(np.flatnonzero(y == 1), weights, n_positive, "n_positive")
        self.negatives = Pool(np.flatnonzero(y == -1), weights, n_negative, "n_negative")
        self.low, self.high = (min(mass / self.negatives.total, 1.0) for mass in masses)

    @property
    def batch(self):
        """Samples in a batch, and the random numbers that it takes."""
        return self.positives.batch + self.negatives.batch


class ListPool:
    """The pool of one list of losses, and a range of its ranks.

    Parameters
    ----------
    design : FeatureDesign
    y : array-like of shape (n,)
    weights : array-like of shape (n,), optional
    loss : str
    ranked_range : (float, float)
        See :func:`kernbench.ranking.window.range_of`.
    batch_size : int

    Attributes
    ----------
    pool : Pool
    loss : loss of `kernbench.losses`
    of_margin : bool
        Whether it is a loss of the margin y s, else of the residual s - y.
    y : ndarray of shape (n,)
    low, high : float
        The ends of the range as shares of the whole weight: the paper's m/M and n/M.
    """

    def __init__(self, design, y, weights, loss, ranked_range, batch_size):
        self.of_margin = loss in MARGIN_LOSSES
        self.loss = (
            margin_loss(loss) if self.of_margin else REGRESSION_LOSSES[check_name("loss", loss, LIST_LOSSES)]
        )
        self.y, _ = ranked_targets(checked_features(design, y), self.of_margin, weights)
        weights = np.ones(len(self.y)) if weights is None else checked_weights(weights, len(self.y))
        self.pool = Pool(np.arange(len(self.y)), weights, batch_size, "batch_size")
        self.low, self.high = (
            min(mass / self.pool.total, 1.0) for mass in range_of(ranked_range, self.pool.total)
        )

    @property
    def batch(self):
        """Samples in a batch, and the random numbers that it takes."""
        return self.pool.batch


def checked_features(design, y):
    """Return y as an array with one number per sample of a design of features.

    Raises
    ------
    ValueError
        For a kernel, or for another number of samples.
    """
    if design.is_kernel:
        raise ValueError(
            "a stochastic solver works on explicit features: choose solver='dca-exact', or map the kernel to features "
            "(RandomFeatures, Nystroem)"
        )
    y = np.asarray(y)
    if y.shape != (design.n_samples,):
        raise ValueError(f"y must hold one label per sample, shape ({design.n_samples},), got {y.shape}")
    return y


def first_coefficients(seed, n_coef):
    """Return where a run without `initial` starts: normal numbers of standard deviation 0.01.

    Not zero: there all scores tie, and zero is a critical point of windows that leave out the top.
    """
    return START * np.random.default_rng(seed).standard_normal(n_coef)


def check_auc_margin(loss):
    """Raise ValueError unless `loss` is the min-max margin loss of the AUC."""
    if loss != "auc_margin":
        raise ValueError(f"this solver minimises loss='auc_margin' only, not {loss!r}")
