"""``peers-svm``: regression and one class, with the same rules as classification.

A new solver of `KernelRegressor` needs a word in `REGRESSION_SOLVERS`; outlier detectors are those of the list of
models.
"""

import re
from dataclasses import replace

from kernbench._models import ESTIMATORS
from kernbench.experiments.declare import Axis, Bound, CrossTable, Marks, Method, MetricTable, Recommendation, Setting
from kernbench.experiments.declare import metrics as m
from kernbench.experiments.declare.entrants import TRIMMED_REGRESSION, ZERO_DETECTOR, ZERO_REGRESSOR, on_landmarks

HERE = "kernbench.experiments.ours.svm_peers"
REGRESSION, NOVELTY = f"{HERE}.fits_of_family:regression", f"{HERE}.fits_of_family:novelty"
LANDMARKS = "kernbench.experiments.measure.landmarks"
KERNEL_REGRESSOR = "kernbench.estimators:KernelRegressor"
LOSS = "epsilon_insensitive"
SVR = {"kernel": "rbf"}
SEEDED = {"seed_param": "random_state"}
REHLINE = {"requires": "rehline", "package": "rehline"}
ROUGH_SOLVERS = ("norma", "pegasos")  # whose error falls slowly


def _with_hyphens(name):
    """A class's name as one types it: ``KernelSVC`` is ``kernel-svc``."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower()


# Of `KernelRegressor`, those that minimise the epsilon-insensitive loss: a test compares them to the registry.
REGRESSION_SOLVERS = ("smo", "sdca", "pegasos", "norma")
REGRESSORS = tuple(
    replace(method, measure=REGRESSION)
    for method in (
        Method("svr-libsvm", "LIBSVM (scikit-learn SVR)", "sklearn.svm:SVR", SVR),
        Method("svr-libsvm-tuned", "LIBSVM SVR, 2 GB cache", "sklearn.svm:SVR", {**SVR, "cache_size": 2000}),
        Method(
            "svr-intelex",
            "scikit-learn-intelex SVR",
            "sklearnex.svm:SVR",
            {**SVR, "cache_size": 4000},
            requires="sklearnex",
            package="scikit-learn-intelex",
        ),
        *(
            Method(
                f"svr-{name}",
                f"KernelRegressor, {name}",
                KERNEL_REGRESSOR,
                {"loss": LOSS, "kernel": "rbf", "solver": name, "tol": 1e-2 if name in ROUGH_SOLVERS else 1e-3},
                **SEEDED,
            )
            for name in REGRESSION_SOLVERS
        ),
        Method("svr-kernel-svr", "KernelSVR", "kernbench.estimators:KernelSVR", SVR, **SEEDED),
        Method(
            "svr-nystroem",
            "Nyström 300 + LinearRegressor",
            f"{LANDMARKS}:NystroemSVR",
            model="LinearRegressor",
            code=on_landmarks('LinearRegressor("epsilon_insensitive")'),
            **SEEDED,
        ),
        Method(
            "svr-liblinear",
            "Nyström 300 + LIBLINEAR's ε-SVR",
            f"{LANDMARKS}:NystroemSVR",
            {"library": "sklearn"},
            code=on_landmarks("LinearSVR(epsilon=0.1, max_iter=10000)", "sklearn.svm"),
            **SEEDED,
        ),
        Method(
            "svr-rehline",
            "Nyström 300 + ReHLine",
            f"{LANDMARKS}:NystroemSVR",
            {"library": "rehline"},
            code=on_landmarks('plq_Ridge_Regressor({"name": "SVR", "epsilon": 0.1})', "rehline"),
            **SEEDED,
            **REHLINE,
        ),
        Method(
            "svr-doubly",
            "doubly stochastic ε-SVR",
            "kernbench.estimators:DoublyStochasticRegressor",
            {"loss": LOSS},
            **SEEDED,
        ),
        replace(ZERO_REGRESSOR, name="svr-zero", params={"loss": LOSS}),
    )
)
DETECTORS = tuple(
    replace(method, measure=NOVELTY)
    for method in (
        Method("one-class-libsvm", "LIBSVM (scikit-learn OneClassSVM)", "sklearn.svm:OneClassSVM", SVR),
        *(
            Method(f"one-class-{_with_hyphens(model.name)}", model.name, model.address, {"kernel": "rbf"}, **SEEDED)
            for model in ESTIMATORS
            if model.task == "novelty"
        ),
        Method("one-class-sgd", "Nyström 300 + SGDOneClassSVM", f"{LANDMARKS}:NystroemOneClass", **SEEDED),
        replace(ZERO_DETECTOR, name="one-class-zero"),
    )
)
REGRESSOR_NAMES = tuple(method.name for method in REGRESSORS)
DETECTOR_NAMES = tuple(method.name for method in DETECTORS)
EXPANSIONS = (
    "svr-libsvm",
    "svr-libsvm-tuned",
    "svr-intelex",
    "svr-kernel-svr",
    *(f"svr-{name}" for name in REGRESSION_SOLVERS),
)


def _regression(name, n_train, n_test, gamma, note, methods=REGRESSOR_NAMES):
    return Setting(
        name,
        {"name": name, "n_train": n_train, "n_test": n_test},
        {"gamma": gamma, "C": 1.0, "epsilon": 0.1},
        methods=methods,
        note=f"{note}; γ = {gamma:g}, C = 1, ε = 0.1",
        repeat_argument="seed",
    )


def _one_class(name, arguments, note, **rest):
    params = {"gamma": 0.05, "nu": 0.1}
    loader = f"{HERE}.fits_of_family:inliers"
    return Setting(name, arguments, params, loader, methods=DETECTOR_NAMES, note=f"{note}; γ = 0.05, ν = 0.1", **rest)


CPU_NOTE = "a regression, generated data of CPU-small's shape, which stand for it"
QUICK_SETTINGS = (
    # The larger cache makes no difference here.
    _regression(
        "cpu-small-like", 1000, 500, 0.08, CPU_NOTE, tuple(name for name in REGRESSOR_NAMES if "tuned" not in name)
    ),
    _one_class(
        "adult-like-one-class",
        {"name": "adult-like", "n_train": 1500, "n_test": 1000},
        "generated data of Adult's shape, trained on the class -1",
        repeat_argument="seed",
    ),
)
PAPER_SETTINGS = (
    _regression("cpu-small-like", 6554, 1638, 0.08, CPU_NOTE),
    _regression("year-like", 20_000, 5000, 0.003, "a regression, generated data of YearPredictionMSD's shape"),
    _one_class("adult-one-class", {"name": "adult"}, "Adult, trained on the class -1"),
)
REGRESSIONS, ONE_CLASS = ("cpu-small-like", "year-like"), ("adult-like-one-class", "adult-one-class")
BELOW_HALF = ("cpu-small-like",)  # where the optimum is, of the zero model's objective; on year-like it is 0.63 of it

METRICS = (
    m.number("rmse", "test error (RMSE)", 0.01),
    m.percent("share_novel", "training rows below the level"),
    m.AUC,
)
BELOW_ZERO = (
    "A zero model is f = 0 with the best constant: whoever is not below its objective has not solved the problem."
)
TABLES = (
    MetricTable(
        "regression",
        "Support vector regression: what each reached, and what it took",
        ("fit_seconds", "predict_seconds", "rmse", "objective", "relative_gap", "n_support", "n_kernel_evaluations"),
        methods=REGRESSOR_NAMES,
        datasets=REGRESSIONS,
        notes=(
            f"{BELOW_ZERO} The gap is to a lower bound from LIBSVM's dual variables at tol = 10⁻⁵, for an intercept "
            "that is chosen with f: one that is fixed beforehand leaves a gap. Methods on features minimise another "
            "objective.",
        ),
    ),
    CrossTable(
        "regression-ratio",
        "Time of a fit over SVR's",
        "fit_seconds",
        baseline="svr-libsvm",
        methods=REGRESSOR_NAMES[1:],
        datasets=REGRESSIONS,
    ),
    Recommendation(
        "support vector regression",
        "rmse",
        "svr-libsvm",
        0.01,
        objective="objective",
        have="numbers to predict, within a tolerance",
        main="KernelRegressor",
        models="regress",
        zero="svr-zero",
        left_out={name: reason for name, reason in TRIMMED_REGRESSION.items() if name != "KernelSVR"},
        methods=REGRESSOR_NAMES,
        datasets=REGRESSIONS,
        name="recommended-regression",
    ),
    MetricTable(
        "one-class",
        "One class: what each reached, and what it took",
        ("fit_seconds", "predict_seconds", "auc", "share_novel", "objective", "relative_gap", "n_support"),
        methods=DETECTOR_NAMES,
        datasets=ONE_CLASS,
        notes=(
            "The objective ν/2 ‖f‖² + mean max(0, τ − f) − ντ of the zero model is 0: whoever is not below it has not "
            "solved the problem. The gap is to a lower bound from LIBSVM's dual variables at tol = 10⁻⁵. A gap "
            "of less than 10⁻⁷, of either sign, is rounding in the scores. AUC: of low "
            "scores for the class +1, which was not trained on. Methods on features minimise another objective.",
        ),
    ),
    CrossTable(
        "one-class-ratio",
        "Time of a fit over OneClassSVM's",
        "fit_seconds",
        baseline="one-class-libsvm",
        methods=DETECTOR_NAMES[1:],
        datasets=ONE_CLASS,
    ),
)
FIGURES = tuple(
    Marks(
        name, title, Axis("seconds.fit", "fit time", "s", log=True), methods=methods, datasets=datasets, heading="Time"
    )
    for name, title, methods, datasets in (
        ("regression-times", "Time of a fit, regression", REGRESSOR_NAMES, REGRESSIONS),
        ("one-class-times", "Time of a fit, one class", DETECTOR_NAMES, ONE_CLASS),
    )
)
CLAIMS = (
    *(
        Bound(
            f"KernelRegressor(solver={name!r}) is below half of the zero model's objective where the optimum is.",
            f"svr-{name}",
            "objective",
            0.5,
            baseline="svr-zero",
            datasets=BELOW_HALF,
        )
        for name in REGRESSION_SOLVERS
    ),
    Bound("SMO's solution of regression is within 10⁻³ of the optimum.", "svr-smo", "relative_gap", 1e-3),
    Bound("SDCA's objective of regression is within 1 % of the optimum.", "svr-sdca", "relative_gap", 0.01),
    Bound(
        "SMO takes at most half of the time of scikit-learn's SVR.",
        "svr-smo",
        "fit_seconds",
        0.5,
        baseline="svr-libsvm",
        datasets=REGRESSIONS,
    ),
)
