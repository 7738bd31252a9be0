"""``peers-auc``: how well other linear classifiers rank, each with its α by cross-validation."""

from dataclasses import replace

from kernbench.experiments.declare import (
    Axis,
    Claim,
    CrossTable,
    Experiment,
    Marks,
    Method,
    MetricTable,
    OwnFile,
    Recommendation,
    Scale,
    Setting,
)
from kernbench.experiments.declare import metrics as m
from kernbench.experiments.declare.entrants import SEARCHED, ZERO_CLASSIFIER

HERE = "kernbench.experiments.ours.auc_peers"
ROC_SVC = "kernbench.estimators:ROCSVC"
EXACT = {"pairs": "all", "solver": "bundle", "tol": 1e-4}
LINEAR_SVC = "sklearn.svm:LinearSVC"
ALPHAS = [10.0**k for k in range(1, -9, -1)]
SEEDED = {"seed_param": "random_state"}

METHODS = (
    Method("roc-svc", "ROCSVC", ROC_SVC, EXACT, **SEEDED),
    Method("roc-svc-squared", "ROCSVC, squared hinge", ROC_SVC, {"solver": "newton", "tol": 1e-4}, **SEEDED),
    Method(
        "partial-auc",
        "PartialAUCClassifier, the whole range",
        "kernbench:PartialAUCClassifier",
        {"fpr_range": [0.0, 1.0]},
        **SEEDED,
    ),
    Method("auc-margin", "AUCMarginClassifier", "kernbench:AUCMarginClassifier", **SEEDED),
    Method("linear-svc", "LinearSVC (scikit-learn)", LINEAR_SVC, **SEEDED),
    Method(
        "linear-svc-balanced", "LinearSVC, balanced (scikit-learn)", LINEAR_SVC, {"class_weight": "balanced"}, **SEEDED
    ),
    Method("logistic", "LogisticRegression", "sklearn.linear_model:LogisticRegression", {"max_iter": 1000}),
    Method(
        "roc-svc-same-time", "ROCSVC, same time", ROC_SVC, EXACT, depends_on="linear-svc", budget_fraction=1.0, **SEEDED
    ),
    Method(
        "survival-svm",
        "FastSurvivalSVM",
        f"{HERE}.peers:SurvivalSVM",
        requires="sksurv",
        package="scikit-survival",
        **SEEDED,
    ),
    Method("libauc", "LibAUC, 20 epochs", f"{HERE}.peers:LibAUC", requires="libauc", package="libauc", **SEEDED),
    replace(ZERO_CLASSIFIER, params={"search": None}),
)
DENSE = tuple(method.name for method in METHODS)
SPARSE = tuple(name for name in DENSE if name not in ("survival-svm", "libauc"))

QUICK = Scale(
    settings=(
        Setting(
            "linear",
            {"name": "roc-linear", "n_train": 5000, "n_test": 10_000, "n_features": 10},
            {"search": {"alphas": [1.0, 1e-2, 1e-4], "folds": 3, "max_rows": 2000}},
            note="generated: two informative columns of ten",
            repeat_argument="seed",
        ),
        Setting(
            "rare-words",
            {"name": "sparse-text", "n_train": 4000, "n_test": 10_000, "positive": 0.03},
            {"search": {"alphas": [1.0, 0.1, 0.01], "folds": 3, "max_rows": 2000}},
            note="generated: sparse text, three rows in a hundred positive",
            methods=SPARSE,
            repeat_argument="seed",
        ),
    ),
    repeats=1,
    time_limit=60.0,
    memory_limit=2 * 2**30,
)

SEARCH = {"search": {"alphas": ALPHAS, "folds": 5, "max_rows": 10_000}}

PAPER_SCALE = Scale(
    settings=(
        Setting(
            "linear",
            {"name": "roc-linear", "n_train": 100_000, "n_test": 25_000, "n_features": 20},
            SEARCH,
            note="generated: two informative columns of twenty",
            repeat_argument="seed",
        ),
        Setting("accelerometer", {"name": "accelerometer"}, SEARCH, repeat_argument="split_seed"),
        Setting("bank-marketing", {"name": "bank-marketing-one-hot"}, SEARCH, repeat_argument="split_seed"),
        Setting("skin", {"name": "skin"}, SEARCH, repeat_argument="split_seed"),
    ),
    repeats=10,
    time_limit=1800.0,
)

EXPERIMENT = Experiment(
    name="peers-auc",
    title="Ranking by linear classifiers: pairs against rows",
    paper="Ours",
    methods=METHODS,
    scales={"quick": QUICK, "paper": PAPER_SCALE},
    metrics=m.RANKING,
    claims=(
        Claim("ROCSVC ranks no worse than LinearSVC (half a point of AUC).", "roc-svc", "linear-svc", "auc", 0.005),
        Claim(
            "ROCSVC ranks no worse than LogisticRegression (half a point of AUC).", "roc-svc", "logistic", "auc", 0.005
        ),
        Claim(
            "ROCSVC ranks no worse than LinearSVC in LinearSVC's time (half a point of AUC).",
            "roc-svc-same-time",
            "linear-svc",
            "auc",
            0.005,
            time_fraction=1.0,
            time_slack=0.05,
        ),
        Claim(
            "ROCSVC with the squared hinge ranks no worse than scikit-survival's FastSurvivalSVM (half a "
            "point of AUC), in no more time.",
            "roc-svc-squared",
            "survival-svm",
            "auc",
            0.005,
            time_fraction=1.0,
        ),
    ),
    measure="kernbench.experiments.measure.race:rank",
    evaluate="kernbench.experiments.measure.ranking:ranker",
    tables=(
        CrossTable("auc", "AUC on the test rows", "auc"),
        CrossTable("auc-difference", "AUC less LinearSVC's, in points", "auc", baseline="linear-svc", difference=True),
        CrossTable("time-ratio", "Time of a fit over LinearSVC's", "fit_seconds", baseline="linear-svc"),
        MetricTable("runs", "What each took", ("alpha", "n_iter", "fit_seconds", "search_seconds", "peak_memory")),
        Recommendation(
            "ranking by a linear score",
            "auc",
            "linear-svc",
            0.005,
            models="rank",
            main="ROCSVC",
            left_out=SEARCHED,
            have="a rare class, and want scores that rank (AUC)",
        ),
    ),
    figures=(
        Marks("aucs", "AUC on the test rows", Axis("metrics.auc", "AUC", "%", 100.0)),
        Marks("times", "Time of a fit", Axis("seconds.fit", "fit time", "s", log=True)),
    ),
    threads=1,
    warm_up_rows=64,
    own_data=True,
    newcomers={
        "roc-svm": METHODS[0],
        "linear-svm": Method("linear-svc", "", "kernbench.estimators:LinearSVC", **SEEDED),
    },
    own_file=OwnFile(SEARCH),
    note="LinearSVC and LogisticRegression are scikit-learn's, FastSurvivalSVM (the squared hinge of pairs) is "
    "scikit-survival's, which orders rows of one class at random and ranks them too; LibAUC trains its margin "
    "loss by 20 epochs of batches of 256 with steps of 0.1, which were not tuned. ROCSVC, same time: ended "
    "after the time of LinearSVC's fit. α multiplies ‖w‖²/2 beside a mean of losses, of rows or of pairs; C = "
    "1 / (α n). Each method chooses its α by cross-validation; its time is that of one fit with this α. One "
    "thread. Each repeat draws or splits the data again.",
)
