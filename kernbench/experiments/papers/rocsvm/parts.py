"""What the experiments on the ROC-SVM share: names, parameters, metrics."""

from kernbench.experiments.declare import Metric, PaperNumber

HERE = "kernbench.experiments.papers.rocsvm"
FIT, DRAWN_PAIRS = f"{HERE}.fits:measure", f"{HERE}.drawn_pairs:measure"
ROC_SVC = "kernbench.estimators.ranking.roc_svc:ROCSVC"
PAPER = "Bae, Shin: Scaling Up ROC-Optimizing Support Vector Machines"

# The paper's method: B = n pairs drawn once, Adamax. It names no stopping rule: 1,000 steps, or 20 without
# progress.
ADAMAX = {"solver": "adamax", "tol": 1e-6, "max_iter": 1000}
INCOMPLETE = {"pairs": "n_samples", **ADAMAX}
# Ours: all pairs, by sorting, to a certified gap.
EXACT = {"pairs": "all", "solver": "bundle", "tol": 1e-4}

METRICS = (
    Metric("auc", "AUC", "higher", ("metrics", "auc"), "%", 100.0, 1e-3),
    Metric("gap", "AUC below the truth's", "lower", ("metrics", "gap"), "points", 100.0, 0.05),
    Metric(
        "gap_population",
        "AUC below the population's",
        "lower",
        ("metrics", "gap_population"),
        "points",
        100.0,
        0.05,
    ),
    Metric("fit_seconds", "fit time", "lower", ("seconds", "fit"), "s", tolerance=0.25),
    Metric("search_seconds", "time to choose α", "lower", ("seconds", "search"), "s", tolerance=0.25),
    Metric("predict_seconds", "scoring time", "lower", ("seconds", "predict"), "s", tolerance=0.25),
    Metric("objective", "objective over all pairs", "lower", ("metrics", "objective"), tolerance=1e-3),
    Metric("alpha", "α", "lower", ("metrics", "alpha")),
    Metric("n_iter", "iterations", "lower", ("metrics", "n_iter"), tolerance=0.1),
    Metric("peak_memory", "peak memory", "lower", ("peak_memory_bytes",), "MB", 2.0**-20, 0.1),
    Metric("excess", "objective above the minimum, B = n", "lower", ("metrics", "excess"), "%", 100.0, 0.1),
    Metric("excess_slope", "slope of that over B", "lower", ("metrics", "excess_slope"), tolerance=0.1),
    Metric(
        "pairs_cost", "AUC lost by B = n", "lower", ("metrics", "pairs_cost"), "points", 100.0, tolerance=0.1
    ),
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
