"""``peers-svm``: problems with a share nu, at equal nu, with the same rules as classification and regression."""

from dataclasses import replace

from kernbench.experiments.declare import Axis, Bound, CrossTable, Marks, Method, MetricTable, Setting
from kernbench.experiments.declare.entrants import ZERO_CLASSIFIER, ZERO_REGRESSOR

HERE = "kernbench.experiments.ours.svm_peers"
CLASSES, REGRESSION = f"{HERE}.fits_of_shares:classification", f"{HERE}.fits_of_shares:regression"
RBF = {"kernel": "rbf"}
SEEDED = {"seed_param": "random_state"}
INTELEX = {"requires": "sklearnex", "package": "scikit-learn-intelex"}


def _race(prefix, theirs, ours, measure, zero):
    """The methods of a race: two of LIBSVM, scikit-learn-intelex's, ours and the zero model."""
    return tuple(
        replace(method, name=f"{prefix}-{method.name}", measure=measure)
        for method in (
            Method("libsvm", f"LIBSVM (scikit-learn {theirs})", f"sklearn.svm:{theirs}", RBF),
            Method(
                "libsvm-tuned", f"LIBSVM {theirs}, 2 GB cache", f"sklearn.svm:{theirs}", {**RBF, "cache_size": 2000}
            ),
            Method(
                "intelex",
                f"scikit-learn-intelex {theirs}",
                f"sklearnex.svm:{theirs}",
                {**RBF, "cache_size": 4000},
                **INTELEX,
            ),
            Method("ours", ours, f"kernbench.estimators:{ours}", RBF, **SEEDED),
            zero,
        )
    )


CLASSIFIERS = _race(
    "nu-svc", "NuSVC", "KernelNuSVC", CLASSES, replace(ZERO_CLASSIFIER, params={"fit_intercept": False})
)
REGRESSORS = _race(
    "nu-svr", "NuSVR", "KernelNuSVR", REGRESSION, replace(ZERO_REGRESSOR, params={"loss": "absolute_error"})
)
METHODS = (*CLASSIFIERS, *REGRESSORS)


def _names(methods, is_quick):
    """The names of methods; at quick scale without the larger cache, which makes no difference there."""
    return tuple(method.name for method in methods if not (is_quick and "tuned" in method.name))


def _setting(data, methods, params, note, *, is_quick=False, **arguments):
    words = ", ".join(f"{symbol} = {params[name]:g}" for name, symbol in SYMBOLS.items() if name in params)
    return Setting(
        f"{data}-nu",
        {"name": data, **arguments},
        params,
        methods=_names(methods, is_quick),
        note=f"{note}; {words}",
        repeat_argument="seed" if data.endswith("-like") else None,
    )


SYMBOLS = {"gamma": "γ", "nu": "ν", "C": "C"}
OF_CLASSES, OF_NUMBERS = {"gamma": 0.05, "nu": 0.3}, {"gamma": 0.08, "nu": 0.5, "C": 1.0}
CPU_NOTE = "a regression with a share ν, generated data of CPU-small's shape"
QUICK_SETTINGS = (
    _setting(
        "adult-like",
        CLASSIFIERS,
        OF_CLASSES,
        "classes with a share ν, generated data of Adult's shape",
        is_quick=True,
        n_train=1500,
        n_test=1000,
    ),
    _setting("cpu-small-like", REGRESSORS, OF_NUMBERS, CPU_NOTE, is_quick=True, n_train=1000, n_test=500),
)
PAPER_SETTINGS = (
    _setting("adult", CLASSIFIERS, OF_CLASSES, "Adult, with a share ν"),
    _setting("cpu-small-like", REGRESSORS, OF_NUMBERS, CPU_NOTE, n_train=6554, n_test=1638),
)
OF_RACE = (
    ("nu-svc", "NuSVC", _names(CLASSIFIERS, False), ("adult-like-nu", "adult-nu"), "test_error"),
    ("nu-svr", "NuSVR", _names(REGRESSORS, False), ("cpu-small-like-nu",), "rmse"),
)
TABLES = tuple(
    table
    for name, theirs, methods, datasets, error in OF_RACE
    for table in (
        MetricTable(
            name,
            f"{theirs}: what each reached, and what it took",
            ("fit_seconds", "predict_seconds", error, "objective", "relative_gap", "n_support"),
            methods=methods,
            datasets=datasets,
            notes=(
                "The zero model is f = 0: whoever is not below its objective has not solved the problem. The gap is to "
                "a lower bound from LIBSVM's dual variables at tol = 10⁻⁵. Of two classes a decision function is "
                "judged at its best multiple, since libraries divide it by the level ρ.",
            ),
        ),
        CrossTable(
            f"{name}-ratio",
            f"Time of a fit over {theirs}'s",
            "fit_seconds",
            baseline=f"{name}-libsvm",
            methods=methods[1:],
            datasets=datasets,
        ),
    )
)
FIGURES = tuple(
    Marks(
        f"{name}-times",
        f"Time of a fit, {theirs}",
        Axis("seconds.fit", "fit time", "s", log=True),
        methods=methods,
        datasets=datasets,
        heading="Time",
    )
    for name, theirs, methods, datasets, _ in OF_RACE
)
CLAIMS = tuple(
    claim
    for name, theirs, _, datasets, _ in OF_RACE
    for claim in (
        Bound(
            f"Our solution of {theirs}'s problem is within 10⁻³ of the optimum.", f"{name}-ours", "relative_gap", 1e-3
        ),
        Bound(
            f"Our solution of {theirs}'s problem takes at most half of {theirs}'s time.",
            f"{name}-ours",
            "fit_seconds",
            0.5,
            baseline=f"{name}-libsvm",
            datasets=datasets,
        ),
    )
)
