"""What is missing: methods and data sets without records, fits that failed, repeats that were not made."""

from collections import Counter

from kernbench.report import text


def gaps(results):
    """The gaps of an experiment at one scale, a sentence each; empty if every declared cell has its repeats.

    Returns
    -------
    list of str
    """
    found = [*_methods(results), *_datasets(results), *_failures(results), *_repeats(results)]
    return [*_counted(results), *found] if found else []


ENDS = {"timeout": "ran out of time", "memory": "ran out of memory", "error": "ended in an error"}


def _counted(results):
    """All that failed or is absent, in one sentence; nothing if only repeats are missing."""
    records = [record for cell in results.cells.values() for record in cell.records]
    failed = Counter(record["status"] for record in records if record["status"] != "ok")
    ends = [f"{number} {ENDS.get(status, status)}" for status, number in sorted(failed.items())]
    settings, methods = results.experiment.scale(results.scale).settings, results.experiment.methods
    absent = [
        f"{number} of {text.plural(len(declared), what)}"
        for declared, what, seen in (
            (settings, "data set", set(results.datasets)),
            (methods, "method", set(results.methods())),
        )
        if (number := sum(item.name not in seen for item in declared))
    ]
    parts = [f"of {text.plural(len(records), 'fit')} {text.listed(ends)}"] if ends else []
    parts += [f"without records: {text.listed(absent)}"] if absent else []
    if parts:
        yield f"{text.capitalised('; '.join(parts))}."


def _methods(results):
    recorded, settings = set(results.methods()), results.experiment.scale(results.scale).settings
    excluded = {(s.name, m.name) for s in settings for m in results.experiment.methods if not s.takes(m.name)}
    for method in results.experiment.methods:
        if method.name not in recorded:
            how = f" It needs the package {method.package or method.requires}." if method.requires else ""
            yield f"{method.label}: no records.{how}"
        else:
            pairs = [(name, method.name) for name in results.datasets]
            without = [pair[0] for pair in pairs if pair not in results.cells and pair not in excluded]
            if without:
                yield f"{method.label}: not run on {text.listed(without)}."


def _datasets(results):
    for setting in results.experiment.scale(results.scale).settings:
        if setting.name not in results.datasets:
            optional = f" (runs only when asked for: --dataset {setting.name})" if setting.optional else ""
            yield f"Data set {setting.name}: no records{optional}."


def _failures(results):
    """Cells with failed repeats, those that ended alike together."""
    found = {}
    for cell in results.cells.values():
        if cell.failed:
            share = (f"{len(cell.failed)} of {text.plural(len(cell.records), 'repeat')}", tuple(cell.statuses))
            found.setdefault((cell.method, *share), []).append(cell.dataset)
    for (method, count, statuses), datasets in found.items():
        where = text.listed(datasets)
        yield f"{results.label(method)}: {count} failed ({text.listed(statuses)}) on {where}."


def _repeats(results):
    """Methods on data sets with fewer repeats than declared."""
    declared, few = results.experiment.scale(results.scale).repeats, {}
    for cell in results.cells.values():
        if len(cell.records) < declared:
            few.setdefault(len(cell.records), []).append(cell)
    for number, cells in sorted(few.items()):
        if len(cells) == len(results.cells):
            which = "all"
        else:
            which = f"{len(cells)} of {len(results.cells)}"
        yield f"{number} of {text.plural(declared, 'repeat')} for {which} pairs of method and data set."
