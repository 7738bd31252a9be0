"""``dsg-molecules``: Figure 7 of Dai et al.: energies of molecules from random Coulomb matrices."""

from dataclasses import replace

from kernbench.experiments.declare import (
    Axis,
    Bound,
    Claim,
    CrossTable,
    Curves,
    Experiment,
    Method,
    MetricTable,
    PaperData,
    PaperNumber,
    Recommendation,
    Scale,
    Setting,
)
from kernbench.experiments.declare import metrics as m
from kernbench.experiments.declare.entrants import TRIMMED_REGRESSION, ZERO_REGRESSOR, on_features, on_landmarks
from kernbench.experiments.papers.dsg.parts import HERE, PAPER, REGRESSOR

PREDICATES = {"predicate_step": 1.0}
LAPLACIAN = {"kernel": "laplacian", "gamma": 2.5e-4, "permutations": None}
NARROW_TO_WIDE = [1, 4, 16]  # widths in multiples of the median distance
ALPHAS = [1e-10, 1e-8, 1e-6]


def _doubly(name, label, search=None, **params):
    """The doubly stochastic method, with a width and a damping that are chosen on held-out molecules."""
    search = {"width": [4, 16, 64], "damping": [1e-10, 1e-9, 1e-8]} if search is None else search
    return Method(name, label, REGRESSOR, {"alpha": 0.0, "search": search, **params})


# The optimum takes one step of Newton's method. With an α near rounding others refine it without a certificate, so
# their number is bounded.
EXACT = {"solver": "newton", "max_iter": 10, "dtype": "float64", "fit_intercept": False}


def _ridge(name, label, permutations, **params):
    """Exact kernel ridge regression on the inputs of the doubly stochastic method."""
    params = {**EXACT, "permutations": permutations, **params}
    search = {"width": NARROW_TO_WIDE, "alpha": ALPHAS}
    return Method(name, label, "kernbench.estimators:KernelRegressor", {**params, "search": search},
                  seed_param="random_state")  # fmt: skip


METHODS = (
    _doubly("doubly", "doubly stochastic, predicates of step 1, random matrices", step_size=0.7, **PREDICATES),
    _doubly("doubly-damped", "doubly stochastic, predicates, width and damping of 57,344 features",
            search={"width": [16], "damping": [1e-9]}, step_size=0.7, **PREDICATES),
    _doubly("doubly-median", "doubly stochastic, predicates, the median width, default steps",
            search={"width": [1]}, **PREDICATES),
    _doubly("doubly-entries", "doubly stochastic, entries of random matrices", step_size=0.7),
    Method("doubly-sorted", "doubly stochastic, entries of sorted matrices", REGRESSOR, {"permutations": None}),
    _ridge("ridge-predicates-4", "KernelRegressor, predicates of step 1, 4 random matrices", 4, **PREDICATES),
    _ridge("ridge-predicates", "KernelRegressor, predicates of step 1, 1 random matrix", 1, **PREDICATES),
    _ridge("ridge-coarse", "KernelRegressor, predicates of step 10, 1 random matrix", 1, predicate_step=10.0),
    _ridge("ridge-entries", "KernelRegressor, entries, 1 random matrix", 1),
    Method("random-ridge", "ridge on 4,096 random features, predicates of step 1, 4 random matrices",
           f"{HERE}.peers:FixedFeaturesRidge",
           {"n_features": 4096, "permutations": 4, **PREDICATES,
            "search": {"width": NARROW_TO_WIDE, "alpha": [1e-8, 1e-6]}},
           seed_param="random_state",
           code=on_features('RandomFeatures("rbf", n_features=4096)', "Ridge()", "sklearn.linear_model")),
    Method("kernel-ridge", "kernel ridge (scikit-learn), Laplacian, sorted matrices",
           "sklearn.kernel_ridge:KernelRidge", {"alpha": 1e-8, **LAPLACIAN}),
    # KernelRidge's alpha is n times ours: 1e-8 for 5,681 molecules.
    Method("kernel-regressor", "KernelRegressor, Laplacian, sorted matrices", "kernbench.estimators:KernelRegressor",
           {"alpha": 1.76e-12, **EXACT, **LAPLACIAN}, seed_param="random_state"),
    Method("nystroem", "Nyström 1000 + LinearRegressor, Laplacian, sorted matrices",
           "kernbench.experiments.measure.landmarks:NystroemRegressor", {"alpha": 1.76e-12, **LAPLACIAN},
           seed_param="random_state", model="LinearRegressor",
           code=on_landmarks('LinearRegressor("squared_error")', kernel="laplacian", n_landmarks=1000)),
    replace(ZERO_REGRESSOR, params={"permutations": None}),
    Method("conditioning", "ridge regression and gradient descent, the same kernel matrix",
           f"{HERE}.runs.conditioning:measure",
           {"widths": NARROW_TO_WIDE, "alphas": [10.0**k for k in range(-10, -2)],
            "steps": [2**k for k in range(4, 17)], **PREDICATES},
           measure=f"{HERE}.runs.conditioning:measure"),
)  # fmt: skip
ALL = tuple(method.name for method in METHODS)
LONG = ("doubly", "doubly-damped")
FITTED = tuple(name for name in ALL if name != "conditioning")
# They show what each choice brings, on real molecules alone.
PAPER_ONLY = ("doubly-median", "ridge-entries", "ridge-predicates", "ridge-coarse", "random-ridge", "doubly-damped")


def _scale(*settings, **limits):
    return Scale(settings=settings, **limits)


EXPERIMENT = Experiment(
    name="dsg-molecules",
    title="Doubly stochastic gradients: energies of molecules",
    paper=f"{PAPER}, Figure 7",
    group="Doubly stochastic",
    methods=METHODS,
    scales={
        "quick": _scale(
            Setting(
                "generated-molecules",
                {"n_train": 400, "n_test": 100},
                {"permutations": 20, "trial_permutations": 2, "votes": 10, "batch_size": 512, "block_size": 128},
                loader=f"{HERE}.data:generated_molecules",
                stands_for="qm7",
                note="STAND-IN, generated: 400 random clusters of eight atoms, whose energy is a sum over pairs",
                methods=tuple(name for name in ALL if name not in PAPER_ONLY),
                repeat_argument="seed",
            ),
            repeats=1,
            time_limit=60.0,
            memory_limit=2 * 2**30,
        ),
        "paper": _scale(
            Setting(
                "qm7",
                {"name": "qm7"},
                {"permutations": 40, "trial_permutations": 20, "votes": 20, "batch_size": 8192, "block_size": 2048},
                note="7,101 of the 7,165 molecules, split at random: the paper does not say how it splits",
                methods=tuple(name for name in ALL if name != "doubly-damped"),
                repeat_argument="split_seed",
            ),
            Setting(
                "qm7-long",
                {"name": "qm7"},
                {"permutations": 184, "trial_permutations": 20, "votes": 20, "batch_size": 8192, "block_size": 2048},
                note="2¹⁸ features in 128 steps, on 184 random matrices of each molecule. The time grows with the "
                "square of the features: an hour of one core (measured), and sixteen with the paper's 2²⁰",
                methods=LONG,
                repeat_argument="split_seed",
                optional=True,
            ),
            repeats=3,
            time_limit=20 * 3600.0,
        ),
    },
    metrics=(
        m.number("mae", "mean absolute error", 0.05, unit="kcal/mol"),
        m.number("rmse", "root mean squared error", 0.05, unit="kcal/mol"),
        m.number("single_mae", "mean absolute error of one random matrix", 0.05, unit="kcal/mol"),
        m.number("constant_mae", "mean absolute error of a constant", 0.01, unit="kcal/mol"),
        m.number("n_columns", "columns", deterministic=True),
        m.number("n_features", "features of the model", deterministic=True),
        m.number("width", "width / median distance"),
        m.number("chosen_alpha", "α chosen"),
        m.number("chosen_damping", "damping chosen"),
        m.number("ridge_mae", "error of ridge regression", 0.05, unit="kcal/mol"),
        m.number("ridge_alpha", "its α"),
        m.number("descent_mae", "error of descent", 0.05, unit="kcal/mol"),
        m.number("descent_alpha", "α that descent reaches"),
        m.number("ridge_mae_there", "error of ridge regression with that α", 0.05, unit="kcal/mol"),
        m.number("steps_needed", "steps that the best α needs"),
        m.FIT_SECONDS,
        m.seconds("search", "time to choose"),
        m.PREDICT_SECONDS,
        m.N_ITER,
        m.number("n_feature_values", "feature values", 0.01, deterministic=True),
        m.PEAK_MEMORY,
    ),
    claims=(
        Claim(
            "Random matrices, with width and damping by validation, err no more than sorted ones with the defaults.",
            "doubly-entries",
            "doubly-sorted",
            "mae",
            0.0,
        ),
        Claim("Binary predicates err no more than plain entries.", "doubly", "doubly-entries", "mae", 0.0),
        Claim(
            "Exact ridge regression on the same inputs, and on a tenth of the random matrices, errs no more.",
            "ridge-predicates-4",
            "doubly",
            "mae",
            0.0,
        ),
        Bound(
            "With random matrices the error is at most the paper's 2.97 kcal/mol.",
            "doubly",
            "mae",
            2.97,
            datasets=("qm7", "qm7-long"),
        ),
        Bound(
            "With 2¹⁸ features and the damping of 57,344 features the error is at most the paper's 2.97 kcal/mol.",
            "doubly-damped",
            "mae",
            2.97,
            datasets=("qm7-long",),
        ),
        Bound(
            "Exact ridge regression on predicates comes to the paper's 2.97 kcal/mol.",
            "ridge-predicates-4",
            "mae",
            2.97,
            datasets=("qm7",),
        ),
    ),
    paper_data=tuple(PaperData(name, "some 6,000 molecules, as it rounds them") for name in ("qm7", "qm7-long")),
    paper_numbers=(PaperNumber("qm7", "doubly", "mae", 2.97), PaperNumber("qm7-long", "doubly-damped", "mae", 2.97)),
    measure=f"{HERE}.runs.molecules:measure",
    tables=(
        CrossTable("mae", "Mean absolute error of energies", "mae", methods=FITTED),
        MetricTable(
            "details",
            "Effect of averaging predictions, and cost",
            (
                "mae",
                "rmse",
                "single_mae",
                "constant_mae",
                "n_columns",
                "n_features",
                "width",
                "chosen_alpha",
                "chosen_damping",
                "fit_seconds",
                "search_seconds",
                "predict_seconds",
                "n_iter",
                "n_feature_values",
                "peak_memory",
            ),
            methods=FITTED,
        ),
        MetricTable(
            "conditioning",
            "Why gradient steps do not get there: the regularisation that the energies need",
            ("ridge_mae", "ridge_alpha", "width", "descent_mae", "descent_alpha", "ridge_mae_there", "steps_needed"),
            methods=("conditioning",),
            notes=(
                "One random matrix of each molecule, predicates of step 1, the width at which ridge regression errs "
                "least on the test molecules. Descent: 65,536 steps of the size 1/λ₁ on all rows and with the kernel "
                "itself, hence without the noise of batches and features; T steps reach α = λ₁/T.",
            ),
        ),
        Recommendation(
            "kernel regression",
            "mae",
            "kernel-ridge",
            0.1,
            models="regress",
            methods=FITTED,
            have="numbers to predict, and want a kernel",
            main="KernelRegressor",
            left_out=TRIMMED_REGRESSION,
        ),
    ),
    figures=(
        Curves(
            "conditioning",
            "Error against regularisation: ridge regression with α, descent after λ₁/α steps",
            Axis("trace.alpha", "α", log=True),
            Axis("trace.mae", "mean absolute error", "kcal/mol", log=True),
            line="trace.curve",
            panel="dataset",
            methods=("conditioning",),
            large=True,
        ),
    ),
    threads=1,
    differs="The paper states neither the step of its predicates nor α nor its split, and takes the median width; here "
    "there are 3 repeats of at most 20 hours on public molecules, with width, α and damping by validation.",
    note="Training uses 40 random Coulomb matrices of every molecule, whose atoms are sorted by the norm of their "
    "rows plus noise of 1; a prediction is the mean over 20. Binary predicates are tanh((x - θ)/s) for θ = 0, s, 2 s,"
    " …: the paper names them and does not give s, which is 1 here; with 10, exact ridge regression errs more. The "
    "paper has 2.97 kcal/mol against 3.51 of a neural net (1 is chemical accuracy), with 2²⁰ features; here each of "
    "the 28 steps that 40 matrices make has 2,048, and in `qm7-long`, which runs only by name, there are more "
    "matrices, until the features are 2¹⁸. There, the same validation with other random numbers chose a damping of "
    "10⁻¹⁰, with which predictions from single "
    "matrices err almost twice as much as with 10⁻⁹, the choice for 57,344 features: fits to 20 matrices do not tell "
    "the two apart, fits to 184 do. With 10⁻⁹ and 2¹⁸ features the error is below the paper's. "
    "Width, α and damping are those with the least error on a tenth of the training molecules, held out, after fits to "
    "fewer matrices. "
    "What decides is the spectrum of the kernel matrix: ridge regression errs least with the smallest α that "
    "was tried, 10⁻¹⁰, and gradient descent without any noise needs λ₁/α steps for that, some 10¹⁰. Blocks "
    "with a preconditioner need far fewer if the kernel is wide (16 times the median distance), the damping small and "
    "the blocks large; the median width with the default steps is beside it. Batches have 8,192 matrices, where the "
    "paper takes 50,000. "
    "On predicates of random matrices exact ridge regression is limited, too, by the number of matrices of each "
    "molecule and by α. What other splits would give for 2¹⁸ features is not shown. MolecularSpace, 2.3 million "
    "molecules, for which the text has no number, is not measured. The kernel machines on sorted matrices have a width "
    "and an α that were not tuned. One thread.",
)
