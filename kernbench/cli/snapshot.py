"""``kernbench snapshot``: every number of the report, of one state of the code."""

import click

from kernbench.cli.running import SCALES, Repeats, show, use_data
from kernbench.cli.types import FilePath, Number


@click.command("snapshot")
@click.argument("experiments", nargs=-1, metavar="[EXPERIMENT]...")
@click.option(
    "--scale",
    default="paper",
    show_default=True,
    metavar="quick|paper",
    help="The paper's sizes, or small built-in data, to try it.",
)
@click.option("--data", type=FilePath(), help="Folder with files of real data sets. [default: $KERNBENCH_DATA]")
@click.option("--results", type=FilePath(), default="snapshot", show_default=True, help="Folder of the records.")
@click.option(
    "--repeats",
    type=Repeats(),
    default="auto",
    show_default=True,
    metavar="INTEGER|auto",
    help="Repeats of each fit in this call; a number larger than that of 'auto' helps to decide a claim, whose fits "
    "are chosen by --only.",
)
@click.option(
    "--max-hours",
    type=Number(min=0, min_open=True),
    metavar="HOURS",
    help="Start no fit after this time; the same command continues.",
)
@click.option(
    "--only",
    multiple=True,
    metavar="PATTERN",
    help="In this call, run only what matches experiment/dataset/method; may be repeated.",
)
@click.option("--skip", multiple=True, metavar="PATTERN", help="In this call, leave out what matches; may be repeated.")
@click.option(
    "--earlier",
    type=FilePath(),
    help="Earlier records, a folder or a packed file, by whose times long fits are run last. "
    "[default: reports/ of the checkout]",
)
@click.option(
    "--any-machine",
    is_flag=True,
    help="Continue on another machine: what one has measured, all methods of a repeat on a data set, is not repeated.",
)
@click.option("--dry-run", is_flag=True, help="Show what would run and how long it may take.")
@click.pass_context
def command(ctx, experiments, only, skip, scale, data, results, repeats, max_hours, earlier, any_machine, dry_run):
    """Run all experiments, or those named, at paper scale, one fit at a time, on an idle machine.

    The first repeat of every fit comes before the second of any, and long fits come last, so that a run that is cut
    short is useful; the same command continues it. Fits below ten seconds have ten repeats and those below a minute
    five (or as many as declared, if that is more), those below ten minutes three, and longer ones one; limits are those
    that the experiments declare. While other programs use the processor, the run waits and prints a message.

    manifest.json, beside the records, lists their commits, the machine, the hours of each call, and what is missing and
    why. A checkout with uncommitted changes is rejected, and so is a folder with records of other code; records of an
    experiment that has changed since are measured again.

    \b
    Examples:
      kernbench snapshot --dry-run
      kernbench snapshot --max-hours 8
      kernbench snapshot peers-svm tuning
      kernbench snapshot --only 'peers-svm/adult/*'
      kernbench snapshot --only 'peers-svm/adult/*' --repeats 10
      kernbench report --results snapshot --compact

    """
    from kernbench._names import unknown_name
    from kernbench.experiments.run.snapshot import snapshot

    if scale not in SCALES:
        raise ValueError(unknown_name("scale", scale, SCALES))
    use_data(data)
    chosen = None if experiments in ((), ("all",)) else list(experiments)

    def start(on_event):
        return snapshot(
            results,
            experiments=chosen,
            only=only,
            skip=skip,
            scale=scale,
            earlier=earlier,
            repeats=repeats,
            max_hours=max_hours,
            any_machine=any_machine,
            dry_run=dry_run,
            on_event=on_event,
        )

    show(ctx, start, results, dry_run, "kernbench report --compact")
