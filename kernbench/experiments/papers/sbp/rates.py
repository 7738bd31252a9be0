"""``sbp-rates``: Lemma 3.2 beside what is measured, and SIMBA, of which section 4.1 speaks."""

from kernbench.experiments.declare import (
    Axis,
    Bound,
    Curves,
    Experiment,
    Method,
    MetricTable,
    PaperData,
    PaperNumber,
    Quantity,
    Scale,
    Setting,
)
from kernbench.experiments.declare import metrics as m
from kernbench.experiments.papers.sbp.parts import HERE, KERNEL_SVC, PAPER

STEPS = [2**k for k in range(6, 17)]
WORDS = {"distance": "distance to the best level", "slope": "its power of T", "low": "from", "high": "to"}


def _settings(n_train, steps, n_seeds):
    common = {"steps": steps, "n_seeds": n_seeds, "alpha": 1.0 / n_train}
    yield Setting(
        "checkerboard",
        {"name": "checkerboard", "noise": 0.02, "n_train": n_train, "n_test": 10},
        {**common, "kernel": "rbf", "gamma": 2.5},
        note="generated; s² = 0.2, λ = 1/n",
        label="Gaussian, checkerboard",
        repeat_argument="seed",
    )
    yield Setting(
        "linear",
        {"name": "roc-linear", "n_train": n_train, "n_test": 10, "n_features": 20},
        {**common, "kernel": "linear"},
        note="generated; two informative columns of twenty, λ = 1/n",
        label="linear, 20 columns",
        repeat_argument="seed",
    )


EXPERIMENT = Experiment(
    name="sbp-rates",
    title="Batch perceptron: the rate of Lemma 3.2, and SIMBA",
    paper=f"{PAPER}, Lemma 3.2 and section 4.1",
    group="Batch perceptron",
    methods=(Method("rate", "over the steps", KERNEL_SVC, measure=f"{HERE}.lemma:measure"),),
    scales={
        "quick": Scale(tuple(_settings(200, STEPS[:6], 2)), repeats=1, time_limit=60.0, memory_limit=2 * 2**30),
        "paper": Scale(tuple(_settings(2000, STEPS, 10)), repeats=3, time_limit=1800.0),
    },
    metrics=(
        *(
            (m.percent if what == "distance" else m.number)(f"{name}_{what}", f"{label}: {words}", 0.1)
            for name, label in (("sbp", "SBP"), ("simba", "SIMBA"))
            for what, words in WORDS.items()
        ),
        m.percent("sbp_less_simba", "distance, SBP's less SIMBA's", 0.1),
    ),
    claims=(
        Bound(
            "SBP's distance to the best level falls no slower with T than the lemma says: to 0.1, like T^-½.",
            "rate",
            "sbp_slope",
            -0.4,
            fitted=("sbp_slope", "sbp_low", "sbp_high"),
        ),
        Bound(
            "SIMBA's distance falls like that, to logarithms: T^-0.35 or faster.",
            "rate",
            "simba_slope",
            -0.35,
            datasets=("linear",),
            fitted=("simba_slope", "simba_low", "simba_high"),
        ),
        Bound(
            "After equally many steps SBP is nearer to the best level than SIMBA.",
            "rate",
            "sbp_less_simba",
            0.0,
            datasets=("linear",),
        ),
    ),
    paper_data=tuple(PaperData(name, "a rate that it proves, for any data") for name in ("checkerboard", "linear")),
    paper_numbers=tuple(PaperNumber(name, "rate", "sbp_slope", -0.5) for name in ("checkerboard", "linear")),
    tables=(
        MetricTable(
            "rates",
            "The power of the number of steps T with which the distance falls, with 95 % intervals",
            (
                Quantity("sbp_slope", "paper", label="Lemma 3.2"),
                *(f"{name}_{what}" for name in ("sbp", "simba") for what in ("slope", "low", "high", "distance")),
            ),
            notes=("The distance is that of the water level to the best one, relative to it, mean over seeds.",),
        ),
    ),
    figures=(
        Curves(
            "steps",
            "Distance to the best level, over the steps",
            Axis("trace.n_iter", "steps T", log=True),
            Axis("trace.distance", "distance to the best level", "%", 100.0, log=True),
            line="trace.line",
            panel="dataset",
            slope=-0.5,
            slope_label="1/√T, Lemma 3.2",
            large=True,
        ),
        Curves(
            "inner-products",
            "Distance to the best level, over inner products",
            Axis("trace.inner_products", "inner products", log=True),
            Axis("trace.distance", "distance to the best level", "%", 100.0, log=True),
            line="trace.line",
            panel="dataset",
            large=True,
            note="SBP: n a step, as with kernels. SIMBA: (n + 3 d) / d, one row and one column.",
        ),
    ),
    threads=1,
    own_data=True,
    differs="The paper proves the lemma and shows no curve; here there are 3 repeats of at most 30 minutes, each "
    "the mean of 10 seeds, for 11 numbers of steps from 64 to 65536.",
    note="The paper states the lemma and compares with SIMBA in words only. ν is that of the certified minimiser at "
    "λ = 1/n, so that the best level is known. T is 64 to 65,536 over 10 seeds. SIMBA needs features: it "
    "runs on the linear problem, a game of its own for each T. No intercept. One thread.",
)
