"""``dsg-cost``: Tables 2 and 3 of Dai et al.: orders of time and memory, measured."""

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
from kernbench.experiments.papers.dsg.parts import CLASSIFIER, HERE, PAPER

KERNEL_SVC = "kernbench.estimators.svm.kernel_svc:KernelSVC"
FIXED = f"{HERE}.peers:FixedFeaturesSVC"
EXACT = {"fit_intercept": False, "tol": 1e-9}
ON_FEATURES = {"rows_per_feature": 8}

METHODS = (
    Method("doubly", "doubly stochastic", CLASSIFIER,
           {"precondition": False, "batch_size": 128, "block_size": 128, "cache_size": 1.0}),
    Method("norma", "NORMA", KERNEL_SVC, {**EXACT, "solver": "norma"}),
    Method("k-sdca", "k-SDCA", KERNEL_SVC, {**EXACT, "solver": "sdca"}),
    Method("r-sdca", "r-SDCA", FIXED, {**ON_FEATURES, "features": "random", "solver": "sdca"}),
    Method("n-sdca", "n-SDCA", FIXED, {**ON_FEATURES, "features": "nystroem", "solver": "sdca"}),
    Method("r-pegasos", "r-Pegasos", FIXED, {**ON_FEATURES, "features": "random", "solver": "pegasos"}),
    Method("n-pegasos", "n-Pegasos", FIXED, {**ON_FEATURES, "features": "nystroem", "solver": "pegasos"}),
    Method("r-sbmd", "r-SBMD", FIXED, {**ON_FEATURES, "features": "random", "solver": "sbmd"}),
)  # fmt: skip
# Table 2, with n = 1/ε up to constants and logarithms: exponents of n and d in time, and in the memory of a model. The
# preprocessing of n-methods is part of their time here; their landmarks, of d numbers each, are not in the table.
ORDERS = {
    "doubly": (2, 1, 1, 1, 0),
    "norma": (2, 1, 1, 1, 1),
    "k-sdca": (2, 1, 1, 1, 1),
    "r-sdca": (2, 1, 1, 1, 0),
    "n-sdca": (3, 1, 1, 1, 0),
    "r-pegasos": (2, 1, 1, 1, 0),
    "n-pegasos": (3, 1, 1, 1, 0),
    "r-sbmd": (2, 1, 1, 1, 0),
}
ROUNDING = 1e-9  # of an exponent that is fitted to equal numbers
EXPONENTS = ("train_n", "train_d", "predict_n", "model_n", "model_d")


def _scale(n, widths, repeats, time_limit):
    return Scale(
        settings=(
            Setting(
                "gaussian-rows",
                {"n_train": n, "n_features": max(widths)},
                {"sizes": [n // 8, n // 4, n // 2, n], "widths": widths},
                loader=f"{HERE}.data:gaussian_rows",
                repeat_argument="seed",
            ),
        ),
        repeats=repeats,
        time_limit=time_limit,
    )


EXPERIMENT = Experiment(
    name="dsg-cost",
    title="Doubly stochastic gradients: what a pass costs",
    paper=f"{PAPER}, Tables 2 and 3",
    group="Doubly stochastic",
    methods=METHODS,
    scales={"quick": _scale(2**12, [16, 64, 256], 1, 60.0), "paper": _scale(2**16, [16, 64, 256, 1024], 3, 3600.0)},
    metrics=(
        m.FIT_SECONDS,
        m.number("train_n", "exponent of rows in the time of a pass", 0.15),
        m.number("work_n", "exponent of rows in feature values or kernel evaluations", 0.01, deterministic=True),
        m.number("train_d", "exponent of columns in the time of a pass", 0.15),
        m.number("predict_n", "exponent of rows in the time of a prediction", 0.15),
        m.number("model_n", "exponent of rows in the bytes of the model", 0.02),
        m.number("model_d", "exponent of columns in the bytes of the model", 0.02),
        m.megabytes("model_bytes", "model", ("metrics", "model_bytes")),
        m.PREDICT_SECONDS,
    ),
    claims=(
        Bound("The features computed in a pass grow at most with the square of the rows.", "doubly", "work_n", 2.0),
        Bound("The model does not grow with the number of columns.", "doubly", "model_d", ROUNDING),
        Bound("The time of a pass grows at most with the square of the rows (to 0.2).", "doubly", "train_n", 2.2),
        Bound("The time of a pass grows at most in proportion to the columns (to 0.1).", "doubly", "train_d", 1.1),
    ),
    paper_data=(PaperData("gaussian-rows", "no data: the orders that it states"),),
    paper_numbers=tuple(
        PaperNumber("gaussian-rows", method, name, float(order))
        for method, orders in ORDERS.items()
        for name, order in zip(EXPONENTS, orders, strict=True)
    ),
    measure=f"{HERE}.runs.cost:measure",
    tables=(
        MetricTable(
            "exponents",
            "Exponents, measured and of Table 2",
            tuple(column for name in EXPONENTS for column in (name, Quantity(name, "paper", label="Table 2"))),
            notes=(
                "A power of n or d fitted to times on a logarithmic scale; small sizes lie below their order, since "
                "fixed costs count. Table 2 has 1/ε for n: the accuracy ε of t iterations is about 1/t, a pass has as "
                "many iterations as rows, and r- and n-methods need about as many features (here n / 8). It counts "
                "neither the d numbers of each of Nyström's landmarks nor, in predictions, the product with the square "
                "matrix of the map. The 3 of the n-methods is of their preprocessing, which is part of their time.",
            ),
        ),
        MetricTable("costs", "A pass over the most rows", ("work_n", "fit_seconds", "predict_seconds", "model_bytes")),
    ),
    figures=(
        Curves(
            "rows",
            "Time of a pass, by rows",
            Axis("trace.n_rows", "rows", log=True),
            Axis("trace.fit", "time of a pass", "s", log=True),
            slope=2.0,
            slope_label="slope 2",
        ),
        Curves(
            "columns",
            "Time of a pass, by columns",
            Axis("trace.n_columns", "columns", log=True),
            Axis("trace.fit_by_columns", "time of a pass", "s", log=True),
            slope=1.0,
            slope_label="slope 1",
        ),
        Curves(
            "model",
            "Size of the model, by rows",
            Axis("trace.n_rows", "rows", log=True),
            Axis("trace.model", "bytes of the model", "MB", 2.0**-20, log=True),
        ),
    ),
    threads=1,
    own_data=True,
    differs="The paper states orders and measures none; here there are 3 repeats of at most 60 minutes on generated "
    "rows, up to 65,536 of up to 1,024 columns.",
    note="Per iteration Table 3 has, for the doubly stochastic method, dt + t + t operations and t numbers in memory, "
    "1/ε iterations; r-SDCA dn + n + n, n, (1/ε) log(1/ε); r-Pegasos dn + n + n, n, 1/ε; r-SBMD dn + n + n/b, n, b/ε; "
    "r-RBCD dn² + n² + n/b, n, log(1/ε), where n is the number of features. Features are computed once here, before "
    "the iterations, and not again in each. Of the tables' methods r-RBCD, n-RBCD and n-SBMD are "
    "not measured. One thread.",
)
