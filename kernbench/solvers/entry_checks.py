"""What is wrong with an entry of the registry: a plug-in's mistakes are named when it is loaded, not in a fit."""

import inspect
import re
from math import inf
from numbers import Real

from kernbench._lazy import load
from kernbench._names import unknown_name
from kernbench.solvers.entry import SolverEntry
from kernbench.solvers.kinds import KINDS
from kernbench.solvers.method import Method, core_of, has_cores

NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
FUNCTIONS = ("advance", "solution", "objective")


def check_name(entry):
    """Raise ValueError unless this is an entry for a known kind of problem, with a valid name."""
    if not isinstance(entry, SolverEntry):
        raise ValueError(f"a solver is listed by a SolverEntry, got {entry!r}")
    if not isinstance(entry.problem, str) or entry.problem not in KINDS:
        raise ValueError(unknown_name("kind of problem", entry.problem, KINDS))
    if not isinstance(entry.name, str) or not NAME.fullmatch(entry.name):
        raise ValueError(f"{entry.name!r} is not a valid solver name: use small letters, digits and hyphens")


def check_method(entry):
    """Raise ValueError unless the class of the solver is there, with its cores, functions, losses and parameters."""
    try:
        method = load(entry.method)
        if not issubclass(method, Method):
            raise ValueError(f"{method.__name__} must be derived from kernbench.solvers.method.Method")
        if has_cores(method):
            core_of(method, "compiled"), core_of(method, "reference")
    except (ImportError, AttributeError, ValueError, TypeError) as error:
        raise ValueError(
            f"solver {entry.name!r} has no method at {entry.method!r}, which must be 'module:Class' ({error})"
        ) from error
    lacks = [f"{name}()" for name in FUNCTIONS if not callable(getattr(method, name, None))]
    if lacks:
        raise ValueError(
            f"solver {entry.name!r}: {method.__name__} lacks {', '.join(lacks)}; what a solver has is said in "
            "kernbench.solvers.base.Solver"
        )
    _check_losses(entry, method)
    _check_parameters(entry, method)


def _check_losses(entry, method):
    if not isinstance(method.losses, (list, tuple)):
        raise ValueError(
            f"solver {entry.name!r}: losses of {method.__name__} must be a tuple of names, such as "
            f"({entry.kind.losses[0]!r},), got {method.losses!r}"
        )
    # A class may serve kinds that have no loss in common, such as labels and real targets: those losses are no mistake.
    of_others = {
        loss
        for kind in KINDS.values()
        if kind.first == entry.kind.first and not set(kind.losses) & set(entry.kind.losses)
        for loss in kind.losses
    }
    unknown = [loss for loss in method.losses if loss not in {*entry.kind.losses, *of_others}]
    if unknown:
        raise ValueError(unknown_name(f"loss of {entry.problem}", unknown[0], entry.kind.losses))
    if not entry.losses:
        raise ValueError(f"solver {entry.name!r}: its class needs an attribute losses, with one name or more")


def _check_parameters(entry, method):
    if entry.kind.first == "batches":  # these come with their weights
        return
    given = dict.fromkeys(("alpha", "weights", "random_state", "initial", *entry.kind.options))
    try:
        inspect.signature(method).bind(None, None, **given)
    except TypeError as error:
        raise ValueError(
            f"solver {entry.name!r}: {method.__name__}({entry.kind.first}, y, *, {', '.join(given)}) is what the "
            f"estimators call; {error}"
        ) from error


def check_description(entry):
    """Raise ValueError unless the words of the entry are text, and its iterations have a limit."""
    texts = {"paper": entry.paper, "complexity": entry.complexity, "stopping": entry.stopping}
    unsaid = [name for name, text in texts.items() if not isinstance(text, str)]
    if unsaid:
        raise ValueError(f"solver {entry.name!r}: {unsaid[0]} must be text, got {texts[unsaid[0]]!r}")
    numbers = {"default_epochs": entry.default_epochs, "default_iterations": entry.default_iterations}
    wrong = [name for name, n in numbers.items() if not (isinstance(n, Real) and 0 <= n < inf)]
    if wrong or not any(numbers.values()):
        said = ", ".join(f"{name}={numbers[name]!r}" for name in wrong or numbers)
        raise ValueError(
            f"solver {entry.name!r}: {said}; max_iter=-1 stands for default_epochs passes over the rows, or "
            "default_iterations: one of these numbers must be above 0"
        )
