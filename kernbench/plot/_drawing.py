"""What all displays share: axes to draw on, names of estimators."""

from collections import Counter
from collections.abc import Mapping

from sklearn.pipeline import Pipeline


def axes_for(ax):
    """Return `ax`, or the axes of a new figure for None.

    Raises
    ------
    ImportError
        Without matplotlib, with the command that installs it.
    """
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(f"kernbench.plot needs matplotlib: python -m pip install matplotlib ({error})") from error
    return plt.subplots(layout="constrained")[1] if ax is None else ax


def named(estimators):
    """Return a dict of estimators by name, of one, of several or of such a dict.

    The name of an estimator is that of its class, with its solver where it has one; equal names are numbered.
    """
    if isinstance(estimators, Mapping):
        found = {str(name): last_step(estimator) for name, estimator in estimators.items()}
    else:
        several = list(estimators) if isinstance(estimators, list | tuple) else [estimators]
        several = [last_step(estimator) for estimator in several]
        names = [name_of(estimator) for estimator in several]
        counts, seen, found = Counter(names), Counter(), {}
        for name, estimator in zip(names, several):
            seen[name] += 1
            found[name if counts[name] == 1 else f"{name}, {seen[name]}"] = estimator
    if not found:
        raise ValueError("estimators is empty: give at least one fitted estimator")
    return found


def last_step(estimator):
    """Return the last step of a pipeline; anything else as it is."""
    return estimator[-1] if isinstance(estimator, Pipeline) else estimator


def name_of(estimator):
    """Return the class of an estimator with its solver, as one would type it."""
    solver = getattr(estimator, "solver_", getattr(estimator, "solver", None))
    return type(estimator).__name__ + (f"(solver={solver!r})" if isinstance(solver, str) else "")
