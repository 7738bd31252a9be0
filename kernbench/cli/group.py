"""The group of commands, each imported when it is called."""

import click

from kernbench._lazy import load
from kernbench._version import __version__
from kernbench.cli.errors import Refusing

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 110}

# name -> (module, one line for the overview); a module is imported when its command is called
COMMANDS = {
    "list": ("kernbench.cli.listing", "List models, solvers, kernels, data sets and experiments."),
    "run": ("kernbench.cli.running", "Run experiments, or resume a run."),
    "snapshot": ("kernbench.cli.snapshot", "Run everything at paper scale, on an idle machine."),
    "report": ("kernbench.cli.reporting", "Turn the records of a run into one HTML page."),
    "compare": ("kernbench.cli.comparing", "Compare two sets of records: what became slower or worse?"),
    "results": ("kernbench.cli.results", "Show, merge, clean or export the records."),
    "new": ("kernbench.cli.plugins.creating", "Write a template of a solver, an experiment or an estimator."),
    "check": ("kernbench.cli.plugins.checking", "Check a solver or an experiment of your own."),
    "doctor": ("kernbench.cli.doctor", "Check this installation: what works, what is missing?"),
    "fit": ("kernbench.cli.models.fitting", "Fit a model to a data file and save it."),
    "predict": ("kernbench.cli.models.predicting", "Predict with a saved model."),
    "data": ("kernbench.cli.data", "List data sets; fetch and verify their files."),
}


class LazyGroup(Refusing):
    """Lists its commands without importing them."""

    def list_commands(self, ctx):
        """Return the names of the commands, in the order a new user needs them."""
        return list(COMMANDS)

    def get_command(self, ctx, name):
        """Import the command called `name`; None when there is none."""
        return load(f"{COMMANDS[name][0]}:command") if name in COMMANDS else None

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
      kernbench list solvers           algorithms, their losses and costs
      kernbench fit train.svm --set C=10 --test test.svm --out model.npz
      kernbench predict model.npz new.csv --out predictions.csv

    Every command has its own help: kernbench run --help
    """
