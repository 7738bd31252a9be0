"""``kernbench list``: tables of models, solvers, kernels, data sets and experiments."""

import click

from kernbench.cli.console import print_table
from kernbench.cli.plugins.option import PLUGIN

WHAT = ("models", "solvers", "kernels", "datasets", "experiments")


@click.command("list")
@click.argument("what", required=False, metavar="[models|solvers|kernels|datasets|experiments]")
@PLUGIN
def command(what):
    """List models, solvers, kernels, data sets and experiments; all of them without an argument.

    \b
    Examples:
      kernbench list                   everything
      kernbench list models            estimators and feature maps, and what each learns
      kernbench list solvers           algorithms, their papers and costs
      kernbench list solvers --plugin mine.py
      kernbench list datasets          names for 'kernbench fit' and 'kernbench run --dataset'
    """
    if what is not None and what not in WHAT:
        from kernbench._names import unknown_name

        raise ValueError(unknown_name("list", what, WHAT))
    for name in WHAT if what is None else (what,):
        _LISTS[name]()


def _models():
    from kernbench._models import MODELS
    from kernbench.cli.models.estimators import summary

    rows = []
    for model in MODELS:
        package = "kernbench.features" if model.task == "transform" else "kernbench"
        rows.append((model.name, model.task, package, summary(model.load())))
    print_table("Models", ("name", "task", "import from", "what it is"), rows)


def _solvers():
    from inspect import signature

    from kernbench._models import MODELS
    from kernbench.solvers.kinds import KINDS
    from kernbench.solvers.registry import SOLVERS

    headings = ("name", "loss", "cost", "tol is compared with", "paper")
    for kind in KINDS.values():
        rows = [
            (entry.name, ", ".join(entry.losses), entry.complexity, entry.stopping, entry.paper)
            for entry in SOLVERS
            if entry.problem == kind.name
        ]
        (model,) = (model for model in MODELS if model.name == kind.estimator)
        has_choice = "solver" in signature(model.load()).parameters
        estimator = f"{kind.estimator}(solver=…)" if has_choice else kind.estimator
        print_table(f"Solvers of {kind.name}: {estimator}: {kind.words}", headings, rows)


def _kernels():
    import inspect
    from dataclasses import fields

    from kernbench import kernels
    from kernbench.kernels.names import NAMES

    rows = []
    for name in kernels.__all__:
        kernel = getattr(kernels, name)
        if kernel is kernels.Kernel:
            continue
        parameters = ", ".join(field.name for field in fields(kernel)) or "–"
        rows.append((name, parameters, inspect.getdoc(kernel).splitlines()[0]))
    print_table("Kernels (kernbench.kernels)", ("name", "parameters", "formula"), rows)
    click.echo(f"Names for --set kernel=…: {', '.join(NAMES)}\n")


def datasets():
    """Print the table of data sets; ``kernbench data list`` prints it too."""
    from kernbench.datasets import available, describe

    here = set(available(offline=True))
    rows = []
    for name in available():
        entry = describe(name)
        sizes = f"{entry.n_train:,} + {entry.n_test:,}"
        facts = (f"{entry.n_features:,}", entry.positive or entry.task, "yes" if name in here else "no")
        rows.append((name, entry.kind, sizes, *facts, entry.summary))
    headings = ("name", "kind", "train + test", "features", "+1", "here", "what it is")
    print_table("Data sets", headings, rows)


def _experiments():
    from kernbench.experiments import registry

    rows = []
    for experiment in registry.EXPERIMENTS:
        scales = "; ".join(
            f"{name}: {', '.join(s.name + (' (by name only)' if s.optional else '') for s in scale.settings)}"
            for name, scale in experiment.scales.items()
        )
        methods = ", ".join(method.name for method in experiment.methods)
        rows.append((experiment.name, experiment.title, scales, methods, experiment.paper))
    print_table("Experiments", ("name", "title", "data sets by scale", "methods", "paper"), rows)


_LISTS = {
    "models": _models,
    "solvers": _solvers,
    "kernels": _kernels,
    "datasets": datasets,
    "experiments": _experiments,
}
