"""Every experiment, listed once."""

from kernbench._names import unknown_name
from kernbench.experiments.ours import primitives, svm_peers
from kernbench.experiments.papers import rocsvm, sbp, scs

EXPERIMENTS = (
    *sbp.EXPERIMENTS,
    svm_peers.EXPERIMENT,
    primitives.EXPERIMENT,
    *rocsvm.EXPERIMENTS,
    *scs.EXPERIMENTS,
)


def names():
    """The names of all experiments."""
    return [experiment.name for experiment in EXPERIMENTS]


def get(name):
    """The experiment called `name`.

    Raises
    ------
    ValueError
        If there is none; the message says the nearest name.
    """
    for experiment in EXPERIMENTS:
        if experiment.name == name:
            return experiment
    raise ValueError(unknown_name("experiment", name, names()))
