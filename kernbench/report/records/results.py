"""The results of an experiment at one scale: its declaration and its records, in one object.

Tables, claims, charts and the verdict receive this object and a display or a claim.
"""

import json
from dataclasses import dataclass
from functools import cache, cached_property
from inspect import Parameter, signature
from math import inf
from statistics import median

from kernbench._lazy import load
from kernbench.experiments.declare import Experiment
from kernbench.report import text
from kernbench.report.records.cells import Cell, setup_of
from kernbench.report.records.rows import place, rows_of
from kernbench.report.statistics import finite

KINDS = {
    "full": "the full data",
    "subset": "a subset of the data",
    "generated": "generated data",
    "bundled": "data that come with scikit-learn",
    "own": "data of your own",
}
OF_THE_RACE = ("alpha", "C", "step_size", "tol", "max_iter")  # chosen for its data: strength, steps, stopping rule


@cache
def defaults_of(estimator):
    """The default arguments of a class given as ``"module:Class"``.

    Returns
    -------
    dict or None
        None if the class cannot be imported, or takes arguments of any name.
    """
    try:
        parameters = signature(load(estimator)).parameters.values()
    except (ImportError, AttributeError, TypeError, ValueError):
        return None
    if any(parameter.kind == Parameter.VAR_KEYWORD for parameter in parameters):
        return None
    return {parameter.name: parameter.default for parameter in parameters}


def _of_users(method):
    """Split a method's parameters into those a user keeps, and those of the race that are not the default."""
    taken = defaults_of(method.estimator) or {}
    params = {name: value for name, value in method.params.items() if name in taken}
    kept = {name: value for name, value in params.items() if name not in OF_THE_RACE}
    race = {name: value for name, value in params.items() if name in OF_THE_RACE and value != taken[name]}
    return kept, race


def literal(value):
    """JSON values as Python writes them, text in double quotes."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        return f"{{{', '.join(f'{literal(key)}: {literal(entry)}' for key, entry in value.items())}}}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(literal, value))}]"
    return repr(value)


@dataclass
class Results:
    """An experiment at one scale, with its records.

    Attributes
    ----------
    experiment : kernbench.experiments.declare.Experiment
    scale : str
    cells : dict of (dataset, method) to Cell
    """

    experiment: Experiment
    scale: str
    cells: dict

    @property
    def name(self):
        return f"{self.experiment.name}-{self.scale}"

    def file_name(self, *parts):
        """The name of a table's or figure's files, without the ending."""
        return text.file_name("-".join((self.name, *parts)))

    @property
    def records(self):
        return [record for cell in self.cells.values() for record in cell.records]

    @cached_property
    def datasets(self):
        """Data sets with records: the declared ones in their order, then any others."""
        recorded = dict.fromkeys(dataset for dataset, _ in self.cells)
        settings = self.experiment.scale(self.scale).settings
        declared = [setting.name for setting in settings if setting.name in recorded]
        return list(dict.fromkeys([*declared, *recorded]))

    def methods(self, dataset=None):
        """Methods with records (on a data set): the declared ones in their order, then any others."""
        recorded = dict.fromkeys(method for data, method in self.cells if dataset in (None, data))
        declared = [method.name for method in self.experiment.methods if method.name in recorded]
        return list(dict.fromkeys([*declared, *recorded]))

    def cell(self, dataset, method):
        """The cell; an empty one if it has no records."""
        return self.cells.get((dataset, method)) or Cell(dataset, method)

    def chosen_datasets(self, display):
        """The recorded data sets of a display."""
        return [name for name in self.datasets if display.datasets is None or name in display.datasets]

    def chosen_methods(self, display, dataset=None):
        """The recorded methods of a display."""
        return [name for name in self.methods(dataset) if display.methods is None or name in display.methods]

    def chosen_records(self, display):
        """The successful records of the methods and data sets of a display, in the order of their declaration.

        Figures show data sets and methods in this order, as tables do, whichever was measured first.
        """
        datasets, methods = self.chosen_datasets(display), self.chosen_methods(display)
        return [record for dataset in datasets for method in methods for record in self.cell(dataset, method).ok]

    def medians(self, display, categories):
        """The median of a display's value, in its unit, for each combination of categories.

        On a logarithmic axis without those that are not positive, which it cannot show.
        """
        axis, records, found = display.value, self.chosen_records(display), {}
        for names, (value,) in rows_of(records, categories, [axis.path], display.where):
            found.setdefault(names, []).append(axis.factor * value)
        if axis.never:
            without = [record for record in records if finite(place(record, axis.path)) is None]
            for names, _ in rows_of(without, categories, ["repeat"], display.where):
                found.setdefault(names, []).append(inf)
        medians = {names: median(values) for names, values in found.items()}
        return {names: value for names, value in medians.items() if value < inf and (value > 0 or not axis.log)}

    def method(self, name):
        """The declared method, or None if it is no longer declared."""
        return next((method for method in self.experiment.methods if method.name == name), None)

    def setting(self, dataset):
        """The declared setting of a data set, or None if it is no longer declared."""
        settings = self.experiment.scale(self.scale).settings
        return next((setting for setting in settings if setting.name == dataset), None)

    def has_budget(self, name):
        """Whether a method stops by a time budget, not by its own rule."""
        method = self.method(name)
        return method is not None and method.depends_on is not None

    def has_chance(self, dataset, method):
        """Whether chance moves the results of a method from repeat to repeat: new data, or a seed with an effect.

        A seed has none if there are counts that it might determine, or a distance to the optimum, and these and all
        else that is measured, besides times and memory, are equal in all repeats. The counts alone are so for every fit
        of a given length. A file of the user's is split anew in each.
        """
        setting, declared = self.setting(dataset), self.method(method)
        if self.kind(dataset) == "own" if setting is None else setting.repeat_argument is not None:
            return True
        if declared is not None and declared.seed_param is None:
            return False
        cell, metrics = self.cell(dataset, method), [m for m in self.experiment.metrics if not m.varies]
        telling = [m for m in metrics if m.deterministic or m.name == self.experiment.optimality]
        values = list(filter(None, map(cell.values, metrics)))
        return not any(map(cell.values, telling)) or any(min(found) < max(found) for found in values)

    def data(self, dataset):
        """The records' description of a data set: name, kind, sizes, checksum, description."""
        cells = (cell for (data, _), cell in self.cells.items() if data == dataset)
        return next((data for cell in cells if (data := cell.data())), {})

    def kind(self, dataset):
        """The kind of the data, declared or recorded: one of `KINDS`, or ``"unknown"``."""
        setting = self.setting(dataset)
        return (setting.kind if setting else "") or str(self.data(dataset).get("kind") or "unknown")

    def has_several_setups(self, *datasets):
        """Whether the successful records of one of some data sets are from several machines, or states of the code."""
        found = {}
        for (data, _), cell in self.cells.items():
            if data in datasets:
                found.setdefault(data, set()).update(map(setup_of, cell.ok))
        return any(len(setups) > 1 for setups in found.values())

    def label(self, name):
        """The label of a method in figures and tables."""
        method = self.method(name)
        return name if method is None else method.label

    def short_label(self, name):
        """A method's label, short enough for a column's heading or a sentence: ``LIBSVM``."""
        return text.short(self.label(name))

    def category_label(self, place, word):
        """The label of a data set or a method; any other word unchanged.

        Parameters
        ----------
        place : str
            Key of the category in a record: ``"dataset"``, ``"method"``, or another.
        word : str
        """
        if place == "method":
            return self.label(word)
        setting = self.setting(word) if place == "dataset" else None
        return (setting.label if setting else "") or word

    def code(self, name, *more, params=None):
        """How a user writes a method, ``KernelSVC(solver="smo")``, and the module to import it from.

        With `params`, these instead of all of its own that the class takes: others, as the search for alpha of a race,
        are for the experiment. Of `more`, those that it takes and does not have.

        For a method that is a class of the experiment itself, no module, and the expression that stands for it, or its
        label.
        """
        method = self.method(name)
        if method is not None and method.code:
            return method.code.splitlines()[-1], ""
        if method is None or method.estimator.startswith("kernbench.experiments."):
            return self.label(name), ""
        module, _, estimator = method.estimator.partition(":")
        taken = defaults_of(method.estimator)
        if params is None:
            params = {name: value for name, value in method.params.items() if taken is None or name in taken}
        arguments = [f"{name}={literal(value)}" for name, value in params.items()]
        names = [argument.partition("=")[0] for argument in more]
        more = [
            argument for name, argument in zip(names, more) if name not in params and (taken is None or name in taken)
        ]
        package = "kernbench" if module.startswith("kernbench.") else module
        return f"{estimator}({', '.join([*arguments, *more])})", package

    def to_copy(self, name, *more):
        """Lines that make a method's model: imports, and the model as the last line; none of what is not for users.

        Strength, steps and stopping rule of a race of ours are in a comment: they are of its data.
        """
        method, told = self.method(name), []
        if method is not None and "passes" in method.params:
            passes = method.params["passes"]
            told.append(f"# The race stopped after {'one pass' if passes == 1 else f'{passes} passes'} over the rows.")
        if method is not None and method.code:
            *before, code = method.code.splitlines()
            return [*before, *told, code]
        code, package = self.code(name, *more)
        if not package:
            return []
        if package == "kernbench":
            kept, race = _of_users(method)
            code, _ = self.code(name, *more, params=kept)
            had = ", ".join(f"{key}={literal(value)}" for key, value in race.items())
            told += [f"# The race had {had}."] if had else []
        return [f"from {package} import {code.partition('(')[0]}", *told, code]

    def spelled(self, name, params=None):
        """A method in a sentence: its code, with the package of a class of another library."""
        code, package = self.code(name, params=params)
        return code if package in ("", "kernbench") else f"{package}.{code}"

    def paper(self, dataset, method, metric):
        """The paper's number, and the data that it is from if these are not ours.

        Returns
        -------
        entry : kernbench.experiments.declare.PaperNumber or None
        elsewhere : str or None
        """
        setting = self.setting(dataset)
        original = None if setting is None else setting.stands_for
        for name in (dataset, original):
            entry = self.experiment.paper_entry(name, method, metric)
            if entry is not None:
                break
        else:
            return None, None
        had = self.experiment.had_in_paper(name)
        what = "" if had is None else had.what
        if original is not None:
            return entry, f"{original}: {what}" if what else original
        return entry, what if had is not None and had.differs else None

    def had_in_paper(self, dataset):
        """What the paper had under the name of a data set, or of the one it stands for; empty if it has no numbers."""
        setting = self.setting(dataset)
        names = (dataset, None if setting is None else setting.stands_for)
        found = next(filter(None, map(self.experiment.had_in_paper, names)), None)
        return "" if found is None else found.what
