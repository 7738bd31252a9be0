"""The methods and the data sets of ``dsg-multiclass``, at both scales."""

from dataclasses import replace

from kernbench.experiments.declare import Method, Scale, Setting
from kernbench.experiments.declare.entrants import ZERO_CLASSIFIER, on_landmarks
from kernbench.experiments.papers.dsg.parts import CLASSIFIER, HERE, doubly, gamma_of

SOFTMAX = {"loss": "log_loss"}

LENET = f"{HERE}.lenet"
CLASSIFIER_OF_NETWORKS = f"{LENET}.classifier:NetworkClassifier"
ON_FEATURES = {"traced": True, "seed_param": "random_state", "measure": f"{LENET}.runs:measure"}
TORCH = {"requires": "torch", "package": "torch"}
# Of the paper's Section 7.4: nu, and a width of four times the median distance, which is 1 between these features.
PAPERS = {"alpha": 0.0005, "gamma": gamma_of(4.0)}
NETWORKS = (
    Method("lenet", "LeNet, jointly trained", CLASSIFIER_OF_NETWORKS, measure=f"{LENET}.runs:jointly", **TORCH),
    Method("lenet-top", "two layers on LeNet's fixed features", CLASSIFIER_OF_NETWORKS, {"layers": "top"},
           **ON_FEATURES, **TORCH),
    Method("lenet-doubly", "doubly stochastic on LeNet's features", CLASSIFIER, {**SOFTMAX, **PAPERS},
           **ON_FEATURES, **TORCH),
    Method("lenet-doubly-alpha", "doubly stochastic on LeNet's features, α = 1e-6", CLASSIFIER,
           {**SOFTMAX, **PAPERS, "alpha": 1e-6}, **ON_FEATURES, **TORCH),
    Method("lenet-doubly-median", "doubly stochastic on LeNet's features, α = 1e-6, width the median distance",
           CLASSIFIER, {**SOFTMAX, "alpha": 1e-6, "gamma": gamma_of(1.0)}, **ON_FEATURES, **TORCH),
    Method("lenet-kernel-svc", "KernelSVC on LeNet's features", "kernbench.estimators:KernelSVC",
           {"C": 10.0, "gamma": gamma_of(1.0), "cache_size": 2000}, measure=f"{LENET}.runs:measure", **TORCH),
)  # fmt: skip
STREAMED = Method(
    "doubly-stream", "doubly stochastic, deformations",
    "kernbench.estimators.doubly_stochastic.classifier:DoublyStochasticClassifier",
    {**SOFTMAX, "batch_size": 4096, "block_size": 1024}, seed_param="random_state",
    measure=f"{HERE}.runs.stream:measure",
)  # fmt: skip
MANY_FEATURES = {"block_size": 2048, "step_size": 2.0}


def one_pass(name, label, **params):
    """The same on rows in arrays."""
    return Method(f"pass-{name}", label, f"{HERE}.peers:OnePass", params, seed_param="random_state")


# What the errors of the stream are due to: the length of the few steps, the number of features, or the rows.
PASSES = (
    one_pass("default", "one pass, a feature for four rows"),
    one_pass("long-steps", "one pass, steps of 3", step_size=3.0),
    one_pass("features", "one pass, steps of 3, a feature for two rows", step_size=3.0, features=0.5),
    one_pass(
        "wide",
        "one pass, steps of 3, a feature for two rows, four times the width",
        step_size=3.0,
        features=0.5,
        widen=4.0,
    ),
)
METHODS = (
    doubly("doubly", "doubly stochastic", **SOFTMAX),
    STREAMED,
    replace(STREAMED, name="doubly-stream-features",
            label="doubly stochastic, deformations, twice the features, steps of 2",
            params={**STREAMED.params, **MANY_FEATURES}),
    *PASSES,
    Method(
        "sampler-sgd", "RBFSampler + SGD, equal time", f"{HERE}.peers:SampledSGD",
        seed_param="random_state", depends_on="doubly", budget_fraction=1.0,
    ),
    Method("svc", "SVC", "sklearn.svm:SVC", {"C": 10.0, "cache_size": 2000}),
    Method("kernel-svc", "KernelSVC", "kernbench.estimators:KernelSVC", {"C": 10.0, "cache_size": 2000}),
    Method("nystroem", "Nyström 1000 + LinearSVC", "kernbench.experiments.measure.landmarks:NystroemSVC",
           {"C": 10.0, "n_landmarks": 1000}, seed_param="random_state", model="LinearSVC",
           code=on_landmarks('LinearSVC("hinge")', n_landmarks=1000)),
    ZERO_CLASSIFIER,
    *NETWORKS,
)  # fmt: skip
OF_PASSES = ("kernel-svc", *(method.name for method in PASSES))
IN_MEMORY = ("doubly", "sampler-sgd", "svc", "kernel-svc", "nystroem", "zero")

FIRST_ROWS = (24_576, 49_152, 98_304)
RACES = ("digits", "mnist", "cifar10-random-convolutions")  # where all of them run, not KernelSVC alone
DEFORMED = tuple(f"mnist-deformed-{n}" for n in FIRST_ROWS)


def first_rows(n):
    """The first n rows of the stream of deformed digits, in arrays."""
    return Setting(
        f"mnist-deformed-{n}",
        {"name": "mnist-deformed", "n_train": n, "n_components": 100},
        {"gamma": gamma_of(5.0)},
        note=f"The first {n:,} of these images in arrays: what the errors are due to.",
        methods=OF_PASSES,
        repeat_argument="seed",
        kind="generated",
    )


QUICK = Scale(
    settings=(
        Setting(
            "digits",
            {"name": "digits"},
            {"gamma": gamma_of(1.0)},
            note="8 x 8 pixels, comes with scikit-learn; another set than MNIST",
            methods=(*IN_MEMORY, *(method.name for method in PASSES)),
            repeat_argument="split_seed",
        ),
        Setting(
            "digits-lenet",
            {"name": "digits", "epochs": 12},
            loader=f"{LENET}.features:images",
            note="The same digits as the 128 features of a LeNet trained on them.",
            methods=tuple(method.name for method in NETWORKS),
            repeat_argument="seed",
        ),
    ),
    repeats=1,
    time_limit=60.0,
    memory_limit=2 * 2**30,
)
PAPER_SCALE = Scale(
    settings=(
        Setting(
            "mnist",
            {"name": "mnist"},
            {"gamma": gamma_of(5.0)},
            note="pixels, half the median distance; 60,000 images without deformations",
            methods=(*IN_MEMORY, "pass-features"),
        ),
        Setting(
            "mnist-lenet",
            {"name": "mnist", "epochs": 3},
            loader=f"{LENET}.features:images",
            stands_for="mnist8m",
            note="MNIST's 60,000 images, as the 1,568 features of a LeNet trained on them for three epochs; the paper "
            "trains on eight million deformed ones.",
            methods=tuple(method.name for method in NETWORKS),
            repeat_argument="seed",
        ),
        Setting(
            "mnist-deformed-lenet",
            {"name": "mnist-deformed", "rows": 400_000},
            loader=f"{LENET}.features:images",
            stands_for="mnist8m",
            note="STAND-IN for MNIST8M: 400,000 images, deformed as they are read, as the 1,568 features of a LeNet "
            "trained on them in one pass. With so many columns a doubly stochastic pass over 1.6 million takes hours.",
            methods=("lenet", "lenet-top", "lenet-doubly", "lenet-doubly-alpha", "lenet-doubly-median"),
            repeat_argument="seed",
            kind="generated",
            optional=True,
        ),
        Setting(
            "mnist-deformed",
            {"name": "mnist-deformed", "n_train": 1024, "n_components": 100},
            {"gamma": gamma_of(5.0), "rows": 1_600_000},
            stands_for="mnist8m",
            note="STAND-IN for MNIST8M: 1.6 million images, deformed as they are read, 100 principal components of "
            "pixels; the paper has 8 million, and the features of a trained convolutional net.",
            methods=("doubly-stream", "doubly-stream-features"),
            repeat_argument="seed",
            kind="generated",
        ),
        *map(first_rows, FIRST_ROWS),
        Setting(
            "cifar10-random-convolutions",
            {},
            {"gamma": "scale"},
            loader=f"{HERE}.data:cifar10_convolved",
            stands_for="cifar10",
            note="FIXED RANDOM CONVOLUTIONS of 4,000 images: the paper uses all and a trained network.",
            methods=IN_MEMORY,
        ),
    ),
    repeats=3,
    time_limit=4 * 3600.0,
)
