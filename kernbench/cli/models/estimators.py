"""The estimators of ``kernbench fit``: their names, parameters and checks, all from the list of models."""

import inspect
import re

from kernbench._models import BY_NAME, ESTIMATORS
from kernbench._names import unknown_name

TASKS = ("classify", "rank", "regress")  # tasks for which a file of examples with labels suffices
NAMES = {model.name.lower(): model for model in ESTIMATORS if model.task in TASKS}
SEARCHES = {name.removesuffix("CV"): name for name in BY_NAME if name.endswith("CV")}  # of ``--tune``
OWN = ("callback", "verbose")  # parameters that the command line sets itself


def find(name, tune=False):
    """Return the entry of the estimator called `name`, or of the one that searches its parameters.

    Raises
    ------
    ValueError
        If there is none; the message suggests others.
    """
    if name.lower() not in NAMES:
        raise ValueError(unknown_name("estimator", name, NAMES))
    entry = NAMES[name.lower()]
    if not tune or entry.name in SEARCHES.values():
        return entry
    if entry.name not in SEARCHES:
        *known, last = [each.lower() for each in SEARCHES]
        raise ValueError(f"--tune is for {', '.join(known)} and {last}: choose the parameters of {name} by --set")
    return BY_NAME[SEARCHES[entry.name]]


def parameters(estimator):
    """Return name -> default of the parameters of an estimator class that ``--set`` takes."""
    signature = inspect.signature(estimator.__init__).parameters
    return {name: p.default for name, p in signature.items() if name not in ("self", *OWN)}


def summary(estimator):
    """Return the first line of an estimator's docstring, without formulas."""
    return re.sub(r",? :math:`[^`]*`", "", inspect.getdoc(estimator).splitlines()[0])


def check_parameters(model):
    """Raise ValueError for parameters that are invalid for any data; the fit checks the others."""
    from kernbench._random import generator_of

    generator_of(model.random_state)
    model._check_parameters()
