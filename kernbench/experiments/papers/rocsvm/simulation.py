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
from kernbench.experiments.papers.rocsvm.parts import HAVE, RACE

SIZES = ("n-1000", "n-5000", "n-10000", "n-50000", "n-100000")
GROWING, PAIRS, EQUAL = "Growing with the number of rows", "How many pairs?", "Equal objectives"
EQUAL_METRICS = ("limit_excess", "limit_factor", "equal_factor", "equal_steps")
N_ROWS = Axis("trace.n_rows", "training rows", log=True)
N_TRAIN = Axis("data.n_train", "training rows", log=True)
SECONDS = Axis("seconds.fit", "fit time", "s", log=True)
SHARE = Axis("trace.share", "pairs drawn, B / n", log=True)

GAP = (
    "The truth is the score that the data were generated from, evaluated on the same test rows as the models, so "
    "that the difference has less sampling error. Test rows are the same in all repeats. The paper's distance is to "
    "the population AUC that it states."
)


def _settings(data, compared, n_small, sizes, small, pairs_at, n_seeds, n_test, most, growing):
    """A setting for each number of rows, and others for the number of pairs, equal objectives and Theorem 4."""
    common = {"repeat_argument": "seed"}
    for n in sizes:
        arguments = {"name": data, "n_train": n, "n_test": n_test}
        methods = compared if n <= small else compared[n_small:]
        yield Setting(f"n-{n}", arguments, {"alpha": 1e-3}, label=f"n = {n:,}", methods=methods, **common)
    arguments = {"name": data, "n_train": pairs_at, "n_test": n_test}
    sweep = {"alpha": 1e-3, "shares": [0.1, 0.3, 1.0, 3.0, 10.0], "n_seeds": n_seeds}
    steps = {"limit": 1000, "most": most}
    yield Setting("pairs", arguments, sweep, label=f"n = {pairs_at:,}", methods=("pairs",), **common)
    yield Setting("equal", arguments, {"alpha": 1e-3, **steps}, label=f"n = {pairs_at:,}", methods=("equal",), **common)
    if data == "roc-radial":
        sizes, n_draws = growing
        arguments = {"name": data, "n_train": sizes[0], "n_test": 100}
        sweep = {"alpha": 1e-3, "sizes": sizes, "n_seeds": n_draws}
        yield Setting("theorem", arguments, sweep, label="growing n", methods=("theorem",), **common)


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
    quick = ((1000, 5000), 1000, quick_pairs_at, n_seeds[0], 10_000, 3000, ([125, 250, 500], 3))
    paper = (
        (5000, 10_000, 50_000, 100_000),
        10_000,
        10_000,
        n_seeds[1],
        25_000,
        20_000,
        ([500, 1000, 2000, 4000, 8000], 10),
    )
    quick, paper = (tuple(_settings(data, compared, n_small, *sizes)) for sizes in (quick, paper))
    scales = {
        "quick": Scale(quick, quick_repeats, time_limit=60.0, memory_limit=2 * 2**30),
        "paper": Scale(paper, 50, time_limit=1800.0),
    }
    task = {"roc-linear": "ranking by a linear score", "roc-radial": "ranking with a kernel"}[data]
    tables, figures = _tables(compared, baseline, task), _figures(compared, with_theorem=data == "roc-radial")
    return Experiment(scales=scales, tables=tables, figures=figures, own_data=True, **RACE, **declared)


def _tables(methods, baseline, task):
    """AUC, times and optimality of methods on sets with a known truth."""
    compared = {"methods": methods, "datasets": SIZES}
    return (
        CrossTable("auc", "AUC on the test rows", "auc", **compared),
        CrossTable("gap", "AUC below that of the truth, in points", "gap", **compared, notes=(GAP,)),
        CrossTable("time", "Time of a fit", "fit_seconds", **compared),
        CrossTable(
            "time-ratio",
            "Time of a fit over that of the paper's method, ended at our limit of 1,000 steps",
            "fit_seconds",
            baseline=baseline,
            notes=("At the limit Adamax is not at its optimum: see the race to equal objectives.",),
            **compared,
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
            "equal",
            "Adamax and the bundle method at the limit of 1,000 steps, and at equal objectives",
            tuple(f"{kind}_{name}" for kind in ("drawn", "all") for name in EQUAL_METRICS),
            methods=("equal",),
            notes=(
                "Both minimise one objective, over the same pairs. Equal objectives: the first point of a run that is "
                "within 1 % of the certified optimum; the time is that to this point. A dash: Adamax did not come "
                "there in 20 times as many steps (3 times at quick scale). Factors of other tables compare times at "
                "the limit.",
            ),
        ),
        *(
            MetricTable(
                "theorem",
                "Theorem 4: powers of n, measured, with 95 % intervals",
                tuple(f"{name}{end}" for name in ("left", "drawn") for end in ("", "_low", "_high")),
                methods=("theorem",),
                notes=(
                    "The bound's first term falls like 1/√n. Its second one, of the landmarks, grows with n by the "
                    "paper's own remark, while the left side, which both bound together, falls.",
                ),
            )
            for _ in range(task == "ranking with a kernel")
        ),
        MetricTable(
            "pairs",
            "What drawing n pairs costs",
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
            have=HAVE[task],
            main="ROCSVC",
            models="rank",
            left_out=SEARCHED | RANKED_ELSEWHERE,
            **compared,
        ),
    )


def _figures(methods, with_theorem):
    """Time and gap over rows; objective over time; gap, objective and time over pairs; Theorem 4 over rows."""
    found = (
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
        Curves(
            "equal",
            "Objective above its certified optimum, over time",
            Axis("trace.seconds", "solver's time", "s", log=True),
            Axis("trace.excess", "objective above the optimum", "%", 100.0, log=True),
            line="trace.line",
            methods=("equal",),
            heading=EQUAL,
            note="Each over its own pairs. The paper's method is ended after 1,000 steps elsewhere; here it goes on.",
        ),
    )
    theorem = Curves(
        "theorem",
        "Theorem 4: distance of the two risks, by rows",
        N_ROWS,
        Axis("trace.value", "distance", log=True),
        line="trace.quantity",
        slope=-0.5,
        slope_label="1/√n",
        slope_through=(1000.0, 0.007),
        methods=("theorem",),
        heading="Theorem 4",
        note="1/√n: the rate of the bound's first term. "
        "Left side: full risk of the exact minimiser against drawn risk of the minimiser on 30 landmarks. Drawing "
        "alone: both risks of the exact minimiser. The spectral error of the landmarks is that of the second term.",
    )
    return (*found, theorem) if with_theorem else found
