"""Small tables of the UCI repository, most of them in the SCS paper's comparison."""

import numpy as np

from kernbench.datasets.entry import DatasetEntry
from kernbench.datasets.readers.delimited import read_csv
from kernbench.datasets.real.preparation import read_numbers, signs, split_by_seed
from kernbench.datasets.real.uci import UCI_PAGES, uci_file
from kernbench.validation.numbers import check_name

GOOD_WINE = 7  # the least quality labelled +1
WINES = {"both": ("red", "white"), "red": ("red",), "white": ("white",)}  # files by colour
OCCUPANCY_COLUMNS = range(2, 19)  # without date and time


@split_by_seed(test_fraction=0.297)  # 169 of 569 rows
def breast_cancer(paths):
    """Malignant (+1) against benign: dense, float64; the data come with scikit-learn."""
    from sklearn.datasets import load_breast_cancer  # slow to import; most data sets need none of it

    X, y = load_breast_cancer(return_X_y=True)
    return X, signs(y == 0)


@split_by_seed()
def heart_failure(paths):
    """Died before the end of follow-up (+1) or not; dense, float64.

    Twelve columns, including the time of follow-up (the SCS paper's 13 include the label). The paper trains on 273 of
    the 299 rows: ``test_fraction=26/299``.
    """
    X, y = read_csv(paths["heart_failure_clinical_records_dataset.csv"], label="DEATH_EVENT")
    return X, signs(y == 1)


@split_by_seed()
def wine_quality(paths, *, colour="both"):
    """Wine of quality 7 or more (+1) against the rest, red and white together; dense, float64.

    The colour is not among the columns. A quarter of the test rows also occur in the training part.

    Parameters
    ----------
    colour : {"both", "red", "white"}, default="both"
        The 1,599 red wines (13.6 % of them +1), the 4,898 white wines (21.6 %), or both.
    """
    check_name("colour", colour, WINES)
    tables = [read_csv(paths[f"winequality-{one}.csv"], label="quality") for one in WINES[colour]]
    X, quality = (np.concatenate(column) for column in zip(*tables, strict=True))
    return X, signs(quality >= GOOD_WINE)


@split_by_seed()
def magic(paths):
    """Hadron (``h``, the smaller class, +1) against gamma; dense, float64."""
    X, particle = read_csv(paths["magic04.data"], header=False)
    return X, signs(particle == "h")


def avila(paths):
    """Copyist A (+1), the most frequent, against the eleven others; dense, float64.

    The published parts, which are standardised. One training row has the value 386 in its second column.
    """
    parts = []
    for part in ("tr", "ts"):
        X, copyist = read_csv(paths[f"avila-{part}.txt"], header=False)
        parts += [X, signs(copyist == "A")]
    return tuple(parts)


@split_by_seed()
def occupancy(paths):
    """Room occupied (+1) or empty; dense, float64.

    Sixteen sensors, without date and time (which the SCS paper's 18 columns include). The rows are ordered by time: in
    a random split test rows are neighbours of training rows, and one in six equals one of them.
    """
    path = paths["Occupancy_Estimation.csv"]
    table = read_numbers(path, delimiter=",", skiprows=1, usecols=OCCUPANCY_COLUMNS)
    return table[:, :-1], signs(table[:, -1] > 0)


ENTRIES = (
    DatasetEntry(
        name="breast-cancer",
        kind="bundled",
        summary="Breast Cancer Wisconsin (Diagnostic): +1 is malignant; seeded stratified split.",
        source=f"sklearn.datasets.load_breast_cancer, from {UCI_PAGES}/17",
        n_train=400,
        n_test=169,
        n_features=30,
        positive="37.3%",
        build=breast_cancer,
    ),
    DatasetEntry(
        name="heart-failure",
        summary="Heart failure clinical records: +1 is death before the end of follow-up; seeded stratified split.",
        source=f"{UCI_PAGES}/519/heart+failure+clinical+records",
        n_train=209,
        n_test=90,
        n_features=12,
        positive="32.1%",
        build=heart_failure,
        files=(
            uci_file(
                "heart_failure_clinical_records_dataset.csv",
                "9c73cea7468ff5d517801ec050fe9993da5912fce4b56f296f8df3b38dd75912",
                "519/heart+failure+clinical+records.zip#heart_failure_clinical_records_dataset.csv",
                "00519/heart_failure_clinical_records_dataset.csv",
            ),
        ),
    ),
    DatasetEntry(
        name="wine-quality",
        summary="Wine quality, red and white: +1 is a quality of 7 or more; seeded stratified split.",
        source=f"{UCI_PAGES}/186/wine+quality",
        n_train=4_548,
        n_test=1_949,
        n_features=11,
        positive="19.7%",
        build=wine_quality,
        files=(
            uci_file(
                "winequality-red.csv",
                "4a402cf041b025d4566d954c3b9ba8635a3a8a01e039005d97d6a710278cf05e",
                "186/wine+quality.zip#winequality-red.csv",
                "wine-quality/winequality-red.csv",
            ),
            uci_file(
                "winequality-white.csv",
                "76c3f809815c17c07212622f776311faeb31e87610d52c26d87d6e361b169836",
                "186/wine+quality.zip#winequality-white.csv",
                "wine-quality/winequality-white.csv",
            ),
        ),
    ),
    DatasetEntry(
        name="magic",
        summary="MAGIC telescope: +1 is a hadron, the smaller class, -1 gamma; seeded stratified split.",
        source=f"{UCI_PAGES}/159/magic+gamma+telescope",
        n_train=13_314,
        n_test=5_706,
        n_features=10,
        positive="35.2%",
        build=magic,
        files=(
            uci_file(
                "magic04.data",
                "e9314b7ebd4b4b59a3b3d65f7316663963777b16a46786877651dbbaa640b36a",
                "159/magic+gamma+telescope.zip#magic04.data",
                "magic/magic04.data",
            ),
        ),
    ),
    DatasetEntry(
        name="avila",
        summary="Pages of the Avila Bible: +1 is copyist A, who wrote the most, -1 the eleven others.",
        source=f"{UCI_PAGES}/459/avila",
        n_train=10_430,
        n_test=10_437,
        n_features=10,
        positive="41.1%",
        build=avila,
        files=(
            uci_file(
                "avila-tr.txt",
                "493332af20f750a6b0f7b0c581dd2236bb68a8ace52b412aea1c9c82b2076357",
                "459/avila.zip#avila/avila-tr.txt",
                "00459/avila.zip#avila/avila-tr.txt",
            ),
            uci_file(
                "avila-ts.txt",
                "0ec227d595dd8d8dc6804a7139c8b6d6e00e21aaea0d9052085057aa98c3e589",
                "459/avila.zip#avila/avila-ts.txt",
                "00459/avila.zip#avila/avila-ts.txt",
            ),
        ),
    ),
    DatasetEntry(
        name="occupancy",
        summary="Room occupancy by sixteen sensors, without date and time: +1 is an occupied room; seeded "
        "stratified split.",
        source=f"{UCI_PAGES}/864/room+occupancy+estimation",
        n_train=7_090,
        n_test=3_039,
        n_features=16,
        positive="18.8%",
        build=occupancy,
        files=(
            uci_file(
                "Occupancy_Estimation.csv",
                "d10b1bd5ec20c8f179c8d85b92486752c9149f328d08989a54a7a78c2f6d7a99",
                "864/room+occupancy+estimation.zip#Occupancy_Estimation.csv",
                same_examples=("4984e3b7f91ca9aa433ec8bc0c2fb4d1a7735714082f5e9160ac4510fe0cf9da",),
            ),
        ),
    ),
)
