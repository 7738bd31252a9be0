"""``kernbench new``: files to begin with, of a solver, an experiment or an estimator."""

import re
import shlex
from importlib.util import find_spec
from keyword import iskeyword
from pathlib import Path
from string import Template

import click

from kernbench.cli.errors import Refusing
from kernbench.cli.reporting import out_beside
from kernbench.cli.types import FilePath

TEMPLATES = Path(__file__).parent / "templates"
# The smallest experiment that each kind of solver joins; a data set for a kind that joins none.
EXPERIMENT = {
    "kernel-svm": "sbp-libsvm",
    "linear-svm": "peers-auc",
    "roc-svm": "peers-auc",
    "kernel-regression": "dsg-ridge",
}
DATASET = {"linear-regression": "ridge-2d"}
# What a part of kernbench consists of: the template and its place in a checkout. The last template is text for a list.
BUILT_IN = {
    "solver": {
        "method.py.txt": "kernbench/solvers/kernel/$stem.py",
        "reference.py.txt": "kernbench/reference/kernel/$stem.py",
        "compiled.pyx.txt": "kernbench/solvers/kernel/_$stem.pyx",
        "entry.py.txt": "kernbench/solvers/registry.py",
    },
    "estimator": {"estimator.py.txt": "kernbench/estimators/svm/$stem.py", "model.py.txt": "kernbench/_models.py"},
}
FOLDER = click.option("--folder", type=FilePath(), default=".", show_default=True, help="Folder to write to.")


@click.group("new", cls=Refusing)
def command():
    """Write a working template of a solver, an experiment or an estimator, to be edited.

    \b
    Examples:
      kernbench new solver mine
      kernbench new solver mine --kind roc-svm
      kernbench new experiment widths
      kernbench new solver mine --built-in
    """


@command.command("solver", short_help="Write a solver in NumPy, and a test.")
@click.argument("name")
@click.option(
    "--kind",
    default="kernel-svm",
    show_default=True,
    metavar="KIND",
    help=f"The problem it solves: {', '.join([*EXPERIMENT, *DATASET])}.",
)
@click.option(
    "--built-in",
    is_flag=True,
    help="Write a method and its two cores, compiled and NumPy, into a checkout of kernbench at --folder instead.",
)
@FOLDER
def solver_command(name, kind, built_in, folder):
    """Write NAME.py: a solver in NumPy, its entry for the registry, and a test.

    Then 'kernbench check' compares it with kernbench's own solvers, and with --plugin NAME.py the commands 'run',
    'report', 'list' and 'fit' treat it as one of them. With --built-in it is a part of kernbench: see CONTRIBUTING.md.

    \b
    Examples:
      kernbench new solver mine
      kernbench new solver mine --kind linear-svm --folder solvers
      kernbench new solver random-pairs --built-in
    """
    from kernbench._names import unknown_name
    from kernbench.experiments import registry as experiments
    from kernbench.solvers import registry as solvers
    from kernbench.solvers.checks import FORMS
    from kernbench.solvers.kinds import KINDS

    if kind not in {**EXPERIMENT, **DATASET}:
        if kind not in KINDS:
            raise ValueError(unknown_name("kind of problem", kind, {**EXPERIMENT, **DATASET}))
        unchecked = "" if kind in FORMS else ", nor does 'kernbench check' know such solvers"
        raise ValueError(
            f"there is no template of a solver of {kind!r}{unchecked}. "
            f"Kinds with a template: {', '.join([*EXPERIMENT, *DATASET])}"
        )
    races = [experiment for experiment in experiments.EXPERIMENTS if kind in experiment.newcomers]
    taken = {method.name for race in races for method in race.methods} | {*solvers.names(kind), "auto"}
    if built_in:
        if kind != "kernel-svm":
            raise ValueError("--built-in has a template for --kind kernel-svm only, of which other kinds differ little")
        _write_built_in("solver", name, taken, folder)
        return
    path = _write(kind, "solver", name, taken, folder, experiment={**EXPERIMENT, **DATASET}[kind])
    if kind in EXPERIMENT:
        _say_what_to_run(EXPERIMENT[kind], path)
    else:
        estimator = KINDS[kind].estimator.lower()
        options = f"--estimator {estimator} --plugin {shlex.quote(str(path))} --set solver={name}"
        click.echo(f"Then: kernbench fit {DATASET[kind]} {options}")


@command.command("experiment", short_help="Write the declaration of an experiment, and a test.")
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

    taken = (*registry.names(), "all")  # which stands for all of them
    _say_what_to_run(name, _write("experiment", "experiment", name, taken, folder, experiment=name))


@command.command("estimator", short_help="Write an estimator into the sources of kernbench.")
@click.argument("name")
@FOLDER
def estimator_command(name, folder):
    """Write an estimator into the sources of kernbench; --folder is their checkout.

    It consists of parameters, a task that turns the arguments of 'fit' into problems, and prediction; see
    CONTRIBUTING.md.

    \b
    Examples:
      kernbench new estimator alpha-classifier
    """
    from kernbench._models import BY_NAME

    is_taken = _words(name)["Class"].lower() in map(str.lower, BY_NAME)  # as 'kernbench fit' compares them
    _write_built_in("estimator", name, {name} if is_taken else (), folder)


def _write(template, what, name, taken, folder, *, experiment):
    """Fill in a template; reject invalid names, names that are taken, and files that exist."""
    template = f"{template}.py.txt"
    words = _checked_words(what, name, taken, folder, [template])
    stem = words["stem"]
    path = folder / f"{stem}.py"
    if path.exists():
        raise ValueError(f"{path} exists already: choose another name, or remove it")
    if find_spec(stem) is not None:
        raise ValueError(f"a file {stem}.py would hide the Python module {stem!r}: choose another name")
    _fill_in(template, path, {**words, "file": path, "experiment": experiment})
    click.echo(f"{path} written; next: kernbench check {shlex.quote(str(path))}")
    return path


def _write_built_in(what, name, taken, checkout):
    """Write the files of a part of kernbench, and show what its list needs."""
    *files, (line, of_the_list) = BUILT_IN[what].items()
    words = _checked_words(what, name, taken, checkout, [f"built_in/{template}" for template, _ in files])
    if not (checkout / of_the_list).is_file():
        raise ValueError(f"{str(checkout)!r} is not a checkout of kernbench: it has no {of_the_list}. Pass --folder")
    paths = {template: checkout / Template(place).substitute(words) for template, place in files}
    for path in paths.values():
        if path.exists():
            raise ValueError(f"{path} exists already: choose another name, or remove it")
    for template, path in paths.items():
        _fill_in(f"built_in/{template}", path, words)
        click.echo(f"{path} written")
    click.echo(f"Next, in {checkout / of_the_list}:\n\n{_filled(f'built_in/{line}', words)}")


def _checked_words(what, name, taken, folder, templates):
    """Return what stands for the names in templates; raise ValueError for a name that is invalid or taken."""
    from kernbench.solvers.entry_checks import NAME

    if not NAME.fullmatch(name):
        raise ValueError(
            f"{name!r} is not a valid {what} name: use small letters, digits and hyphens, as in 'my-{what}'"
        )
    if name in taken:
        article = "an" if what[0] in "ae" else "a"
        raise ValueError(f"there is {article} {what} or a method {name!r} already: choose another name")
    if not folder.is_dir():
        raise ValueError(f"there is no folder {str(folder)!r}")
    words = _words(name)
    for template in templates:
        text = (TEMPLATES / template).read_text(encoding="utf-8")
        imported = re.search(rf"^(from|import) .*\b{words['Class']}\b", text, re.MULTILINE)
        if "Class" in Template(text).get_identifiers() and (imported or iskeyword(words["Class"])):
            raise ValueError(
                f"{name!r} would name the class {words['Class']}, a word that the file needs: choose another name"
            )
    return words


def _words(name):
    parts = name.split("-")
    return {"name": name, "stem": "_".join(parts), "Class": "".join(part.capitalize() for part in parts)}


def _fill_in(template, path, words):
    from kernbench._files import written_whole

    with written_whole(path) as file:
        file.write(_filled(template, words))


def _filled(template, words):
    return Template((TEMPLATES / template).read_text(encoding="utf-8")).substitute(words)


def _say_what_to_run(experiment, path):
    plugin = f"--plugin {shlex.quote(str(path))}"
    report = f"kernbench report {plugin}{out_beside(Path('results'))}"
    click.echo(f"Then: kernbench run {experiment} {plugin}, and {report}")
