"""``kernbench new``: a solver or an experiment of the user's own, to begin with."""

import re
from importlib.util import find_spec
from pathlib import Path
from string import Template

import click

from kernbench.cli.errors import Refusing

TEMPLATES = Path(__file__).parent / "templates"
# The smallest experiment that each kind of solver joins; a data set for a kind that joins none.
EXPERIMENT = {
    "kernel-svm": "sbp-libsvm",
    "linear-svm": "peers-auc",
    "roc-svm": "peers-auc",
    "kernel-regression": "dsg-ridge",
}
DATASET = {"linear-regression": "ridge-2d"}
FOLDER = click.option(
    "--folder", type=click.Path(path_type=Path), default=".", show_default=True, help="Where to write it."
)


@click.group("new", cls=Refusing)
def command():
    """Write a file with a solver or an experiment of your own, which works as it stands.

    \b
    Examples:
      kernbench new solver mine
      kernbench new solver mine --kind roc-svm
      kernbench new experiment widths
    """


@command.command("solver")
@click.argument("name")
@click.option(
    "--kind",
    default="kernel-svm",
    show_default=True,
    metavar="KIND",
    help=f"The problem it solves: {', '.join([*EXPERIMENT, *DATASET])}.",
)
@FOLDER
def solver_command(name, kind, folder):
    """Write NAME.py: a solver in NumPy, its entry for the registry, and a test.

    Then 'kernbench check' holds it against kernbench's own solvers, and with --plugin NAME.py it is one of them in
    'kernbench run', 'report', 'list' and 'fit'.

    \b
    Examples:
      kernbench new solver mine
      kernbench new solver mine --kind linear-svm --folder solvers
    """
    from kernbench._names import unknown_name
    from kernbench.experiments import registry as experiments
    from kernbench.solvers import registry as solvers
    from kernbench.solvers.kinds import KINDS

    if kind not in {**EXPERIMENT, **DATASET}:
        if kind not in KINDS:
            raise ValueError(unknown_name("kind of problem", kind, {**EXPERIMENT, **DATASET}))
        raise ValueError(
            f"there is no template of a solver of {kind!r}, nor does 'kernbench check' know such solvers. "
            f"Kinds with a template: {', '.join([*EXPERIMENT, *DATASET])}"
        )
    races = [experiment for experiment in experiments.EXPERIMENTS if kind in experiment.newcomers]
    taken = {method.name for race in races for method in race.methods}
    path = _write(
        kind, "solver", name, taken | set(solvers.names(kind)), folder, experiment={**EXPERIMENT, **DATASET}[kind]
    )
    if kind in EXPERIMENT:
        _say_what_to_run(EXPERIMENT[kind], path)
    else:
        estimator = KINDS[kind].estimator.lower()
        click.echo(f"Then: kernbench fit {DATASET[kind]} --estimator {estimator} --plugin {path} --set solver={name}")


@command.command("experiment")
@click.argument("name")
@FOLDER
def experiment_command(name, folder):
    """Write NAME.py: the declaration of an experiment, and a test.

    \b
    Examples:
      kernbench new experiment widths
      kernbench run widths --plugin widths.py
    """
    from kernbench.experiments import registry

    _say_what_to_run(name, _write("experiment", "experiment", name, registry.names(), folder, experiment=name))


def _write(template, what, name, taken, folder, *, experiment):
    """Fill in a template; refuse names that are no names, or taken, and files that exist."""
    from kernbench._files import written_whole
    from kernbench.solvers.registry import NAME

    if not NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name of a {what}: use small letters, digits and hyphens, as in 'my-{what}'")
    if name in taken:
        raise ValueError(f"there is a {what} or a method {name!r} already: choose another name")
    stem = name.replace("-", "_")
    path = folder / f"{stem}.py"
    if path.exists():
        raise ValueError(f"{path} exists already: choose another name, or remove it")
    if find_spec(stem) is not None:
        raise ValueError(f"a file {stem}.py would hide the Python module {stem!r}: choose another name")
    if not folder.is_dir():
        raise ValueError(f"there is no folder {str(folder)!r}")
    words = {
        "name": name,
        "Class": "".join(part.capitalize() for part in re.split("-", name)),
        "file": path,
        "experiment": experiment,
    }
    text = Template((TEMPLATES / f"{template}.py.txt").read_text(encoding="utf-8")).substitute(words)
    with written_whole(path) as file:
        file.write(text)
    click.echo(f"{path} written; next: kernbench check {path}")
    return path


def _say_what_to_run(experiment, path):
    click.echo(f"Then: kernbench run {experiment} --plugin {path}, and kernbench report --plugin {path}")
