"""``distributed``: one linear ranking over an array, over files, and over the workers of a cluster on this machine."""

from kernbench.experiments.declare import (
    Axis,
    Bound,
    CrossTable,
    Experiment,
    Marks,
    Method,
    MetricTable,
    Scale,
    Setting,
)
from kernbench.experiments.declare import metrics as m

HERE = "kernbench.experiments.ours.distributed"
ROC_SVC = "kernbench.estimators:ROCSVC"
DASK = {"requires": "distributed", "package": "distributed"}
DASK_ML = {"requires": "dask_ml", "package": "dask-ml", "measure": f"{HERE}.measuring:measure_peer"}
F32 = {"input_dtype": "float32", "dense_input": True}
OURS = {"seed_param": "random_state", **F32}  # the preconditioner is made from drawn rows


def place(where, **more):
    """The parameters of a method that is measured there."""
    return {"place": {"where": where, **more}}


METHODS = (
    Method("array", "one array", ROC_SVC, place("array"), **OURS),
    Method("files", "files", ROC_SVC, place("files"), **OURS),
    Method("one-worker", "one worker", ROC_SVC, place("workers", workers=1), **OURS, **DASK),
    Method("two-workers", "two workers", ROC_SVC, place("workers", workers=2), **OURS, **DASK),
    Method("logistic", "dask-ml, logistic", f"{HERE}.peers:Logistic", place("workers", workers=2), **F32, **DASK_ML),
    Method(
        "incremental",
        "dask-ml, SGD in one pass",
        f"{HERE}.peers:StochasticGradient",
        place("workers", workers=2),
        **F32,
        **DASK_ML,
    ),
)
BLOCKS = ("files", "one-worker", "two-workers")
EXACT = 1 + 1e-9  # of the objective


QUICK = ("array", "files", "two-workers")  # to start workers takes longer than the fits


def setting(n_train, n_test, n_features, methods=None):
    """Generated rows of which two columns tell."""
    arguments = {"name": "roc-linear", "n_train": n_train, "n_test": n_test, "n_features": n_features}
    return Setting(
        "linear",
        arguments,
        {"alpha": 1e-4},
        note="generated: two columns tell",
        repeat_argument="seed",
        methods=methods,
    )


EXPERIMENT = Experiment(
    name="distributed",
    title="Rows in files and on workers: the fit of one array",
    paper="Ours",
    methods=METHODS,
    scales={
        "quick": Scale((setting(40_000, 5_000, 10, QUICK),), repeats=1, time_limit=120.0),
        "paper": Scale((setting(4_000_000, 100_000, 50),), repeats=3, time_limit=3600.0),
    },
    metrics=(
        m.FIT_SECONDS,
        m.number("objective", "objective", 1e-9),
        m.AUC,
        m.N_ITER,
        m.number("passes", "passes over the rows", 0.1, deterministic=True),
        m.megabytes("bytes_sent", "sent to the workers", ("metrics", "bytes_sent")),
        m.megabytes("bytes_received", "received from them", ("metrics", "bytes_received")),
        m.PEAK_MEMORY,
    ),
    claims=tuple(
        Bound(
            f"The objective over {words} is at most that of one array, to 10⁻⁹.",
            name,
            "objective",
            EXACT,
            baseline="array",
        )
        for name, words in (("files", "files"), ("one-worker", "one worker"), ("two-workers", "two workers"))
    )
    + (
        Bound(
            "Two workers take at most one and a half times the time of one array on as many cores.",
            "two-workers",
            "fit_seconds",
            1.5,
            baseline="array",
        ),
    ),
    measure=f"{HERE}.measuring:measure",
    tables=(
        CrossTable("time", "Time of a fit", "fit_seconds"),
        MetricTable(
            "runs",
            "What each took",
            ("fit_seconds", "objective", "auc", "n_iter", "passes", "bytes_sent", "bytes_received", "peak_memory"),
        ),
    ),
    figures=(Marks("times", "Time of a fit", Axis("seconds.fit", "fit time", "s", log=True)),),
    threads=2,
    own_data=True,
    note="ROCSVC with the hinge of all pairs, α = 10⁻⁴. Rows are written to files, or sent to the workers, before the "
    "clock starts. Workers are processes of one thread each on the same machine, so they share its cores with the "
    "process that sorts. The peers minimise other losses, and are judged by their AUC.",
)
