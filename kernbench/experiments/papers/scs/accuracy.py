"""``scs-accuracy``: Table 1 of Zhang and Sen, ten data sets, at the paper's λ = 1 and at a validated λ."""

from dataclasses import replace

from kernbench.experiments.declare import (
    Axis,
    Bound,
    Claim,
    CrossTable,
    Curves,
    Experiment,
    Marks,
    Method,
    MetricTable,
    PaperData,
    PaperNumber,
    Recommendation,
    Scale,
    Setting,
)
from kernbench.experiments.declare.entrants import TRIMMED, on_landmarks
from kernbench.experiments.papers.scs.parts import (
    CLASSIFY,
    EVALUATE,
    FLATNESS,
    KERNEL_SVC,
    METRICS,
    OURS,
    PAPER,
    PROBLEM,
    RED_WINES,
    SMALL,
    method,
    real,
    stand_in,
)

# Accuracy and training seconds, by set: Wolfe, Pegasos, SCS. None: N/A in the paper.
TABLE = {
    "heart-failure": ((0.833, 1.48), (0.833, 0.75), (0.833, 6.12)),
    "breast-cancer": ((0.97, 2.28), (0.95, 1.14), (0.97, 4.92)),
    "wine-quality": ((0.87, 4.19), (0.855, 3.93), (0.86, 12.49)),
    "wine-quality-red": ((0.87, 4.19), (0.855, 3.93), (0.86, 12.49)),  # the same row, read the other way
    "avila": ((0.726, 32.97), (0.714, 5.60), (0.718, 38.26)),
    "magic": (None, (0.735, 25.99), (0.74, 33.25)),
    "occupancy": (None, (0.974, 56.54), (0.976, 39.88)),
    "swarm-stand-in": (None, (0.805, 67.61), (0.9, 13.38)),
    "miniboone-stand-in": (None, (0.79, 145.86), (0.81, 39.57)),
    "skin": (None, (0.93, 176.45), (0.97, 19.68)),
    "hepmass-stand-in": (None, (0.83, 3762.89), (0.87, 42.69)),
}
# Training rows and columns that the paper prints; of two sets it has columns that are not among the published features.
SIZES = {
    "heart-failure": (273, 13, True),
    "breast-cancer": (500, 30, False),
    "wine-quality": (680, 11, False),
    "wine-quality-red": (680, 11, False),
    "avila": (2000, 10, False),
    "magic": (5000, 10, False),
    "occupancy": (7500, 18, True),
    "swarm-stand-in": (20_000, 2400, False),
    "miniboone-stand-in": (120_000, 50, False),
    "skin": (200_000, 3, False),
    "hepmass-stand-in": (3_500_000, 28, False),
}
SETS = ("breast-cancer", "magic-stand-in", *(name for name in TABLE if name != "breast-cancer"))  # not "growing"
REAL = tuple(name for name in TABLE if not name.endswith("stand-in"))
TRIED = [1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6]
ONE = {"alpha": 1.0}
VALIDATED = {"search": {"alphas": TRIED, "max_rows": 4000}}
SOLVERS = {
    "wolfe": ("Wolfe", {"solver": "wolfe", "max_iter": 300}),
    # The paper does not say how long Pegasos ran: five passes.
    "pegasos": ("Pegasos", {"solver": "pegasos", "tol": 1e-9, "passes": 5}),
    "scs": ("SCS", {"solver": "scs", "max_iter": 300}),
    "smo": ("SMO (exact)", {"solver": "smo", "cache_size": 2000}),
}


def _both(name):
    label, params = SOLVERS[name]
    seed = None if name in ("smo", "wolfe") else "random_state"
    yield method(name, f"{label}, λ = 1", seed_param=seed, **params, **ONE)
    yield method(f"{name}-validated", f"{label}, λ validated", seed_param=seed, **params, **VALIDATED)


METHODS = (
    *(found for name in SOLVERS for found in _both(name)),
    Method("nystroem-validated", "Nyström 300 + LinearSVC, λ validated",
           "kernbench.experiments.measure.landmarks:NystroemSVC", {**PROBLEM, **VALIDATED}, seed_param="random_state",
           model="LinearSVC", code=on_landmarks('LinearSVC("hinge")')),
    Method("doubly-validated", "doubly stochastic, λ validated", "kernbench.estimators:DoublyStochasticClassifier",
           {"kernel": "rbf", "gamma": "auto", "loss": "hinge", **VALIDATED}, seed_param="random_state"),
    method("closed-form", "closed form w/(λm), λ = 1", solver="closed-form", seed_param=None, **ONE),
    Method(
        "majority", "the larger class, always", "sklearn.dummy:DummyClassifier", {"strategy": "most_frequent"}
    ),
    Method(
        "scs-growing",
        "SCS, λ = 0.01, more and more rows",
        KERNEL_SVC,
        # A stream has no number of rows from which C follows, so λ itself is given.
        {
            **PROBLEM,
            "solver": "scs",
            "max_iter": 100,
            "tol": 1e-9,
            "solver_options": {"alpha": 1e-2, "eps": 0.0},
        },
        seed_param="random_state",
        measure=FLATNESS,
    ),
)  # fmt: skip

COMPARED = tuple(method.name for method in METHODS if method.name != "scs-growing")
ITERATIVE = tuple(name for name in COMPARED if name != "majority")
# The paper has no number of Wolfe's method from 5,000 rows on; here the kernel matrix of 7,500 rows fits.
WITHOUT_WOLFE = tuple(name for name in COMPARED if not name.startswith("wolfe"))
# The paper's conclusion (Remark 4) is about its four largest sets, these and Hepmass, where Pegasos is left out.
LARGEST = ("swarm-stand-in", "miniboone-stand-in", "skin")
# Methods that visit every row many times are infeasible for millions.
SAMPLING = ("scs", "scs-validated", "majority")


def _growing(sizes, **arguments):
    return Setting(
        "growing",
        {"name": "clusters-large", "n_test": 5000, **arguments},
        {"sizes": sizes},
        note="generated, 28 features, float32, a file mapped into memory, of which only the rows that are drawn are "
        "read; fits to more and more of its rows, three times in turn",
        methods=("scs-growing",),
        repeat_argument="seed",
    )


QUICK = Scale(
    settings=(
        Setting(
            "breast-cancer",
            {"name": "breast-cancer", "test_fraction": 1.0 - 500 / 569},
            note="500 training rows, as in the paper, and 69 test rows. It comes with scikit-learn.",
            methods=COMPARED,
            repeat_argument="split_seed",
        ),
        stand_in(
            "magic-stand-in",
            600,
            10,
            2000,
            "magic",
            (
                "scs",
                "scs-validated",
                "smo-validated",
                "nystroem-validated",
                "doubly-validated",
                "closed-form",
                "majority",
            ),
        ),
        _growing([4000, 40_000]),
    ),
    repeats=1,
    time_limit=60.0,
    memory_limit=2 * 2**30,
)

PAPER_SCALE = Scale(
    settings=(
        *(replace(setting, methods=COMPARED) for setting in (*SMALL, RED_WINES)),
        stand_in("swarm-stand-in", 20_000, 2400, 4000, "Swarm Behaviour", WITHOUT_WOLFE),
        stand_in("miniboone-stand-in", 120_000, 50, 10_000, "MiniBooNE", WITHOUT_WOLFE),
        real("skin", 200_000, 245_057, methods=WITHOUT_WOLFE, n_rows=245_057),
        stand_in("hepmass-stand-in", 3_500_000, 28, 100_000, "Hepmass", SAMPLING),
        _growing([20_000, 200_000, 1_000_000, 3_500_000]),
    ),
    repeats=20,
    time_limit=3600.0,
)


def _paper_numbers():
    for dataset, row in TABLE.items():
        for name, entry in zip(("wolfe", "pegasos", "scs"), row, strict=True):
            if entry is not None:
                yield PaperNumber(dataset, name, "accuracy", entry[0])
                yield PaperNumber(dataset, name, "fit_seconds", entry[1])


def _claims():
    for dataset in REAL:
        accuracy = TABLE[dataset][2][0]
        yield Bound(
            f"SCS at a validated λ reaches the paper's accuracy on {dataset}: {100 * accuracy:g} %.",
            "scs-validated",
            "accuracy",
            accuracy,
            datasets=(dataset,),
        )
    yield Claim(
        "On those of the paper's four largest sets on which both run, SCS at λ = 1 is no less accurate than Pegasos, "
        "in no more time.",
        "scs",
        "pegasos",
        "accuracy",
        0.0,
        time_fraction=1.0,
        datasets=LARGEST,
    )
    yield Bound("At λ = 1 the closed form is the optimum, to 10⁻⁶.", "closed-form", "excess", 1e-6)
    yield Bound("At λ = 1 SCS comes within 10⁻³ of the optimum on all training rows.", "scs", "excess", 1e-3)
    yield Claim(
        "A validated λ costs SCS no accuracy against the paper's λ = 1.", "scs-validated", "scs", "accuracy", 0.0
    )
    yield Claim(
        "SCS at a validated λ is within half a point of the exact solution's accuracy at its own λ.",
        "scs-validated",
        "smo-validated",
        "accuracy",
        0.005,
    )
    yield Bound("The time of a fit does not grow with the number of rows (20 %).", "scs-growing", "growth", 1.2)
    yield Bound(
        "A fit to the most rows allocates at most three matrices of its sample of 2,000, and 200 MB.",
        "scs-growing",
        "fit_memory",
        3 * 8 * 2000**2 + 200 * 10**6,
    )


EXPERIMENT = Experiment(
    name="scs-accuracy",
    title="Stochastic conjugate subgradients: accuracy and time",
    paper=f"{PAPER}, Table 1",
    group="Conjugate subgradients",
    optimality="excess",
    methods=METHODS,
    scales={"quick": QUICK, "paper": PAPER_SCALE},
    metrics=METRICS,
    claims=tuple(_claims()),
    paper_numbers=tuple(_paper_numbers()),
    paper_data=tuple(
        PaperData(name, f"{rows:,} training rows × {columns:,} columns", differs)
        for name, (rows, columns, differs) in SIZES.items()
    ),
    measure=CLASSIFY,
    evaluate=EVALUATE,
    tables=(
        CrossTable("accuracy", "Accuracy on the test rows", "accuracy", methods=COMPARED, datasets=SETS),
        CrossTable("time", "Time of a fit, λ being chosen", "fit_seconds", methods=ITERATIVE, datasets=SETS),
        CrossTable(
            "excess",
            "Objective over all training rows, above the certified optimum",
            "excess",
            methods=ITERATIVE,
            datasets=SETS,
            notes=(
                "λ/2·‖f‖² + the mean hinge over all training rows, minus a bound from below that a tightly solved dual "
                "gives. SCS minimises over a sample of at most 2,000 rows, so on more rows the sample itself costs "
                "something. λ differs from column to column. A dash: more than 20,000 training rows, for which the "
                "optimum is not computed, or a model of another kernel.",
            ),
        ),
        MetricTable(
            "effort",
            "Chosen parameters, and cost",
            ("lam", "n_iter", "n_support", "n_kernel_evaluations", "predict_seconds", "search_seconds", "peak_memory"),
            methods=ITERATIVE,
            datasets=SETS,
        ),
        MetricTable(
            "growing",
            "More and more rows",
            ("fit_seconds", "growth", "accuracy", "fit_memory"),
            methods=("scs-growing",),
            datasets=("growing",),
        ),
        Recommendation(
            "a kernel SVM, λ validated",
            "accuracy",
            "smo-validated",
            0.005,
            methods=tuple(method for method in ITERATIVE if method.endswith("-validated")) + ("majority",),
            datasets=tuple(name for name in SETS if name != "hepmass-stand-in"),  # where SCS has no rival
            zero="majority",
            have="labelled rows, and a λ to choose by validation",
            main="KernelSVC",
            left_out=TRIMMED,
        ),
    ),
    figures=(
        *(
            Marks(
                f"{name}-{which}",
                f"{title}, {label}",
                axis,
                methods=tuple(method for method in compared if method.endswith("-validated") == validated),
                heading=heading,
            )
            for name, title, heading, axis, compared in (
                ("accuracies", "Accuracy", "Accuracy", Axis("metrics.accuracy", "accuracy", "%", 100.0), COMPARED),
                ("times", "Time of a fit", "Time", Axis("seconds.fit", "fit time", "s", log=True), ITERATIVE),
            )
            for which, label, validated in (("one", "λ = 1", False), ("validated", "λ validated", True))
        ),
        Curves(
            "growing",
            "SCS, λ = 0.01: time of a fit",
            Axis("trace.n_rows", "training rows", log=True),
            Axis("trace.seconds", "fit time", "s", log=True),
            methods=("scs-growing",),
            y_range=(0.1, 30.0),
            heading="Time and the number of rows",
            note="The sample is capped at 2,000 rows, the run at 100 iterations.",
        ),
    ),
    threads=1,
    warm_up_rows=64,
    differs="The paper gives λ = 1, but no width, split or rule for two classes; here there are 20 repeats of at "
    "most 60 minutes, at λ = 1 and with 7 values of λ from 1 to 1e-06 on held-out rows.",
    note="What λ = 1 means: with a Gaussian kernel every margin of the best function is below 1, all hinges are "
    "active, and the minimiser is known without any algorithm: the Parzen window classifier, Σ y_i k(x_i, x)/(λm). A "
    "method at λ = 1 approximates that formula and can be as accurate as it is; on unbalanced classes the formula "
    "favours the larger one. So every method is run twice: at the paper's λ = 1, and at the λ in {1, "
    "0.1, …, 10⁻⁶} that is best on a quarter of (at most 4,000) training rows held out. The paper gives no kernel "
    "width (here exp(-‖x - z‖²/p) of p standardised columns), no split (here its number of training rows, the rest "
    "tests), no rule for two classes, and no constants. Where SCS at a validated λ misses the paper's accuracy, look "
    "at the exact solution beside it: if that misses it as well, the solver is not the reason. This is the case "
    "on heart-failure and on all wines. Heart-failure has 26 test rows, so one row is 4 points: over 20 splits SCS at "
    "a validated λ has 78.1 % in the mean, 69.2 % at the worst and 92.3 % at the best of them (the exact solution "
    "78.8, 65.4 and 92.3 %); the paper's 83.3 % lies inside. A width validated together with λ, among 1/64 to 8 "
    "times the one here, brings the exact solution to 82.1 % (standard error 1.5; 69.2 to 96.2 %), still not to 83.3 "
    "%, so it is not a setting of its own. On all wines the exact solution has 81.7 % in the mean of 20 splits, "
    "80.3 to 82.8 % (SCS 81.6, 77.5 to 82.8 %), and with such a width 81.9 % (80.9 to 82.8 %, five splits): the "
    "paper's 86 % lies outside. Among the red wines alone 86 % belong to one "
    "class, so these are probably what the paper used. No intercept, as in the paper. "
    f"{OURS} Wolfe's method runs with these defaults, too. The paper has no number of it from 5,000 rows on, since it "
    "needs all of them at once; here it runs on up to 7,500. At λ = 1 and the width here no method is more than a "
    "tenth of a point more accurate than “the larger class, always” on all wines, the red wines and Skin: that SCS is "
    "as accurate as Pegasos there tells nothing. "
    "The paper's conclusion is that SCS is both more accurate and faster than Pegasos "
    "on its four largest sets; of these, the stand-in for Hepmass is without Pegasos, as without all methods that "
    "visit every row many times, since 3.5 million rows are too many for them here. On the "
    "stand-in for MiniBooNE, at λ = 1, SCS has 65 % in the mean of five repeats and is 6 points below Pegasos and the "
    "formula on all rows: it keeps 2,000 of 120,000 rows, and in two of the five ends at its limit of 300 iterations. "
    "Pegasos' last iterate is taken at its best multiple, which lowers its objective and changes no label; "
    "scs-objective has it as published. One thread. Other widths at λ = 1 are in scs-width.",
)
