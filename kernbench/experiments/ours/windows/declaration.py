"""``pauc-map``: the map itself, by how wrong the linear model is."""

from kernbench.experiments.declare import Axis, Bound, Experiment, HeatMap, Method, MetricTable, Scale, Setting
from kernbench.experiments.declare import metrics as m

HERE = "kernbench.experiments.ours.windows"
LEVELS = {"right": 0.0, "wrong": 1.0, "very-wrong": 2.0}
LABELS = {"right": "logistic regression is right", "wrong": "negatives 1 away, both sides", "very-wrong": "2 away"}
PANELS = {
    "right": "where a logistic regression is right",
    "wrong": "negatives on both sides of the positives, one standard deviation away",
    "very-wrong": "negatives on both sides of the positives, two standard deviations away",
}


def _settings(levels, n_test, *, positives, **params):
    # The table of the data counts the rows that all fits share: those to test on.
    note = f"generated; each fit draws its own training rows, {positives[0]:,} to {positives[-1]:,} positives and ten "
    note += "negatives for each"
    for name in levels:
        yield Setting(
            name,
            {"misspecification": LEVELS[name], "n_test": n_test},
            {"positives": positives, **params},
            loader=f"{HERE}.data:load_rows",
            kind="generated",
            label=LABELS[name],
            note=note,
            repeat_argument="seed",
        )


QUICK = _settings(("wrong",), 2200, positives=[30, 100], ends=[0.1], alphas=[1e-2, 1e-4], n_seeds=3)
PAPER = _settings(
    LEVELS,
    44_000,
    positives=[30, 100, 300, 1000],
    ends=[0.02, 0.05, 0.1, 0.3, 1.0],
    alphas=[1e-1, 1e-2, 1e-3, 1e-4],
    n_seeds=20,
)

EXPERIMENT = Experiment(
    name="pauc-map",
    title="When a window beats logistic regression",
    paper="not in the papers",
    group="Ours",
    methods=(Method("difference", "window less logistic regression", "kernbench:PartialAUCClassifier"),),
    scales={"quick": Scale(tuple(QUICK), 1, 60.0, 2 * 2**30), "paper": Scale(tuple(PAPER), 1, 3600.0)},
    metrics=(
        m.number("wins", "places won"),
        m.number("losses", "places lost"),
        m.number("places", "places"),
        m.points("largest", "largest difference", 1e-3, "higher"),
        m.points("least", "least difference", 1e-3, "higher"),
    ),
    claims=(
        Bound(
            "Where a logistic regression is right, the window wins no more places than chance may give (2 of 20).",
            "difference",
            "wins",
            2.0,
            datasets=("right",),
        ),
    ),  # fmt: skip
    measure=f"{HERE}.runs:measure",
    tables=(
        MetricTable(
            "places",
            "Places of the map where the 95 % interval over seeds excludes 0",
            ("wins", "losses", "places", "largest", "least"),
        ),
    ),
    figures=tuple(
        HeatMap(
            f"map-{name}",
            f"Partial AUC × 100, window less logistic regression, {PANELS[name]}",
            Axis("trace.difference", "difference", "points", 100.0),
            row="trace.positives",
            column="trace.range",
            datasets=(name,),
            note="Rows: training positives; columns: range of false positive rates. Ten negatives for each positive.",
        )
        for name in LEVELS
    ),
    threads=1,
    own_data=True,
    note="Normal rows of ten columns; along one, 15 % of the negatives lie on one side of the positives and the "
    "others on the other, so that no linear model is right; at a distance of 0 a logistic regression is. In the "
    "mean of the repeats the window is ahead over [0, 0.1] and [0, 0.3] where no linear model is right, by 0.2 to 0.6 "
    "points with 30 positives, by less with more and by next to nothing with 1,000; over [0, 0.02] it is behind, by "
    "three to five points with 30 positives, except with 1,000 positives and a distance of 2; where a logistic "
    "regression is right it gains 0.13 points or less in the median. A very narrow range can make f = 0 the least "
    "loss. Both models are linear, choose α among the same values on the same validation rows by the partial AUC of "
    "the range, and are judged by it on 44,000 fresh rows; differences are paired over 20 seeds, with intervals by "
    "Student's t. One thread.",
)
