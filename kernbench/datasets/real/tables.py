"""Large tables of the UCI repository; published without a test part, they are split by seed."""

import numpy as np

from kernbench.datasets.checks import require_number
from kernbench.datasets.entry import DatasetEntry
from kernbench.datasets.real.origins import UCI_PAGES, uci_file
from kernbench.datasets.real.parts import read_numbers, signs, split, split_by_fraction, standardised
from kernbench.datasets.splits import stratified_indices

COVTYPE_TRAIN = 522_910  # and 58,102 to test: the sizes in Cotter, Shalev-Shwartz, Srebro, ICML 2012
SKIN_ROWS_SEED = 0  # one subsample for all splits, since a table over random splits speaks of one data set
ACCELEROMETER_COLUMNS = (0, 1, 2, 3, 4, 5, 7)  # all but column 6, the time stamp


def covtype(paths, *, standardise=True, split_seed=0):
    """Cover type 2 (lodgepole pine, +1) against the rest: dense, float32.

    Parameters
    ----------
    paths : dict
    standardise : bool, default=True
        Bring every column to mean 0 and variance 1 over the training part. False keeps the raw integers,
        where distances in metres outweigh everything else.
    split_seed : int, default=0
        The origin has no test part: 58,102 rows are drawn by this seed, stratified; the rest trains.
    """
    table = read_numbers(paths["covtype.data"], delimiter=",", dtype=np.int16)
    X, y = table[:, :-1].astype(np.float32), signs(table[:, -1] == 2)
    return standardised(split(X, y, COVTYPE_TRAIN, split_seed), standardise)


def skin(paths, *, n_rows=100_000, standardise=True, test_fraction=0.3, split_seed=0):
    """Blue, green and red of a pixel: skin (+1) or not; dense, float64.

    Only 51,444 of the 245,057 rows are different, so test rows have twins in the training part in any split.

    Parameters
    ----------
    paths : dict
    n_rows : int or None, default=100_000
        A stratified subsample of this many rows, always the same one; the size in Bae and Shin's ROC-SVM
        paper. None takes all.
    standardise : bool, default=True
        Bring every column to mean 0 and variance 1 over the training part.
    test_fraction : float, default=0.3
        Share of the rows that tests, stratified; the paper does not state its own.
    split_seed : int, default=0
        Draws the test part.
    """
    table = read_numbers(paths["Skin_NonSkin.txt"], delimiter="\t", dtype=np.int16)
    if n_rows is not None:
        require_number("n_rows", n_rows, at_least=10, below=len(table) + 1, whole=True)
        table = table[stratified_indices(table[:, -1], n_rows, np.random.default_rng(SKIN_ROWS_SEED))]
    X, y = table[:, :-1].astype(np.float64), signs(table[:, -1] == 1)
    return standardised(split_by_fraction(X, y, test_fraction, split_seed), standardise)


def accelerometer(paths, *, standardise=True, test_fraction=0.3, split_seed=0):
    """Class 0, the rare one (+1), against class 1; dense, float64.

    Three axes of an accelerometer and three of a gyroscope in a mobile phone; the time stamp is left out. The
    rows are in order of time and change class only twenty times, so a random split, as the ROC-SVM paper's,
    tests on neighbours in time of what it trained with.

    Parameters
    ----------
    paths : dict
    standardise : bool, default=True
        Bring every column to mean 0 and variance 1 over the training part.
    test_fraction : float, default=0.3
        Share of the rows that tests, stratified; the paper does not state its own.
    split_seed : int, default=0
        Draws the test part.
    """
    path = paths["accelerometer_gyro_mobile_phone_dataset.csv"]
    table = read_numbers(path, delimiter=",", skiprows=1, usecols=ACCELEROMETER_COLUMNS)
    X, y = table[:, :-1], signs(table[:, -1] == 0)
    return standardised(split_by_fraction(X, y, test_fraction, split_seed), standardise)


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
        layout="dense float64",
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
        kind="full",
        summary="Accelerometer and gyroscope of a mobile phone, without time stamp: +1 is class 0, the rare "
        "one; seeded stratified split.",
        source=f"{UCI_PAGES}/755/accelerometer+gyro+mobile+phone+dataset",
        n_train=22_394,
        n_test=9_597,
        n_features=6,
        layout="dense float64",
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
        kind="full",
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
