"""Both twins of every solver keep the contract of `solvers.base`."""

import inspect
import re

import numpy as np
import pytest

from kernbench import ROCSVC, KernelSVC, LinearSVC
from kernbench.kernels import Gaussian
from kernbench.solvers import registry
from kernbench.solvers.base import Solution, Solver
from kernbench.solvers.kinds import TWINS, reference_of
from kernbench.solvers.method import Method, core_of, has_cores
from kernbench.solvers.registry import SOLVERS

REQUIRED = "no default"
every_solver = pytest.mark.parametrize("entry", SOLVERS, ids=lambda entry: f"{entry.problem}-{entry.name}")
either_twin = pytest.mark.parametrize("twin", TWINS)


def parameters_of(solver_class):
    """Names and defaults of the constructor, in order; REQUIRED where there is none."""
    found = inspect.signature(solver_class).parameters.values()
    return {p.name: REQUIRED if p.default is p.empty else p.default for p in found}


def takes_batches(entry):
    """Whether labels and weights come with the first argument; then the kernel is the second."""
    return entry.kind.first == "batches"


def data_of(entry, X, y, twin):
    """The first two arguments of a solver; the kernel wherever its kind has one."""
    kernel = None if entry.kind.counts == "n_inner_products" else Gaussian(1.0)
    if takes_batches(entry):
        return entry.kind.make_data(X, y=np.asarray(y, dtype=np.float64), batch_size=10, twin=twin), kernel
    return entry.kind.make_data(X, kernel, twin=twin, dtype=np.float64), y


@pytest.fixture(params=TWINS)
def make(request):
    """A function from an entry to a solver of this twin on 40 points."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=40) > 0, 1.0, -1.0)

    def build(entry, *arguments, **options):
        settings = {"alpha": 0.025, "random_state": 0} | entry.kind.defaults | options
        if settings.get("loss") == "softmax":
            settings["n_outputs"] = 2
        return entry.load(request.param)(*data_of(entry, X, y, request.param), *arguments, **settings)

    return build


def class_of(entry):
    """The class of a solver, the same on both cores."""
    return entry.load("compiled")


@every_solver
@either_twin
def test_each_entry_loads_both_twins(entry, twin):
    home = {"compiled": "kernbench.solvers.", "reference": "kernbench.reference."}[twin]
    assert issubclass(class_of(entry), Method) and has_cores(class_of(entry))
    assert inspect.signature(entry.load(twin)).parameters["core"].default == twin
    assert core_of(class_of(entry), twin).__name__.startswith(home)


@pytest.mark.parametrize("method", sorted({class_of(e) for e in SOLVERS}, key=str), ids=lambda m: m.__name__)
def test_both_cores_have_the_same_functions(method):
    compiled, reference = (functions_of(core_of(method, twin)) for twin in TWINS)
    assert compiled == reference and compiled


def functions_of(core):
    """Names of the functions that a core defines, and those of their parameters."""
    own = {name: value for name, value in vars(core).items() if getattr(value, "__module__", None) == core.__name__}
    return {
        name: list(inspect.signature(value).parameters)
        for name, value in own.items()
        if inspect.isroutine(value) and not name.startswith("_")
    }


def test_a_core_is_one_of_two():
    class Elsewhere(Method):
        compiled_core = "kernbench.solvers.no_such_core"

    with pytest.raises(ModuleNotFoundError, match="no_such_core"):
        Elsewhere()
    with pytest.raises(ValueError, match="core must be 'compiled' or 'reference', got 'numpy'"):
        Elsewhere("numpy")


def test_the_reference_is_where_its_twin_is_but_for_an_underscore():
    assert (
        core_of(registry.get("smo", "kernel-svm").load(), "reference").__name__ == "kernbench.reference.kernel.smo.smo"
    )
    assert reference_of("kernbench.solvers.kernel._sdca") == "kernbench.reference.kernel.sdca"
    assert reference_of("kernbench.kernels.rows:KernelRows") == "kernbench.reference.kernels.rows:KernelRows"


@every_solver
def test_a_solver_has_the_parameters_of_its_kind(entry):
    ours = parameters_of(entry.load())
    assert list(ours)[:2] == [entry.kind.first, "kernel" if takes_batches(entry) else "y"]
    assert {"alpha", "random_state", "initial", *entry.kind.options} <= set(ours)
    assert ("weights" in ours) != takes_batches(entry)


@every_solver
def test_twins_minimise_the_same_losses_and_refuse_the_others(entry, make):
    declared = class_of(entry).losses
    assert set(entry.losses) == set(declared) & set(entry.kind.losses)
    assert entry.losses and set(entry.losses) <= set(entry.kind.losses)
    for loss in entry.kind.losses:
        if loss in entry.losses:
            assert make(entry, loss=loss).losses == declared
        else:
            with pytest.raises(ValueError, match="only, not|needs a smooth loss"):
                make(entry, loss=loss)
    assert (parameters_of(entry.load()) | entry.kind.defaults)["loss"] in entry.losses


@pytest.mark.parametrize("entry", [entry for entry in SOLVERS if not entry.draws], ids=lambda entry: entry.name)
def test_a_solver_that_draws_nothing_is_the_same_for_every_seed(entry, make):
    def coef(random_state):
        solver = make(entry, random_state=random_state)
        solver.advance(30)
        return solver.solution().coef

    np.testing.assert_array_equal(coef(1), coef(2))
    np.testing.assert_array_equal(coef(1), coef(None))


@every_solver
def test_no_seed_means_the_global_state_of_numpy(entry, make, global_random_seed):
    def run():
        np.random.seed(global_random_seed)
        solver = make(entry, random_state=None)
        solver.advance(4 * solver.granularity)
        return solver.solution().coef, np.random.random()

    np.random.seed(global_random_seed)
    first = np.random.random()
    (coef, following), (again, _) = run(), run()
    np.testing.assert_array_equal(coef, again)
    assert (following != first) == entry.draws  # whether it drew from that state


@every_solver
def test_every_parameter_is_documented(entry):
    solver_class = class_of(entry)
    # A base has the parameters that methods share.
    pages = "\n".join(base.__doc__ or "" for base in solver_class.__mro__)
    described = re.findall(r"(?m)^\s*(\w+(?:, \w+)*) : ", pages)
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
    # Batches of a stream say nothing about the optimum.
    assert bool(solver.check(1e9)) is bool(solver.converged) is not takes_batches(entry)

    solution = solver.solution()
    assert isinstance(solution, Solution) and solution.n_iter == solver.n_iter
    # Kernel expansions, weights of features, blocks of random features.
    shape = {"n_kernel_evaluations": (40,), "n_inner_products": (2,), "n_feature_values": (1, 256, 1)}
    assert solution.coef.shape == shape[entry.kind.counts] and solution.coef.dtype == np.float64
    assert isinstance(solution.intercept, float)
    assert all(isinstance(value, np.ndarray) for value in solution.state.values())


@every_solver
def test_a_solution_is_a_copy(entry, make):
    solver = make(entry)
    solver.advance(solver.granularity)
    before = solver.solution()
    for part in (before.coef, *before.state.values()):
        part += np.asarray(7, dtype=part.dtype)
    after = solver.solution()
    assert np.abs(after.coef - (before.coef - 7)).max() < 1e-12
    for name, value in after.state.items():
        np.testing.assert_array_equal(value + 7, before.state[name], err_msg=name)


@every_solver
def test_a_method_that_tests_its_own_rule_has_a_tolerance(entry, make):
    solver = make(entry)
    assert (solver.first_check is None) == hasattr(solver, "tol")
    assert solver.min_iter is None or solver.first_check is None


ALL_PARTS = {
    name for part in (Solver, Method) for name in [*part.__annotations__, *vars(part)] if not name.startswith("_")
}


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
def test_method_lists_all_that_driver_and_estimators_use(model, monkeypatch):
    spies, load = [], registry.SolverEntry.load

    def spying(entry, twin="compiled"):
        def build(*arguments, **options):
            spies.append(Spy(load(entry, twin)(*arguments, **options)))
            return spies[-1]

        build.losses = load(entry).losses
        return build

    monkeypatch.setattr(registry.SolverEntry, "load", spying)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    model.fit(X, np.where(X[:, 0] + 0.3 * rng.normal(size=60) > 0, 1, -1))
    asked = set().union(*(spy.asked for spy in spies))
    assert {"advance", "solution", "converged"} <= asked
    assert asked - ALL_PARTS == set()
