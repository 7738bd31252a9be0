"""Plug-ins: a solver, a reference, an experiment of the user's own in one Python file.

A plug-in is a module that lists what it brings: ``SOLVERS``, of `SolverEntry`, and ``EXPERIMENTS``, of `Experiment`.
`load` registers them, in this process; the process of a cell loads the plug-in that the cell needs again.
"""

import ast
import hashlib
import inspect
import os
import re
import signal
import sys
import threading
import traceback
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from kernbench import _lazy
from kernbench.experiments import registry as experiments
from kernbench.experiments.declare import Experiment
from kernbench.experiments.run.processes.wording import sentence

IMPORT_SECONDS = 60.0  # time limit of an import
PLUGINS = []  # those that are loaded


@dataclass(frozen=True)
class Plugin:
    """A plug-in that is loaded.

    Attributes
    ----------
    path : str
        Absolute.
    module : str
        The name under which it is imported.
    digest : str
        SHA-256 of its file, and of what it imports from its own folder, directly or not: cells are run again when these
        change.
    solvers : tuple of SolverEntry
    experiments : tuple of str
        Names.
    """

    path: str
    module: str
    digest: str
    solvers: tuple
    experiments: tuple

    def __str__(self):
        return f"{Path(self.path).name} {self.digest[:12]}"

    def joined(self):
        """Names of the experiments that its solvers have joined."""
        names = {entry.name for entry in self.solvers}
        races = [experiment for experiment in experiments.EXPERIMENTS if experiment.newcomers]
        return tuple(race.name for race in races if names & {method.name for method in race.methods})

    def brings(self, cell):
        """Whether a cell runs code of this plug-in."""
        addresses = (cell.loader, cell.estimator, cell.evaluate, cell.measure)
        return any(address.partition(":")[0] == self.module for address in addresses) or any(
            cell.params.get("solver") == entry.name and cell.estimator.endswith(f":{entry.kind.estimator}")
            for entry in self.solvers
        )


def load(path):
    """Import a plug-in and register its solvers and experiments; nothing remains of one that is refused.

    Returns
    -------
    Plugin
        The one that is loaded already, if the file has not changed since.

    Raises
    ------
    ValueError
        If there is no such file, it raises or does not end when imported, adds nothing, or takes a name that is
        taken; the message is one line.
    """
    path = Path(path).resolve()
    if not path.is_file():
        raise ValueError(f"there is no plug-in {str(path)!r}; write one with: kernbench new solver NAME")
    if path.suffix != ".py":
        raise ValueError(f"a plug-in is a Python file, NAME.py; got {path.name!r}")
    name = "kernbench_plugin_" + re.sub(r"\W", "_", path.stem)
    for known in PLUGINS:
        if known.module == name:
            if known.path == str(path) and known.digest == _digest(path):
                return known
            raise ValueError(f"plug-in {path.name}: another one of this name, or version, is loaded: {known.path}")
    from kernbench.solvers import registry as solvers

    entries, declared = list(solvers.SOLVERS), list(experiments.EXPERIMENTS)
    try:
        with _one_line_errors(path):
            module = _imported(path, name)
            plugin = _registered(module, path)
    except BaseException:
        solvers.SOLVERS[:], experiments.EXPERIMENTS[:] = entries, declared
        sys.modules.pop(name, None)
        _lazy.load.cache_clear()
        raise
    PLUGINS.append(plugin)
    return plugin


def of(cell):
    """Return the plug-in that a cell needs, or None."""
    return next((plugin for plugin in PLUGINS if plugin.brings(cell)), None)


def file_of(entry):
    """Return the path of the file with the class of a solver."""
    return inspect.getfile(_lazy.load(entry.method))


def step_in(error):
    """Return the last step of an exception in the code of plug-ins, and whether it was raised there.

    Returns
    -------
    step : traceback.FrameSummary or None
        None for an exception that has not passed through any.
    is_last : bool
        Whether nothing that it called, but compiled code, has raised it.
    """
    steps = traceback.extract_tb(error.__traceback__)
    own = [step for step in steps if step.filename in {plugin.path for plugin in PLUGINS}]
    return (own[-1], own[-1] is steps[-1]) if own else (None, False)


def load_again(plugin):
    """Load a plug-in in the process of a cell; ValueError if it was changed meanwhile."""
    if load(plugin.path).digest != plugin.digest:
        raise ValueError(f"plug-in {Path(plugin.path).name} was changed during the run: run again")


def _imported(path, name):
    """Import the file as the module `name`."""
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))  # last, so that its neighbours hide no other module
    _lazy.load.cache_clear()
    spec = spec_from_file_location(name, path)
    module = sys.modules[name] = module_from_spec(spec)
    process = os.getpid()
    try:
        # What it prints is for the user: standard output may be read by a program.
        with _time_limit(IMPORT_SECONDS), redirect_stdout(sys.stderr):
            spec.loader.exec_module(module)
    finally:
        if os.getpid() != process:
            os._exit(0)  # a copy of this process, made by the plug-in
    return module


def _registered(module, path):
    """Register what a module brings."""
    from kernbench.solvers import registry as solvers  # here, since whoever runs no plug-in needs none of it

    entries, declared = (_listed(module, what) for what in ("SOLVERS", "EXPERIMENTS"))
    if not entries and not declared:
        raise ValueError("it adds nothing: list its SolverEntry in SOLVERS, or its Experiment in EXPERIMENTS")
    for entry in entries:
        if not isinstance(entry, solvers.SolverEntry):
            raise ValueError(f"SOLVERS must hold SolverEntry, got {entry!r}")
        if entry.name == "auto":  # the cells of this name would measure another solver
            raise ValueError("solver='auto' leaves the choice to the estimator: choose another name for the solver")
        solvers.add(entry)
        experiments.EXPERIMENTS[:] = [
            experiment.joined_by(entry) if _fits(experiment, entry) else experiment
            for experiment in experiments.EXPERIMENTS
        ]
    for experiment in declared:
        if not isinstance(experiment, Experiment):
            raise ValueError(f"EXPERIMENTS must hold Experiment, got {experiment!r}")
        if "quick" not in experiment.scales or not {*experiment.scales} <= {"quick", "paper"}:
            raise ValueError(f"scales of {experiment.name!r} must be 'quick' and, if you like, 'paper'")
        if experiment.name in (*experiments.names(), "all"):  # which stands for all of them
            raise ValueError(f"there is an experiment {experiment.name!r} already: choose another name")
        experiments.EXPERIMENTS.append(experiment)
    names = tuple(experiment.name for experiment in declared)
    return Plugin(str(path), module.__name__, _digest(path), entries, names)


def _fits(experiment, entry):
    """Whether an experiment takes solvers of this kind, and the solver minimises the loss that is raced on there."""
    model = experiment.newcomers.get(entry.problem)
    if model is None:
        return False
    default = inspect.signature(_lazy.load(model.estimator)).parameters["loss"].default
    return model.params.get("loss", default) in ("auto", *entry.losses)


def _listed(module, name):
    found = getattr(module, name, ())
    if not isinstance(found, (list, tuple)):
        raise ValueError(f"{name} must be a list or tuple, got {found!r}")
    return tuple(found)


def _digest(path):
    """SHA-256 of the plug-in's file, and of what it, and what that in turn, imports from its folder or names in an
    address."""
    files, waiting = {path}, [path]
    while waiting:
        for name in _modules_named_in(waiting.pop().read_bytes()):
            found = {*path.parent.glob(f"{name}.py"), *path.parent.glob(f"{name}.*so")}
            if name not in ("", "kernbench") and (path.parent / name / "__init__.py").is_file():
                found.update((path.parent / name).rglob("*.py"))
            waiting += (file for file in found - files if file.suffix == ".py")
            files |= found
    digest = hashlib.sha256(path.read_bytes())
    for file in sorted(files - {path}):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _modules_named_in(source):
    """Yield the top-level names of what a source imports, or names in text."""
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except (SyntaxError, ValueError):
        return  # its import says what is wrong
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").partition(".")[0]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if re.fullmatch(r"\w+:\w+", node.value):
                yield node.value.partition(":")[0]


@contextmanager
def _one_line_errors(path):
    """Turn whatever a plug-in raises, an attempt to exit included, into a ValueError that names it."""
    try:
        yield
    except KeyboardInterrupt:
        raise
    except SyntaxError as error:
        line = "" if error.lineno is None else f":{error.lineno}"
        place = f"{Path(error.filename or path).name}{line}"
        raise ValueError(f"plug-in {path.name}: it raised SyntaxError: {error.msg} ({place})") from error
    except BaseException as error:
        said = str(error) if type(error) is ValueError and str(error) else f"it raised {_described(error, path)}"
        raise ValueError(f"plug-in {path.name}: {said}") from error


def _described(error, path):
    """Describe an exception as `sentence` does, with the last step in the plug-in in place of one in kernbench."""
    own = [step for step in traceback.extract_tb(error.__traceback__) if step.filename == str(path)]
    if not own:
        return sentence(error)
    text = "".join(traceback.format_exception_only(error))
    return f"{' '.join(text.split())} ({path.name}:{own[-1].lineno}, in {own[-1].name})"


@contextmanager
def _time_limit(seconds):
    """Raise TimeoutError in the block after some seconds; only the main thread can."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    def stop(*_):
        raise TimeoutError(f"importing it takes longer than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
