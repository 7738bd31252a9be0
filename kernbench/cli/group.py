"""The group of commands, each imported when it is called."""

from importlib import import_module

import click

from kernbench._version import __version__
from kernbench.cli.errors import Refusing

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 110}

# name -> (module, one line for the overview); the modules are imported one at a time, when they are asked for
COMMANDS = {
    "list": ("kernbench.cli.listing", "What there is: solvers, kernels, data sets, experiments."),
    "run": ("kernbench.cli.running", "Run experiments; go on where a stopped run left off."),
    "report": ("kernbench.cli.reporting", "Turn the records of a run into one HTML page."),
    "fit": ("kernbench.cli.fitting", "Fit a model to a data file and save it."),
    "predict": ("kernbench.cli.predicting", "Predict with a saved model."),
    "data": ("kernbench.cli.data", "Data sets: what there is, fetch, where, verify."),
}


class LazyGroup(Refusing):
    """Lists its commands without importing them."""

    def list_commands(self, ctx):
        """The names of the commands, in the order of a first day's work."""
        return list(COMMANDS)

    def get_command(self, ctx, name):
        """Import the command called `name`; None when there is none."""
        return import_module(COMMANDS[name][0]).command if name in COMMANDS else None

    def format_commands(self, ctx, formatter):
        """Write the overview from the table above."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings=CONTEXT)
@click.version_option(__version__, prog_name="kernbench", message="%(prog)s %(version)s")
def kernbench():
    """Large-scale kernel machines: fast solvers, and an honest benchmark of them.

    \b
    Examples:
      kernbench run                    run all experiments on small built-in data (minutes)
      kernbench report --open          one page: which solver to use, and why
      kernbench list solvers           what there is
      kernbench fit train.svm --set C=10 --test test.svm --out model.npz
      kernbench predict model.npz new.csv --out predictions.csv

    Every command has its own help: kernbench run --help
    """
