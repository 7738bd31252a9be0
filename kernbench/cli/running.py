"""``kernbench run``: run experiments and store their records."""

import math
import os
import shlex

import click

from kernbench.cli.plugins.option import PATHS, PLUGIN
from kernbench.cli.reporting import out_beside
from kernbench.cli.types import FilePath, Number

INTERRUPTED = 130
SCALES = ("quick", "paper")


class Repeats(click.ParamType):
    """A number of repeats, or the word that leaves it to the time of a fit."""

    name = "repeats"

    def convert(self, value, param, ctx):
        """Return the number, or ``"auto"``."""
        if value == "auto":
            return value
        try:
            return click.IntRange(min=1).convert(value, param, ctx)
        except click.BadParameter:
            self.fail(f"{value!r} is neither a positive integer nor 'auto'", param, ctx)


@click.command("run")
@click.argument("experiments", nargs=-1, metavar="[EXPERIMENT]...")
@click.option(
    "--scale",
    default="quick",
    show_default=True,
    metavar="quick|paper",
    help="Small built-in data, or the paper's sizes.",
)
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Fits to run at the same time.")
@click.option(
    "--threads",
    type=click.IntRange(min=1),
    help="Threads of each fit. [default: what the experiment declares, else the cores divided by --jobs]",
)
@click.option(
    "--repeats",
    type=Repeats(),
    metavar="INTEGER|auto",
    help="Repeats with different seeds; auto: 10 of fits below ten seconds and 5 below a minute (or as often as "
    "declared), 3 below ten minutes, else 1. [default: what the scale declares]",
)
@click.option(
    "--dataset",
    "datasets",
    multiple=True,
    metavar="NAME|FILE",
    help="Run only this data set, or a data file of your own; may be repeated.",
)
@click.option("--method", "methods", multiple=True, metavar="NAME", help="Run only this method; may be repeated.")
@click.option(
    "--only",
    multiple=True,
    metavar="PATTERN",
    help="Run only what matches experiment/dataset/method, such as 'peers-*/*/smo'; may be repeated.",
)
@click.option("--skip", multiple=True, metavar="PATTERN", help="Leave out what matches; may be repeated.")
@PLUGIN
@click.option("--data", type=FilePath(), help="Folder with files of real data sets. [default: $KERNBENCH_DATA]")
@click.option("--results", type=FilePath(), default="results", show_default=True, help="Folder of the records.")
@click.option(
    "--time-limit",
    type=Number(min=0, min_open=True),
    metavar="SECONDS",
    help="Time limit of each fit, loading and evaluation included.",
)
@click.option(
    "--memory-limit",
    type=Number(min=0, min_open=True),
    metavar="MB",
    help="Memory limit of each fit (1 MB = 2²⁰ bytes).",
)
@click.option(
    "--max-hours",
    type=Number(min=0, min_open=True),
    metavar="HOURS",
    help="Start no fit after this time; the same command continues.",
)
@click.option(
    "--backend",
    type=click.Choice(["local", "dask"]),
    help="This machine, or the workers of a Dask cluster. [default: dask with --scheduler, else local]",
)
@click.option("--scheduler", metavar="ADDRESS", help="Address of the Dask scheduler, such as tcp://host:8786.")
@click.option("--when-idle", is_flag=True, help="Start no fit while other programs use the processor (with --jobs 1).")
@click.option("--force", is_flag=True, help="Run with more threads than cores; every record says so.")
@click.option("--dry-run", is_flag=True, help="Show what would run and how long it may take.")
@click.pass_context
def command(
    ctx,
    experiments,
    scale,
    jobs,
    threads,
    repeats,
    datasets,
    methods,
    only,
    skip,
    data,
    results,
    time_limit,
    memory_limit,
    max_hours,
    backend,
    scheduler,
    when_idle,
    force,
    dry_run,
):
    """Run experiments, all that have the scale when none is named (or "all"), and keep a record of every fit.

    Fits that have a record are not repeated: after Ctrl-C or a crash, the same command runs the rest. A fit that
    fails, takes too long or needs too much memory has a record, too, and the same command tries it again; with
    --max-hours, only if it failed or the limits are wider now. One whose budget is a part of the time of a fit that
    ended so is tried again with that one. The exit code is 1 if a fit ended in an error.

    \b
    Examples:
      kernbench run
      kernbench run sbp-libsvm --dry-run
      kernbench run sbp-libsvm --scale paper --data ~/datasets
      kernbench run sbp-libsvm --scale paper --dataset covtype --repeats 1
      kernbench run --method libsvm --method smo-converged --time-limit 60
      kernbench run --only 'peers-*/adult*' --skip '*/libsvm*'
      kernbench run sbp-libsvm peers-svm --dataset my.svm
      kernbench run sbp-libsvm --plugin mine.py
      kernbench run all --scale paper --max-hours 8
      kernbench run --scheduler tcp://10.0.0.1:8786

    Then: kernbench report
    """
    from kernbench._names import unknown_name

    if scale not in SCALES:
        raise ValueError(unknown_name("scale", scale, SCALES))
    if (backend == "dask" and scheduler is None) or (backend == "local" and scheduler is not None):
        raise ValueError("--backend dask and --scheduler ADDRESS go together")
    if data is not None and scheduler is not None:
        raise ValueError("--data is a folder of this machine: set KERNBENCH_DATA where the workers are started")
    use_data(data)
    if not dry_run:
        from kernbench.experiments.run.processes import launching

        launching.prepare()  # first, since the first fit waits for it: it runs during the imports below
    from kernbench.experiments import registry
    from kernbench.experiments.run import runner

    for name in () if experiments == ("all",) else experiments:
        try:
            registry.get(name)
        except ValueError as unknown:
            raise ValueError(f"{unknown} An experiment of your own needs --plugin FILE.") from None

    def start(on_event):
        return runner.run(
            _all_at(scale, on_event) if experiments in ((), ("all",)) else list(experiments),
            scale=scale,
            results=results,
            repeats=repeats,
            jobs=jobs,
            threads=threads,
            datasets=list(datasets) or None,
            methods=list(methods) or None,
            only=only,
            skip=skip,
            time_limit=time_limit,
            memory_limit=None if memory_limit is None else _bytes(memory_limit),
            max_hours=max_hours,
            retry=max_hours is None,  # a command that is given each night is to come to an end
            scheduler=scheduler,
            when_idle=when_idle,
            force=force,
            dry_run=dry_run,
            on_event=on_event,
        )

    own = "".join(f" --plugin {shlex.quote(path)}" for path in ctx.meta.get(PATHS, ()))
    show(ctx, start, results, dry_run, f"kernbench report{own}")


def _all_at(scale, on_event):
    """Return the names of all experiments that have a scale, and report the others, which are of plug-ins."""
    from kernbench.experiments import registry
    from kernbench.experiments.run.progress import Event

    names = []
    for experiment in registry.EXPERIMENTS:
        if scale in experiment.scales:
            names.append(experiment.name)
        else:
            on_event(Event("note", message=f"{experiment.name} is left out, because it has no {scale} scale"))
    return names


def _bytes(megabytes):
    n_bytes = megabytes * 2**20
    if not math.isfinite(n_bytes):
        raise ValueError(f"--memory-limit must be a finite number of MB, got {megabytes:g}")
    return int(n_bytes)


def use_data(folder):
    """Set the folder of real data sets for this process and those of the fits."""
    if folder is not None:
        if not folder.is_dir():
            raise ValueError(f"--data {folder}: there is no such folder")
        os.environ["KERNBENCH_DATA"] = str(folder.resolve())


def show(ctx, start, results, dry_run, command):
    """Run under a progress bar, print what came of it and what is next; exit with its code.

    Parameters
    ----------
    ctx : click.Context
    start : callable
        ``start(on_event) -> RunSummary``.
    results : Path
    dry_run : bool
    command : str
        To be called next; the folder of the records is added.
    """
    from kernbench.cli.progress import ProgressDisplay
    from kernbench.experiments import registry

    summary = None
    with ProgressDisplay(registry) as display:
        try:
            summary = start(display)
        except KeyboardInterrupt as interrupt:
            message = str(interrupt) or f"interrupted; finished fits are in {results}, the same command runs the rest"
    if summary is None:
        click.echo(f"kernbench: {message}", err=True)
        ctx.exit(INTERRUPTED)
    if dry_run:
        _print_plan(summary, results)
        return
    _print_summary(summary, results, command)
    if any(record["status"] == "error" for record in summary.failed):
        ctx.exit(1)


def _print_plan(summary, results):
    from kernbench.cli.console import print_table
    from kernbench.report import text

    rows = {}
    for planned in summary.planned:
        cell = planned.cell
        row = rows.setdefault((cell.experiment, cell.dataset, cell.method), [0, 0, planned.expected_seconds])
        row[0] += 1
        row[1] += planned.stored
    lines = [(*place, n, stored, text.seconds(seconds)) for place, (n, stored, seconds) in rows.items()]
    print_table("What would run", ("experiment", "data set", "method", "fits", "stored", "expected, each"), lines)
    for gap in summary.gaps:
        click.echo(f"{gap.experiment}: {gap.method} is left out, because {gap.reason}")
    n_to_do = sum(not planned.stored for planned in summary.planned)
    expected = summary.expected_seconds
    if n_to_do == 0:
        click.echo(f"Nothing is missing in {results}.")
    elif expected is None:
        click.echo(
            f"{text.plural(n_to_do, 'fit')} to run; {results} has no earlier records to estimate their times from."
        )
    else:
        click.echo(f"{text.plural(n_to_do, 'fit')} to run, about {text.duration(expected)} one after the other.")


def _print_summary(summary, results, command):
    from kernbench.report import text

    done = f"{text.plural(len(summary.records), 'fit')} run in {text.duration(summary.seconds)}"
    if summary.n_skipped:
        done += f", {summary.n_skipped} found in {results}"
    if summary.n_shared:
        done += f", {summary.n_shared} measured by another run meanwhile"
    click.echo(f"{done}; records in {results}")
    if summary.n_left:
        are = "is" if summary.n_left == 1 else "are"
        click.echo(f"The time is up, {text.plural(summary.n_left, 'fit')} {are} left: repeat the command to continue")
    if summary.failed:
        statuses = [record["status"] for record in summary.failed]
        counts = text.listed(f"{statuses.count(status)} {status}" for status in dict.fromkeys(statuses))
        click.echo(f"{text.plural(len(statuses), 'fit')} did not end well ({counts}); the report lists them")
    elsewhere = "" if str(results) == "results" else f" --results {shlex.quote(str(results))}"
    if "--compact" not in command:
        elsewhere += out_beside(results)
    click.echo(f"Next: {command}{elsewhere}")
