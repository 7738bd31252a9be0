"""``manifest.json``: a description of the records of a snapshot, in their folder."""

import json
from collections import Counter

from kernbench._files import written_whole
from kernbench.experiments.run.stored import place_of

MANIFEST = "manifest.json"
MACHINE = ("processor", "n_cores", "blas", "platform", "python", "numpy", "scipy", "scikit-learn")


def read_manifest(folder):
    """The manifest in a folder of records; empty where there is none, or a damaged one."""
    try:
        found = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) and isinstance(found.get("runs"), list) else {}


def write_manifest(folder, manifest):
    """Write a manifest atomically."""
    with written_whole(folder / MANIFEST) as file:
        json.dump(manifest, file, indent=1, ensure_ascii=False)
        file.write("\n")


def description(records, environment, runs, summary):
    """What a snapshot holds, and what it lacks.

    Parameters
    ----------
    records : list of dict
    environment : dict
        Of now.
    runs : list of dict
        What each call asked for, and how long it took.
    summary : RunSummary
        Of a dry run of everything that the calls asked for.

    Returns
    -------
    dict
        JSON values: commits, digests, machines; ``"hours"`` of the calls and ``"measured_hours"`` of the cells in the
        records, which may be of other folders, too; and under ``"cut"`` every cell without a measurement, with the
        reason.
    """
    return {
        "commit": environment["git_commit"],
        "commits": list(dict.fromkeys(record["environment"].get("git_commit") for record in records)),
        "code": environment["code"],
        "experiment_code": _digests(records),
        "kernbench": environment["kernbench"],
        "machines": _machines(records),
        "runs": runs,
        "hours": round(sum(run["hours"] for run in runs), 3),
        "measured_hours": round(sum(record["seconds"].get("total") or 0.0 for record in records) / 3600, 3),
        "records": len(records),
        "records_ok": sum(record["status"] == "ok" for record in records),
        "cut": [*_gaps(summary), *_not_started(summary, records), *_failed(records)],
    }


def _machines(records):
    """The machines of the records, with the libraries there, and how many records are of each, most first."""
    found = Counter(tuple(record["environment"].get(name) for name in MACHINE) for record in records)
    return [{**dict(zip(MACHINE, values)), "records": number} for values, number in found.most_common()]


def _digests(records):
    """The digests of each experiment's own code; its methods may run different parts of it."""
    found = {}
    for record in records:
        found.setdefault(record["experiment"], set()).add(record["environment"].get("experiment_code"))
    return {name: sorted(filter(None, found[name])) for name in sorted(found)}


def _cut(experiment, dataset, method, fits, why):
    return {"experiment": experiment, "dataset": dataset, "method": method, "fits": fits, "why": why}


def _gaps(summary):
    return [_cut(gap.experiment, None, gap.method, None, gap.reason) for gap in summary.gaps]


def _not_started(summary, records):
    """List data sets with cells that have no record; of a cell whose time is unknown only the first repeat is certain.

    Of a data set without any record one line stands for all methods. Records of any machine count: to run a race anew,
    because this machine has measured a part of it only, is another matter.
    """
    left, begun, measured = {}, set(), {place_of(record) for record in records}
    for planned in summary.planned:
        cell = planned.cell
        place = cell.experiment, cell.dataset
        if planned.stored or cell.place in measured:
            begun.add(place)
        elif cell.repeat == 0 or planned.expected_seconds is not None:
            methods = left.setdefault(place, {})
            methods[cell.method] = methods.get(cell.method, 0) + 1
    lines = []
    for place, methods in left.items():
        fits = methods.items() if place in begun else [(None, sum(methods.values()))]
        lines += [_cut(*place, method, count, "not measured yet") for method, count in fits]
    return lines


def _failed(records):
    """The last record of each cell that failed, cells that failed alike together."""
    last = {}
    for record in records:
        last[record["experiment"], record["dataset"], record["method"], record["repeat"]] = record
    found = {}
    for (experiment, dataset, method, _), record in last.items():
        if record["status"] != "ok":
            why = ": ".join(filter(None, (record["status"], record.get("error"))))
            place = experiment, dataset, method, why
            found[place] = found.get(place, 0) + 1
    return [_cut(*place, fits, why) for (*place, why), fits in found.items()]
