"""``kernbench compare``: two sets of records, and what changed between them."""

import json
from pathlib import Path

import click

from kernbench.cli.plugins.option import PLUGIN
from kernbench.cli.types import FilePath, Number

REGRESSION = 1  # exit code


@click.command("compare")
@click.argument("folders", nargs=-1, metavar="A [B]", type=FilePath())
@click.option("--commits", nargs=2, metavar="X Y", help="Two commits whose records are in one folder (A, or results).")
@click.option(
    "--tolerance",
    type=Number(min=0),
    metavar="SHARE",
    help="Relative change of times, their ratios and memory to accept. [default: what each metric declares]",
)
@PLUGIN
@click.option("--json", "output", flag_value="json", help="Print every metric of every cell as JSON.")
@click.option("--markdown", "output", flag_value="markdown", help="Print the tables in Markdown.")
@click.pass_context
def command(ctx, folders, commits, tolerance, output):
    """Compare the records in folder B with those in folder A: is anything slower, larger or worse?

    Counters such as kernel evaluations, and numbers of failed repeats, are compared exactly. Times, memory and
    accuracies are compared by medians, with a rank test that is corrected for the number of tests, and only if both
    sides have at least five repeats (of times and memory: on one machine). Changes that need more repeats are listed as
    "not decided": ten repeats can decide about 900 tests of times, fifteen about 160 of accuracies. The exit code is 1
    if something became worse, 0 if not, and 2 for an error in the command or where the two have no fit in common.

    \b
    Examples:
      kernbench compare results-before results
      kernbench compare --commits 1a2b3c4 5d6e7f8
      kernbench compare main-results results --tolerance 0.1 --markdown > comparison.md
    """
    from kernbench.cli.console import print_table
    from kernbench.report.comparison import (
        as_data,
        as_markdown,
        as_tables,
        compare_sides,
        side_of_commit,
        side_of_store,
    )
    from kernbench.report.comparison.comparing import WORSE

    if commits is not None:
        if len(folders) > 1:
            raise click.UsageError("--commits compares two commits in one folder: name one folder", ctx)
        folder = folders[0] if folders else Path("results")
        sides = [side_of_commit(folder, commit) for commit in commits]
    elif len(folders) != 2:
        raise click.UsageError("name two folders of records, or two commits with --commits X Y", ctx)
    else:
        sides = [side_of_store(folder) for folder in folders]
    outcome = compare_sides(*sides, tolerance=tolerance)
    for note in dict.fromkeys([*sides[0].notes, *sides[1].notes]):
        click.echo(f"kernbench: note: {note}", err=True)
    if output == "json":
        click.echo(json.dumps(as_data(outcome), indent=1))
    elif output == "markdown":
        click.echo(as_markdown(outcome), nl=False)
    else:
        for title, headings, rows in as_tables(outcome):
            print_table(title, headings, rows)
    if not outcome.changes:  # which must not pass for "nothing became worse"
        raise ValueError("nothing can be compared: the two sides have no fit in common")
    if outcome.having(WORSE):
        ctx.exit(REGRESSION)
