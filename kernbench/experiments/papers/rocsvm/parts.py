"""What the experiments on the ROC-SVM share: names, parameters, metrics."""

from kernbench.experiments.declare import PaperNumber
from kernbench.experiments.declare import metrics as m

RANK = "kernbench.experiments.measure.race:rank"
RANKER = "kernbench.experiments.measure.ranking:ranker"
DRAWN_PAIRS = "kernbench.experiments.papers.rocsvm.drawn_pairs:measure"
ROC_SVC = "kernbench.estimators:ROCSVC"
PAPER = "Bae, Shin: Scaling Up ROC-Optimizing Support Vector Machines"

# The paper's method: B = n pairs drawn once, Adamax. It names no stopping rule: 1,000 steps, or 20 without
# progress.
ADAMAX = {"solver": "adamax", "tol": 1e-6, "max_iter": 1000}
INCOMPLETE = {"pairs": "n_samples", **ADAMAX}
# Ours: all pairs, by sorting, to a certified gap.
EXACT = {"pairs": "all", "solver": "bundle", "tol": 1e-4}

METRICS = (
    m.AUC,
    m.points("gap", "AUC below the truth's"),
    m.points("gap_population", "AUC below the population's"),
    m.FIT_SECONDS,
    m.seconds("search", "time to choose α"),
    m.seconds("predict", "scoring time"),
    m.number("objective", "objective over all pairs", 1e-3),
    m.number("alpha", "α"),
    m.N_ITER,
    m.PEAK_MEMORY,
    m.percent("excess", "objective above the minimum, B = n", 0.1),
    m.number("excess_slope", "slope of that over B", 0.1),
    m.points("pairs_cost", "AUC lost by B = n", 0.1),
)


def timed(dataset, method, seconds):
    """The paper's time."""
    return PaperNumber(dataset, method, "fit_seconds", seconds)


def ranked(dataset, method, percent, population=None):
    """The paper's AUC, and its distance to the population's where the paper states that.

    The paper prints a number in brackets beside it, which it calls a standard error in the tables and a
    standard deviation in the text, without a factor of 10⁻³; it is left out.

    Parameters
    ----------
    dataset, method : str
    percent : float
        As printed.
    population : float, optional
        In percent.

    Returns
    -------
    tuple of PaperNumber
    """
    found = (PaperNumber(dataset, method, "auc", round(percent / 100, 7)),)
    if population is None:
        return found
    return (*found, PaperNumber(dataset, method, "gap", round((population - percent) / 100, 7)))
