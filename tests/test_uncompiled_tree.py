"""The source tree without its compiled modules: every way into it ends in one sentence that says what to do."""

import os
import shutil
import subprocess
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

import kernbench
from kernbench._uncompiled import UncompiledFinder

SOURCES = Path(__file__).parents[1] / "kernbench"  # the checkout: an installed package has no .pyx files
SENTENCE = "is the source tree of kernbench, not compiled"
REMEDIES = ("leave this folder", "python -m pip install -e .")


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A copy of the sources alone."""
    folder = tmp_path_factory.mktemp("checkout")
    binaries = shutil.ignore_patterns("*.so", "*.pyd", "*.c", "__pycache__")
    shutil.copytree(SOURCES, folder / "kernbench", ignore=binaries)
    return folder


def run(tree, *arguments):
    """Run Python in the tree; return the exit code and all that it wrote."""
    environment = {**os.environ, "PYTHONPATH": str(tree), "COLUMNS": "1000"}
    done = subprocess.run([sys.executable, *arguments], cwd=tree, env=environment, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


WORKER = """
from joblib import Parallel, delayed
def fit():
    from kernbench.estimators.svm.kernel_svc import KernelSVC
print(Parallel(n_jobs=2, backend="loky")([delayed(fit)(), delayed(fit)()]))
"""
DASK = """
from dask.distributed import Client
def fit():
    from kernbench import KernelSVC
if __name__ == "__main__":
    with Client(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None) as client:
        client.submit(fit).result()
"""
WAYS = {
    "an estimator": "from kernbench import KernelSVC",
    "a compiled module": "import kernbench.kernels.engine.operands._operand",
    "a worker": WORKER,
}


@pytest.mark.parametrize(
    "way", [pytest.param(way, marks=pytest.mark.slow if way == "a worker" else ()) for way in WAYS]
)
def test_an_import_says_what_to_do(tree, way):
    code, text = run(tree, "-c", WAYS[way])
    # Resource trackers of processes that ended may warn after it.
    said = [line for line in text.splitlines() if line.startswith(f"ImportError: {tree} {SENTENCE}")]
    assert code == 1 and said and all(remedy in said[-1] for remedy in REMEDIES)


def test_the_command_line_says_it_on_one_line(tree):
    code, text = run(tree, "-m", "kernbench", "fit", "adult-like", "--quiet")
    assert (code, text.count("\n")) == (2, 1) and text.startswith(f"kernbench: error: {tree} {SENTENCE}")


def test_what_needs_no_compiled_module_works(tree):
    code, text = run(tree, "-m", "kernbench", "--version")
    assert code == 0 and kernbench.__version__ in text
    code, text = run(tree, "-c", "import kernbench.no_such_module")
    assert code == 1 and text.strip().endswith("ModuleNotFoundError: No module named 'kernbench.no_such_module'")


@pytest.mark.slow  # starts a cluster; the mechanism is that of the other workers
def test_a_worker_of_dask_says_it(tree):
    pytest.importorskip("distributed")
    (tree / "script.py").write_text(DASK)
    code, text = run(tree, "script.py")
    assert code == 1 and f"\nImportError: {tree} {SENTENCE}" in text


def test_a_tree_compiled_for_another_python_is_named(tmp_path):
    for name in ("_fast.pyx", f"_fast.cpython-27-other{EXTENSION_SUFFIXES[-1]}"):
        (tmp_path / name).touch()
    python = f"not compiled for Python {sys.version_info[0]}.{sys.version_info[1]} [(]kernbench._fast"
    with pytest.raises(ImportError, match=python):
        UncompiledFinder.find_spec("kernbench._fast", [str(tmp_path)])


def test_other_names_are_left_to_other_finders(tmp_path):
    (tmp_path / "_fast.pyx").touch()
    assert UncompiledFinder.find_spec("other._fast", [str(tmp_path)]) is None
    assert UncompiledFinder.find_spec("kernbench", None) is None
    assert UncompiledFinder.find_spec("kernbench.missing", [str(tmp_path)]) is None
    with pytest.raises(ImportError, match=SENTENCE):
        UncompiledFinder.find_spec("kernbench._fast", [str(tmp_path)])
    assert sys.meta_path.count(UncompiledFinder) == 1
