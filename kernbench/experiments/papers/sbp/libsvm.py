"""``sbp-libsvm``: the stochastic batch perceptron against LIBSVM, at a quarter of LIBSVM's time.

Cotter, Shalev-Shwartz and Srebro (ICML 2012), section 5, the paragraph on run time. Table 2 gives the
variance s² of the Gaussian kernel and λ; LIBSVM's parameters are γ = 1/(2 s²) and C = 1/(λ n).
"""

from kernbench.experiments.declare import (
    Axis,
    Claim,
    Curves,
    Experiment,
    Method,
    Metric,
    MetricTable,
    OwnFile,
    PaperData,
    PaperNumber,
    Quantity,
    Recommendation,
    Scale,
    Setting,
)
from kernbench.experiments.declare import metrics as m
from kernbench.experiments.declare.entrants import DEFAULT_CACHE, TRIMMED, ZERO_CLASSIFIER, on_landmarks

QUARTER = 0.25
# Share of LIBSVM's time such that set-up and the final certificate, outside the solver's clock, fit into the quarter.
# The certificate takes f of all training rows: a second on Adult, where LIBSVM takes half a minute to a minute.
BUDGET = 0.22
MARGIN = 0.002  # of the test error
HOUR = 3600.0
KERNEL_SVC = "kernbench.estimators:KernelSVC"
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
    Method("nystroem", "Nyström 300 + LinearSVC", "kernbench.experiments.measure.landmarks:NystroemSVC",
           seed_param="random_state", model="LinearSVC", code=on_landmarks('LinearSVC("hinge")')),
    Method("doubly", "doubly stochastic", "kernbench.estimators:DoublyStochasticClassifier", {"loss": "hinge"},
           seed_param="random_state"),
    ZERO_CLASSIFIER,
)  # fmt: skip

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
            note="Table 2 with bias: s² = 25, λ = 1/(1000 n), pixels in [0, 1]",
        ),
        Setting(
            "covtype",
            {"name": "covtype", "n_train": 50_000, "standardise": False},
            _gaussian(5000, 10_000.0),
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
            "Hours for SMO, many for LIBSVM and for ten epochs of SBP",
        ),
    ),
    repeats=10,
    time_limit=HOUR,
    memory_limit=None,
)


def _paper_row(dataset, libsvm_error, libsvm_seconds, sbp_error):
    return (
        PaperNumber(dataset, "libsvm", "test_error", libsvm_error),
        PaperNumber(dataset, "libsvm", "fit_seconds", libsvm_seconds),
        PaperNumber(dataset, "sbp-quarter", "test_error", sbp_error),
        PaperNumber(dataset, "sbp-quarter", "fit_seconds", QUARTER * libsvm_seconds),
    )


def _compared(form, **rest):
    return Quantity("test_error", form, baseline="libsvm", **rest)


TABLES = (
    MetricTable(
        "comparison",
        "The paper's numbers, ours, and LIBSVM on the same machine",
        (
            Quantity("test_error", "paper"),
            Quantity("test_error", label="here: test error (%)"),
            _compared("difference", label="less LIBSVM's (points)"),
            Quantity("fit_seconds", "paper", label="paper: time"),
            Quantity("fit_seconds", "median", label="here: time"),
            Quantity("fit_seconds", "speed", baseline="libsvm"),
            Quantity("fit_seconds", "repeats"),
        ),
        notes=(
            "Times: medians of the training time. Speed: LIBSVM's time divided by the method's, both from the same "
            "repeat of the same run, median over repeats.",
        ),
    ),
    MetricTable(
        "optimality",
        "How close each solver came to the optimum, and what it cost",
        (
            Quantity("objective", "median", digits=5),
            Quantity("objective", "excess", label="above the best here"),
            Quantity("gap", "largest", digits=2),
            Quantity("converged", "all"),
            Quantity("n_kernel_evaluations", "median"),
            Quantity("n_support", "median", digits=6),
            _compared("reached", margin=MARGIN),
            Quantity("predict_seconds", "median", label="predict"),
            Quantity("peak_memory", "largest"),
        ),
        notes=(
            "Objective: α/2·‖f‖² + mean hinge loss, computed by the same code for every method. Duality gap: "
            "a certified bound on the distance to the optimum; – where the method has none. Peak memory "
            "includes Python and the data.",
            "Time to LIBSVM's test error: from then on the test error stays within 0.2 points of LIBSVM's, or "
            "below it.",
        ),
    ),
    Recommendation(
        "a kernel SVM",
        "test_error",
        "libsvm",
        MARGIN,
        objective="objective",
        have="labelled rows, and want a kernel SVM",
        main="KernelSVC",
        left_out=TRIMMED,
        rough=0.01,
        arguments=("C=1.0", 'gamma="scale"'),
        remarks=(
            DEFAULT_CACHE,
            "At paper scale three problems, two on Adult and one on MNIST, are races of both sbp-libsvm and peers-svm.",
        ),
    ),
)


def _errors(name, title, x, **rest):
    """Test error along the runs; of those with a budget, which begin like the others, only the end."""
    return Curves(
        name,
        title,
        x,
        Axis("trace.test_error", "test error", "%", 100.0, log=True),
        panel="dataset",
        steps=True,
        final_only=("sbp-quarter", "smo-quarter"),
        baseline="libsvm",
        y_span=2.0,
        shared_x=False,
        shared_y=False,
        large=True,
        **rest,
    )


FIGURES = (
    _errors(
        "seconds",
        "Test error against time",
        Axis("trace.seconds", "training time", "s", log=True),
        budget=QUARTER,
        note="Curves run on the solver's own clock, without reading data and measuring the error.",
    ),
    _errors(
        "n-kernel-evaluations",
        "Test error against kernel evaluations",
        Axis("trace.n_kernel_evaluations", "kernel evaluations", log=True),
        note="LIBSVM and scikit-learn-intelex do not count theirs.",
    ),
)

EXPERIMENT = Experiment(
    name="sbp-libsvm",
    title="Stochastic batch perceptron against LIBSVM in a quarter of its time",
    paper="Cotter, Shalev-Shwartz, Srebro: The Kernelized Stochastic Batch Perceptron, ICML 2012, section 5",
    group="Batch perceptron",
    optimality="objective",
    claims=(
        Claim(
            text="In a quarter of LIBSVM's time, SBP's test error is at most 0.2 points above LIBSVM's.",
            method="sbp-quarter",
            baseline="libsvm",
            metric="test_error",
            margin=MARGIN,
            time_fraction=QUARTER,
            time_slack=0.15,
        ),
    ),
    methods=METHODS,
    scales={"quick": QUICK, "paper": PAPER},
    metrics=(
        m.TEST_ERROR,
        m.FIT_SECONDS,
        m.PREDICT_SECONDS,
        m.number("objective", "primal objective", 1e-3),
        m.number("gap", "duality gap", 0.1),
        m.N_KERNEL_EVALUATIONS,
        m.N_SUPPORT,
        Metric("converged", "converged", "higher", ("metrics", "converged")),
        m.PEAK_MEMORY,
    ),
    paper_numbers=(
        *_paper_row("adult", 0.149, 195.0, 0.150),
        *_paper_row("mnist-8-vs-rest", 0.0044, 1980.0, 0.0046),
        *_paper_row("forest", 0.018, 35 * HOUR, 0.016),
    ),
    paper_data=(
        PaperData("adult", "31,562 training and 16,282 test rows, as it prints them"),
        PaperData("mnist-8-vs-rest", "60,000 training and 10,000 test images"),
        PaperData("forest", "522,910 training and 58,102 test rows"),
    ),
    tables=TABLES,
    figures=FIGURES,
    threads=1,
    warm_up_rows=64,
    newcomers={"kernel-svm": next(method for method in METHODS if method.name == "sbp-converged")},
    own_file=OwnFile({"kernel": "rbf", "gamma": "scale", "C": 1.0}),
    differs="The paper prints one time for each data set and says nothing of repeats; here there are 10 repeats "
    "of each fit, of at most 60 minutes, on another machine and with today's LIBSVM, whose C SBP is given in place of "
    "the ν of Table 2: it retunes its slack budget to C as it goes, and averages its iterates with weights t².",
    note="One thread for all, since LIBSVM has no more; scikit-learn-intelex does not keep to it, and its processor "
    "time is about twice its time. The paper's times are of an Intel E7500 (2009) "
    "and a LIBSVM of that time; only their fraction carries over. LIBSVM's time depends on its stopping rule "
    "(tol = 1e-3 here): compare objectives and gaps beside the errors. On covtype SMO makes "
    "no more progress before its gap is within its own tolerance, and ends as not converged, with the lowest objective "
    "of all. “SBP”, without a budget of time, takes its ten passes and ends as not converged, too. "
    "The whole Forest, 522,910 rows, is declared as "
    "`forest`, runs only by name, and is not measured: LIBSVM took the paper 35 hours, and a tenth of the rows take "
    "it eleven minutes here, so that it would not end within 60 minutes, without which SBP has no budget: this needs a "
    "higher --time-limit and days. The data set covtype, "
    "50,000 of these rows with the same parameters, shows instead that SBP errs no more than LIBSVM after a "
    "quarter of its time; with a tenth of the rows both err more than in the paper, and what they reach with all rows "
    "is not shown.",
)
