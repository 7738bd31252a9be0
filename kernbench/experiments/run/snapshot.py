"""All experiments at paper scale, of one state of the code, on an idle machine, with a manifest."""

from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic, sleep

from kernbench.experiments import registry
from kernbench.experiments.run import environment
from kernbench.experiments.run.outdated import drop_outdated
from kernbench.experiments.run.progress import Interrupted
from kernbench.experiments.run.repeats import AUTO, RULE
from kernbench.experiments.run.runner import run
from kernbench.experiments.run.schedule import POLL_SECONDS
from kernbench.experiments.run.storing.claims import Claims
from kernbench.experiments.run.storing.cleaning import start_of
from kernbench.experiments.run.storing.manifest import description, read_manifest, write_manifest
from kernbench.experiments.run.storing.packing import ENDING, unpacked
from kernbench.experiments.run.storing.store import Store, skipped_lines

_REPORT = environment.PACKAGE.parent / "reports" / f"records.{ENDING}"


def snapshot(
    results="snapshot",
    *,
    experiments=None,
    only=None,
    skip=None,
    scale="paper",
    earlier=None,
    repeats=AUTO,
    max_hours=None,
    any_machine=False,
    dry_run=False,
    on_event=None,
):
    """Measure all experiments, each cell as often as its time allows, one at a time on an idle machine.

    The first repeat of every cell comes before the second of any, and within a repeat the data sets whose cells take
    less come first, so that what a short run has measured is useful; data sets marked optional, which take hours, come
    last. The same call continues, over days, until nothing is left. Limits are those the experiments declare. A cell
    that ran into one is not tried again, nor is one whose budget is a part of its time. Records of an experiment whose
    own code or declared cells have changed since are dropped, and measured again. ``manifest.json`` in the folder says
    from which commits, on which machine, in how many hours, and what is missing and why; it is written anew at the end
    of every call, about all experiments of all calls.

    Parameters
    ----------
    results : str or Path, default="snapshot"
        Folder of the records: of one state of the code that all cells share.
    experiments : list of (str or Experiment), optional
        All by default.
    only, skip : list of str, optional
        As of :func:`~kernbench.experiments.run.runner.run`, for this call: the manifest is about everything.
    scale : {"quick", "paper"}, default="paper"
    earlier : str or Path, optional
        Records, of any code, that say what takes long: a folder or a packed file. By default those of the report in the
        checkout. A cell without any counts as a minute, one that only ran out of time as its limit.
    repeats : int or "auto", default="auto"
        Of each cell, for this call: a number where the rule leaves a claim undecided. A later call drops none of them.
    max_hours : float, optional
        Start no cell after this time.
    any_machine : bool, default=False
        Continue what other machines have begun: all methods of a repeat on a data set that one of them has measured
        count. The manifest lists the machines.
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
    scales = {record["scale"] for record in records} - {scale}
    if scales:
        raise ValueError(f"{folder} holds records at {min(scales)} scale: name another folder by --results")
    options = {"scale": scale, "results": folder, "repeats": repeats, "when_idle": True, "retry": False}
    options |= {"optional": True, "max_hours": max_hours, "any_machine": any_machine, "on_event": on_event}
    options["earlier"] = [*records, *_records_of(_REPORT if earlier is None and _REPORT.exists() else earlier)]
    patterns = {"only": only, "skip": skip}
    if dry_run:
        return run(asked, **options, **patterns, dry_run=True)
    # A call that is refused must change nothing: neither drop records nor count among the runs.
    run(asked, **options | {"on_event": _ignore}, **patterns, dry_run=True)
    drop_outdated(folder, asked, scale, on_event)
    started, start = datetime.now(UTC), monotonic()
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
            **({} if experiments is None else {"experiments": [one.name for one in asked]}),
            **{name: list(given) for name, given in patterns.items() if given},
            **({} if repeats == AUTO else {"repeats": repeats}),
            "hours": round((monotonic() - start) / 3600, 3),
            "paused_hours": None if summary is None else round(summary.paused_seconds / 3600, 3),
            "fits": None if summary is None else len(summary.records),
            "interrupted": interrupted,
        }
        if folder.is_dir():
            with _alone(folder):
                runs = read_manifest(folder).get("runs", [])  # others may have ended since this one began
                # Calls that name none are about all.
                before = {name for one in runs for name in one.get("experiments", registry.names())}
                now = {one.name for one in asked}
                others = [one for one in registry.EXPERIMENTS if one.name in before - now]
                planned = run([*asked, *others], **options | {"repeats": AUTO, "on_event": _ignore}, dry_run=True)
                with skipped_lines():
                    # One of each measurement: a cell that fails is tried again in every call.
                    records = sorted(Store(folder).latest().values(), key=start_of)
                manifest = description(records, here, [*runs, this], planned)
                write_manifest(folder, manifest | {"scale": scale, "repeats": RULE})


@contextmanager
def _alone(folder):
    """Wait until no other call describes the records of the folder."""
    claims = Claims(folder)
    while not claims.take("manifest"):
        sleep(POLL_SECONDS)
    try:
        yield
    finally:
        claims.release_all()


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
