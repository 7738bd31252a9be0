"""What the experiments on the ROC-SVM share: names, parameters, metrics."""

from kernbench.experiments.declare import Bound, PaperData, PaperNumber
from kernbench.experiments.declare import metrics as m

HERE = "kernbench.experiments.papers.rocsvm"
DRAWN_PAIRS, EQUAL, THEOREM = f"{HERE}.drawn_pairs:measure", f"{HERE}.equal:measure", f"{HERE}.theorem:measure"
ROC_SVC = "kernbench.estimators:ROCSVC"
PAPER = "Bae, Shin: Scaling Up ROC-Optimizing Support Vector Machines"

# The paper's method: B = n pairs drawn once, Adamax. It names no stopping rule: 1,000 steps, or 20 without
# progress.
ADAMAX = {"solver": "adamax", "tol": 1e-6, "max_iter": 1000}
INCOMPLETE = {"pairs": "n_samples", **ADAMAX}
# Ours: all pairs, by sorting, to a certified gap.
EXACT = {"pairs": "all", "solver": "bundle", "tol": 1e-4}

BRACKETS = (
    "The paper prints a second number in brackets beside each time and AUC, left out here: it calls them standard "
    "errors, and under Table 3 those of AUCs also standard deviations without a factor of 10⁻³."
)

HAVE = {  # what the reader of a recommendation has, by task
    "ranking by a linear score": "a rare class, and want scores that rank (AUC)",
    "ranking with a kernel": "a rare class that no linear score ranks (AUC)",
}

METRICS = (
    *m.RANKING,
    m.percent("excess", "objective above the minimum, B = n drawn pairs", 0.1),
    m.number("excess_slope", "slope of that over B", 0.1),
    m.points("pairs_cost", "AUC lost by drawing n pairs", 0.1),
    *(
        metric
        for kind, words in (("drawn", "n drawn pairs"), ("all", "all pairs"))
        for metric in (
            m.percent(f"{kind}_limit_excess", f"{words}: Adamax above the optimum after 1,000 steps", 0.1),
            m.ratio(f"{kind}_limit_factor", f"{words}: its time by then over the bundle method's", 0.2),
            m.ratio(f"{kind}_equal_factor", f"{words}: its time to equal objectives over the bundle method's", 0.2),
            m.number(f"{kind}_equal_steps", f"{words}: its steps to equal objectives", 0.2),
        )
    ),
    *(
        m.number(f"{name}{end}", f"power of n: {words}{of_end}", 0.1)
        for name, words in (("left", "left side of Theorem 4"), ("drawn", "drawing alone"))
        for end, of_end in (("", ""), ("_low", ", from"), ("_high", ", to"))
    ),
)


EQUAL_CLAIM = Bound(
    "At the limit of 1,000 steps Adamax is within 1 % of the optimum over its own n drawn pairs.",
    "equal",
    "drawn_limit_excess",
    0.01,
)

# What the three experiments have in common.
RACE = {
    "metrics": METRICS,
    "measure": "kernbench.experiments.measure.race:rank",
    "evaluate": "kernbench.experiments.measure.ranking:ranker",
    "threads": 1,
    "warm_up_rows": 64,
}


def paper_numbers(rows, population=None):
    """The paper's numbers, without those in `BRACKETS`.

    Parameters
    ----------
    rows : iterable of (dataset, method, seconds, percent)
        The time of a fit, and the AUC in percent.
    population : float, optional
        The population's AUC as the paper states it, in percent.

    Returns
    -------
    tuple of PaperNumber
    """
    found = []
    for dataset, method, seconds, percent in rows:
        found.append(PaperNumber(dataset, method, "fit_seconds", seconds))
        found.append(PaperNumber(dataset, method, "auc", round(percent / 100, 7)))
        if population is not None:
            gap = round((population - percent) / 100, 7)
            found.append(PaperNumber(dataset, method, "gap", gap))
    return tuple(found)


def paper_data(numbers):
    """Return the paper's simulated data: the number of rows is in the name of the data set, the formula is the same."""
    return tuple(
        PaperData(name, f"{int(name.removeprefix('n-')):,} training rows, drawn by the same formula")
        for name in dict.fromkeys(number.dataset for number in numbers)
    )
