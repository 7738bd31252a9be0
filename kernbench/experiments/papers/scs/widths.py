"""``scs-width``: the kernel's width at the paper's λ = 1, which it does not give."""

from dataclasses import replace

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
from kernbench.experiments.papers.scs.accuracy import SIZES, TABLE
from kernbench.experiments.papers.scs.parts import HERE, KERNEL_SVC, OURS, PAPER, PROBLEM, RED_WINES, SMALL

FACTORS = [2.0**k for k in range(-5, 3)]  # by which σ is multiplied; with wider ones only the larger class is predicted
SWEEP = {"factors": FACTORS, "max_iter": 300}
SETS = (*(setting.name for setting in SMALL), RED_WINES.name)

QUICK = Scale(
    settings=(
        Setting(
            "breast-cancer",
            {"name": "breast-cancer", "test_fraction": 1.0 - 500 / 569},
            SWEEP,
            note="500 training rows, as in the paper, and 69 test rows. It comes with scikit-learn.",
            repeat_argument="split_seed",
        ),
    ),
    repeats=1,
    time_limit=60.0,
    memory_limit=2 * 2**30,
)
PAPER_SCALE = Scale(
    settings=tuple(replace(setting, params=SWEEP) for setting in (*SMALL, RED_WINES)), repeats=20, time_limit=3600.0
)


def _claims():
    for dataset in SETS:
        accuracy = TABLE[dataset][2][0]
        for metric, words in (("accuracy_validated", "the width that is best on held-out rows"), ("best", "any width")):
            yield Bound(
                f"At λ = 1 the optimum at {words} reaches the paper's accuracy on {dataset}: {100 * accuracy:g} %.",
                "width",
                metric,
                accuracy,
                datasets=(dataset,),
            )
    yield Bound("SCS is as accurate as the optimum at every width, to half a point.", "width", "scs_loses", 0.005)


EXPERIMENT = Experiment(
    name="scs-width",
    title="Stochastic conjugate subgradients: the kernel's width at λ = 1",
    paper=f"{PAPER}, Table 1",
    group="Conjugate subgradients",
    methods=(
        Method("width", "width of the kernel, λ = 1", KERNEL_SVC, {**PROBLEM, "alpha": 1.0}, seed_param="random_state"),
    ),
    scales={"quick": QUICK, "paper": PAPER_SCALE},
    metrics=(
        m.percent("accuracy_validated", "accuracy at the validated width", 1e-2, "higher"),
        m.percent("accuracy_here", "accuracy at the width of scs-accuracy", 1e-2, "higher"),
        m.percent("best", "highest accuracy at any width", 1e-2, "higher"),
        m.number("best_factor", "that width over the width of scs-accuracy"),
        m.number("validated_factor", "validated width over the width of scs-accuracy"),
        m.points("scs_loses", "accuracy SCS loses to the optimum, at most"),
    ),
    claims=tuple(_claims()),
    paper_numbers=tuple(PaperNumber(name, "width", "accuracy_validated", TABLE[name][2][0]) for name in SETS),
    paper_data=tuple(
        PaperData(name, f"{SIZES[name][0]:,} training rows × {SIZES[name][1]:,} columns", SIZES[name][2])
        for name in SETS
    ),
    measure=f"{HERE}.width:measure",
    tables=(
        MetricTable(
            "widths",
            "Accuracy at λ = 1 by the kernel's width",
            (
                Quantity("accuracy_validated", "paper", label="paper: accuracy (%)"),  # it gives no width
                "accuracy_validated",
                "accuracy_here",
                "best",
                "best_factor",
                "validated_factor",
                "scs_loses",
            ),
            notes=(
                "Highest at any width: chosen on the test rows themselves, so that it is what a width could give at "
                "best. Validated: best on a quarter of the training rows, held out.",
            ),
        ),
    ),
    figures=(
        Curves(
            "widths",
            "Accuracy at λ = 1, by the kernel's width",
            Axis("trace.factor", "width over that of scs-accuracy", log=True),
            Axis("trace.accuracy", "accuracy", "%", 100.0),
            line="trace.line",
            panel="dataset",
            shared_y=False,
        ),
    ),
    threads=1,
    differs="The paper gives no width; here there are 20 repeats of at most 60 minutes with 8 factors of the "
    "width from 0.03125 to 4, all at the paper's λ = 1.",
    note="The paper gives no width; scs-accuracy takes exp(-‖x − z‖²/p) of p standardised columns. Here σ is "
    "1/32 to 4 times as large, in powers of two, over 20 repeats, at the paper's λ = 1, where the optimum is the "
    "Parzen window classifier at every width, without any algorithm, and SCS runs for at most 300 iterations. The "
    "verdict: the width is why the paper's numbers are missed at λ = 1. With a σ of 1/8 to 1/4, chosen on held-out "
    "rows, the formula itself beats them on avila, magic, occupancy and the red wines, and on breast-cancer "
    "comes within a point; on all wines (86 %) and heart-failure (83.3 %) no width reaches them. SCS keeps at most "
    "2,000 rows: of more, on magic and occupancy, it is the formula on a sample and loses accuracy where σ is narrow. "
    f"{OURS} No intercept. One thread.",
)
