"""What the stochastic solvers of ranges of ranks draw their batches from, and the range as fractions of the weight.

Batches are drawn uniformly without replacement; weights multiply the terms of the sum, so every estimate is unbiased
and a sample of weight k counts as k copies in expectation. Weights u_i are divided by their mean: the mean of u_i times
a term over a batch estimates the weighted mean.
"""

import numpy as np

from kernbench.losses.margin import MARGIN_LOSSES
from kernbench.losses.regression import REGRESSION_LOSSES
from kernbench.losses.table import losses_of
from kernbench.problems.linear.feature_bounds import squared_norms
from kernbench.validation.numbers import check_number

PAIR_LOSSES, LIST_LOSSES = losses_of("pair", first="log_loss"), losses_of("rank", first="log_loss")
THRESHOLDS = ("exact", "stochastic")
START = 0.01  # standard deviation of the default starting point
# Default steps times the mean |x|^2, for bounded slopes of the loss and for those that grow with the scores, where
# steps above 2 / curvature diverge: of methods that return averaged iterates, of those that return the last one, and of
# these with constant steps within a stage. On a9a and ijcnn1, 10 to 150 work for the first; the others come closer to
# the optimum with smaller steps.
OF_MEANS, OF_LAST, OF_LAST_OF_STAGE = (50.0, 1.0), (5.0, 1.0), (5.0, 0.25)


class Population:
    """The samples to draw from, those of positive weight, and the number of them in a batch.

    Parameters
    ----------
    rows : ndarray of shape (m,), intp
        Indices of the samples.
    weights : ndarray of shape (n,)
        Weights of all samples; samples of weight 0 are left out.
    batch : int
        Samples in a batch; at most all of them are drawn.
    name : str
        Name of the parameter for `batch`, for error messages.

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


class PairSampling:
    """Batches of positives and negatives, and a window of false positive rates.

    Parameters
    ----------
    design : FeatureDesign
    ranked : WindowProblem
    n_positive, n_negative : int
        Samples in a batch.

    Attributes
    ----------
    design : FeatureDesign
    positive, used : ndarray of shape (n,), bool
        Which samples are positive, and which have a weight.
    positives, negatives : Population
    loss : loss of `kernbench.losses`
    low, high : float
        Ends of the window as fractions of the weight of the negatives: m/N_- and n/N_- of the paper.
    steep : bool
        Whether the slopes of the loss grow without bound.
    """

    def __init__(self, design, ranked, n_positive, n_negative):
        weights = checked_features(design, ranked)
        self.design, self.positive, self.loss = design, ranked.positive, MARGIN_LOSSES[ranked.loss]
        self.used = weights > 0
        self.positives = Population(np.flatnonzero(ranked.positive), weights, n_positive, "n_positive")
        self.negatives = Population(np.flatnonzero(~ranked.positive), weights, n_negative, "n_negative")
        self.low, self.high = (min(mass / self.negatives.total, 1.0) for mass in (ranked.low, ranked.high))
        self.steep = bool(np.isinf(self.loss.upper))

    @property
    def batch(self):
        """Number of samples in a batch, each of which takes one random number."""
        return self.positives.batch + self.negatives.batch

    def threshold_scale(self, scores):
        """Return the default step of a threshold of the negatives' scores: their standard deviation; 1 if it is 0."""
        own, weights = scores[self.negatives.rows], self.negatives.weights
        distances = np.abs(own - np.average(own, weights=weights))
        largest = float(distances.max())
        return largest * float(np.average((distances / largest) ** 2, weights=weights)) ** 0.5 if largest else 1.0


class ListSampling:
    """Batches of samples for one list of losses, and a range of its ranks.

    Attributes
    ----------
    design : FeatureDesign
    used : ndarray of shape (n,), bool
        Which samples have a weight.
    population : Population
    loss : loss of `kernbench.losses`
    of_margin : bool
        True for a loss of the margin y s, False for a loss of the residual s - y.
    y : ndarray of shape (n,)
    low, high : float
        Ends of the range as fractions of the total weight: m/M and n/M of the paper.
    steep : bool
        Whether the slopes of the loss grow without bound.
    """

    def __init__(self, design, ranked, batch_size):
        weights = checked_features(design, ranked)
        self.design, self.of_margin, self.used = design, ranked.loss in MARGIN_LOSSES, weights > 0
        self.loss, self.y = (MARGIN_LOSSES | REGRESSION_LOSSES)[ranked.loss], ranked.y
        self.population = Population(np.arange(ranked.n), weights, batch_size, "batch_size")
        self.low, self.high = (min(mass / self.population.total, 1.0) for mass in (ranked.low, ranked.high))
        self.steep = bool(np.isinf(self.loss.upper))

    @property
    def batch(self):
        """Number of samples in a batch, each of which takes one random number."""
        return self.population.batch

    def threshold_scale(self, scores):
        """Return the default step of a threshold of the losses, whose units are those of a margin of 1."""
        return 1.0


def checked_features(design, ranked):
    """Return the weights of all samples.

    Raises
    ------
    ValueError
        If the design is a kernel, or has another number of samples than the problem.
    """
    if design.is_kernel:
        raise ValueError(
            "a stochastic solver works on explicit features: choose solver='dca-exact', or map the kernel to features "
            "(RandomFeatures, Nystroem)"
        )
    ranked.check_samples(design)
    return np.ones(ranked.n) if ranked.weights is None else ranked.weights


def step_of(step_size, sampling, scales):
    """Return the step, by default one of two `scales` over the mean |x|^2: the second for unbounded slopes.

    The step times |x|^2 does not depend on the units of the features.
    """
    if step_size is not None:
        return float(check_number("step_size", step_size, above=0))
    mean = float(squared_norms(sampling.design)[sampling.used].mean())
    return scales[sampling.steep] / mean if mean > 0 else 1.0


def threshold_step_of(threshold_step, step_size, thresholds):
    """Return the step of the thresholds, by default `step_size`; None if the scores of a stage decide."""
    if threshold_step is not None:
        return float(check_number("threshold_step", threshold_step, above=0))
    return None if thresholds == "exact" else step_size


def first_coefficients(seed, n_coef):
    """Return the default starting point, normal numbers of standard deviation 0.01.

    Zero is unsuitable: all scores tie there, and it is a critical point of windows that begin above 0.
    """
    return START * np.random.default_rng(seed).standard_normal(n_coef)


def check_auc_margin(loss):
    """Raise ValueError unless `loss` is the min-max margin loss of the AUC."""
    if loss != "auc_margin":
        raise ValueError(f"this solver minimises loss='auc_margin' only, not {loss!r}")
