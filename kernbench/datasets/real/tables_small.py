"""Small tables of the UCI repository."""

from sklearn.datasets import load_breast_cancer

from kernbench.datasets.entry import DatasetEntry
from kernbench.datasets.real.parts import signs, split, standardised

BREAST_CANCER_TRAIN = 400


def breast_cancer(paths, *, standardise=True, split_seed=0):
    """Malignant (+1) against benign: dense, float64.

    Parameters
    ----------
    paths : dict
        Empty; the data come with scikit-learn.
    standardise : bool, default=True
        Bring every column to mean 0 and variance 1 over the training part.
    split_seed : int, default=0
        Of 569 rows 169 are drawn by this seed to test, stratified.
    """
    X, y = load_breast_cancer(return_X_y=True)
    return standardised(split(X, signs(y == 0), BREAST_CANCER_TRAIN, split_seed), standardise)


ENTRIES = (
    DatasetEntry(
        name="breast-cancer",
        kind="bundled",
        summary="Breast Cancer Wisconsin (Diagnostic): +1 is malignant; seeded stratified split.",
        source="sklearn.datasets.load_breast_cancer, from https://archive.ics.uci.edu/dataset/17",
        n_train=400,
        n_test=169,
        n_features=30,
        layout="dense float64",
        positive="37.3%",
        build=breast_cancer,
    ),
)
