"""Large tables of the UCI repository, split by seed where they were published without a test part."""

import numpy as np

from kernbench.datasets.entry import DatasetEntry
from kernbench.datasets.packed import open_text
from kernbench.datasets.real.parts import signs, split, standardised
from kernbench.datasets.storage import RemoteFile

COVTYPE_TRAIN = 522_910  # and 58,102 to test: the sizes in Cotter, Shalev-Shwartz, Srebro, ICML 2012

_UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"


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
    with open_text(paths["covtype.data"]) as file:
        table = np.loadtxt(file, delimiter=",", dtype=np.int16, comments=None)
    X, y = table[:, :-1].astype(np.float32), signs(table[:, -1] == 2)
    return standardised(split(X, y, COVTYPE_TRAIN, split_seed), standardise)


ENTRIES = (
    DatasetEntry(
        name="covtype",
        kind="full",
        summary="Forest cover types: +1 is type 2 (lodgepole pine), -1 the rest; seeded stratified split.",
        source="https://archive.ics.uci.edu/dataset/31/covertype",
        n_train=522910,
        n_test=58102,
        n_features=54,
        layout="dense float32",
        positive="48.8%",
        build=covtype,
        files=(
            RemoteFile(
                "covtype.data",
                "0a9371cef7c964b5475d6053cc3e0894a5aa6f65ad1ed3ecb01c45aa96217945",
                (f"{_UCI}/covtype/covtype.data.gz",),
            ),
        ),
    ),
)
