"""``sbp-libsvm``: the stochastic batch perceptron against LIBSVM, at a quarter of LIBSVM's time.

Cotter, Shalev-Shwartz and Srebro (ICML 2012), section 5, the paragraph on run time. Table 2 gives the
variance s² of the Gaussian kernel and λ; LIBSVM's parameters are γ = 1/(2 s²) and C = 1/(λ n).
"""

from kernbench.experiments.declare import Claim, Experiment, Method, Metric, PaperNumber, Scale, Setting

QUARTER = 0.25
# Of LIBSVM's time: set-up and the final certificate, outside the solver's clock, fit into the quarter. The
# certificate takes f of all training rows: a second on Adult, where LIBSVM takes half a minute or one.
BUDGET = 0.22
HOUR = 3600.0
KERNEL_SVC = "kernbench.estimators.svm.kernel_svc:KernelSVC"
SKLEARN_SVC = "sklearn.svm:SVC"


def _gaussian(variance, C):
    """Estimator parameters for the paper's s² = `variance` and λ = 1/(C n)."""
    return {"kernel": "rbf", "gamma": 0.5 / variance, "C": C}


METHODS = (
    Method("libsvm", "LIBSVM (scikit-learn SVC)", SKLEARN_SVC),
    Method("libsvm-tuned", "LIBSVM, 2 GB cache", SKLEARN_SVC, {"cache_size": 2000}),
    Method(
        "sbp-quarter",
        "SBP, ¼ of LIBSVM's time",
        KERNEL_SVC,
        {"solver": "sbp"},
        traced=True,
        seed_param="random_state",
        depends_on="libsvm",
        budget_fraction=BUDGET,
    ),
    Method(
        "smo-quarter",
        "SMO, ¼ of LIBSVM's time",
        KERNEL_SVC,
        {"solver": "smo"},
        traced=True,
        seed_param="random_state",
        depends_on="libsvm",
        budget_fraction=BUDGET,
    ),
    Method("sbp-converged", "SBP", KERNEL_SVC, {"solver": "sbp"}, traced=True, seed_param="random_state"),
    Method("smo-converged", "SMO", KERNEL_SVC, {"solver": "smo"}, traced=True, seed_param="random_state"),
    Method(
        "intelex-f32",
        "scikit-learn-intelex, float32",
        "sklearnex.svm:SVC",
        input_dtype="float32",
        dense_input=True,
        requires="sklearnex",
        package="scikit-learn-intelex",
    ),
)

QUICK = Scale(
    settings=(
        Setting(
            "adult-like",
            {"name": "adult-like", "n_train": 4000},
            _gaussian(100, 100.0),
            stands_for="adult",
            note="generated data of Adult's shape and size of features, not Adult; the paper's parameters",
        ),
        Setting(
            "checkerboard",
            {"name": "checkerboard", "n_train": 4000},
            {"kernel": "rbf", "gamma": 5.0, "C": 10.0},
            note="generated; not in the paper: a smooth, noisy problem in two dimensions",
        ),
    ),
    repeats=1,
    time_limit=120.0,
    memory_limit=4 * 2**30,
)

PAPER = Scale(
    settings=(
        Setting(
            "adult",
            {"name": "adult"},
            _gaussian(100, 100.0),
            note="Table 2 with bias: s² = 100, λ = 1/(100 n). The public file a9a has 32,561 + 16,281 rows; "
            "the paper prints 31,562 + 16,282",
        ),
        Setting(
            "adult-narrow",
            {"name": "adult"},
            _gaussian(10, 1.0),
            note="the no-bias row of Table 2 (s² = 10, λ = 1/n), with a bias here; the paper gives no time",
        ),
        Setting(
            "mnist-8-vs-rest",
            {"name": "mnist-8-vs-rest"},
            _gaussian(25, 1000.0),
            optional=True,
            note="Table 2 with bias: s² = 25, λ = 1/(1000 n), pixels in [0, 1]",
        ),
        Setting(
            "covtype",
            {"name": "covtype", "n_train": 50_000, "standardise": False},
            _gaussian(5000, 10_000.0),
            optional=True,
            stands_for="forest",
            note="SUBSET: 50,000 of the paper's 522,910 training rows, class 2 against the rest, raw "
            "features with Table 2's s² = 5000 and C = 10,000, thus λ = 1/(10000 n)",
        ),
        Setting(
            "forest",
            {"name": "covtype", "standardise": False},
            _gaussian(5000, 10_000.0),
            optional=True,
            note="all rows, class 2 against the rest, raw features; Table 2: s² = 5000, λ = 1/(10000 n). "
            "Hours for SMO, many for LIBSVM and for ten epochs of SBP: give --time-limit",
        ),
    ),
    repeats=3,
    time_limit=4 * HOUR,
    memory_limit=None,
)


def _paper_row(dataset, libsvm_error, libsvm_seconds, sbp_error):
    return (
        PaperNumber(dataset, "libsvm", "test_error", libsvm_error),
        PaperNumber(dataset, "libsvm", "fit_seconds", libsvm_seconds),
        PaperNumber(dataset, "sbp-quarter", "test_error", sbp_error),
        PaperNumber(dataset, "sbp-quarter", "fit_seconds", QUARTER * libsvm_seconds),
    )


EXPERIMENT = Experiment(
    name="sbp-libsvm",
    title="Stochastic batch perceptron against LIBSVM in a quarter of its time",
    paper="Cotter, Shalev-Shwartz, Srebro: The Kernelized Stochastic Batch Perceptron, ICML 2012, section 5",
    claims=(
        Claim(
            text="In a quarter of LIBSVM's time, SBP's test error is at most 0.2 points above LIBSVM's.",
            method="sbp-quarter",
            baseline="libsvm",
            metric="test_error",
            margin=0.002,
            time_fraction=QUARTER,
            time_slack=0.15,
        ),
    ),
    methods=METHODS,
    scales={"quick": QUICK, "paper": PAPER},
    metrics=(
        Metric("test_error", "test error", "lower", ("metrics", "test_error"), "%", 100.0, 0.01),
        Metric("fit_seconds", "fit time", "lower", ("seconds", "fit"), "s", tolerance=0.25),
        Metric("predict_seconds", "predict time", "lower", ("seconds", "predict"), "s", tolerance=0.25),
        Metric("objective", "primal objective", "lower", ("metrics", "objective"), tolerance=1e-3),
        Metric("gap", "duality gap", "lower", ("metrics", "gap"), tolerance=0.1),
        Metric(
            "n_kernel_evaluations", "kernel evaluations", "lower", ("n_kernel_evaluations",), tolerance=0.01
        ),
        Metric("n_support", "support vectors", "lower", ("metrics", "n_support"), tolerance=0.02),
        Metric("peak_memory", "peak memory", "lower", ("peak_memory_bytes",), "MB", 2.0**-20, 0.1),
    ),
    paper_numbers=(
        *_paper_row("adult", 0.149, 195.0, 0.150),
        *_paper_row("mnist-8-vs-rest", 0.0044, 1980.0, 0.0046),
        *_paper_row("forest", 0.018, 35 * HOUR, 0.016),
    ),
    threads=1,
    warm_up_rows=64,
    note="One thread for everybody, since LIBSVM has no more. The paper's times are of an Intel E7500 (2009) "
    "and a LIBSVM of that time; only their fraction carries over. LIBSVM's time hangs on its stopping rule "
    "(tol = 1e-3 here): look at objectives and gaps beside the errors.",
)
