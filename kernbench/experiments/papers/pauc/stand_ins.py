"""The stand-ins of the paper's five tasks where two of them tell the most."""

from kernbench.experiments.papers.pauc.parts import TASKS, stand_in

TELLING = ("consolidation", "pleural-effusion")  # the least and the largest share of positives: 6.6 and 38.6 %


def stand_ins(n_train, n_test, n_features, **arguments):
    """A setting of each task; those between the extremes run only by name."""
    return tuple(
        stand_in(task, n_train, n_test, n_features, optional=task not in TELLING, **arguments) for task in TASKS
    )
