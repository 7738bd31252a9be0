"""Every algorithm is listed once, and both its twins keep the contract."""

import ast
import inspect
import re
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from types import SimpleNamespace

import numpy as np
import pytest

from kernbench.kernels import Gaussian
from kernbench.kernels.rows import KernelRows
from kernbench.reference.design import as_design as as_reference_design
from kernbench.reference.kernels.rows import ReferenceRows
from kernbench.solvers import registry
from kernbench.solvers.base import Solution, Solver
from kernbench.solvers.design import as_design
from kernbench.solvers.registry import SOLVERS

TWINS = ("compiled", "reference")
REQUIRED = "no default"
# What a solver of each kind of problem is made from: its first argument, its other parameters, where its
# reference lives. A new kind of problem is a line here, and a file of lockstep tests like those of the kinds
# there are.
KINDS = {
    "kernel-svm": SimpleNamespace(
        data={"compiled": KernelRows, "reference": ReferenceRows}, first="rows", own={"fit_intercept", "loss"},
        home="kernbench.reference.kernel", n_coef=40, lockstep="test_solvers_twins.py",
    ),
    "roc-svm": SimpleNamespace(
        data={
            "compiled": lambda *rows, **options: as_design(KernelRows(*rows, **options)),
            "reference": lambda *rows, **options: as_reference_design(ReferenceRows(*rows, **options)),
        },
        first="design", own={"loss", "n_pairs", "balanced"},
        home="kernbench.reference.ranking", n_coef=40, lockstep="test_solvers_ranking_twins.py",
    ),
    "linear-svm": SimpleNamespace(
        data={
            "compiled": lambda X, kernel, dtype: as_design(X.astype(dtype)),
            "reference": lambda X, kernel, dtype: as_reference_design(X.astype(dtype)),
        },
        first="design", own={"loss"}, counts="n_inner_products",
        home="kernbench.reference.linear", n_coef=2, lockstep="test_solvers_linear_twins.py",
    ),
}  # fmt: skip
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


@pytest.fixture(params=TWINS)
def make(request):
    """A function from an entry to a solver of this twin on 40 points."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=40) > 0, 1.0, -1.0)

    def build(entry, *arguments, **options):
        data = KINDS[entry.problem].data[request.param](X, Gaussian(1.0), dtype=np.float64)
        settings = {"alpha": 0.025, "random_state": 0} | options
        return entry.load(request.param)(data, y, *arguments, **settings)

    return build


@every_solver
@either_twin
def test_each_entry_loads_both_twins(entry, twin):
    solver_class = entry.load(twin)
    assert inspect.isclass(solver_class)
    home = {"compiled": "kernbench.solvers.", "reference": "kernbench.reference."}[twin]
    assert solver_class.__module__.startswith(home)


@every_solver
def test_twins_have_the_same_name_and_constructor(entry):
    compiled, reference = entry.load("compiled"), entry.load("reference")
    assert compiled.__name__ == reference.__name__
    ours, theirs = parameters_of(compiled), parameters_of(reference)
    assert list(ours) == list(theirs)
    assert ours == theirs
    kind = KINDS[entry.problem]
    assert list(ours)[:2] == [kind.first, "y"]
    assert {"alpha", "weights", "random_state", "initial"} | kind.own <= set(ours)


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
    count = getattr(solver, getattr(KINDS[entry.problem], "counts", "n_kernel_evaluations"))
    assert isinstance(count, int) and count > 0
    assert isinstance(solver.objective(), float)
    gap = solver.gap()
    assert gap is None or (isinstance(gap, float) and gap >= 0)
    assert bool(solver.check(1e9)) is True and solver.converged

    solution = solver.solution()
    assert isinstance(solution, Solution) and solution.n_iter == solver.n_iter
    assert solution.coef.shape == (KINDS[entry.problem].n_coef,) and solution.coef.dtype == np.float64
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
def test_twins_agree_on_what_the_driver_asks(entry):
    compiled, reference = entry.load("compiled"), entry.load("reference")
    assert compiled.granularity == reference.granularity
    assert hasattr(compiled, "dual_objective") == hasattr(reference, "dual_objective")


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


def test_every_kind_of_problem_has_a_lockstep_test_that_walks_its_entries():
    assert {entry.problem for entry in SOLVERS} == set(KINDS)
    for problem, kind in KINDS.items():
        text = (Path(__file__).parent / kind.lockstep).read_text(encoding="utf-8")
        assert f'SOLVERS if entry.problem == "{problem}"' in text


@pytest.mark.parametrize("problem", KINDS)
def test_every_reference_solver_is_listed(problem):
    """A solver that is not in the registry does not exist: so there is none."""
    package = import_module(KINDS[problem].home)
    modules = [import_module(f"{package.__name__}.{info.name}") for info in walk_packages(package.__path__)]
    written = {
        f"{module.__name__}:{name}"
        for module in modules
        for name, value in vars(module).items()
        if inspect.isclass(value)
        and value.__module__ == module.__name__
        and hasattr(value, "advance")
        and not name.startswith("_")
    }
    assert written == {entry.reference for entry in SOLVERS if entry.problem == problem}
