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
    Scale,
    Setting,
)
from kernbench.experiments.declare import metrics as m
from kernbench.experiments.papers.pauc.parts import PAPER

HERE = "kernbench.experiments.papers.pauc.deep"
NAMES = ("minibatch", "cross-entropy", "auc-margin", "agd-sbcd")

# pAUC on the test images and its standard deviation, in the order of NAMES.
TABLE = {
    "cifar10-lt": ((0.9337, 0.0043), (0.9016, 0.0137), (0.9323, 0.0055), (0.9408, 0.0084)),
    "tiny-imagenet-200-lt": ((0.6445, 0.0214), (0.6549, 0.008), (0.6497, 0.009), (0.6594, 0.0192)),
    "chexpert-cardiomegaly": ((0.7510, 0.0248), (0.6994, 0.0453), (0.7403, 0.0339), (0.7535, 0.0255)),
    "chexpert-edema": ((0.8197, 0.0127), (0.8075, 0.0244), (0.8002, 0.0274), (0.8345, 0.0130)),
    "chexpert-consolidation": ((0.6339, 0.0328), (0.7673, 0.0266), (0.8533, 0.0469), (0.8689, 0.0184)),
    "chexpert-atelectasis": ((0.5698, 0.0343), (0.6499, 0.0184), (0.7420, 0.0277), (0.7520, 0.0079)),
    "chexpert-pleural-effusion": ((0.8461, 0.0188), (0.7884, 0.0080), (0.8504, 0.0065), (0.8513, 0.0107)),
}
# The paper's grid is 1e-5 to 1 in powers of ten, times three gammas for AGD-SBCD. Of these two each, near those that
# trained a network on generated images; the quick scale takes the first. Slopes of AGD-SBCD are means over all pairs of
# a batch, of which a share counts, so that its steps are long: with 0.1 a few epochs move it little.
RATES = {
    "minibatch": [1.0, 0.1],
    "cross-entropy": [1e-3, 1e-2],
    "auc-margin": [0.1, 0.01],
    "agd-sbcd": [1.0, 0.1],
    "cvar": [1e-3, 1e-2],
    "aucm": [0.1, 0.01],
}
TORCH = {"requires": "torch", "package": "torch"}
LIBAUC = {"requires": "libauc", "package": "libauc"}


def network(name, label):
    """One of the trainer's methods."""
    params = {"method": name, "learning_rates": RATES[name]}
    return Method(name, label, f"{HERE}.methods:Network", params, seed_param="random_state", **TORCH)


def libauc(name, label):
    """One of LibAUC's losses, with its own optimiser."""
    params = {"method": name, "learning_rates": RATES[name]}
    return Method(f"libauc-{name}", label, f"{HERE}.methods:LibAUC", params, seed_param="random_state", **LIBAUC)


METHODS = (
    network("minibatch", "mini-batch"),
    network("cross-entropy", "cross-entropy"),
    network("auc-margin", "AUC margin, PESG"),
    network("agd-sbcd", "AGD-SBCD"),
    libauc("cvar", "LibAUC, CVaR on [0, 0.5]"),
    libauc("aucm", "LibAUC, AUC-M"),
    Method("pixel-logistic", "logistic regression on pixels", f"{HERE}.methods:PixelLogistic",
           seed_param="random_state"),
)  # fmt: skip


QUICK = Scale(
    settings=(
        Setting(
            "striped-images",
            {"name": "striped-images", "n_train": 400, "n_test": 400, "positive": 0.25},
            {"n_rates": 1, "max_epochs": 4, "inner_steps": 10},
            note="STAND-IN, generated: stripes in 16 x 16 pixels, one direction of eight is positive; not data of "
            "the paper.",
            repeat_argument="seed",
        ),
    ),
    repeats=1,
    time_limit=120.0,
    memory_limit=3 * 2**30,
)


def placed(name, loader, note, *, channels=3, **arguments):
    """A setting of images in files that are placed by hand."""
    return Setting(
        name,
        arguments,
        {"n_rates": 2, "max_epochs": 10, "channels": channels},
        loader=f"{HERE}.images:{loader}",
        optional=True,
        note=note,
        repeat_argument=None if loader == "chexpert" else "seed",
    )


PAPER_SCALE = Scale(
    settings=(
        Setting(
            "cifar10-lt-subset",
            {},
            {"n_rates": 2, "max_epochs": 12},
            loader=f"{HERE}.images:cifar10_long_tailed_subset",
            note="SUBSET: CIFAR-10's first 4,000 + 1,000 images, long-tailed as far as Table 5's counts allow: 237 "
            "cats and 2,495 others. Not comparable with the paper's numbers, which are of 12,406 images. Twelve "
            "epochs: six networks, two step sizes and five seeds take about three hours of one core.",
            repeat_argument="seed",
        ),
        placed(
            "cifar10-lt",
            "cifar10_long_tailed",
            "cifar-10-python.tar.gz, placed by hand: the counts of Table 5, the published test images.",
        ),
        placed("tiny-imagenet-200-lt", "tiny_imagenet_long_tailed", "Placed by hand: the counts of Table 5."),
        *(
            placed(
                name,
                "chexpert",
                "Placed by hand: 64 x 64 pixels and ResNet-20; the paper has DenseNet-121 and whole radiographs.",
                channels=1,
                task=name.removeprefix("chexpert-"),
            )
            for name in TABLE
            if name.startswith("chexpert")
        ),
    ),
    repeats=5,
    time_limit=4 * 3600.0,
)


def _paper_numbers():
    for dataset, row in TABLE.items():
        for method, (value, error) in zip(NAMES, row, strict=True):
            yield PaperNumber(dataset, method, "test_pauc", value, error)


EXPERIMENT = Experiment(
    name="pauc-deep",
    title="Partial AUC by networks",
    paper=f"{PAPER}, Table 3, Figure 5, Table 2 (networks)",
    group="Partial AUC",
    methods=METHODS,
    scales={"quick": QUICK, "paper": PAPER_SCALE},
    metrics=(
        m.percent("test_pauc", "pAUC on test images", 1e-3, "higher", unit=""),
        m.percent("validation_pauc", "pAUC on validation images", 1e-3, "higher", unit=""),
        m.AUC,
        m.FIT_SECONDS,
        m.seconds("search", "time of the other step sizes"),
        m.number("learning_rate", "step size"),
        m.N_ITER,
        m.PEAK_MEMORY,
    ),
    claims=tuple(
        Claim(f"AGD-SBCD's mean test pAUC is no less than {words}.", "agd-sbcd", baseline, "test_pauc", 0.0)
        for baseline, words in (
            ("minibatch", "that of the mini-batch method"),
            ("cross-entropy", "cross-entropy's"),
            ("auc-margin", "the AUC margin's"),
            ("libauc-cvar", "that of LibAUC's one-way partial AUC"),
        )
    ),
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
        CrossTable("pauc", "pAUC over [0.05, 0.5] on the test images", "test_pauc"),
        CrossTable(
            "difference",
            "The same less AGD-SBCD's, in points, over the same seeds",
            "test_pauc",
            baseline="agd-sbcd",
            difference=True,
        ),
        CrossTable("time", "Time of the chosen fit", "fit_seconds"),
        MetricTable(
            "details",
            "Choices made on the validation images",
            ("validation_pauc", "auc", "learning_rate", "n_iter", "search_seconds", "peak_memory"),
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
    ),
    threads=1,
    differs="The paper trains on its whole sets with a grid of steps; here there are 5 repeats of at most 4 hours "
    "on small public images, with two step sizes.",
    note="ResNet-20 from scratch, batches of 16 positives and 16 negatives, no augmentation; step size and state are "
    "chosen on a tenth of the training images. The paper's grids are cut to two step sizes. AGD-SBCD passes "
    "each batch through two networks, so its epoch costs twice as much. The paper prints for "
    "CIFAR-10-LT, mini-batch, cross-entropy, AUC margin and AGD-SBCD: .9337, .9016, .9323, .9408; for "
    "Tiny-ImageNet-200-LT .6445, .6549, .6497, .6594; for CheXpert's five tasks with AGD-SBCD .7535, .8345, .8689, "
    ".7520, .8513. Put these images in $KERNBENCH_DATA to run `--dataset cifar10-lt`, "
    "`tiny-imagenet-200-lt` or `chexpert-edema`. One thread.",
)
