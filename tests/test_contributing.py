"""The worked examples of CONTRIBUTING.md run: what its commands write, and the changes that it shows."""

import doctest
import inspect
import os
import re
import shutil
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import check_estimator

import kernbench
from kernbench import _models, saving
from kernbench.cli import main
from kernbench.cli.plugins.creating import BUILT_IN

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def blocks(heading, language):
    """Return the code blocks of a section."""
    section = re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)[1]
    return re.findall(rf"^```{language}\n(.*?)^```", section, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A function ``written(command)`` of a command of the page: what it writes into a checkout, by path, and shows."""

    def run(command):
        assert f"\nkernbench {command} " in PAGE
        checkout = tmp_path_factory.mktemp("checkout")
        for *_, (_, of_the_list) in (places.items() for places in BUILT_IN.values()):
            path = checkout / of_the_list
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        for folder in ("solvers/kernel", "reference/kernel", "estimators/svm"):
            (checkout / "kernbench" / folder).mkdir(parents=True)
        result = CliRunner().invoke(main, [*command.split(), "--folder", str(checkout)])
        assert result.exit_code == 0, result.output
        package = checkout / "kernbench"
        paths = [path for path in package.rglob("*") if path.is_file() and path.stat().st_size]
        files = {path.relative_to(package).as_posix(): path.read_text(encoding="utf-8") for path in paths}
        for name, text in files.items():
            assert re.search(rf"`{name}`.* {len(text.splitlines())} \|$", PAGE, re.MULTILINE)
        return files, result.output.partition(".py:\n\n")[2]

    return run


def as_module(name, source, monkeypatch):
    """Execute a file that was written as the module `name`."""
    module = module_from_spec(spec_from_loader(name, loader=None))
    monkeypatch.setitem(sys.modules, name, module)
    exec(compile(source, name, "exec"), vars(module))
    return module


def copy_package(tree):
    """Copy the package into the folder `tree`, with links to its compiled modules."""
    shutil.copytree(ROOT / "kernbench", tree / "kernbench", ignore=shutil.ignore_patterns("__pycache__", "*.c", "*.so"))
    # Compiled modules lie where the package is installed, which may be elsewhere.
    installed = Path(kernbench.__file__).parent
    for module in installed.rglob("*.so"):
        (tree / "kernbench" / module.relative_to(installed)).symlink_to(module)
    # Those that auditwheel took into the wheel: modules look for them beside the package from where the links are.
    libraries = installed.with_name("kernbench.libs")
    if libraries.is_dir():
        (tree / libraries.name).symlink_to(libraries)


def python_with(folder, *command):
    """Run Python in a new process, which looks for modules in `folder`, then where this one found kernbench."""
    path = os.pathsep.join([str(folder), str(Path(kernbench.__file__).parents[1])])
    environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    words = [sys.executable, "-P", *command]
    return subprocess.run(words, env=environment, cwd=ROOT, capture_output=True, text=True)


def words_of_the_page(pattern):
    """Return the paths and the expression of the one command ``pytest`` of the page that matches `pattern`."""
    (command,) = re.findall(rf"^pytest ({pattern})$", PAGE, re.MULTILINE)
    paths, expression = command.split(" -k ")
    return paths.split(), expression


def run_tests(folder, paths, expression, *options):
    """Run tests in one new process, which has to import much before the first; return all that pytest shows."""
    # Assertions as they are: to rewrite those of all files collected takes longer than to run the tests chosen.
    words = "-m pytest -c pyproject.toml -n 0 -q -p no:cacheprovider --assert=plain -rpfE".split()
    done = python_with(folder, *words, *options, *map(str, paths), "-k", expression)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.stdout


def assert_passed(shown, words, at_least):
    """Assert that tests passed whose names match the pattern `words`: `at_least` so many, and all of them."""
    outcomes = re.findall(rf"^(PASSED|FAILED|ERROR) (?=[^ ]*({words}))", shown, re.MULTILINE)
    assert len(outcomes) >= at_least and {outcome for outcome, _ in outcomes} == {"PASSED"}, shown


@pytest.fixture
def two_classes():
    X, y = make_classification(200, 6, flip_y=0.1, random_state=0)
    return X, np.array(["no", "yes"])[y]


@pytest.fixture(scope="module")
def estimator(written):
    """The estimator's file and its line of the list."""
    files, line = written("new estimator alpha-classifier")
    return files["estimators/svm/alpha_classifier.py"], line


@pytest.fixture
def alpha_classifier(estimator, monkeypatch):
    return as_module("kernbench.estimators.svm.alpha_classifier", estimator[0], monkeypatch).AlphaClassifier


def test_the_estimator_is_a_scikit_learn_classifier(alpha_classifier):
    failures = [
        check
        for check in check_estimator(alpha_classifier(tol=1e-9), on_fail=None, on_skip=None)
        if check["status"] == "failed"
    ]
    assert not failures


def test_the_estimator_has_the_types_and_the_docstring_that_tests_of_all_models_ask_for(alpha_classifier, monkeypatch):
    for method in (alpha_classifier.__init__, alpha_classifier.fit):
        parameters = list(inspect.signature(inspect.unwrap(method)).parameters.values())[1:]
        assert all(parameter.annotation is not parameter.empty for parameter in parameters)
    model, documented = alpha_classifier().fit([[0.0], [1.0]], [0, 1]), alpha_classifier.__doc__
    fitted = {name for name in vars(model) if name.endswith("_")}
    assert fitted | {"feature_names_in_"} == set(re.findall(r"\b\w+_\b", documented.partition("Attributes")[2]))
    monkeypatch.setattr(kernbench, "AlphaClassifier", alpha_classifier, raising=False)
    (example,) = doctest.DocTestFinder(recurse=False).find(alpha_classifier, "AlphaClassifier")
    results = doctest.DocTestRunner().run(example)
    assert results.attempted > 0 and results.failed == 0


def test_the_estimator_finds_the_optimum_along_a_path(alpha_classifier, two_classes):
    X, y = two_classes
    alphas = [1e-3, 1e-1, 1e-2]
    models = alpha_classifier(tol=1e-10).path(X, y, alphas)
    for alpha, model in zip(alphas, models, strict=True):
        oracle = LogisticRegression(C=1 / (alpha * len(y)), fit_intercept=False, tol=1e-10).fit(X, y)
        assert model.converged_ and model.alpha == alpha
        np.testing.assert_allclose(model.coef_, oracle.coef_, atol=1e-4)


def test_the_estimator_takes_weights_as_repetitions(alpha_classifier, two_classes):
    X, y = two_classes
    counts = np.arange(len(y)) % 3
    weighted = alpha_classifier(1e-2, tol=1e-12).fit(X, y, sample_weight=counts)
    repeated = alpha_classifier(1e-2, tol=1e-12).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-5)


def test_the_estimator_is_saved_and_read_back(alpha_classifier, estimator, two_classes, tmp_path, monkeypatch):
    X, y = two_classes
    line = eval(estimator[1].strip().rstrip(","), {"Model": _models.Model})
    monkeypatch.setitem(_models.BY_NAME, line.name, line)
    assert line.load() is alpha_classifier
    model = alpha_classifier().fit(X, y)
    model.save(tmp_path / "model.npz")
    assert np.array_equal(saving.load(tmp_path / "model.npz").predict(X), model.predict(X))


def test_the_estimator_passes_the_tests_of_all_models(shown):
    assert_passed(shown, "AlphaClassifier", 30)


def build_extension(name, source, folder, headers):
    """Compile Cython in `folder` and return the path of the extension module `name`."""
    build = pytest.importorskip("Cython.Build", reason="building the compiled half needs Cython")
    setuptools = pytest.importorskip("setuptools", reason="building the compiled half needs setuptools")
    from setuptools.command.build_ext import build_ext
    from setuptools.errors import CompileError

    path = folder / f"{name.rpartition('.')[2]}.pyx"
    path.write_text(source, encoding="utf-8")
    flags = [] if sys.platform == "win32" else ["-O0"]  # compiled in a few seconds
    headers = [str(folder) for folder in headers]
    extension = setuptools.Extension(name, [str(path)], include_dirs=headers, extra_compile_args=flags)
    modules = build.cythonize([extension], include_path=[str(ROOT)], language_level=3, quiet=True)
    command = build_ext(setuptools.Distribution({"ext_modules": modules}))
    command.build_lib = command.build_temp = str(folder)
    command.ensure_finalized()
    try:
        command.run()
    except CompileError as error:
        if shutil.which("cc") or shutil.which("cl"):
            raise
        pytest.skip(f"no compiler of C here: {error}")
    return Path(command.get_ext_fullpath(name))


@pytest.fixture(scope="module")
def parts(written):
    """The files of the solver's example and its entry."""
    return written("new solver random-pairs --built-in")


@pytest.fixture(scope="module")
def with_random_pairs(parts, tmp_path_factory):
    """A folder with the module ``with_random_pairs``: who imports it has the example's files and entry in kernbench."""
    files, entry = parts
    folder, headers = tmp_path_factory.mktemp("compiled"), {path.parent for path in ROOT.glob("kernbench/**/*.h")}
    core = files["solvers/kernel/_random_pairs.pyx"]
    solvers = build_extension("kernbench.solvers.kernel._random_pairs", core, folder, sorted(headers)).parent
    (solvers / "random_pairs.py").write_text(files["solvers/kernel/random_pairs.py"], encoding="utf-8")
    (folder / "random_pairs.py").write_text(files["reference/kernel/random_pairs.py"], encoding="utf-8")
    (folder / "with_random_pairs.py").write_text(
        "import kernbench.reference.kernel, kernbench.solvers.kernel\n"
        "from kernbench.solvers.registry import SolverEntry, add\n"
        f"kernbench.solvers.kernel.__path__.append({str(solvers)!r})\n"
        f"kernbench.reference.kernel.__path__.append({str(folder)!r})\n"
        f"add({entry.strip().rstrip(',')})\n",
        encoding="utf-8",
    )
    return folder


TEST_OF_THE_SOLVER = """
import pytest
from sklearn.datasets import make_classification
from kernbench import KernelSVC


@pytest.mark.parametrize("solver", ["random-pairs"])
def test_it_is_offered(solver):
    X, y = make_classification(200, 6, flip_y=0.1, random_state=0)
    model = KernelSVC(solver=solver, tol=0.05, random_state=0).fit(X, y)
    assert model.converged_ and model.score(X, y) > 0.9
"""


@pytest.fixture(scope="module")
def shown_with_random_pairs(with_random_pairs):
    """What pytest shows of the tests with the solver, those of solvers of other problems left out."""
    own = with_random_pairs / "test_random_pairs.py"
    own.write_text(TEST_OF_THE_SOLVER, encoding="utf-8")
    paths, expression = words_of_the_page("tests/solvers -k random-pairs")
    others = [f"--ignore=tests/solvers/{folder}" for folder in ("linear", "ranking", "streaming")]
    return run_tests(with_random_pairs, [*paths, own], expression, "-p", "with_random_pairs", *others)


def test_the_solver_passes_the_tests_of_all_solvers(shown_with_random_pairs):
    assert_passed(shown_with_random_pairs, "tests/solvers/.*random-pairs", 51)


def test_the_solver_is_offered_by_the_estimator(shown_with_random_pairs):
    assert_passed(shown_with_random_pairs, "test_it_is_offered", 1)


@pytest.fixture(scope="module")
def tree(estimator, tmp_path_factory):
    """A copy of the package with the examples of an estimator and of a loss, which a new process imports."""
    tree = tmp_path_factory.mktemp("tree")
    copy_package(tree)
    package, (source, line) = tree / "kernbench", estimator
    (package / "estimators" / "svm" / "alpha_classifier.py").write_text(source, encoding="utf-8")
    models = package / "_models.py"
    before, after = models.read_text(encoding="utf-8").split("MODELS = (\n")
    models.write_text(f"{before}MODELS = (\n{line}{after}", encoding="utf-8")
    for change in blocks("Add a loss", "diff"):
        name, *hunks = re.split(r"^@@ .*\n", change, flags=re.MULTILINE)
        path = tree / name.removeprefix("--- ").strip()
        text = path.read_text(encoding="utf-8")
        for hunk in hunks:
            before, after = (
                re.sub(r"^.", "", re.sub(rf"^\{other}.*\n", "", hunk, flags=re.M), flags=re.M) for other in "+-"
            )
            assert text.count(before) == 1
            text = text.replace(before, after)
        path.write_text(text, encoding="utf-8")
    return tree


TESTS_OF_THE_LOSS = """
import numpy as np
import pytest
from scipy.optimize import minimize
from kernbench.estimators import LinearRegressor
from kernbench.kernels import Gaussian
from kernbench.losses.regression import regression_loss
from kernbench.solvers import driver, registry

NAME = "smooth_epsilon_insensitive"
loss = regression_loss(NAME, epsilon=0.3)
LINEAR = [entry.name for entry in registry.SOLVERS if entry.problem == "linear-regression" and NAME in entry.losses]


def problem(n):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    return X, X @ [2.0, -1.0, 0.5] + rng.standard_t(2, size=n)


@pytest.mark.parametrize("solver", LINEAR)
def test_smooth_epsilon_insensitive_is_minimised(solver, monkeypatch):
    monkeypatch.setattr(LinearRegressor, "_twin", "reference")  # whose formulas are those in NumPy
    X, y = problem(60)

    def objective(w):
        return 0.005 * w @ w + loss.value(X @ w - y).mean()

    best = minimize(objective, np.zeros(3), method="BFGS", options={"gtol": 1e-9}).fun
    model = LinearRegressor(NAME, alpha=0.01, epsilon=0.3, solver=solver, fit_intercept=False, tol=1e-4,
                            max_iter=200 if solver == "newton" else 6000, random_state=0).fit(X, y)
    assert best - 1e-9 <= objective(model.coef_) <= best * (1.0 + 1e-2)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_smo_takes_smooth_epsilon_insensitive(fit_intercept):
    entry = registry.get("smo", "kernel-regression")
    X, y = problem(90)
    assert NAME in entry.losses
    for options in ({}, {"classic_rows": 0, "working_set_size": 24}):
        results = []
        for core in ("compiled", "reference"):
            rows = entry.kind.make_data(X, Gaussian(1.5), twin=core, dtype=np.float64)
            solver = entry.load(core)(rows, y, alpha=0.01, loss=loss, fit_intercept=fit_intercept, tol=1e-8, **options)
            results.append(driver.run(solver, tol=1e-8, max_iter=100_000))
            assert results[-1].converged and results[-1].gap <= 1e-8 * results[-1].objective
        ours, theirs = (result.solution.coef for result in results)
        np.testing.assert_allclose(ours, theirs, atol=1e-6 * np.abs(theirs).max())
        assert 0 < np.count_nonzero(ours) < 90 and (np.abs(ours) >= 1 / 0.9 * (1 - 1e-9)).any()
"""


@pytest.fixture(scope="module")
def shown(tree):
    """What pytest shows of the tests with both examples, of the loss those of its formulas in NumPy."""
    own = tree / "test_loss.py"
    own.write_text(TESTS_OF_THE_LOSS, encoding="utf-8")
    paths, expression = words_of_the_page("tests/.* -k AlphaClassifier")
    expression += " or smooth_epsilon_insensitive and not compiled"
    return run_tests(tree, [*paths, "tests/losses", own], expression)


def test_the_loss_is_minimised_by_the_solvers_of_regressions(shown):
    for solver in ("sdca", "newton", "pegasos"):
        assert_passed(shown, rf"is_minimised\[{solver}\]", 1)
    assert_passed(shown, "is_minimised", 4)


def test_smo_takes_the_loss_from_the_table(shown):
    """Its dual has a kink, a ridge and bounds at once, as that of no other loss: both cores reach the same solution."""
    assert_passed(shown, "test_smo_takes", 2)


def test_the_loss_takes_as_many_changes_as_the_page_says_and_passes_the_tests_of_all_losses(shown):
    assert "This loss takes five changes in one header, two in one module," in PAGE
    assert [len(re.findall("^@@", change, re.MULTILINE)) for change in blocks("Add a loss", "diff")] == [5, 2]
    assert_passed(shown, "tests/losses/.*smooth_epsilon_insensitive", 10)


LOSSES_IN_C = """
from kernbench.losses._loss cimport loss_dual_coordinate, loss_dual_value, loss_slope, loss_value


def values(int loss, double p, double z, double a, double curvature):
    return (loss_value(loss, p, z), loss_slope(loss, p, z), loss_dual_value(loss, p, a),
            loss_dual_coordinate(loss, p, a, z, curvature))
"""


def test_the_loss_in_c_is_that_in_numpy(tree):
    headers = tree / "kernbench" / "losses"
    built = build_extension("losses_in_c", LOSSES_IN_C, tree, [headers])
    code = f"""
import sys
import numpy as np
from kernbench.losses.regression import regression_loss
sys.path.insert(0, {str(built.parent)!r})
from losses_in_c import values
loss = regression_loss("smooth_epsilon_insensitive", epsilon=0.3)
for z in np.linspace(-3, 3, 61):
    for a in (-1.0, -0.4, 0.0, 0.7):
        expected = loss.value(z), loss.slope(z), loss.dual_value(a), loss.dual_coordinate(a, z, 0.5)
        np.testing.assert_allclose(values(loss.code, 0.3, z, a, 0.5), expected, atol=1e-14)
"""
    done = python_with(tree, "-c", code)
    assert done.returncode == 0, done.stdout + done.stderr
