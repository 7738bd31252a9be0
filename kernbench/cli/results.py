"""``kernbench results``: the records themselves."""

from contextlib import ExitStack, contextmanager

import click

from kernbench.cli.errors import Refusing
from kernbench.cli.plugins.option import PLUGIN
from kernbench.cli.types import FilePath

FOLDER = click.option("--results", type=FilePath(), default="results", show_default=True, help="Folder of the records.")


def _store(folder):
    from kernbench.experiments.run.storing.store import Store

    if not folder.is_dir():
        raise ValueError(f"there is no results folder {str(folder)!r}; make one with: kernbench run")
    return Store(folder)


@contextmanager
def _noting_skipped_lines():
    """Print a note for each line that is skipped while the block runs."""
    from kernbench.experiments.run.storing.store import skipped_lines

    with skipped_lines() as notes:
        yield
    for note in notes:
        click.echo(f"kernbench: note: {note}", err=True)


@click.group("results", cls=Refusing)
def command():
    """Look at records, merge them, clean them, or hand them to other programs.

    \b
    Examples:
      kernbench results show
      kernbench results merge ../other-machine/results
      kernbench results export records.csv
      kernbench results export errors.csv --rows errors
      kernbench results clean
    """


@command.command("show", short_help="List the experiments and their numbers of records.")
@FOLDER
def show_command(results):
    """List how many records there are of every experiment, from which commits and processors.

    \b
    Examples:
      kernbench results show
      kernbench results show --results results-2024
    """
    from kernbench.cli.console import print_table

    store = _store(results)
    rows = []
    with _noting_skipped_lines():
        recorded = {name: store.records(name) for name in store.experiments()}
    for name, records in recorded.items():
        if not records:
            continue
        environments = [record["environment"] for record in records]
        rows.append(
            (
                name,
                " ".join(sorted({record["scale"] for record in records})),
                len(records),
                sum(record["status"] != "ok" for record in records),
                _listed(environment.get("git_commit") for environment in environments),
                _listed((environment.get("processor") for environment in environments), 60),
                max(record["started"] for record in records)[:10],
            )
        )
    headings = ("experiment", "scales", "records", "failed", "commits", "processors", "newest")
    print_table(f"Records in {results}", headings, rows)


def _listed(values, length=9):
    return ", ".join(dict.fromkeys(str(value)[:length] for value in values if value is not None)) or "unknown"


@command.command("merge", short_help="Add the records of other folders or packed files.")
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...", type=FilePath())
@FOLDER
def merge_command(sources, results):
    """Append the records of other folders, or of packed files (.jsonl.xz), that this folder does not have.

    \b
    Examples:
      kernbench results merge ../other-machine/results
      kernbench results merge monday tuesday --results week
      kernbench results merge reports/records.jsonl.xz --results published
    """
    from kernbench.experiments.run.storing.packing import unpacked
    from kernbench.experiments.run.storing.store import Store
    from kernbench.report import text

    with _noting_skipped_lines(), ExitStack() as stack:
        folders = [stack.enter_context(unpacked(path)) if path.is_file() else path for path in sources]
        others = [_store(folder) for folder in folders]
        for source, other in zip(sources, others):
            added = Store(results).merge(other)
            click.echo(f"{source}: {text.plural(added, 'record')} added to {results}")


@command.command("export", short_help="Write the records to one file.")
@click.argument("path", metavar="FILE", type=FilePath())
@click.option(
    "--rows",
    "kind",
    type=click.Choice(("records", "errors")),
    default="records",
    show_default=True,
    help="A row for each record; or for each method, task and repeat, with the headline metric as an error.",
)
@FOLDER
@PLUGIN
def export_command(path, kind, results):
    """Write the newest record of every measurement as a table, .csv, .json or .parquet, or packed, .jsonl.xz.

    A packed file holds the records with their traces, and "kernbench results merge" reads it. Rows of errors are the
    input of leaderboards, such as Elo ratings and win rates.

    \b
    Examples:
      kernbench results export records.csv
      kernbench results export records.parquet
      kernbench results export records.jsonl.xz
      kernbench results export errors.csv --rows errors
    """
    from kernbench._files import check_writable_file
    from kernbench._names import unknown_name
    from kernbench.experiments.run.storing.packing import ENDING
    from kernbench.report import text
    from kernbench.report.records.export import FORMATS, error_rows, record_rows, write_rows
    from kernbench.report.records.reading import results_of

    name = path.name.lower()
    form = ENDING if name.endswith(f".{ENDING}") else path.suffix.lstrip(".").lower()
    if form not in FORMATS:
        raise ValueError(unknown_name("format", form, FORMATS) + f" (the ending of {path.name})")
    if form == ENDING and kind == "errors":
        raise ValueError(f"a packed file, .{ENDING}, holds records: name a table, .csv, .json or .parquet, for errors")
    check_writable_file(path)
    with _noting_skipped_lines():
        records = list(_store(results).latest().values())
    if not records:
        raise ValueError(f"there are no records in {str(results)!r}; make some with: kernbench run")
    if kind == "errors":
        found, undeclared = results_of(records)  # which metric is the headline, a declaration says
        for note in undeclared:
            click.echo(f"kernbench: note: {note}", err=True)
        rows = error_rows(found)
    else:
        rows = records if form == ENDING else record_rows(records)
    write_rows(rows, path, form)
    click.echo(f"{text.plural(len(rows), 'row')} written to {path}")


@command.command("clean", short_help="Drop superseded records and invalid lines.")
@FOLDER
def clean_command(results):
    """Drop superseded records and lines that are not records; the files as they were are kept beside them.

    \b
    Examples:
      kernbench results clean
      kernbench results clean --results results-2024
    """
    from kernbench.report import text

    store = _store(results)
    for name in store.experiments():
        dropped, copy = store.clean(name)
        lines = text.plural(dropped, "line")
        click.echo(f"{name}: nothing to drop" if copy is None else f"{name}: {lines} dropped; copy: {copy}")
