"""Imports run downwards only: cli -> report -> experiments -> estimators -> solvers -> losses, features -> kernels.

Model files (``saving``) stand between what can be saved and the kernels. Beside that stack stand ``datasets``
(on ``validation``) and ``reference`` (which nobody imports). Imports inside functions count too, and so do modules
that are named in strings, which is how a registry refers to them.
"""

import ast
import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import kernbench
from kernbench._models import MODELS

ADDRESS = MODELS[0].address
KERNEL_SVC = ADDRESS.partition(".")[2].replace(":", ".")
ROOT = Path(__file__).parents[1] / "kernbench"  # the sources: an installed package has no .pyx files

GROUND = {
    "_callbacks",
    "_typing",
    "_names",
    "_files",
    "_random",
    "_lazy",
    "_version",
    "_whole_fits",
    "_warnings",
    "_interrupts",
}
VALIDATION = GROUND | {"validation"}
KERNELS = VALIDATION | {"kernels"}
SAVING = KERNELS | {"_models", "saving"}
PROBLEMS = SAVING | {"problems", "losses", "pairs", "features"}
SOLVERS = PROBLEMS | {"solvers"}
ESTIMATORS = SOLVERS | {"estimators", "metrics"}
EXPERIMENTS = ESTIMATORS | {"experiments", "datasets", "distributed"}

# What the files of a folder (or a module of the package itself) may import; a longer path opens a part only.
MAY_IMPORT = {
    "_callbacks": set(),
    "_names": set(),
    "_files": set(),
    "_random": set(),
    "_typing": set(),
    "_deprecation": set(),
    "_lazy": set(),
    "_uncompiled": set(),
    "_models": {"_lazy"},
    "_version": set(),
    "_warnings": set(),
    "_whole_fits": set(),
    "_interrupts": set(),
    "validation": VALIDATION,
    "kernels": KERNELS,
    "saving": SAVING,
    "features": SAVING | {"features"},
    "losses": KERNELS | {"losses"},
    "problems": KERNELS | {"losses", "pairs", "problems"},
    "pairs": KERNELS | {"losses", "pairs"},
    "metrics": KERNELS | {"pairs"},
    "plot": KERNELS | {"metrics", "pairs", "plot"},
    "solvers": SOLVERS,
    "estimators": ESTIMATORS,
    "experiments": EXPERIMENTS,
    "distributed": ESTIMATORS | {"datasets.errors", "datasets.readers", "distributed"},
    "deep": ESTIMATORS | {"datasets", "deep"},
    "report": ESTIMATORS
    | {"report", "datasets", "experiments.declare", "experiments.registry", "experiments.measure.rates"}
    | {"experiments.run.storing.store", "experiments.run.storing.manifest", "experiments.run.storing.packing"}
    | {"experiments.run.storing.cleaning", "experiments.run.patterns"},
    "cli": EXPERIMENTS | {"report", "cli"},
    "__main__": {"cli"},
    "datasets": VALIDATION | {"datasets"},
    "reference": GROUND
    | {"reference", "validation", "kernels.functions", "losses", "pairs", "problems", "solvers.base"},
}
# The experiments on networks are the only ones to use the package that needs PyTorch.
MAY_IMPORT_TOO = {"experiments/papers/pauc/deep/": {"deep"}, "experiments/papers/dsg/lenet/": {"deep"}}
# The list of models names what it lists, for the floors below to load.
LIST_OF_MODELS = "_models.py"
LISTED = {model.address.partition(".")[2].replace(":", ".") for model in MODELS}

MODULE_IN_STRING = re.compile(r"kernbench(?:\.\w+)*(?::\w+)?")
CYTHON_FROM = re.compile(r"^[ \t]*from[ \t]+([\w.]+)[ \t]+c?import[ \t]+(\([^)]*\)|[^\n#]+)", re.MULTILINE)
CYTHON_IMPORT = re.compile(r"^[ \t]*c?import[ \t]+([\w., \t]+)", re.MULTILINE)


def imports_of(path, root=ROOT):
    """Yield (line, dotted name, whether it is in a string) of whatever a file imports or names."""
    text = path.read_text(encoding="utf-8")
    package = (root.name, *path.relative_to(root).parts[:-1])
    if path.suffix == ".py":
        yield from _python_imports(ast.parse(text), package)
        return
    for match in CYTHON_FROM.finditer(text):
        names = re.sub(r"#[^\n]*", "", match[2]).strip("() \n").split(",")
        line = text.count("\n", 0, match.start()) + 1
        for name in names:
            if name.strip():
                yield line, f"{_absolute(match[1], package)}.{name.split()[0]}", False
    for match in CYTHON_IMPORT.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        for name in match[1].split(","):
            yield line, name.split()[0], False


def _python_imports(tree, package):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name, False
        elif isinstance(node, ast.ImportFrom):
            module = _absolute("." * node.level + (node.module or ""), package)
            for alias in node.names:
                yield node.lineno, f"{module}.{alias.name}", False
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if node.value != "kernbench" and MODULE_IN_STRING.fullmatch(node.value):
                yield node.lineno, node.value.replace(":", "."), True


def _absolute(module, package):
    """The full name of a module that may be written relative to its package."""
    level = len(module) - len(module.lstrip("."))
    if not level:
        return module
    return ".".join([*package[: len(package) - level + 1], *filter(None, [module.lstrip(".")])])


def place_of(name):
    """Where in the package a dotted name lives, without the package's own name; None for other packages."""
    head, _, rest = name.partition(".")
    if head != "kernbench":
        return None
    # Public names of the package are defined elsewhere.
    address = kernbench._ADDRESSES.get(rest)
    return address.replace(":", ".").partition(".")[2] if address else rest


def offences(root=ROOT):
    """One line, file:line and what is wrong, for each import that does not run downwards."""
    found = []
    for path in sorted(p for p in root.rglob("*") if p.suffix in (".py", ".pyx", ".pxd", ".pxi")):
        file = path.relative_to(root).as_posix()
        floor = file.partition("/")[0].partition(".")[0]
        if file == "__init__.py":
            continue  # shows what lives elsewhere, by name
        if floor not in MAY_IMPORT:
            found.append(f"{file}:1 belongs to no floor that this test knows")
            continue
        allowed_here = MAY_IMPORT[floor].union(
            *(more for folder, more in MAY_IMPORT_TOO.items() if file.startswith(folder))
        )
        for line, name, in_string in imports_of(path, root):
            place = place_of(name)
            if place is None or (in_string and file == LIST_OF_MODELS and place in LISTED):
                continue
            if not any(f"{place}.".startswith(f"{allowed}.") for allowed in allowed_here):
                found.append(f"{file}:{line} imports {name}")
    return found


def test_imports_run_downwards_only():
    found = offences()
    assert not found, "\n" + "\n".join(found)


def module_graph(root=ROOT):
    """Return the modules that each module imports, inside functions too: {module: set of modules}."""
    sources = {}
    for path in sorted(p for p in root.rglob("*") if p.suffix in (".py", ".pyx", ".pxd")):
        parts = path.relative_to(root).with_suffix("").parts
        sources.setdefault(".".join(parts[:-1] if parts[-1] == "__init__" else parts), []).append(path)
    graph = {module: set() for module in sources}
    for module, paths in sources.items():
        for name in (name for path in paths for _, name, in_string in imports_of(path, root) if not in_string):
            place = place_of(name)
            while place and place not in sources:
                place = place.rpartition(".")[0]
            if place and place != module:
                graph[module].add(place)
    return graph


def test_no_two_modules_import_each_other():
    """Not by way of others either, nor inside functions, where a circle does not show."""
    list(TopologicalSorter(module_graph()).static_order())


@pytest.mark.parametrize("late", ["", "def late():\n    "])
def test_a_circle_of_imports_is_found(tmp_path, late):
    (tmp_path / "kernbench").mkdir()
    for name, other in (("a", "b"), ("b", "c"), ("c", "a")):
        (tmp_path / "kernbench" / f"{name}.py").write_text(f"{late}from kernbench.{other} import x\n")
    with pytest.raises(CycleError):
        list(TopologicalSorter(module_graph(tmp_path / "kernbench")).static_order())


def test_the_package_itself_imports_nothing_when_it_is_imported():
    imported = [name for _, name, in_string in imports_of(ROOT / "__init__.py") if not in_string]
    places = {place_of(name) for name in imported} - {None}
    assert places == {"_lazy.lazy_names", "_models.ESTIMATORS", "_uncompiled.install", "_version.__version__"}


def test_every_floor_is_looked_at():
    """A test that reads no files, or misses the compiled ones, would never fail."""
    names = {place_of(name) for path in ROOT.rglob("*.pyx") for _, name, _ in imports_of(path)}
    assert {
        "kernels.engine.operands._operand.Operand",
        "kernels._rows.KernelRows",
        "problems.water_level.NO_LEVEL",
    } <= names
    strings = {name for _, name, in_string in imports_of(ROOT / "solvers" / "registry.py") if in_string}
    assert "kernbench.solvers.kernel.smo.smo.SMO" in strings


@pytest.mark.parametrize(
    "file, text, line, name",
    [
        ("kernels/rows.py", "def late():\n    from kernbench.solvers import driver\n", 2, "solvers.driver"),
        ("kernels/rows.py", "import kernbench.losses.duality as h\n", 1, "losses.duality"),
        ("kernels/rows.py", "from kernbench import KernelSVC\n", 1, "KernelSVC"),
        ("kernels/rows.py", "from kernbench import load\n", 1, "load"),
        ("kernels/base.py", "x = import_module('kernbench.features')\n", 1, "features"),
        ("kernels/names.py", "from kernbench._models import BY_NAME\n", 1, "_models.BY_NAME"),
        ("_models.py", f"from kernbench.{KERNEL_SVC.rpartition('.')[0]} import KernelSVC\n", 1, KERNEL_SVC),
        ("_models.py", "X = 'kernbench.estimators.svm.closed_form:limit'\n", 1, "estimators.svm.closed_form.limit"),
        ("kernels/rows.py", "from kernbench import losses\n", 1, "losses"),
        ("kernels/rows.py", "from ..solvers import base\n", 1, "solvers.base"),
        ("kernels/rows.py", "x = import_module('kernbench.estimators')\n", 1, "estimators"),
        ("kernels/_rows.pyx", "\nfrom kernbench.solvers._a cimport (\n    B,\n)\n", 2, "solvers._a.B"),
        ("kernels/_rows.pxd", "cimport kernbench.solvers._a as a\n", 1, "solvers._a"),
        ("losses/duality.py", "from kernbench.problems.draws import x\n", 1, "problems.draws.x"),
        ("estimators/a.py", "from kernbench.deep import AGDSBCD\n", 1, "deep.AGDSBCD"),
        ("solvers/driver.py", "import kernbench.reference.kernels.rows\n", 1, "reference.kernels.rows"),
        ("solvers/driver.py", "X = 'kernbench.reference.kernels.rows:Y'\n", 1, "reference.kernels.rows.Y"),
        ("solvers/registry.py", "from kernbench.reference import kernels\n", 1, "reference.kernels"),
        ("solvers/kinds.py", "X = 'kernbench.reference.design:as_design'\n", 1, "reference.design.as_design"),
        ("reference/kernels.py", "from kernbench.kernels.blocks import x\n", 1, "kernels.blocks.x"),
        ("reference/kernels.py", "from kernbench.solvers.driver import run\n", 1, "solvers.driver.run"),
        ("estimators/a.py", "from kernbench.experiments import declare\n", 1, "experiments.declare"),
        ("experiments/a.py", "from kernbench.report import text\n", 1, "report.text"),
        ("experiments/a.py", "X = 'kernbench.report.tables:table'\n", 1, "report.tables.table"),
        ("report/a.py", "from kernbench.experiments.run.runner import run\n", 1, "experiments.run.runner.run"),
        ("datasets/a.py", "from kernbench.kernels import Linear\n", 1, "kernels.Linear"),
        ("saving/model_file.py", f"X = '{ADDRESS}'\n", 1, KERNEL_SVC),
    ],
)
def test_an_import_that_runs_upwards_is_listed(tmp_path, file, text, line, name):
    path = tmp_path / "kernbench" / file
    path.parent.mkdir(parents=True)
    path.write_text(text)
    assert offences(tmp_path / "kernbench") == [f"{file}:{line} imports kernbench.{name}"]


def test_a_folder_without_a_floor_is_listed(tmp_path):
    path = tmp_path / "kernbench" / "cellar" / "a.py"
    path.parent.mkdir(parents=True)
    path.write_text("")
    assert offences(tmp_path / "kernbench") == ["cellar/a.py:1 belongs to no floor that this test knows"]


@pytest.mark.parametrize(
    "file, text",
    [
        ("cli/a.py", "from kernbench.report import build\nfrom kernbench import KernelSVC, kernels\n"),
        ("solvers/registry.py", "X = 'kernbench.solvers.kernel.smo.smo:SMO'\n"),
        ("solvers/kernel/_smo.pyx", "from kernbench.kernels._rows cimport KernelRows\nimport numpy as np\n"),
        ("reference/a.py", "from kernbench.solvers.base import Solution\nfrom kernbench.kernels import functions\n"),
        ("datasets/a.py", "from kernbench._names import unknown_name\nfrom .b import c\n"),
        ("saving/a.py", "from kernbench._models import BY_NAME\n"),
        ("_models.py", f"X = '{ADDRESS}'\n"),
        ("experiments/papers/pauc/deep/a.py", "X = 'kernbench.deep.losses:PairwiseLoss'\n"),
        ("kernels/a.py", '"""kernbench.solvers is above."""\nimport scipy.kernbench\n'),
    ],
)
def test_an_import_that_runs_downwards_is_not(tmp_path, file, text):
    path = tmp_path / "kernbench" / file
    path.parent.mkdir(parents=True)
    path.write_text(text)
    assert offences(tmp_path / "kernbench") == []
