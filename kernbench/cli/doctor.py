"""``kernbench doctor``: what works in this installation, what is missing, and what to do about it."""

import json

import click

from kernbench.cli.types import FilePath

BROKEN = 1  # exit code
MARKS = {"ok": "✓", "lack": "–", "broken": "✗"}


@click.command("doctor")
@click.option("--results", type=FilePath(), default="results", show_default=True, help="Folder of the records.")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@click.pass_context
def command(ctx, results, as_json):
    """Check compiler, threads, BLAS, cores, memory, other libraries, data sets, asv, Dask, records and disk space.

    ✓ works; – is missing, but not needed by the rest of kernbench; ✗ is needed and broken: the exit code is then 1.

    \b
    Examples:
      kernbench doctor
      kernbench doctor --json
      kernbench doctor --results week
    """
    from kernbench.cli.diagnosis import as_data, examine

    findings = examine(results)
    data = as_data(findings)
    if as_json:
        click.echo(json.dumps(data, indent=1))
    else:
        width = max(len(finding.what) for finding in findings)
        for finding in findings:
            click.echo(f"{MARKS[finding.status]} {finding.what:<{width}}  {finding.found}")
            if finding.remedy:
                click.echo(f"  {'':<{width}}  → {finding.remedy}")
    if not data["ok"]:
        ctx.exit(BROKEN)
