"""The registry: complete, light to import, and its experiments independent of each other."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import kernbench.experiments
from kernbench._lazy import load
from kernbench.experiments.registry import EXPERIMENTS, get, names
from kernbench.experiments.run.storing import schema

ROOT = Path(kernbench.experiments.__file__).parent
SHARED = ("declare", "measure")  # what an experiment may import of this package, beside its own folder


def modules_named_in(text):
    """Dotted names of the package's modules that a source imports or names, in strings too."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if node.value.startswith("kernbench."):
                yield node.value.replace(":", ".")


def siblings_of(home, text):
    """What a module in the folder `home` (``"papers/sbp"``) imports of other experiments, the runner, the report."""
    allowed = tuple(f"kernbench.experiments.{name}." for name in (*SHARED, home.replace("/", ".")))
    return [
        name
        for name in modules_named_in(text)
        if (name.startswith("kernbench.experiments.") and not f"{name}.".startswith(allowed))
        or name.startswith("kernbench.report")
    ]


HOMES = sorted({path.parent for folder in ("papers", "ours") for path in (ROOT / folder).glob("*/*.py")})


@pytest.mark.parametrize("home", HOMES, ids=lambda home: home.name)
def test_no_experiment_imports_another_one(home):
    name = home.relative_to(ROOT).as_posix()
    for path in home.rglob("*.py"):
        assert not siblings_of(name, path.read_text(encoding="utf-8")), path


def test_an_import_of_a_sibling_would_be_noticed():
    texts = {
        "from kernbench.experiments.ours.primitives import blocks": 1,
        "from kernbench.experiments.papers.sbp.runs import walk": 0,
        "from kernbench.experiments.measure.record import result": 0,
        "from kernbench.experiments.run import run": 1,
        "X = 'kernbench.experiments.papers.scs.evaluation:evaluate'": 1,
        "X = 'kernbench.report.comparison:table'": 1,
    }
    assert {text: len(siblings_of("papers/sbp", text)) for text in texts} == texts


def test_every_declaration_is_registered():
    paths = [path for home in HOMES for path in home.rglob("*.py")]
    declaring = [path for path in paths if "\nEXPERIMENT = " in path.read_text(encoding="utf-8")]
    modules = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in declaring]
    declared = [load(f"kernbench.experiments.{module}:EXPERIMENT") for module in modules]
    missing = [module for module, one in zip(modules, declared, strict=True) if one not in EXPERIMENTS]
    assert not missing, f"experiments/registry.py lacks {missing}"
    assert len(declared) == len(EXPERIMENTS) == len({experiment.name for experiment in EXPERIMENTS})


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda experiment: experiment.name)
def test_what_an_experiment_names_exists(experiment):
    addresses = {experiment.measure, experiment.evaluate}
    addresses |= {method.measure for method in experiment.methods if method.measure}
    addresses |= {method.estimator for method in experiment.methods if method.requires is None}
    addresses |= {setting.loader for scale in experiment.scales.values() for setting in scale.settings}
    for address in addresses:
        load(address)  # or raises


IMPORTED = "import sys; print(*sorted({name.partition('.')[0] for name in sys.modules}))"


def imported_by(script):
    """Packages that are loaded after a script."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", f"{script}\n{IMPORTED}"], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_declarations_import_nothing_that_computes():
    loaded = imported_by("import kernbench.experiments.run, kernbench.experiments.registry")
    assert {"numpy", "scipy", "sklearn", "matplotlib", "joblib"}.isdisjoint(loaded)


def test_a_run_plans_and_reads_generated_data_without_scikit_learn():
    """It takes a second to import, which the fork server spends at the same time."""
    script = (
        "from kernbench.experiments.registry import get\n"
        "from kernbench.experiments.run.cells import plan\n"
        "from kernbench.experiments.run.environment import collect\n"
        "from kernbench.experiments.run.machine import description\n"
        "collect()\n"
        "print(description(plan([get('sbp-libsvm')], 'quick')[0][0])[0]['checksum'])"
    )
    loaded = imported_by(script)
    assert "numpy" in loaded and "sklearn" not in loaded


def test_a_run_starts_the_fork_server_before_its_own_imports(tmp_path):
    """The first cell waits for the server, whose imports take longer than the rest of the preparation."""
    script = (
        "from kernbench.experiments.run.processes import launching\n"
        "from kernbench.cli import main\n"
        "def stop():\n"
        "    raise SystemExit\n"
        "launching.prepare = stop\n"
        "try:\n"
        f"    main(['run', '--results', {str(tmp_path)!r}])\n"
        "except SystemExit:\n"
        "    import sys; print(*(name for name in sys.modules if name.startswith('kernbench.')))"
    )
    loaded = imported_by(script)
    assert {"numpy", "rich", "joblib", "scipy"}.isdisjoint(loaded)
    assert "kernbench.experiments.registry" not in loaded and "kernbench.experiments.run.processes.launching" in loaded


def test_the_fork_server_imports_only_what_most_cells_need():
    loaded = imported_by("import sys, kernbench.experiments.run.processes.preload; print(*sys.modules)")
    assert {"kernbench.estimators.svm.kernel_svc", "kernbench.experiments.run.processes.worker"} <= loaded
    few = {f"sklearn.{name}" for name in ("svm", "linear_model", "cluster", "metrics", "model_selection")}
    few |= {f"kernbench.experiments.{name}" for name in ("registry", "run.runner")}
    assert (few | {"rich", "matplotlib", "click"}).isdisjoint(loaded)


@pytest.mark.parametrize("name", names())
def test_the_parameters_of_every_method_may_stand_in_a_record(name):
    """The form of records is checked before one is written, so that a parameter it cannot hold would end a run."""
    for method in get(name).methods:
        assert schema._is_plain(dict(method.params)), method.name
