"""Read asv's results: ``benchmarks.json`` and a folder for each machine with a file for each commit."""

import json
import math
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

VERSION = 2  # of asv's files


@dataclass
class Series:
    """One benchmark with one combination of parameters on one machine, over commits.

    Attributes
    ----------
    benchmark : str
    label : str
        The parameters; empty without.
    machine, unit : str
    points : list of (int, str, float)
        Time of the commit in milliseconds since 1970, its hash, the value; in this order.
    """

    benchmark: str
    label: str
    machine: str
    unit: str
    points: list = field(default_factory=list)


def read(folder):
    """The series of all benchmarks in a folder of asv's results.

    Parameters
    ----------
    folder : str or Path
        ``results_dir`` of ``asv.conf.json``, or a copy.

    Returns
    -------
    list of Series
        The series with values; of several environments of a machine, the values of the last file by name.

    Raises
    ------
    ValueError
        If there are no such files, or they are of another version of asv's format.
    """
    folder = Path(folder)
    described = _json(folder / "benchmarks.json")
    files = sorted(path for path in folder.glob("*/*.json") if path.name != "machine.json")
    if not files:
        raise ValueError(f"no results of asv in {str(folder)!r}: asv run writes them")
    found = defaultdict(dict)
    for path in files:
        content = _json(path)
        place = (content["date"], content["commit_hash"])
        for name, values in content["results"].items():
            if name in described:
                for label, value in _values(values, content["result_columns"]):
                    found[name, label, path.parent.name][place] = value
    order = {name: number for number, name in enumerate(described)}
    return [
        Series(name, label, machine, described[name]["unit"], [(*place, points[place]) for place in sorted(points)])
        for (name, label, machine), points in sorted(found.items(), key=lambda item: order[item[0][0]])
    ]


def _values(row, columns):
    """Pairs of a combination of parameters, as words, and its value; those that failed are left out."""
    entry = dict(zip(columns, row))
    values, params = entry["result"] or [], entry.get("params") or []
    labels = [", ".join(text.strip("'") for text in combination) for combination in product(*params)]
    return [(label, float(value)) for label, value in zip(labels, values) if value is not None and math.isfinite(value)]


def _json(path):
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(f"{str(path)!r} is not a file of asv's results: {error}") from error
    if content.pop("version", None) != VERSION:
        raise ValueError(f"{str(path)!r} is not of version {VERSION} of asv's format")
    return content
