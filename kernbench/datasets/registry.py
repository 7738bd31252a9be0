"""The list of data sets; each module of builders declares its own entries."""

from kernbench._names import find
from kernbench.datasets.generated import (
    census,
    clusters,
    dense,
    known_auc,
    network_features,
    regressions,
    ridge_2d,
    striped_images,
    text,
)
from kernbench.datasets.real import bank, images, libsvm, molecules, tables, tables_small

DATASETS = (
    *dense.ENTRIES,
    *text.ENTRIES,
    *census.ENTRIES,
    *known_auc.ENTRIES,
    *clusters.ENTRIES,
    *network_features.ENTRIES,
    *striped_images.ENTRIES,
    *ridge_2d.ENTRIES,
    *regressions.ENTRIES,
    *tables_small.ENTRIES,
    *libsvm.ENTRIES,
    *tables.ENTRIES,
    *bank.ENTRIES,
    *images.ENTRIES,
    *molecules.ENTRIES,
)


def get(name):
    """Return the entry called `name`, or raise ValueError with the nearest name."""
    return find("data set", name, DATASETS)
