"""A record is of the code that its cell runs: what a change makes outdated, and what it leaves."""

import ast
import json
import shutil
import subprocess
import sys

import pytest

from kernbench.experiments import registry
from kernbench.experiments.run import code
from kernbench.experiments.run.cells import plan

NAMES = {experiment.name: frozenset() for experiment in registry.EXPERIMENTS}
for _scale in ("quick", "paper"):
    for _cell in plan(registry.EXPERIMENTS, _scale, repeats=1, optional=True)[0]:
        NAMES[_cell.experiment] |= code.names_in(_cell)


def test_the_digest_that_all_share_follows_what_measures(tmp_path):
    def write(name, text):
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text(text)
        code.shared_digest.cache_clear()
        return code.shared_digest(tmp_path)

    try:
        first = write("solvers/smo.pyx", "a = 1\n")
        assert write("report/page.py", "a = 1\n") == first  # shows measurements
        assert write("experiments/run/schedule.py", "a = 1\n") == first  # decides when a cell runs
        assert write("experiments/papers/sbp/runs.py", "a = 1\n") == first  # has a digest of its own
        assert write("solvers/README.md", "a\n") == first
        assert write("solvers/smo.cpython-311.so", "built") == first  # its source is there
        assert write("_cython.cpython-311.so", "built") == first  # Cython's own: it has no source in the package
        assert write("experiments/run/processes/worker.py", "a = 1\n") != first
        changed = write("solvers/smo.pyx", "a = 2\n")
        (tmp_path / "solvers" / "smo.pyx").unlink()
        built = write("solvers/smo.cpython-311.so", "built")
        assert len({first, changed, built, write("solvers/smo.cpython-311.so", "again")}) == 4
    finally:
        code.shared_digest.cache_clear()


def test_states_that_measure_alike_have_the_digest_of_the_first(tmp_path, monkeypatch):
    def digest_of(text):
        (tmp_path / "smo.py").write_text(text)
        code.shared_digest.cache_clear()
        return code.shared_digest(tmp_path)

    try:
        first, second = digest_of("a = 1\n"), digest_of("a = 2\n")
        monkeypatch.setattr(code, "MEASURE_ALIKE", {second: (first, "a is never read")})
        assert [digest_of(f"a = {k}\n") == first for k in (1, 2, 3)] == [True, True, False]
    finally:
        code.shared_digest.cache_clear()


def test_a_state_that_measures_like_another_says_why():
    for later, (earlier, reason) in code.MEASURE_ALIKE.items():
        assert len(later) == len(earlier) == 16 and earlier not in code.MEASURE_ALIKE
        assert len(reason.split()) >= 10


@pytest.fixture
def package(tmp_path):
    """Its ``one.runs`` imports a module at its top, another in a function, and names a third as text."""

    def write(name, text="a = 1\n"):
        path = tmp_path / "experiments" / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(text)
        return path

    write("declare/__init__.py")
    write("one/declaration.py", "from kernbench.experiments.one import runs\n")
    write("one/__init__.py")
    write("one/other.py")
    write(
        "one/runs.py",
        "from kernbench.experiments.declare import Method\n"
        "from kernbench.experiments.measure import clock\n"
        "import kernbench.solvers\n"
        "def measure(cell):\n"
        "    from kernbench.experiments.measure.inner import deep\n"
        '    return load("kernbench.experiments.one.text:Estimator"), "kernbench.experiments.one.other is not run"\n',
    )
    write("one/text.py")
    write("measure/clock.py", "from kernbench.experiments.measure.timers import best\n")
    write("measure/inner.py", "from kernbench.experiments.one import runs\n")  # a circle
    write("measure/timers.py")
    return tmp_path


def test_an_experiment_runs_what_its_cell_names_and_what_that_imports(package):
    found = code.files_of(["kernbench.experiments.one.runs:measure"], package)
    assert {path.relative_to(package / "experiments").as_posix() for path in found} == {
        "one/runs.py", "one/text.py", "measure/clock.py", "measure/timers.py", "measure/inner.py",
    }  # fmt: skip
    assert code.files_of([], package) == set()
    with pytest.raises(ValueError, match="kernbench.experiments.no.such:thing is no module"):
        code.files_of(["kernbench.experiments.no.such:thing"], package / "elsewhere")


def test_names_are_found_in_all_that_a_cell_loads():
    modules = {name: {one.partition(":")[0].rpartition(".")[2] for one in NAMES[name]} for name in NAMES}
    assert {"race", "peers", "evaluation", "zero", "data"} <= modules["dsg-svm"]
    assert "molecules" in modules["dsg-molecules"] and "molecules" not in modules["dsg-svm"]
    assert all(modules.values())  # a cell without any would not notice a change of how it is measured


LOADED = """
import json, sys
from importlib import import_module
from pathlib import Path
from kernbench.experiments.run import code

def loaded():
    folders = tuple(f"kernbench.experiments.{name}." for name in ("measure", "ours", "papers"))
    return {name for name in sys.modules if name.startswith(folders)}

for experiment, names in json.loads(sys.argv[1]).items():
    for name in loaded():
        del sys.modules[name]  # what another experiment has imported would hide that this one does, too
    for name in names:
        try:
            import_module(name.partition(":")[0])
        except ImportError as error:
            assert "kernbench" not in str(error.name), error  # a package that is optional
    covered = code.files_of(names)
    files = {Path(sys.modules[name].__file__) for name in loaded()}
    left_out = {path for path in files - covered if path.name != "__init__.py"}
    assert files and not left_out, f"the digest of {experiment} leaves out {left_out}"
"""


def test_the_digest_covers_every_module_that_is_loaded():
    """In a process of its own, in which no experiment has been imported (-P: sources here may not be compiled)."""
    names = json.dumps({experiment: sorted(NAMES[experiment]) for experiment in NAMES})
    done = subprocess.run([sys.executable, "-P", "-c", LOADED, names], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_packages_of_experiments_hold_no_code_of_their_own():
    """Importing a module runs the packages around it, which no digest covers."""
    for path in sorted((code.PACKAGE / "experiments").rglob("__init__.py")):
        parts = path.relative_to(code.PACKAGE / "experiments").parts
        if parts[0] in ("papers", "ours", "measure"):
            assert len(ast.parse(path.read_text()).body) <= 1, f"{path} holds code"


def test_a_change_outdates_the_records_of_its_own_experiments_alone(tmp_path):
    """On a copy: the digests before and after a change to how molecules are measured."""
    folder = tmp_path / "kernbench"
    shutil.copytree(code.PACKAGE / "experiments", folder / "experiments", ignore=shutil.ignore_patterns("__pycache__"))

    def digests():
        return {name: code._digest(code.files_of(names, folder), folder) for name, names in NAMES.items()}

    before = digests()
    (folder / "experiments" / "papers" / "dsg" / "runs" / "molecules.py").open("a").write("\n")
    (folder / "experiments" / "papers" / "dsg" / "molecules.py").open("a").write("\n")  # what it declares
    (folder / "experiments" / "declare" / "claims.py").open("a").write("\n")
    after = digests()
    assert [name for name in before if after[name] != before[name]] == ["dsg-molecules"]
