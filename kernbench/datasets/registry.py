"""Every data set, once, in the order of the lists; each module of builders declares its own entries."""

from kernbench._names import unknown_name
from kernbench.datasets import generators, generators_clusters, generators_roc, generators_sparse
from kernbench.datasets.real import bank, images, libsvm, molecules, tables, tables_small

DATASETS = (
    *generators.ENTRIES,
    *generators_sparse.ENTRIES,
    *generators_roc.ENTRIES,
    *generators_clusters.ENTRIES,
    *tables_small.ENTRIES,
    *libsvm.ENTRIES,
    *tables.ENTRIES,
    *bank.ENTRIES,
    *images.ENTRIES,
    *molecules.ENTRIES,
)


def get(name):
    """The entry called `name`; ValueError with the nearest name if there is none."""
    for entry in DATASETS:
        if entry.name == name:
            return entry
    raise ValueError(unknown_name("data set", name, [entry.name for entry in DATASETS]))
