"""The two simulations: their scales, tables and figures."""

from kernbench.experiments.declare import (
    Axis,
    CrossTable,
    Curves,
    Experiment,
    MetricTable,
    Recommendation,
    Scale,
    Setting,
)
from kernbench.experiments.declare.entrants import RANKED_ELSEWHERE, SEARCHED
from kernbench.experiments.papers.rocsvm.parts import RACE

SIZES = ("n-1000", "n-5000", "n-10000", "n-50000", "n-100000")
GROWING, PAIRS = "Growing with the number of rows", "How many pairs?"
N_TRAIN = Axis("data.n_train", "training rows", log=True)
SECONDS = Axis("seconds.fit", "fit time", "s", log=True)
SHARE = Axis("trace.share", "pairs drawn, B / n", log=True)

GAP = (
    "The truth is the score that the data were generated from, evaluated on the same test rows as the models, so "
    "that the difference has less sampling error. Test rows are the same in all repeats. The paper's distance is to "
    "the population AUC that it states."
)


def _settings(data, compared, n_small, sizes, small, pairs_at, n_seeds, n_test):
    """A setting for each number of rows, and one for the number of pairs."""
    common = {"repeat_argument": "seed"}
    for n in sizes:
        arguments = {"name": data, "n_train": n, "n_test": n_test}
        methods = compared if n <= small else compared[n_small:]
        yield Setting(f"n-{n}", arguments, {"alpha": 1e-3}, label=f"n = {n:,}", methods=methods, **common)
    arguments = {"name": data, "n_train": pairs_at, "n_test": n_test}
    sweep = {"alpha": 1e-3, "shares": [0.1, 0.3, 1.0, 3.0, 10.0], "n_seeds": n_seeds}
    yield Setting("pairs", arguments, sweep, label=f"n = {pairs_at:,}", methods=("pairs",), **common)


def simulation(data, compared, n_small, baseline, *, quick_pairs_at, n_seeds, quick_repeats, **declared):
    """Declare a simulation.

    Parameters
    ----------
    data : str
        The generated data set, ``"roc-linear"`` or ``"roc-radial"``.
    compared : tuple of str
        Methods; the first `n_small` of them run on at most 1,000 rows (10,000 at the paper's scale).
    n_small : int
    baseline : str
        The method whose time is 1.
    quick_pairs_at : int
        Rows on which the number of pairs is varied at quick scale.
    n_seeds : tuple of int
        Draws of pairs, at quick and at the paper's scale.
    quick_repeats : int
    **declared
        Further attributes of the `Experiment`.
    """
    quick = ((1000, 5000), 1000, quick_pairs_at, n_seeds[0], 10_000)
    paper = ((5000, 10_000, 50_000, 100_000), 10_000, 10_000, n_seeds[1], 25_000)
    quick, paper = (tuple(_settings(data, compared, n_small, *sizes)) for sizes in (quick, paper))
    scales = {
        "quick": Scale(quick, quick_repeats, time_limit=60.0, memory_limit=2 * 2**30),
        "paper": Scale(paper, 50, time_limit=1800.0),
    }
    task = {"roc-linear": "ranking by a linear score", "roc-radial": "ranking with a kernel"}[data]
    tables, figures = _tables(compared, baseline, task), _figures(compared)
    return Experiment(scales=scales, tables=tables, figures=figures, own_data=True, **RACE, **declared)


def _tables(methods, baseline, task):
    """AUC, times and optimality of methods on sets with a known truth."""
    compared = {"methods": methods, "datasets": SIZES}
    return (
        CrossTable("auc", "AUC on the test rows", "auc", **compared),
        CrossTable("gap", "AUC below that of the truth, in points", "gap", **compared, notes=(GAP,)),
        CrossTable("time", "Time of a fit", "fit_seconds", **compared),
        CrossTable(
            "time-ratio", "Time of a fit over that of the paper's method", "fit_seconds", baseline=baseline, **compared
        ),
        MetricTable(
            "optimality",
            "Optimality and cost",
            ("objective", "n_iter", "fit_seconds", "predict_seconds", "peak_memory"),
            methods=methods,
            notes=(
                "Objective: α/2·‖f‖² + the mean hinge over all pairs of training rows, by the same code for "
                "every method. A method that draws pairs minimises another one. Peak memory includes Python "
                "and the data.",
            ),
        ),
        MetricTable(
            "pairs",
            "What B = n pairs cost",
            ("pairs_cost", "excess", "excess_slope"),
            methods=("pairs",),
            notes=("Both solutions are certified minimisers, of drawn pairs and of all pairs.",),
        ),
        Recommendation(
            task,
            "auc",
            baseline,
            0.0005,
            objective="objective",
            main="ROCSVC",
            models="rank",
            left_out=SEARCHED | RANKED_ELSEWHERE,
            **compared,
        ),
    )


def _figures(methods):
    """Time and gap over the number of rows; gap, objective and time over the number of pairs."""
    return (
        Curves(
            "times",
            "Time of a fit, by rows",
            N_TRAIN,
            SECONDS,
            slope=1.0,
            slope_label="slope 1",
            methods=methods,
            heading=GROWING,
        ),
        Curves(
            "gaps",
            "AUC below the truth's, by rows",
            N_TRAIN,
            Axis("metrics.gap", "AUC below the truth's", "points", 100.0),
            methods=methods,
            heading=GROWING,
            note="Below 0, chance put a model above the truth on these test rows.",
        ),
        Curves(
            "pairs-gap",
            "AUC below the truth's, by pairs drawn",
            SHARE,
            Axis("trace.gap", "AUC below the truth's", "points", 100.0),
            line="trace.draws",
            methods=("pairs",),
            heading=PAIRS,
            note="Every solution is a certified minimiser over its pairs, so that only their number counts. "
            "Drawn evenly: each row of a class equally often.",
        ),
        Curves(
            "pairs-excess",
            "Objective above its minimum, by pairs drawn",
            SHARE,
            Axis("trace.excess", "objective above the minimum", "%", 100.0, log=True),
            line="trace.draws",
            slope=-1.0,
            slope_label="slope −1",
            methods=("pairs",),
            heading=PAIRS,
            note="The objective is that of all pairs, at the minimisers over drawn ones.",
        ),
        Curves(
            "pairs-time",
            "Time of a fit, by pairs drawn",
            SHARE,
            Axis("trace.seconds", "fit time", "s", log=True),
            line="trace.draws",
            methods=("pairs",),
            heading=PAIRS,
            note="The same solver throughout; all pairs are covered by sorting the scores.",
        ),
    )
