"""Every algorithm is listed once, and both its twins keep the contract."""

import ast
import inspect
import re
from dataclasses import replace
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from pkgutil import walk_packages

import numpy as np
import pytest

import kernbench.reference
from kernbench import ROCSVC, KernelSVC, LinearSVC
from kernbench.kernels import Gaussian
from kernbench.kernels.two_precisions import TwoPrecisionRows
from kernbench.solvers import base, driver, registry
from kernbench.solvers.base import Solution, Solver
from kernbench.solvers.kinds import KINDS, TWINS
from kernbench.solvers.registry import SOLVERS

REQUIRED = "no default"
every_solver = pytest.mark.parametrize("entry", SOLVERS, ids=lambda entry: f"{entry.problem}-{entry.name}")
either_twin = pytest.mark.parametrize("twin", TWINS)


def parameters_of(solver_class):
    """Names and defaults of the constructor, in order; REQUIRED where there is none."""
    try:
        found = inspect.signature(solver_class).parameters.values()
    except ValueError:
        line = solver_class.__doc__.partition("\n")[0]
        return read_signature(line, vars(import_module(solver_class.__module__)))
    return {p.name: REQUIRED if p.default is p.empty else p.default for p in found}


def read_signature(line, constants):
    """The same from the text of a signature, where defaults may be constants of the module.

    A Cython class has no signature that `inspect` reads, but its docstring begins with one. It shows keywords
    without a default as positional: whether they are takes a call to tell.
    """
    arguments = ast.parse(f"def {line}: pass").body[0].args
    names = [argument.arg for argument in arguments.args + arguments.kwonlyargs]
    values = (
        [None] * (len(arguments.args) - len(arguments.defaults)) + arguments.defaults + arguments.kw_defaults
    )

    def value(node):
        if node is None:
            return REQUIRED
        return constants[node.id] if isinstance(node, ast.Name) else ast.literal_eval(node)

    return dict(zip(names, map(value, values), strict=True))


def test_signatures_are_read():
    expected = {"x": REQUIRED, "a": None, "b": 1e-3, "c": 7, "d": REQUIRED}
    assert read_signature("F(x, a=None, *, b=1e-3, c=LIMIT, d)", {"LIMIT": 7}) == expected
    assert (
        parameters_of(type("F", (), {"__init__": lambda self, x, a=None, *, b=1e-3, c=7, d: None}))
        == expected
    )


def data_of(entry, X, twin):
    """What a solver takes first; the kernel wherever its kind has one."""
    kernel = None if entry.kind.counts == "n_inner_products" else Gaussian(1.0)
    return entry.kind.make_data(X, kernel, twin=twin, dtype=np.float64)


@pytest.fixture(params=TWINS)
def make(request):
    """A function from an entry to a solver of this twin on 40 points."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=40) > 0, 1.0, -1.0)

    def build(entry, *arguments, **options):
        settings = {"alpha": 0.025, "random_state": 0} | options
        return entry.load(request.param)(data_of(entry, X, request.param), y, *arguments, **settings)

    return build


@every_solver
@either_twin
def test_each_entry_loads_both_twins(entry, twin):
    solver_class = entry.load(twin)
    assert inspect.isclass(solver_class)
    home = {"compiled": "kernbench.solvers.", "reference": "kernbench.reference."}[twin]
    assert solver_class.__module__.startswith(home)


@every_solver
def test_the_reference_is_where_its_twin_is_but_for_an_underscore(entry):
    assert entry.reference == entry.compiled.replace("kernbench.solvers.", "kernbench.reference.").replace(
        "._", "."
    )


@every_solver
def test_twins_have_the_same_name_and_constructor(entry):
    compiled, reference = entry.load("compiled"), entry.load("reference")
    assert compiled.__name__ == reference.__name__
    ours, theirs = parameters_of(compiled), parameters_of(reference)
    assert list(ours) == list(theirs)
    assert ours == theirs
    assert list(ours)[:2] == [entry.kind.first, "y"]
    assert {"alpha", "weights", "random_state", "initial", *entry.kind.options} <= set(ours)


@every_solver
def test_twins_minimise_the_same_losses_and_refuse_the_others(entry, make):
    assert entry.load("compiled").losses == entry.load("reference").losses == entry.losses
    assert entry.losses and set(entry.losses) <= set(entry.kind.losses)
    for loss in entry.kind.losses:
        if loss in entry.losses:
            assert make(entry, loss=loss).losses == entry.losses
        else:
            with pytest.raises(ValueError, match="only, not|needs a smooth loss"):
                make(entry, loss=loss)
    assert parameters_of(entry.load())["loss"] in entry.losses


@pytest.mark.parametrize(
    "entry", [entry for entry in SOLVERS if not entry.draws], ids=lambda entry: entry.name
)
def test_a_solver_that_draws_nothing_is_the_same_for_every_seed(entry, make):
    def coef(random_state):
        solver = make(entry, random_state=random_state)
        solver.advance(30)
        return solver.solution().coef

    np.testing.assert_array_equal(coef(1), coef(2))
    np.testing.assert_array_equal(coef(1), coef(None))


@every_solver
@either_twin
def test_every_parameter_is_documented(entry, twin):
    solver_class = entry.load(twin)
    described = re.findall(r"(?m)^\s*(\w+(?:, \w+)*) : ", solver_class.__doc__)
    assert set(parameters_of(solver_class)) <= set(", ".join(described).split(", "))


@every_solver
def test_parameters_but_rows_and_labels_go_by_name(entry, make):
    with pytest.raises(TypeError, match="positional"):
        make(entry, 0.025)
    with pytest.raises(TypeError, match="no_such_option"):
        make(entry, no_such_option=1)


@every_solver
def test_twins_keep_the_contract(entry, make):
    solver = make(entry)
    promised = set(Solver.__annotations__) | {name for name in vars(Solver) if not name.startswith("_")}
    assert {"n_iter", "converged", "advance", "check", "solution", "objective", "gap"} <= promised
    assert [name for name in sorted(promised) if not hasattr(solver, name)] == []
    assert solver.n_iter == 0 and solver.converged in (False, 0)
    assert isinstance(solver.granularity, int) and solver.granularity >= 1
    assert solver.first_check is None or solver.first_check % solver.granularity == 0

    done = solver.advance(solver.granularity)
    assert isinstance(done, int) and done == solver.n_iter >= 1
    assert isinstance(solver.n_kernel_evaluations, int)
    count = getattr(solver, entry.kind.counts)
    assert isinstance(count, int) and count > 0
    assert isinstance(solver.objective(), float)
    gap = solver.gap()
    assert gap is None or (isinstance(gap, float) and gap >= 0)
    assert bool(solver.check(1e9)) is True and solver.converged

    solution = solver.solution()
    assert isinstance(solution, Solution) and solution.n_iter == solver.n_iter
    n_coef = (
        40 if entry.kind.counts == "n_kernel_evaluations" else 2
    )  # kernel expansions, weights of features
    assert solution.coef.shape == (n_coef,) and solution.coef.dtype == np.float64
    assert isinstance(solution.intercept, float)
    assert all(isinstance(value, np.ndarray) for value in solution.state.values())


@every_solver
def test_a_solution_is_a_copy(entry, make):
    solver = make(entry)
    solver.advance(solver.granularity)
    before = solver.solution()
    for part in (before.coef, *before.state.values()):
        part += 7
    after = solver.solution()
    assert np.abs(after.coef - (before.coef - 7)).max() < 1e-12
    for name, value in after.state.items():
        np.testing.assert_array_equal(value + 7, before.state[name], err_msg=name)


@every_solver
def test_twins_agree_on_what_the_driver_asks(entry, make):
    compiled, reference = entry.load("compiled"), entry.load("reference")
    assert compiled.granularity == reference.granularity
    for name in ("dual_objective", "finished", "min_iter", "tol"):
        assert hasattr(make(entry), name) == (name in optional_parts(entry)), name
    assert (make(entry).first_check is None) == ("tol" in optional_parts(entry))


def optional_parts(entry):
    """What the compiled solver has beyond `Solver`, of what base.py lists."""
    solver = entry.load()(data_of(entry, np.eye(4), "compiled"), [1, -1, 1, -1], alpha=0.1)
    return {name for name in ALL_PARTS if hasattr(solver, name)}


def parts(*protocols):
    """The names that protocols list."""
    return {
        name
        for protocol in protocols
        for name in [*protocol.__annotations__, *vars(protocol)]
        if name[0] != "_"
    }


ALL_PARTS = parts(
    *(value for value in vars(base).values() if inspect.isclass(value) and Solver in value.__mro__)
)


class Spy:
    """A solver that remembers which of its attributes were asked for."""

    def __init__(self, solver):
        vars(self).update(solver=solver, asked=set())

    def __getattr__(self, name):
        self.asked.add(name)
        return getattr(self.solver, name)

    def __setattr__(self, name, value):
        self.asked.add(name)
        setattr(self.solver, name, value)


@pytest.mark.parametrize(
    "model",
    [KernelSVC(verbose=1), KernelSVC(solver="sdca"), KernelSVC(solver="perceptron"), LinearSVC(), ROCSVC()],
    ids=str,
)
def test_the_protocols_list_all_that_driver_and_estimators_use(model, monkeypatch):
    spies, load = [], registry.SolverEntry.load

    def spying(entry, twin="compiled"):
        def build(*arguments, **options):
            spies.append(Spy(load(entry, twin)(*arguments, **options)))
            return spies[-1]

        build.losses = load(entry, twin).losses
        return build

    monkeypatch.setattr(registry.SolverEntry, "load", spying)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    model.fit(X, np.where(X[:, 0] + 0.3 * rng.normal(size=60) > 0, 1, -1))
    asked = set().union(*(spy.asked for spy in spies))
    assert {"advance", "solution", "converged"} <= asked
    assert asked - ALL_PARTS == set()


@every_solver
def test_entries_say_what_they_promise(entry):
    assert entry.name == entry.name.lower().strip() and " " not in entry.name
    for words in (entry.paper, entry.complexity, entry.stopping, entry.problem):
        assert words and words == words.strip()
    assert entry.iteration_limit(1) >= 1
    assert entry.iteration_limit(10**6) >= entry.default_epochs * 10**6
    assert isinstance(entry.iteration_limit(1001), int)


def test_iteration_limit_is_epochs_but_not_too_few():
    words = dict.fromkeys(("name", "problem", "compiled", "reference", "paper", "complexity", "stopping"), "")
    entry = registry.SolverEntry(**words, default_epochs=1.5, default_iterations=100)
    assert [entry.iteration_limit(n) for n in (1, 66, 67, 101, 1000)] == [100, 100, 101, 152, 1500]


def test_names_are_unique_within_a_problem():
    """The same idea has the same name for another problem: Pegasos with a kernel, and on features."""
    assert len({(entry.problem, entry.name) for entry in SOLVERS}) == len(SOLVERS)
    assert registry.names() == [entry.name for entry in SOLVERS]


def test_names_by_problem_divide_the_names():
    problems = {entry.problem for entry in SOLVERS}
    assert sorted(name for problem in problems for name in registry.names(problem)) == sorted(
        registry.names()
    )
    assert "smo" in registry.names("kernel-svm")
    assert registry.names("no such problem") == []


@every_solver
def test_get_finds_each_by_its_name(entry):
    assert registry.get(entry.name).name == entry.name
    assert registry.get(entry.name, entry.problem) is entry
    with pytest.raises(ValueError, match=f"unknown solver '{entry.name}'"):
        registry.get(entry.name, "no such problem")


@pytest.mark.parametrize(
    "typed, meant", [("smoo", "smo"), ("pegassos", "pegasos"), ("spb", "sbp"), ("SMO", "smo")]
)
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
    for name, kind in KINDS.items():
        assert kind.name == name and kind.words and kind.estimator in kernbench.__all__
        for twin in TWINS:
            kernel = None if kind.counts == "n_inner_products" else Gaussian(1.0)
            assert kind.make_data(np.eye(3), kernel, twin=twin, dtype=np.float64) is not None


def test_every_reference_solver_is_listed():
    """A solver that is not in the registry does not exist: so no class has `advance` and is not listed."""
    package = kernbench.reference
    names = [info.name for info in walk_packages(package.__path__, f"{package.__name__}.")]
    written = {
        f"{name}:{key}"
        for name in names
        for key, value in vars(import_module(name)).items()
        if inspect.isclass(value)
        and value.__module__ == name
        and hasattr(value, "advance")
        and not key.startswith("_")
    }
    bases = {  # of several solvers, and without an `__init__` of a solver
        "kernbench.reference.bundle.cutting_planes:CuttingPlanes",
        "kernbench.reference.kernel.online.online:OnlineSolver",
        "kernbench.reference.ranking.dca_base:ExactDCA",
    }
    assert written - bases == {entry.reference for entry in SOLVERS}


# --- two precisions


@pytest.mark.parametrize(
    "entry", [entry for entry in SOLVERS if entry.two_precisions], ids=lambda entry: entry.name
)
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
        ({"reference": ""}, "has no reference twin"),
        ({"compiled": "kernbench.no_such_module:SMO"}, "has no compiled twin"),
        ({"reference": "kernbench.reference.kernel.smo.smo:SMOO"}, "has no reference twin"),
        (
            {"problem": "roc-svm", "compiled": "kernbench.solvers.kernel._sdca:SDCA"},
            "unknown loss of roc-svm 'log_loss'",
        ),
    ],
)
def test_a_plug_in_that_is_not_complete_is_refused(plug_in, change, message):
    with pytest.raises(ValueError, match=message):
        registry.add(replace(plug_in, **change))
    assert registry.names() == [entry.name for entry in SOLVERS]


def test_a_name_is_taken_within_its_kind_only(plug_in):
    registry.add(replace(plug_in, name="newton"))
    assert registry.get("newton", "kernel-svm").name == registry.get("newton", "roc-svm").name
