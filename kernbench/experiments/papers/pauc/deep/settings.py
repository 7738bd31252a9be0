"""The data sets of ``pauc-deep``, at both scales."""

from kernbench.experiments.declare import Scale, Setting
from kernbench.experiments.papers.pauc.parts import TASKS

HERE = "kernbench.experiments.papers.pauc.deep"
TABLE_5 = "The counts of Table 5 on other images: 1,077 threes and 11,329 other digits of MNIST"
RATES_ONLY, WHOLE_GRID = {"learning_rate": 2}, {"learning_rate": 2, "gamma": 3}
POSITIVES, ENDS = (10, 30, 100), (0.01, 0.05, 0.5)  # the map of imbalances and windows
TELLING_ENDS = (0.01, 0.5)  # where a window's loss wins and where it does not; what lies between runs only by name
NETWORKS = ("minibatch", "cross-entropy", "cross-entropy-balanced", "auc-margin", "agd-sbcd")
FEW_EPOCHS = 4  # of the grids on digits, five repeats of which end within hours; even, since steps shrink after half
AS_ON_THE_MAP = {"inner_steps": 10, "curve_rows": 0}
VALIDATION = 1000  # test images of MNIST that validate in the map; three times as many judge

QUICK = Scale(
    settings=(
        Setting(
            "striped-images",
            {"name": "striped-images", "n_train": 400, "n_test": 400, "positive": 0.25},
            {"max_epochs": 4, "inner_steps": 10},
            note="STAND-IN, generated: stripes in 16 x 16 pixels, one direction of eight is positive; not data of "
            "the paper.",
            repeat_argument="seed",
        ),
        Setting(
            "striped-images-lenet",
            {"name": "striped-images", "n_train": 400, "n_test": 400, "positive": 0.25},
            {"max_epochs": 2, "inner_steps": 10, "network": "lenet", "augmentation": {"shift": 1}},
            note="STAND-IN, generated: the same images, LeNet, shifted by up to a pixel at random.",
            methods=("cross-entropy", "agd-sbcd"),
            repeat_argument="seed",
        ),
    ),
    repeats=1,
    time_limit=120.0,
    memory_limit=3 * 2**30,
)


def digits(name, note, *, tried, methods=None, optional=False, arguments=None, **params):
    """A setting of long-tailed MNIST, by LeNet unless `params` says otherwise."""
    return Setting(
        name,
        arguments or {},
        {"channels": 1, "network": "lenet", "max_epochs": 10, "augmentation": {"shift": 2}, "tried": tried, **params},
        loader=f"{HERE}.images:mnist_long_tailed",
        optional=optional,
        note=note,
        methods=methods,
        repeat_argument="seed",
    )


def place_of_map(n_positive, end):
    """LeNet on `n_positive` threes and a tenth of the other digits, over the false positive rates from 0 to `end`."""
    return digits(
        f"mnist-{n_positive}-of-{end:g}",
        f"A place of the map: {n_positive} threes, 1,133 other digits (a tenth of the long tail), rates 0 to {end:g}; "
        f"{VALIDATION:,} of MNIST's test images validate, {3 * VALIDATION:,} judge.",
        tried=RATES_ONLY,
        methods=("minibatch", "cross-entropy", "cross-entropy-balanced", "agd-sbcd"),
        arguments={"n_positive": n_positive, "share": 0.1, "n_test": 4 * VALIDATION},
        optional=end not in TELLING_ENDS,
        fpr_range=[0.0, end],
        max_epochs=8,
        validate_on=VALIDATION,
        **AS_ON_THE_MAP,
    )


def placed(name, loader, note, *, channels=3, augmentation=None, **arguments):
    """A setting of images in files that are placed by hand."""
    return Setting(
        name,
        arguments,
        {"tried": WHOLE_GRID, "max_epochs": 10, "channels": channels, "augmentation": augmentation},
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
            {"tried": RATES_ONLY, "max_epochs": 12},
            loader=f"{HERE}.planes:cifar10_subset",
            note="SUBSET: CIFAR-10's first 4,000 + 1,000 images, long-tailed as far as Table 5's counts allow: 237 "
            "cats and 2,495 others. Not comparable with the paper's numbers, which are of 12,406 images. Twelve "
            "epochs: seven networks, two step sizes and five seeds take about two hours of one core.",
            repeat_argument="seed",
        ),
        digits(
            "mnist-lt",
            f"{TABLE_5}, LeNet, the first step size and γ of each method. MNIST's 10,000 test images.",
            tried={},
            curve_rows=2000,
        ),
        digits(
            "mnist-lt-grid",
            f"{TABLE_5}, LeNet, both step sizes and all γ, {FEW_EPOCHS} epochs in place of 10: eighteen fits in place "
            "of five.",
            tried=WHOLE_GRID,
            methods=NETWORKS,
            optional=True,
            max_epochs=FEW_EPOCHS,
            **AS_ON_THE_MAP,
        ),
        digits(
            "mnist-lt-of-0.01",
            f"{TABLE_5}, LeNet, rates from 0 to 0.01, where no method has every image right. Both step sizes, all "
            f"γ, {FEW_EPOCHS} epochs; 2,000 of MNIST's test images validate, 8,000 judge.",
            tried=WHOLE_GRID,
            methods=NETWORKS,
            max_epochs=FEW_EPOCHS,
            fpr_range=[0.0, 0.01],
            validate_on=2000,
            **AS_ON_THE_MAP,
        ),
        digits(
            "mnist-lt-resnet20",
            f"{TABLE_5}, ResNet-20, both step sizes and all γ, {FEW_EPOCHS} epochs: an epoch takes 15 to 30 s of one "
            "core (twice as long by AGD-SBCD), a repeat half an hour.",
            tried=WHOLE_GRID,
            methods=NETWORKS,
            optional=True,
            max_epochs=FEW_EPOCHS,
            network="resnet20",
            **AS_ON_THE_MAP,
        ),
        *(place_of_map(n_positive, end) for n_positive in POSITIVES for end in ENDS),
        placed(
            "cifar10-lt",
            "cifar10_long_tailed",
            "cifar-10-python.tar.gz, placed by hand: the counts of Table 5, the published test images; shifted by up "
            "to 4 pixels and mirrored at random.",
            augmentation={"shift": 4, "flip": True},
        ),
        placed("tiny-imagenet-200-lt", "tiny_imagenet_long_tailed", "Placed by hand: the counts of Table 5."),
        *(
            placed(
                f"chexpert-{task}",
                "chexpert",
                "Placed by hand: 64 x 64 pixels and ResNet-20; the paper has DenseNet-121 and whole radiographs.",
                channels=1,
                task=task,
            )
            for task in TASKS
        ),
    ),
    repeats=5,
    time_limit=4 * 3600.0,
)
