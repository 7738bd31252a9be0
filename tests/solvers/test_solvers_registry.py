"""Every algorithm is listed once, has a twin and a lockstep test; plug-ins are added."""

import inspect
from dataclasses import replace
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from pkgutil import walk_packages

import numpy as np
import pytest

import kernbench.reference
import kernbench.solvers
from kernbench import KernelSVC, LinearSVC
from kernbench.kernels import Gaussian
from kernbench.kernels.two_precisions import TwoPrecisionRows
from kernbench.solvers import driver, registry
from kernbench.solvers.kernel.smo.joint import JointSMO
from kernbench.solvers.kernel.smo.smo import SMO
from kernbench.solvers.kinds import KINDS, TWINS
from kernbench.solvers.method import Method
from kernbench.solvers.registry import SOLVERS

every_solver = pytest.mark.parametrize("entry", SOLVERS, ids=lambda entry: f"{entry.problem}-{entry.name}")
either_twin = pytest.mark.parametrize("twin", TWINS)


@every_solver
def test_entries_say_what_they_promise(entry):
    assert entry.name == entry.name.lower().strip() and " " not in entry.name
    for words in (entry.paper, entry.complexity, entry.stopping, entry.problem):
        assert words and words == words.strip()
    assert entry.iteration_limit(1) >= 1
    assert entry.iteration_limit(10**6) >= entry.default_epochs * 10**6
    assert isinstance(entry.iteration_limit(1001), int)


def test_iteration_limit_is_epochs_but_not_too_few():
    words = dict.fromkeys(("name", "problem", "method", "paper", "complexity", "stopping"), "")
    entry = registry.SolverEntry(**words, default_epochs=1.5, default_iterations=100)
    assert [entry.iteration_limit(n) for n in (1, 66, 67, 101, 1000)] == [100, 100, 101, 152, 1500]


def test_the_iteration_limit_counts_batches_where_an_iteration_is_a_step_on_one():
    """Pegasos and NORMA step on batches; an iteration of SDCA is a visit of one row, whatever moves together."""
    for name, problem, limit in (
        ("pegasos", "kernel-svm", 20 * 5), ("norma", "kernel-regression", 20 * 5), ("pegasos", "linear-svm", 100 * 5),
        ("sdca", "kernel-svm", 200 * 300),
    ):  # fmt: skip
        entry = registry.get(name, problem)
        assert entry.iteration_limit(300, options={"batch_size": 64}) == limit
        assert entry.iteration_limit(300, options={"batch_size": 0}) == entry.iteration_limit(300)


@every_solver
def test_limits_in_epochs_of_solvers_with_batches_count_steps(entry):
    """All but SDCA, which counts visits of rows."""
    has_batches = "batch_size" in inspect.signature(entry.load()).parameters
    counts_steps = has_batches and entry.default_epochs > 0 and entry.name != "sdca"
    assert entry.steps_on_batches == counts_steps


def test_names_are_unique_within_a_problem():
    """The same idea has the same name for another problem: Pegasos with a kernel, and on features."""
    assert len({(entry.problem, entry.name) for entry in SOLVERS}) == len(SOLVERS)
    assert registry.names() == [entry.name for entry in SOLVERS]


def test_names_by_problem_divide_the_names():
    problems = {entry.problem for entry in SOLVERS}
    assert sorted(name for problem in problems for name in registry.names(problem)) == sorted(registry.names())
    assert "smo" in registry.names("kernel-svm")
    assert registry.names("no such problem") == []


@every_solver
def test_get_finds_each_by_its_name(entry):
    assert registry.get(entry.name).name == entry.name
    assert registry.get(entry.name, entry.problem) is entry
    with pytest.raises(ValueError, match=f"unknown solver '{entry.name}'"):
        registry.get(entry.name, "no such problem")


@pytest.mark.parametrize("typed, meant", [("smoo", "smo"), ("pegassos", "pegasos"), ("spb", "sbp"), ("SMO", "smo")])
def test_unknown_name_says_the_nearest(typed, meant):
    with pytest.raises(ValueError, match=f"unknown solver '{typed}'; did you mean '{meant}'"):
        registry.get(typed)


def lockstep_modules():
    """The modules of lockstep tests, imported."""
    for path in sorted(Path(__file__).parent.rglob("test_*_twins.py")):
        spec = spec_from_file_location(f"lockstep_tests_{path.stem}", path)
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        yield module


def test_every_solver_is_compared_with_its_twin():
    """By tests that are parametrised over what its module lists as CASES."""
    compared = set()
    for module in lockstep_modules():
        for name in ("test_twin_is_in_lockstep", "test_twin_is_in_lockstep_on_any_problem"):
            marks = getattr(module, name).pytestmark
            assert any(mark.name == "parametrize" and mark.args[1] is module.CASES for mark in marks), name
        compared |= {(entry.problem, entry.name) for entry, _ in module.CASES}
    assert compared == {(entry.problem, entry.name) for entry in SOLVERS}


def test_every_kind_is_described():
    assert {entry.problem for entry in SOLVERS} == set(KINDS)
    assert len({kind.words for kind in KINDS.values()}) == len(KINDS)
    for name, kind in KINDS.items():
        assert kind.name == name and kind.words and kind.estimator in kernbench.__all__
        for twin in TWINS:
            kernel = None if kind.counts == "n_inner_products" else Gaussian(1.0)
            assert kind.make_data(np.eye(3), kernel, twin=twin, dtype=np.float64) is not None


def test_every_solver_is_listed():
    """A solver that is not in the registry does not exist: each method from which no other is derived is listed."""
    package = kernbench.solvers
    modules = [import_module(info.name) for info in walk_packages(package.__path__, f"{package.__name__}.")]
    methods = {
        value
        for module in modules
        for value in vars(module).values()
        if inspect.isclass(value) and value.__module__ == module.__name__ and issubclass(value, Method)
    }
    methods.discard(JointSMO)  # runs several problems of SMO at once, for searches; a fit has one
    listed = {entry.load() for entry in SOLVERS}
    assert {method for method in methods if not methods.intersection(method.__subclasses__())} <= listed <= methods


def test_a_core_is_no_solver():
    package = kernbench.reference
    for info in walk_packages(package.__path__, f"{package.__name__}."):
        assert [name for name, value in vars(import_module(info.name)).items() if hasattr(value, "advance")] == []


# --- two precisions


@pytest.mark.parametrize("entry", [entry for entry in SOLVERS if entry.two_precisions], ids=lambda entry: entry.name)
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_a_solver_of_two_precisions_takes_both_kinds_of_rows(entry, loss, classification):
    problem = classification(300, 0)
    options = {"alpha": 1e-3, "loss": loss, "tol": 1e-6, "classic_rows": 0, "working_set_size": 64}
    two, one = (
        TwoPrecisionRows(problem.X, problem.kernel),
        entry.kind.make_data(problem.X, problem.kernel, dtype=np.float64),
    )
    found, expected = (driver.run(entry.load()(rows, problem.y, **options), tol=1e-6) for rows in (two, one))
    assert found.converged and expected.converged
    assert abs(found.objective - expected.objective) <= max(found.gap, expected.gap) + 1e-12


# --- plug-ins


@pytest.fixture
def plug_in(monkeypatch):
    """An entry that is not in the registry, which forgets what a test adds."""
    monkeypatch.setattr(registry, "SOLVERS", list(SOLVERS))
    return replace(registry.get("smo", "kernel-svm"), name="smo-again")


def test_a_plug_in_is_offered_once_it_is_added(plug_in):
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    with pytest.raises(ValueError, match="unknown solver 'smo-again'"):
        KernelSVC(solver="smo-again").fit(X, y)
    registry.add(plug_in)
    assert registry.get("smo-again") is plug_in and "smo-again" in registry.names("kernel-svm")
    assert KernelSVC(solver="smo-again").fit(X, y).score(X, y) == 1.0


@pytest.mark.parametrize(
    "change, message",
    [
        ({"name": "smo"}, "there is a solver 'smo' of kernel-svm already"),
        ({"problem": "kernel-svn"}, "unknown kind of problem 'kernel-svn'; did you mean 'kernel-svm'"),
        ({"method": "json:JSONDecoder"}, "has no method .*JSONDecoder must be derived from"),
        ({"method": "kernbench.no_such_module:SMO"}, "has no method"),
        ({"method": "kernbench.solvers.kernel.smo.smo:SMOO"}, "has no method"),
    ],
)
def test_a_plug_in_that_is_not_complete_is_refused(plug_in, change, message):
    with pytest.raises(ValueError, match=message):
        registry.add(replace(plug_in, **change))
    assert registry.names() == [entry.name for entry in SOLVERS]


@pytest.mark.parametrize("name", ["no_such_module:SMO", "solvers.method:SMO", "solvers.method:Method"])
def test_a_method_that_is_not_complete_is_refused(name):
    method = replace(registry.get("pegasos", "kernel-svm"), name="mine", method=f"kernbench.{name}")
    with pytest.raises(ValueError, match="solver 'mine' has no method"):
        registry.add(method)


def test_what_is_no_entry_is_refused():
    with pytest.raises(ValueError, match="listed by a SolverEntry, got 'smo'"):
        registry.add("smo")


def test_a_plug_in_with_a_loss_that_its_kind_has_not_is_refused(plug_in, monkeypatch):
    monkeypatch.setitem(KINDS, "roc-svm", replace(KINDS["roc-svm"], losses=("squared_hinge", "log_loss")))
    with pytest.raises(ValueError, match="unknown loss of roc-svm 'hinge'"):
        registry.add(replace(plug_in, problem="roc-svm"))


def test_a_loss_of_a_kind_with_other_data_is_refused(plug_in, monkeypatch):
    """Kernel rows serve kinds that have no loss in common; a loss of rows of features is a mistake."""
    monkeypatch.setattr(SMO, "losses", ("hinge", "auc_margin"))
    with pytest.raises(ValueError, match="unknown loss of kernel-svm 'auc_margin'"):
        registry.add(plug_in)


def test_a_name_is_taken_within_its_kind_only(plug_in):
    registry.add(replace(plug_in, name="newton"))
    assert registry.get("newton", "kernel-svm").name == registry.get("newton", "roc-svm").name


@pytest.mark.parametrize("problem", ["linear-svm", "linear-regression"])
def test_the_default_limit_of_long_rows_is_one_of_work(problem):
    entry = registry.get("sdca", problem)
    assert entry.iteration_limit(300) == entry.iteration_limit(300, 100) == 10_000_000
    for row_values in (1000, 10_000, 100_000):
        steps = entry.iteration_limit(300, row_values)
        assert steps == max(1000 * 300, 10**9 // row_values)


@pytest.mark.parametrize("n_columns", [1, 50, 1000, 100_000])
def test_the_default_limit_of_few_rows_is_one_of_work(n_columns):
    """A step of the logistic loss solves an equation, in the time of some hundred values: that is 10⁹ values at most,
    a few seconds, or 1,000 passes over the rows."""
    for n in (10, 100, 300):
        for problem in ("linear-svm", "linear-regression"):
            entry = registry.get("sdca", problem)
            for loss in entry.losses:
                cost = n_columns + (400 if loss == "log_loss" else 0)
                steps = entry.iteration_limit(n, n_columns, loss)
                assert steps * cost <= max(10**9, 1000 * n * cost) and steps <= 10**7


def test_a_fit_takes_the_limit_of_its_loss(monkeypatch):
    limits = []
    monkeypatch.setattr(
        "kernbench.estimators.fit.runs.driver.run", lambda solver, **limit: limits.append(limit["max_iter"])
    )
    X = np.random.default_rng(0).normal(size=(40, 5))
    for loss in ("squared_hinge", "log_loss"):
        with pytest.raises(AttributeError):  # there is no result
            LinearSVC(loss, solver="sdca").fit(X, X[:, 0] > 0)
    assert limits == [10**7, 10**9 // 406]
