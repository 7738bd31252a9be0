"""``sbp-kernel-evaluations``: Figure 2, test error against kernel evaluations; Table 1 beside measured slopes."""

from dataclasses import replace

from kernbench.experiments.declare import Axis, Bound, Claim, Curves, Experiment, Method, MetricTable, Scale, Setting
from kernbench.experiments.declare import metrics as m
from kernbench.experiments.papers.sbp.displays import COUNTING, error_curves, run_tables
from kernbench.experiments.papers.sbp.parts import (
    ADULTS,
    COMPLEXITY,
    DIGITS,
    ERRORS,
    HOUR,
    KERNEL_SVC,
    LABELS,
    PAPER,
    PAPER_SETTINGS,
    PEGASOS,
    PERCEPTRON,
    SBP,
    SDCA,
    SMO,
    gaussian,
    quick_settings,
)

# Where the paper has the bound of each solver; that of dual decomposition stands beside SDCA.
BOUNDED = {
    "sbp": "Table 1",
    "sdca": "Table 1",
    "norm-ball-sgd": "Table 1",
    "pegasos": "Theorem D.3",
    "perceptron": "Theorem D.4",
}
LONG_PERCEPTRON = replace(
    PERCEPTRON, name="perceptron-100", label="Perceptron, 100 epochs", params={**PERCEPTRON.params, "epochs": 100}
)
BOUNDS = Method(
    "bounds", "evaluations against accuracy", KERNEL_SVC, {"solvers": tuple(BOUNDED), "epochs": 10}, measure=COMPLEXITY
)
SOLVERS = (SBP, PEGASOS, SDCA, SMO, PERCEPTRON, LONG_PERCEPTRON)
ON_ALL = tuple(method.name for method in SOLVERS if method is not LONG_PERCEPTRON)


def _settings(settings, complexity):
    """The Perceptron is run for 100 epochs only on Adult."""
    for setting in settings:
        more = (LONG_PERCEPTRON.name,) if setting.name in ADULTS else ()
        yield replace(setting, methods=ON_ALL + more)
    yield complexity


QUICK = Scale(
    settings=tuple(
        _settings(
            quick_settings(800, 2000),
            Setting(
                "checkerboard-by-size",
                {"name": "checkerboard", "noise": 0.02, "n_train": 2400, "n_test": 4000},
                {**gaussian(0.2, 1.0), "sizes": [75, 150, 300, 600, 1200]},
                note="generated; s² = 0.2, λ = 1/n for the 2,400 rows of the reference (ours)",
                label="checkerboard",
                methods=(BOUNDS.name,),
                repeat_argument="seed",
            ),
        )
    ),
    repeats=1,
    time_limit=120.0,
    memory_limit=4 * 2**30,
)

PAPER_SCALE = Scale(
    settings=tuple(
        _settings(
            PAPER_SETTINGS,
            Setting(
                "adult-by-size",
                {"name": "adult"},
                {**gaussian(10, 1.0), "sizes": [500, 1000, 2000, 4000, 8000, 16_000]},
                note="Table 2 without bias: s² = 10; λ = 1/n for all rows, of which runs have up to 16,000",
                label="Adult",
                methods=(BOUNDS.name,),
            ),
        )
    ),
    repeats=10,
    time_limit=HOUR,
)


def _slopes():
    for name in BOUNDED:
        for what, words in (
            ("slope", "slope"),
            ("low", "from"),
            ("high", "to"),
            ("bound", "the bound's"),
            ("beyond", "slope less the bound's"),
        ):
            place = ("metrics", what, name)
            yield m.number(f"{what}_{name}", f"{LABELS[name]}: {words}", 0.05, place=place)


EXPERIMENT = Experiment(
    name="sbp-kernel-evaluations",
    title="Test error against kernel evaluations",
    paper=f"{PAPER}, Figure 2 and Table 1",
    group="Batch perceptron",
    methods=(*SOLVERS, BOUNDS),
    scales={"quick": QUICK, "paper": PAPER_SCALE},
    metrics=(
        *ERRORS,
        m.points("overfitting", "rise above the least error", 0.05, "higher", place=("metrics", "rise")),
        *_slopes(),
    ),
    claims=(
        *(
            Claim(
                f"SBP's test error is no higher than that of {peer.label} at equal kernel evaluations, on the "
                "average over the curve.",
                "sbp",
                peer.name,
                "curve_error",
                0.0,
            )
            for peer in (PEGASOS, SDCA)
        ),
        *(
            Claim(
                "After n² kernel evaluations, its first epoch, SBP's test error is no higher than that of "
                f"{peer.label}{words}.",
                "sbp",
                peer.name,
                "epoch_error",
                margin,
                datasets=datasets,
            )
            for peer, margin, words, datasets in (
                (PEGASOS, 0.0, "", None),
                (SDCA, 0.0, "", None),
                (PERCEPTRON, 0.005, " by more than half a point", ADULTS),
                # MNIST's errors are half a point themselves.
                (
                    PERCEPTRON,
                    0.001,
                    " by more than a tenth of a point where errors are small; on MNIST the Perceptron has ended its "
                    "ten epochs by then",
                    DIGITS,
                ),
            )
        ),
        Claim(
            "In the end, after ten epochs, SBP's test error on Adult is at least half a point below the Perceptron's.",
            "sbp",
            "perceptron",
            "test_error",
            -0.005,
            datasets=ADULTS,
        ),
        Bound(
            "On Adult the Perceptron's test error ends, after 100 epochs, half a point or more above its least on the "
            "way.",
            "perceptron-100",
            "overfitting",
            0.005,
        ),
        Claim(
            "Before its critical point SMO is bad: after n²/8 evaluations its test error is two points or more "
            "above SBP's.",
            "sbp",
            "smo",
            "early_error",
            -0.02,
            datasets=ADULTS + DIGITS,
        ),
        *(
            Bound(
                f"{LABELS[name]}: evaluations grow no faster with 1/ε than the bound of {place} (0.3 in the power).",
                "bounds",
                f"beyond_{name}",
                0.3,
                fitted=tuple(f"{what}_{name}" for what in ("slope", "low", "high")),
            )
            for name, place in BOUNDED.items()
        ),
    ),
    tables=(
        *run_tables(tuple(method.name for method in SOLVERS)),
        MetricTable(
            "slopes",
            "Table 1: the power of 1/ε with which evaluations grow, measured (with interval) and by the bound at one ε",
            tuple(f"{what}_{name}" for name in BOUNDED for what in ("slope", "low", "high", "bound")),
            methods=(BOUNDS.name,),
            notes=(
                "ε is the hinge loss of the test rows above that of a reference solution on more rows. The "
                "evaluations needed are the least over all numbers of training rows. A bound may be far from "
                "tight: a measured slope below it is no contradiction. One above it need not be either: the "
                "bound has as many rows as it wants, a run has not, and near the least ε that its rows allow "
                "every solver's evaluations shoot up, as the last points of a curve show.",
                "Table 1 has the bounds of SBP, dual decomposition and SGD; those of Pegasos and the Perceptron are "
                "Theorems D.3 and D.4. All count evaluations until the expected 0/1 loss is at most ε above the hinge "
                "loss of a competitor. On Adult a constant prediction is below that, so the hinge loss is measured, "
                "which is never smaller: a slope above a bound does not contradict the theorem. Models of all but "
                "SDCA are taken at the multiple of their coefficients with the least objective on the training rows. "
                "SBP is given the weight of the norm here, as the others are, not the ν of Figure 2: it retunes its "
                "slack budget as it goes, and weights iterate t by t² in its average, which is plain in the paper and "
                "in the curves.",
            ),
        ),
    ),
    figures=(
        error_curves("test-error", "Test error against kernel evaluations", "kernel evaluations / n²"),
        Curves(
            "complexity",
            "Kernel evaluations needed, against accuracy",
            Axis("trace.accuracy", "1/ε", log=True),
            Axis("trace.evaluations", "kernel evaluations", log=True),
            line="trace.kind",
            panel="trace.solver",
            rates=True,
            methods=(BOUNDS.name,),
            heading="Table 1: evaluations against accuracy",
            note="ε: the test rows' hinge loss above the reference's. The bound of dual decomposition stands beside "
            "SDCA. Only the slope of a bound means anything; its constant is chosen so that both begin at one point.",
        ),
    ),
    threads=1,
    differs="The paper averages 10 runs without saying what they share; here there are 10 repeats on the same "
    "rows, of at most 60 minutes each, and Table 1 is measured on up to 16,000 rows.",
    note=f"{COUNTING} No intercept, ten epochs of n iterations. Curves are compared at points that are equally "
    "spaced in the logarithm of evaluations, from n²/100 to 10 n²; a solver keeps its last model between two "
    "points, and its final one to the end. An epoch of SBP takes n² evaluations, one of the Perceptron as many as it "
    "has support vectors for each row: on MNIST its ten epochs end before n². The Perceptron's model is its last "
    "iterate, whose test error on Adult fluctuates by points from one to the next: that it ends above its least on the "
    "way shows that it does not settle, not that it overfits. On MNIST SBP, Pegasos, SDCA and SMO are within 0.03 "
    "points of each other from n² on, less than the standard error of such an error on 10,000 test images, 0.08 "
    "points. The minimum of the objective itself, by SMO, errs by 0.57 %, more than the Perceptron's 0.52 %, which "
    "is not regularised. The two points that the claim asks SMO to be above SBP after n²/8 evaluations are many where "
    "errors are this small: it is 1.1 points above.",
)
