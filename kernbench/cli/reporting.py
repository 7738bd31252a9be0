"""``kernbench report``: the page made from records."""

import shlex

import click

from kernbench.cli.plugins.option import PLUGIN
from kernbench.cli.types import FilePath


@click.command("report")
@click.option("--results", type=FilePath(), default="results", show_default=True, help="Folder of the records.")
@click.option("--out", type=FilePath(), default="reports", show_default=True, help="Folder to write to.")
@click.option(
    "--history",
    type=FilePath(),
    metavar="DIR",
    help="Results of asv, for history.html. [default: history in the folder to write to, if it exists]",
)
@click.option(
    "--compact",
    is_flag=True,
    help="A report to keep under version control: all records packed in one file, in place of figures and tables.",
)
@PLUGIN
@click.option("--open", "show", is_flag=True, help="Open the page in the browser.")
def command(results, out, history, compact, show):
    """Write index.html (one page, works offline), summary.md, and every figure and table as SVG and CSV.

    \b
    Examples:
      kernbench report
      kernbench report --open
      kernbench report --results results --out reports/2024-05
      kernbench report --results results --out published --compact
      kernbench report --plugin mine.py
    """
    from contextlib import nullcontext

    from rich.progress import Progress, SpinnerColumn, TextColumn

    from kernbench.cli.console import stderr
    from kernbench.report import build, text

    console = stderr()
    progress = Progress(SpinnerColumn(), TextColumn("{task.description}"), console=console, transient=True)
    # Before rich 15 even a disabled one ends with an empty line, above a message of one line.
    with progress if console.is_terminal else nullcontext():
        task = progress.add_task("reading records")
        built = build(
            results, out, history=history, compact=compact, on_step=lambda step: progress.update(task, description=step)
        )
    for note in built.notes:
        click.echo(f"kernbench: note: {note}", err=True)
    click.echo(built.headline)
    records, files = text.plural(built.n_records, "record"), text.plural(built.n_files, "file")
    click.echo(f"{built.page}  ({records}, {files} in {out})")
    if show:
        click.launch(built.page.resolve().as_uri())


def out_beside(results):
    """Return the option --out that puts a report beside its records, to be appended to a command; empty where the
    default folder will do.

    The ``reports`` of a checkout hold a compact report, which no other replaces.
    """
    from kernbench.report.building import holds_compact

    return f" --out {shlex.quote(str(results / 'report'))}" if holds_compact("reports") else ""
