"""The list of experiments: modules whose ``EXPERIMENT`` declares one."""

from typing import Any

from kernbench._lazy import load
from kernbench._names import find

EXPERIMENTS = [
    load(f"kernbench.experiments.{module}:EXPERIMENT")
    for module in (
        "papers.sbp.libsvm",
        "papers.sbp.kernel_evaluations",
        "papers.sbp.inner_products",
        "papers.sbp.rates",
        "ours.svm_peers.declaration",
        "ours.primitives.declaration",
        "ours.scaling.declaration",
        "ours.cache.declaration",
        "ours.tuning.declaration",
        "ours.twins.declaration",
        "papers.rocsvm.linear",
        "papers.rocsvm.nystroem",
        "papers.rocsvm.real",
        "ours.auc_peers.declaration",
        "ours.distributed.declaration",
        "ours.windows.declaration",
        "ours.cross_paper.declaration",
        "papers.scs.accuracy",
        "papers.scs.objective",
        "papers.scs.widths",
        "papers.pauc.train",
        "papers.pauc.test",
        "papers.pauc.mu",
        "papers.pauc.rates",
        "papers.pauc.sorr",
        "papers.pauc.networks",
        "papers.dsg.ridge",
        "papers.dsg.gp",
        "papers.dsg.svm",
        "papers.dsg.batches",
        "papers.dsg.multiclass",
        "papers.dsg.molecules",
        "papers.dsg.losses",
        "papers.dsg.cost",
    )
]


def names() -> Any:
    """The names of all experiments."""
    return [experiment.name for experiment in EXPERIMENTS]


def get(name: Any) -> Any:
    """Return the experiment called `name`; raise ValueError, with the nearest name, if there is none."""
    return find("experiment", name, EXPERIMENTS)
