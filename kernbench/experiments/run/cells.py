"""An experiment turned into cells: data set × method × repeat, each complete in itself.

A cell is plain JSON data, so it can be sent to a fresh process, hashed, and printed by a dry run.
"""

import hashlib
import json
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from itertools import product

from kernbench._names import unknown_name
from kernbench.experiments.run.patterns import Patterns
from kernbench.experiments.run.repeats import most_repeats


@dataclass(frozen=True)
class Cell:
    """One measurement to be made.

    Attributes
    ----------
    experiment, scale, dataset, method : str
    repeat : int
        From 0.
    seed : int
        Equal for all methods of a repeat, so that they are compared in pairs.
    loader, arguments : str, dict
        How to get the data.
    estimator, params : str, dict
        How to build the estimator, except the budget; or what else is measured, and how.
    evaluate : str
        How to judge it.
    measure : str
        How to measure it: as in :class:`~kernbench.experiments.declare.Experiment`.
    traced, input_dtype, dense_input
        As in :class:`~kernbench.experiments.declare.Method`.
    warm_up_rows : int
        As in :class:`~kernbench.experiments.declare.Experiment`.
    budget : dict or None
        ``{"of": method, "fraction": float, "param": str}``: a time budget that is known after that method's cell of the
        same data and repeat.
    """

    experiment: str
    scale: str
    dataset: str
    method: str
    repeat: int
    seed: int
    loader: str
    arguments: dict
    estimator: str
    params: dict
    evaluate: str
    measure: str
    traced: bool = False
    input_dtype: str | None = None
    dense_input: bool = False
    warm_up_rows: int = 0
    budget: dict | None = None

    @property
    def place(self):
        """The identity of a cell within one run: ``(experiment, scale, dataset, method, repeat)``."""
        return (self.experiment, self.scale, self.dataset, self.method, self.repeat)

    @property
    def needs(self):
        """The `place` of the cell whose time determines this one's budget, or None."""
        if self.budget is None:
            return None
        return (self.experiment, self.scale, self.dataset, self.budget["of"], self.repeat)

    def __str__(self):
        return f"{self.experiment} [{self.scale}] {self.dataset} / {self.method} / repeat {self.repeat}"


@dataclass(frozen=True)
class Gap:
    """A declared method that cannot run here, and the reason."""

    experiment: str
    method: str
    reason: str


def seed_of(experiment, dataset, repeat):
    """A 32-bit seed that depends only on these three, not on the machine or the order of running."""
    digest = hashlib.sha256(f"{experiment}/{dataset}/{repeat}".encode()).digest()
    return int.from_bytes(digest[:4], "big")


def cell_key(cell, checksum, environment):
    """The identity of a measurement: two cells with the same key measure the same.

    Parameters
    ----------
    cell : Cell
    checksum : str or None
        Checksum of the data.
    environment : dict
        Of the cell's record; the two digests of the code, processor, threads, BLAS and, where they are there,
        ``plugin`` and ``overcommitted`` count.

    Returns
    -------
    str
        32 hexadecimal digits of a SHA-256.
    """
    identity = {
        "cell": asdict(cell),
        "data": checksum,
        "code": [environment.get(name) for name in ("kernbench", "code", "experiment_code")],
        "machine": [environment.get(name) for name in ("processor", "n_threads", "blas")],
        **{name: environment[name] for name in ("plugin", "overcommitted") if name in environment},
    }
    text = json.dumps(identity, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _dependencies_first(methods, chosen):
    """Names of the `chosen` methods and of those they depend on, dependencies first."""
    by_name = {method.name: method for method in methods}
    ordered = []

    def add(name, above=()):
        if name in above:
            raise ValueError(f"methods depend on each other in a circle: {' → '.join((*above, name))}")
        if by_name[name].depends_on is not None:
            add(by_name[name].depends_on, (*above, name))
        if name not in ordered:
            ordered.append(name)

    for method in methods:
        if method.name in chosen:
            add(method.name)
    return [by_name[name] for name in ordered]


def _is_chosen(setting, datasets, optional):
    return optional or not setting.optional if datasets is None else setting.name in datasets


def _chosen_methods(experiment, methods):
    """The methods to run, dependencies first, and the gaps among those selected."""
    wanted = [method.name for method in experiment.methods if methods is None or method.name in methods]
    reasons = {}
    for method in _dependencies_first(experiment.methods, wanted):
        if method.requires is not None and not _is_installed(method.requires):
            reasons[method.name] = f"{method.package or method.requires} is not installed"
        elif method.depends_on in reasons:
            reasons[method.name] = reasons[method.depends_on]
    gaps = [Gap(experiment.name, name, reasons[name]) for name in wanted if name in reasons]
    return _dependencies_first(experiment.methods, set(wanted) - reasons.keys()), gaps


def _is_installed(module):
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # the package that it is in
        return False


def _refuse_unknown(experiments, scale, datasets, methods):
    """Raise ValueError for a filter that matches no experiment."""
    known_datasets = {setting.name for experiment in experiments for setting in experiment.scale(scale).settings}
    known_methods = {method.name for experiment in experiments for method in experiment.methods}
    for what, given, known in (("data set", datasets, known_datasets), ("method", methods, known_methods)):
        for name in given or ():
            if name not in known:
                raise ValueError(unknown_name(what, name, known))


def plan(
    experiments,
    scale,
    *,
    repeats=None,
    datasets=None,
    methods=None,
    only=None,
    skip=None,
    optional=False,
    seconds_of=None,
):
    """List the cells of some experiments in the order they should run.

    Repeats are the outer loop, over all experiments, and methods the inner one, so that other work on the machine
    affects all methods alike; a method comes after the one its budget depends on.

    Parameters
    ----------
    experiments : list of Experiment
    scale : str
    repeats : int or "auto", optional
        Overrides the scale's number; "auto" plans for as many as any cell may have.
    datasets, methods : collection of str, optional
        Only these; dependencies of a chosen method are added. Optional settings run only when named here. A method is
        left out if its setting excludes it.
    only, skip : collection of str, optional
        Patterns of :class:`~kernbench.experiments.run.patterns.Patterns`. Dependencies of a chosen cell are added to
        those of `only`; what depends on a skipped cell is skipped too. Without `datasets`, an optional setting runs
        also where a pattern of `only` names it.
    optional : bool, default=False
        Also optional settings that are not named, after everything else.
    seconds_of : callable, optional
        ``seconds_of(cells) -> float``, of all methods of a repeat on a data set: those that take less come first within
        each repeat. By default the declared order.

    Returns
    -------
    cells : list of Cell
    gaps : list of Gap
        Methods of the chosen data sets that are left out because a package is missing.

    Raises
    ------
    ValueError
        For a name that no experiment knows, or a pattern that matches nothing; the message suggests the nearest.
    """
    _refuse_unknown(experiments, scale, datasets, methods)
    patterns, cells, gaps, late = Patterns(only, skip), [], [], set()
    for experiment in experiments:
        chosen_scale = experiment.scale(scale)
        chosen_methods, missing = _chosen_methods(experiment, methods)
        settings = [
            setting
            for setting in chosen_scale.settings
            if _is_chosen(setting, datasets, optional)
            or (datasets is None and patterns.names(experiment.name, setting.name))
        ]
        # To skip what does not run anyway, such as an optional data set, is no mistake.
        for setting, method in product(chosen_scale.settings, experiment.methods):
            patterns.skips(experiment.name, setting.name, method.name)
        if optional:
            late |= {(experiment.name, setting.name) for setting in settings if setting.optional}
        # All gaps count, since a pattern may name a missing method.
        open_gaps = [
            [patterns.choose(experiment.name, s.name, gap.method) for s in settings if s.takes(gap.method)]
            for gap in missing
        ]
        gaps += [gap for gap, chosen in zip(missing, open_gaps) if any(chosen)]
        for repeat in range(most_repeats(chosen_scale.repeats, repeats)):
            for setting in settings:
                cells += [
                    _cell(experiment, scale, setting, method, repeat)
                    for method in chosen_methods
                    if setting.takes(method.name)
                ]
    # Stable, so that a run that ends early has cells of each experiment; what takes hours waits for the last repeat.
    cells.sort(key=lambda cell: ((cell.experiment, cell.dataset) in late, cell.repeat))
    if seconds_of is not None:
        cells = _shortest_first(cells, late, seconds_of)
    cells = patterns.filter(cells)
    patterns.refuse_unmatched()
    return cells, gaps


def _shortest_first(cells, late, seconds_of):
    """Sort data sets within each repeat by their time; the methods of one stay together, to be measured alike."""
    races = {}
    for cell in cells:
        data = cell.experiment, cell.dataset
        races.setdefault((data in late, cell.repeat, *data), []).append(cell)
    ordered = sorted(races.items(), key=lambda race: (*race[0][:2], seconds_of(race[1])))
    return [cell for _, race in ordered for cell in race]


def _cell(experiment, scale, setting, method, repeat):
    seed = seed_of(experiment.name, setting.name, repeat)
    params = {**setting.params, **method.params}
    if method.seed_param is not None:
        params[method.seed_param] = seed
    budget = None
    if method.depends_on is not None:
        budget = {"of": method.depends_on, "fraction": method.budget_fraction, "param": method.budget_param}
    return Cell(
        experiment=experiment.name,
        scale=scale,
        dataset=setting.name,
        method=method.name,
        repeat=repeat,
        seed=seed,
        loader=setting.loader,
        arguments=setting.arguments_of(repeat),
        estimator=method.estimator,
        params=params,
        evaluate=experiment.evaluate,
        measure=method.measure or experiment.measure,
        traced=method.traced,
        input_dtype=method.input_dtype,
        dense_input=method.dense_input,
        warm_up_rows=experiment.warm_up_rows,
        budget=budget,
    )
