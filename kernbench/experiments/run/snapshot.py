"""All experiments at paper scale, from one commit, on an idle machine, with a manifest."""

from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path

from kernbench.experiments import registry
from kernbench.experiments.run import environment
from kernbench.experiments.run.progress import Interrupted
from kernbench.experiments.run.repeats import AUTO, RULE
from kernbench.experiments.run.runner import run
from kernbench.experiments.run.storing.manifest import read_manifest, write_manifest
from kernbench.experiments.run.storing.packing import ENDING, unpacked
from kernbench.experiments.run.storing.store import Store, skipped_lines

MACHINE = ("processor", "n_cores", "blas", "platform", "python", "numpy", "scipy", "scikit-learn")
_REPORT = environment.PACKAGE.parent / "reports" / f"records.{ENDING}"


def snapshot(
    results="snapshot",
    *,
    experiments=None,
    only=None,
    skip=None,
    scale="paper",
    earlier=None,
    max_hours=None,
    dry_run=False,
    on_event=None,
):
    """Measure all experiments, each cell as often as its time allows, one at a time on an idle machine.

    The first repeat of every cell comes before the second of any, and within a repeat the data sets whose cells take
    less come first, so that what a short run has measured is useful; data sets marked optional, which take hours, come
    last. The same call continues, over days, until nothing is left. Limits
    are those the experiments declare. A cell that ran into one is not tried again. ``manifest.json`` in the folder says
    from which commit, on which machine, in how many hours, and what is missing and why; it is written anew at the end
    of every call, about all experiments of all calls.

    Parameters
    ----------
    results : str or Path, default="snapshot"
        Folder of the records: of this code alone.
    experiments : list of (str or Experiment), optional
        All by default.
    only, skip : list of str, optional
        As of :func:`~kernbench.experiments.run.runner.run`, for this call: the manifest is about everything.
    scale : {"quick", "paper"}, default="paper"
    earlier : str or Path, optional
        Records, of any code, that say what takes long: a folder or a packed file. By default those of the report in the
        checkout. A cell without any counts as a minute.
    max_hours : float, optional
        Start no cell after this time.
    dry_run, on_event
        As of :func:`~kernbench.experiments.run.runner.run`.

    Returns
    -------
    RunSummary

    Raises
    ------
    ValueError
        If the checkout has changes that are not committed, the folder holds records of other code or another scale, or
        `earlier` cannot be read.
    """
    here = environment.collect()
    if here["git_dirty"]:
        raise ValueError(
            "the checkout has changes that are not committed, and a snapshot is of a commit: commit them, or "
            "measure them by 'kernbench run all --scale paper --repeats auto --when-idle'"
        )
    folder = Path(results)
    with skipped_lines():
        records = Store(folder).records()
    other = {record["environment"].get("code") for record in records} - {here["code"]}
    if other:
        raise ValueError(
            f"{folder} holds records of other code (digest {', '.join(sorted(map(str, other)))}; this is "
            f"{here['code']}): name another folder by --results, or check out the commit that made them"
        )
    asked = registry.EXPERIMENTS if experiments is None else [_experiment(one) for one in experiments]
    made = read_manifest(folder)
    if made.get("scale", scale) != scale:
        raise ValueError(f"{folder} holds a snapshot at {made['scale']} scale: name another folder by --results")
    options = {"scale": scale, "results": folder, "repeats": AUTO, "when_idle": True, "retry": False}
    options |= {"optional": True, "max_hours": max_hours, "on_event": on_event}
    options["earlier"] = [*records, *_records_of(_REPORT if earlier is None and _REPORT.exists() else earlier)]
    patterns = {"only": only, "skip": skip}
    if dry_run:
        return run(asked, **options, **patterns, dry_run=True)
    started = datetime.now(UTC)
    earlier = made.get("runs", [])
    summary, interrupted = None, True
    try:
        summary = run(asked, **options, **patterns)
        interrupted = False
        return summary
    except Interrupted as stopped:
        summary = stopped.summary
        raise
    finally:
        # Also after Ctrl-C: what there is then must be described.
        this = {
            "started": started.isoformat(timespec="seconds"),
            "experiments": [one.name for one in asked],
            **{name: list(given) for name, given in patterns.items() if given},
            "hours": round((datetime.now(UTC) - started).total_seconds() / 3600, 3),
            "paused_hours": None if summary is None else round(summary.paused_seconds / 3600, 3),
            "fits": None if summary is None else len(summary.records),
            "interrupted": interrupted,
        }
        if folder.is_dir():
            before = dict.fromkeys(name for one in earlier for name in one.get("experiments", ()))
            others = [one for one in registry.EXPERIMENTS if one.name in before and one.name not in this["experiments"]]
            plan = run([*asked, *others], **options | {"on_event": _ignore}, dry_run=True)
            _write(folder, here, [*earlier, this], plan, scale)


def _records_of(path):
    """Return the records of a folder or of a packed file; of None, none."""
    if path is None:
        return []
    path = Path(path)
    if not path.exists():
        raise ValueError(f"there are no records of earlier runs in {path}")
    with skipped_lines(), unpacked(path) if path.is_file() else nullcontext(path) as folder:
        return list(Store(folder).records())


def _experiment(one):
    return registry.get(one) if isinstance(one, str) else one


def _ignore(event):
    """Ignore an event, which the run itself reports."""


def _write(folder, here, runs, plan, scale):
    with skipped_lines():
        records = Store(folder).records()
    ok = sum(record["status"] == "ok" for record in records)
    manifest = {
        "commit": here["git_commit"],
        "code": here["code"],
        "kernbench": here["kernbench"],
        "machine": {name: here[name] for name in MACHINE},
        "scale": scale,
        "repeats": RULE,
        "runs": runs,
        "hours": round(sum(run["hours"] for run in runs), 3),
        "records": len(records),
        "records_ok": ok,
        "cut": [*_gaps(plan), *_not_started(plan), *_failed(records)],
    }
    write_manifest(folder, manifest)


def _cut(experiment, dataset, method, fits, why):
    return {"experiment": experiment, "dataset": dataset, "method": method, "fits": fits, "why": why}


def _gaps(plan):
    return [_cut(gap.experiment, None, gap.method, None, gap.reason) for gap in plan.gaps]


def _not_started(plan):
    """List cells without a record; of one whose time is unknown only the first repeat is certain."""
    left = {}
    for planned in plan.planned:
        cell = planned.cell
        if not planned.stored and (cell.repeat == 0 or planned.expected_seconds is not None):
            place = cell.experiment, cell.dataset, cell.method
            left[place] = left.get(place, 0) + 1
    return [_cut(*place, fits, "not measured yet") for place, fits in left.items()]


def _failed(records):
    """The last record of each cell that failed, cells that failed alike together."""
    last = {}
    for record in records:
        last[record["experiment"], record["dataset"], record["method"], record["repeat"]] = record
    found = {}
    for (experiment, dataset, method, _), record in last.items():
        if record["status"] != "ok":
            place = experiment, dataset, method, f"{record['status']}: {record['error']}"
            found[place] = found.get(place, 0) + 1
    return [_cut(*place, fits, why) for (*place, why), fits in found.items()]
