"""``pauc-deep``: Table 3, Figure 5 and the deep half of Table 2 of Yao, Lin and Yang: networks."""

from kernbench.experiments.declare import (
    Axis,
    Claim,
    CrossTable,
    Curves,
    Experiment,
    Marks,
    Method,
    MetricTable,
    PaperData,
    PaperNumber,
)
from kernbench.experiments.declare import metrics as m
from kernbench.experiments.papers.pauc.deep.settings import ENDS, FEW_EPOCHS, PAPER_SCALE, POSITIVES, QUICK
from kernbench.experiments.papers.pauc.parts import PAPER

HERE = "kernbench.experiments.papers.pauc.deep"
NAMES = ("minibatch", "cross-entropy", "auc-margin", "agd-sbcd")

# pAUC on the test images and what is printed behind ±, in the order of NAMES.
TABLE = {
    "cifar10-lt": ((0.9337, 0.0043), (0.9016, 0.0137), (0.9323, 0.0055), (0.9408, 0.0084)),
    "tiny-imagenet-200-lt": ((0.6445, 0.0214), (0.6549, 0.008), (0.6497, 0.009), (0.6594, 0.0192)),
    "chexpert-cardiomegaly": ((0.7510, 0.0248), (0.6994, 0.0453), (0.7403, 0.0339), (0.7535, 0.0255)),
    "chexpert-edema": ((0.8197, 0.0127), (0.8075, 0.0244), (0.8002, 0.0274), (0.8345, 0.0130)),
    "chexpert-consolidation": ((0.6339, 0.0328), (0.7673, 0.0266), (0.8533, 0.0469), (0.8689, 0.0184)),
    "chexpert-atelectasis": ((0.5698, 0.0343), (0.6499, 0.0184), (0.7420, 0.0277), (0.7520, 0.0079)),
    "chexpert-pleural-effusion": ((0.8461, 0.0188), (0.7884, 0.0080), (0.8504, 0.0065), (0.8513, 0.0107)),
}
# The paper's grid of steps is 1e-5 to 1 in powers of ten. Of these two each, near those that trained a network on
# generated images; a setting's `tried` says how many of them, the first ones. Slopes of AGD-SBCD are means over all
# pairs of a batch, of which a share counts, so that its steps are long: with 0.1 a few epochs move it little. Gammas
# are all of the paper's: gamma' of AGD-SBCD, and Gamma of the AUC margin; the first is the trainer's default.
GRIDS = {
    "minibatch": {"learning_rate": [1.0, 0.1]},
    "cross-entropy": {"learning_rate": [1e-3, 1e-2]},
    "auc-margin": {"learning_rate": [0.1, 0.01], "gamma": [500.0, 100.0, 1000.0]},
    "agd-sbcd": {"learning_rate": [1.0, 0.1], "gamma": [1e3, 100.0, 2e3]},
    "cvar": {"learning_rate": [1e-3, 1e-2]},
    "aucm": {"learning_rate": [0.1, 0.01]},
}
# What decides between a window's loss and cross-entropy: the imbalance, the batches, the width of the window. Each
# claim is on all digits that its words cover.
TABLE_5_WIDE = ("mnist-lt", "mnist-lt-grid", "mnist-lt-resnet20", "mnist-100-of-0.5")
TABLE_5_LOW = ("mnist-lt-of-0.01", "mnist-100-of-0.01")
LOW_PLACES = tuple(f"mnist-{n_positive}-of-{end}" for n_positive in POSITIVES for end in ENDS if end < 0.5)
ON_DIGITS = (
    ("minibatch", "cross-entropy", tuple(f"mnist-10-of-{end}" for end in ENDS),
     "With ten positives of 1,143, the mini-batch method loses nothing to cross-entropy."),
    ("cross-entropy-balanced", "minibatch", tuple(f"mnist-{n_positive}-of-0.5" for n_positive in POSITIVES),
     "On the map, over rates up to 0.5, cross-entropy on balanced batches loses nothing to the mini-batch method."),
    ("minibatch", "cross-entropy-balanced", (*LOW_PLACES, "mnist-lt-of-0.01"),
     "On digits, over rates up to 0.01 or 0.05, the mini-batch method loses nothing to cross-entropy on balanced "
     "batches."),
    ("cross-entropy", "minibatch", TABLE_5_WIDE,
     "On digits at Table 5's imbalance, over wide ranges, cross-entropy loses nothing to the mini-batch method."),
    ("cross-entropy", "agd-sbcd", TABLE_5_WIDE,
     "On digits at Table 5's imbalance, over wide ranges, cross-entropy loses nothing to AGD-SBCD."),
    ("minibatch", "cross-entropy", TABLE_5_LOW,
     "On digits at Table 5's imbalance, over rates up to 0.01, the mini-batch method loses nothing to cross-entropy."),
    ("agd-sbcd", "cross-entropy", TABLE_5_LOW,
     "On digits at Table 5's imbalance, over rates up to 0.01, AGD-SBCD loses nothing to cross-entropy."),
)  # fmt: skip
TORCH = {"requires": "torch", "package": "torch"}
LIBAUC = {"requires": "libauc", "package": "libauc"}


def network(method, label, name=None, **more):
    """One of the trainer's methods."""
    params = {"method": method, "grid": GRIDS[method], **more}
    return Method(name or method, label, f"{HERE}.methods:Network", params, seed_param="random_state", **TORCH)


def libauc(name, label):
    """One of LibAUC's losses, with its own optimiser."""
    params = {"method": name, "grid": GRIDS[name]}
    return Method(f"libauc-{name}", label, f"{HERE}.methods:LibAUC", params, seed_param="random_state", **LIBAUC)


METHODS = (
    network("minibatch", "mini-batch"),
    network("cross-entropy", "cross-entropy"),
    network("cross-entropy", "cross-entropy, balanced batches", "cross-entropy-balanced", balanced=True),
    network("auc-margin", "AUC margin, PESG"),
    network("agd-sbcd", "AGD-SBCD"),
    libauc("cvar", "LibAUC, CVaR on [0, 0.5]"),
    libauc("aucm", "LibAUC, AUC-M"),
    Method("pixel-logistic", "logistic regression on pixels", f"{HERE}.methods:PixelLogistic",
           seed_param="random_state"),
)  # fmt: skip


def _claims():
    for baseline, words in (
        ("minibatch", "that of the mini-batch method"),
        ("cross-entropy", "cross-entropy's"),
        ("auc-margin", "the AUC margin's"),
        ("libauc-cvar", "that of LibAUC's one-way partial AUC"),
    ):
        text = f"AGD-SBCD's mean test pAUC is no less than {words}."
        yield Claim(text, "agd-sbcd", baseline, "test_pauc", 0.0)
    for method, baseline, datasets, text in ON_DIGITS:
        yield Claim(text, method, baseline, "test_pauc", 0.0, datasets=datasets)


def _paper_numbers():
    for dataset, row in TABLE.items():
        for method, (value, error) in zip(NAMES, row, strict=True):
            yield PaperNumber(dataset, method, "test_pauc", value, error)


def _printed():
    """The paper's numbers in a sentence, as the data that they are of are not at hand."""
    found = []
    for dataset, row in TABLE.items():
        values = (f"{value:.4f} ± {error:.4f}".replace("0.", ".") for value, error in row)
        found.append(f"{dataset} {', '.join(values)}")
    return "; ".join(found)


EXPERIMENT = Experiment(
    name="pauc-deep",
    title="Partial AUC by networks",
    paper=f"{PAPER}, Table 3, Figure 5, Table 2 (networks)",
    group="Partial AUC",
    methods=METHODS,
    scales={"quick": QUICK, "paper": PAPER_SCALE},
    metrics=(
        m.percent("test_pauc", "pAUC on test images", 1e-3, "higher", unit=""),
        m.percent("last_pauc", "pAUC on test images by the last state", 1e-3, "higher", unit=""),
        m.percent("validation_pauc", "pAUC on validation images", 1e-3, "higher", unit=""),
        m.AUC,
        m.FIT_SECONDS,
        m.seconds("search", "time of the other step sizes"),
        m.number("learning_rate", "step size"),
        m.number("gamma", "γ"),
        m.number("n_fits", "points of the grid"),
        m.N_ITER,
        m.PEAK_MEMORY,
    ),
    claims=tuple(_claims()),
    paper_numbers=tuple(_paper_numbers()),
    paper_data=(
        PaperData("cifar10-lt", "12,406 images of CIFAR-10, by the counts of its Table 5"),
        PaperData("tiny-imagenet-200-lt", "images of Tiny ImageNet, by the counts of its Table 5"),
        *(
            PaperData(name, "224,316 whole radiographs of CheXpert, and DenseNet-121", differs=True)
            for name in TABLE
            if name.startswith("chexpert")
        ),
    ),
    measure=f"{HERE}.measuring:measure",
    tables=(
        CrossTable("pauc", "pAUC on the test images, over [0.05, 0.5], or up to the rate in the name", "test_pauc"),
        CrossTable(
            "difference",
            "The same less cross-entropy's, in points, over the same seeds",
            "test_pauc",
            baseline="cross-entropy",
            difference=True,
        ),
        CrossTable("time", "Time of the chosen fit", "fit_seconds"),
        MetricTable(
            "details",
            "Choices made on the validation images",
            (
                "last_pauc",
                "validation_pauc",
                "auc",
                "learning_rate",
                "gamma",
                "n_fits",
                "n_iter",
                "search_seconds",
                "peak_memory",
            ),
        ),
    ),
    figures=(
        Marks("paucs", "pAUC on the test images", Axis("metrics.test_pauc", "pAUC")),
        Curves(
            "curves",
            "pAUC on the test images along the run",
            Axis("trace.epoch", "epochs"),
            Axis("trace.test_pauc", "pAUC"),
            panel="dataset",
            large=True,
            shared_y=False,
        ),
        Curves(
            "losses",
            "Training loss along the run, each method's own",
            Axis("trace.epoch", "epochs"),
            Axis("trace.loss", "mean loss of the batches", log=True),
            panel="dataset",
            large=True,
            shared_y=False,
        ),
    ),
    threads=1,
    differs="The paper trains on its whole sets with a grid of steps; here there are 5 repeats of at most 4 hours "
    f"on small public images, with two step sizes, and with {FEW_EPOCHS} epochs where all γ are tried on digits.",
    note="ResNet-20 and LeNet from scratch, batches of 16 positives and 16 negatives; step size, γ and state are "
    "chosen on a tenth of the training images, or on the images that validate where a data set's note names such: of "
    "equally good ones the first step size and γ, and the latest state (of LibAUC's the first). Cross-entropy and the "
    "AUC margin divide their step size by ten after half of the epochs, LibAUC's losses keep theirs. The paper's six "
    "step sizes are cut to two; its "
    "three values of γ (and of Γ) are all tried on `mnist-lt-of-0.01`, on the grids that run only by name, and "
    "on the images placed by hand. Over [0.05, 0.5], "
    "digits with Table 5's counts are too easy: where cross-entropy ranks all test images rightly nothing beats it. "
    "`mnist-lt-of-0.01` therefore asks the same over rates up to 0.01. On `mnist-lt`, whose methods take their first "
    "step size, AGD-SBCD's step of 1 diverges in the first epoch of one seed of five, which keeps the state it began "
    "with, and the AUC margin's network ranks at random for one seed; where both steps are tried, validation avoids "
    "that. Digits are shifted by up to "
    "two pixels at random, which the paper does not say, except for LibAUC's losses and the logistic regression, "
    "which take all images as they are; the subset of CIFAR-10 is not augmented. The map asks for "
    "which imbalance and window a window's loss beats cross-entropy: LeNet on few threes of MNIST. The others draw as "
    "many positives as negatives; cross-entropy on such batches tells what is due to them. The middle window of the "
    "map, up to 0.05, runs only by name. The claims on the map were "
    "formed on its first three repeats, those on `mnist-lt-of-0.01` on two repeats of three epochs: five did not "
    "tell its methods apart, whose differences vary by points from seed to seed. Each is judged on all digits that its "
    "words cover, some of which were added when their numbers were known. On the whole map AGD-SBCD ends below "
    "the mini-batch method, whose window is the batch's; whether more epochs or other steps change that was not "
    "examined. AGD-SBCD passes each batch through two networks, so its epoch costs twice as much, except over rates "
    "from 0, where one is enough. On the map, "
    "`mnist-lt-of-0.01`, `mnist-lt-grid` and `mnist-lt-resnet20`, which have few images or "
    "epochs, its outer iteration k has 10 (k + 1)² "
    "inner steps in place of the paper's 50 (k + 1)², which it has elsewhere. The paper's pAUCs, of mini-batch, "
    f"cross-entropy, AUC margin and AGD-SBCD: {_printed()}. "
    "Put these images in $KERNBENCH_DATA to run `--dataset cifar10-lt`, `tiny-imagenet-200-lt` or `chexpert-edema`. "
    "One thread.",
)
