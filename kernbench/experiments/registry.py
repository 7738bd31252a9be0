"""Every experiment, listed once: the module whose ``EXPERIMENT`` declares it."""

from kernbench._lazy import load
from kernbench._names import unknown_name

EXPERIMENTS = [
    load(f"kernbench.experiments.{module}:EXPERIMENT")
    for module in (
        "papers.sbp.libsvm",
        "papers.sbp.kernel_evaluations",
        "papers.sbp.inner_products",
        "ours.svm_peers.declaration",
        "ours.primitives.declaration",
        "papers.rocsvm.linear",
        "papers.rocsvm.nystroem",
        "papers.rocsvm.real",
        "ours.auc_peers.declaration",
        "papers.scs.accuracy",
        "papers.scs.objective",
    )
]


def names():
    """The names of all experiments."""
    return [experiment.name for experiment in EXPERIMENTS]


def get(name):
    """Return the experiment called `name`.

    Raises
    ------
    ValueError
        If there is none; the message says the nearest name.
    """
    for experiment in EXPERIMENTS:
        if experiment.name == name:
            return experiment
    raise ValueError(unknown_name("experiment", name, names()))
