"""``kernbench check``: does a solver or an experiment of the user's own keep what kernbench promises?"""

import shlex

import click

from kernbench.cli.types import FilePath, Number

FAILED = 1  # exit code


@click.command("check")
@click.argument("file", metavar="FILE", type=FilePath())
@click.option(
    "--time-limit",
    type=Number(min=0, min_open=True),
    default=120.0,
    show_default=True,
    metavar="SECONDS",
    help="Time limit of each check.",
)
@click.pass_context
def command(ctx, file, time_limit):
    """Check a plug-in, a file with solvers or experiments of your own.

    Of every solver, the compiled core and the reference are compared step by step (or its one class on compiled and on
    reference rows); objective and certified gap are compared with those of kernbench's own solvers; resuming, a start
    from another C, seeds, threads and bad input are tried. The functions test_… of the file that take no arguments are
    run, and the methods of its experiments on their data sets at quick scale, but for methods with a time budget or
    whose package is missing. Each check has its own process. The exit code is 1 if a check failed.

    \b
    Examples:
      kernbench check mine.py
      kernbench check mine.py --time-limit 10
    """
    from kernbench.experiments import plugins
    from kernbench.experiments.checking import check_plugin
    from kernbench.report import text

    def show(outcome):
        mark = "✓" if outcome.passed else "✗"
        line = f"{mark} {outcome.about}: {outcome.check} ({text.seconds(outcome.seconds)})"
        click.echo(line if outcome.passed else f"{line}: {outcome.message}")

    plugin = plugins.load(file)
    outcomes = check_plugin(plugin, time_limit=time_limit, on_outcome=show)
    failed = sum(not outcome.passed for outcome in outcomes)
    click.echo(f"{text.plural(len(outcomes), 'check')}, {failed or 'none'} failed")
    if failed:
        ctx.exit(FAILED)
    races = plugin.joined() or plugin.experiments
    if races:
        click.echo(f"Next: kernbench run {' '.join(races)} --plugin {shlex.quote(str(file))}")
