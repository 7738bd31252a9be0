"""Large tables of the UCI repository, published without test parts."""

import numpy as np

from kernbench.datasets.entry import DatasetEntry
from kernbench.datasets.real.preparation import read_numbers, signs, split, split_by_seed, standardised
from kernbench.datasets.real.uci import UCI_PAGES, uci_file
from kernbench.datasets.splits import stratified_indices
from kernbench.validation.numbers import check_number

COVTYPE_TRAIN = 522_910  # and 58,102 for testing, as in Cotter, Shalev-Shwartz, Srebro, ICML 2012
SKIN_ROWS_SEED = 0  # one subsample for all splits, so that results over splits concern one data set
ACCELEROMETER_COLUMNS = (0, 1, 2, 3, 4, 5, 7)  # without column 6, the time stamp


def covtype(paths, *, standardise=True, split_seed=0):
    """Cover type 2 (lodgepole pine, +1) against the rest: dense, float32.

    Parameters
    ----------
    paths : dict
    standardise : bool, default=True
        Scale each column to mean 0 and variance 1 over the training part. In the raw integers distances in metres
        dominate.
    split_seed : int, default=0
        Draws the test part, 58,102 rows, stratified.
    """
    table = read_numbers(paths["covtype.data"], delimiter=",", dtype=np.int16)
    X, y = table[:, :-1].astype(np.float32), signs(table[:, -1] == 2)
    return standardised(split(X, y, COVTYPE_TRAIN, split_seed), standardise)


@split_by_seed()
def skin(paths, *, n_rows=100_000):
    """Blue, green and red of a pixel: skin (+1) or not; dense, float64.

    Only 51,444 of the 245,057 rows are distinct: most test rows also occur in the training part.

    Parameters
    ----------
    n_rows : int or None, default=100_000
        Size of a fixed stratified subsample, by default that of the ROC-SVM paper (Bae and Shin). None: all rows.
    """
    table = read_numbers(paths["Skin_NonSkin.txt"], delimiter="\t", dtype=np.int16)
    if n_rows is not None:
        check_number("n_rows", n_rows, at_least=10, below=len(table) + 1, whole=True)
        table = table[stratified_indices(table[:, -1], n_rows, np.random.default_rng(SKIN_ROWS_SEED))]
    return table[:, :-1].astype(np.float64), signs(table[:, -1] == 1)


@split_by_seed()
def accelerometer(paths):
    """Class 0, the rare one (+1), against class 1; dense, float64.

    Three axes of an accelerometer and three of a gyroscope in a mobile phone; without the time
    stamp. The rows are ordered by time and change class only twenty times: in a random split, as in the ROC-SVM paper,
    test rows are neighbours in time of training rows.
    """
    path = paths["accelerometer_gyro_mobile_phone_dataset.csv"]
    table = read_numbers(path, delimiter=",", skiprows=1, usecols=ACCELEROMETER_COLUMNS)
    return table[:, :-1], signs(table[:, -1] == 0)


ENTRIES = (
    DatasetEntry(
        name="skin",
        kind="subset",
        summary="Skin segmentation by colour: +1 is skin; seeded stratified split.",
        source=f"{UCI_PAGES}/229/skin+segmentation",
        n_train=70_000,
        n_test=30_000,
        n_published=245_057,
        n_features=3,
        positive="20.8%",
        build=skin,
        files=(
            uci_file(
                "Skin_NonSkin.txt",
                "008f1fb6a169498dec54fb5951be6478e5465942cc4f6df3b5dabbe484c9a98f",
                "229/skin+segmentation.zip#Skin_NonSkin.txt",
                "00229/Skin_NonSkin.txt",
                aliases=("skin_nonskin.txt",),
                same_examples=("e30c0a845385dcc95a45c45ed263465674a49638e98ef740afd520769c7714a4",),
            ),
        ),
    ),
    DatasetEntry(
        name="accelerometer",
        summary="Accelerometer and gyroscope of a mobile phone, without time stamp: +1 is class 0, the rare "
        "one; seeded stratified split.",
        source=f"{UCI_PAGES}/755/accelerometer+gyro+mobile+phone+dataset",
        n_train=22_394,
        n_test=9_597,
        n_features=6,
        positive="1.8%",
        build=accelerometer,
        files=(
            uci_file(
                "accelerometer_gyro_mobile_phone_dataset.csv",
                "058717dc7edae6033c0189e3b11a0a2a86730e1beb25a90c2b06bcd4c85fa357",
                "755/accelerometer+gyro+mobile+phone+dataset.zip#accelerometer_gyro_mobile_phone_dataset.csv",
            ),
        ),
    ),
    DatasetEntry(
        name="covtype",
        summary="Forest cover types: +1 is type 2 (lodgepole pine), -1 the rest; seeded stratified split.",
        source=f"{UCI_PAGES}/31/covertype",
        n_train=522_910,
        n_test=58_102,
        n_features=54,
        layout="dense float32",
        positive="48.8%",
        build=covtype,
        files=(
            uci_file(
                "covtype.data",
                "0a9371cef7c964b5475d6053cc3e0894a5aa6f65ad1ed3ecb01c45aa96217945",
                "31/covertype.zip#covtype.data.gz",
                "covtype/covtype.data.gz",
            ),
        ),
    ),
)
