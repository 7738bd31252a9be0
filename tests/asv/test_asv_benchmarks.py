"""The asv suite: every benchmark runs, every solver is in it, and tracked numbers are meaningful.

Sizes are cut down, so that all parameters can be tried.
"""

import inspect
import math
import re
import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from kernbench.solvers import registry
from kernbench.solvers.kinds import KINDS

SUITE = Path(__file__).parents[2] / "asv_bench" / "benchmarks"
PACKAGE = "kernbench_asv_benchmarks"  # a distinct name: other projects have "benchmarks" too
KIND = re.compile("(time|peakmem|track)_")


def load_suite():
    """Import the suite as asv does, as a package; return its modules by name."""
    spec = spec_from_file_location(PACKAGE, SUITE / "__init__.py", submodule_search_locations=[str(SUITE)])
    package = sys.modules[PACKAGE] = module_from_spec(spec)
    spec.loader.exec_module(package)
    names = sorted(path.stem for path in SUITE.glob("*.py") if path.stem != "__init__")
    return {"__init__": package, **{name: import_module(f"{PACKAGE}.{name}") for name in names}}


MODULES = load_suite()
problems, runs = MODULES["problems"], MODULES["runs"]


def benchmark_classes():
    """The classes asv finds: public, with a method it knows, each counted where it is defined."""
    return [
        owner
        for module in MODULES.values()
        for name, owner in inspect.getmembers(module, inspect.isclass)
        if owner.__module__ == module.__name__ and not name.startswith("_") and methods_of(owner)
    ]


def methods_of(owner):
    return [name for name, _ in inspect.getmembers(owner, inspect.isfunction) if KIND.match(name)]


CLASSES = benchmark_classes()
METHODS = [(owner, name) for owner in CLASSES for name in methods_of(owner)]
TRACKED = [(owner, name) for owner, name in METHODS if name.startswith("track_")]
DEEP = (MODULES["deep"].DeepStep, MODULES["deep"].DeepLoss)  # need PyTorch; tests/deep runs them too
RUNS = [(owner, name, values) for owner, name in METHODS for values in product(*owner.params)]


def label(item):
    return item.__name__ if inspect.isclass(item) else "-".join(item) if isinstance(item, tuple) else item


@pytest.fixture(autouse=True)
def small_problems(monkeypatch):
    sizes = {
        "N_POINTS": 64,
        "N_FETCHED": 16,
        "N_TRAIN": 128,
        "N_TEST": 64,
        "N_RANKED": 150,
        "N_LINEAR": 128,
        "N_FIT": 120,
        "N_PREDICT": 60,
    }
    for name, size in sizes.items():
        monkeypatch.setattr(problems, name, size)
    monkeypatch.setattr(MODULES["public_fits"], "N_FIT", 400)
    monkeypatch.setattr(MODULES["public_fits"], "N_TEST", 200)
    monkeypatch.setattr(MODULES["deep"], "SCORES", 400)
    monkeypatch.setattr(MODULES["deep"], "REPEATS", 1)
    # A mean over few rows has coarse kinks, for which conjugate subgradients take thousands of steps.
    monkeypatch.setattr(MODULES["conjugate"], "GAP", 0.02)


def run_once(owner, name, values):
    """Run one benchmark as asv does: cache, setup, method."""
    benchmark = owner()
    if hasattr(benchmark, "setup_cache"):
        values = (benchmark.setup_cache(), *values)
    try:
        benchmark.setup(*values)
    except NotImplementedError as error:  # so says a benchmark that asv leaves out
        if owner not in DEEP:
            raise
        pytest.skip(str(error))
    return getattr(benchmark, name)(*values)


@pytest.mark.parametrize("owner, name, values", RUNS, ids=label)
def test_every_benchmark_runs_with_all_its_parameters(owner, name, values):
    tracked = run_once(owner, name, values)
    if name.startswith("track_"):
        assert math.isfinite(tracked)


@pytest.mark.parametrize("solver", registry.names("kernel-svm"))
def test_a_run_ends_at_the_same_numbers_every_time(solver):
    """So everything that is tracked of it does."""
    ends = []
    for _ in range(2):
        benchmark = MODULES["solvers_quality"].AfterTwoPasses()
        benchmark.setup(solver)
        ends.append(benchmark.run(solver))
    first, second = (end.solution() for end in ends)
    np.testing.assert_array_equal(first.coef, second.coef)
    assert first.intercept == second.intercept
    assert ends[0].n_kernel_evaluations == ends[1].n_kernel_evaluations


SOLVER_RUNS = {kind: [owner for owner in CLASSES if getattr(owner, "kind", None) == kind] for kind in KINDS}


@pytest.mark.parametrize("kind", KINDS)
def test_every_registered_solver_is_measured(kind):
    """Its time, its memory and a tracked number."""
    covered = {}
    for owner, name, values in RUNS:
        if owner in SOLVER_RUNS[kind]:
            covered.setdefault(name.partition("_")[0], set()).add(values)
    assert set(covered) == {"time", "peakmem", "track"}
    for what, values in covered.items():
        assert values == {(name,) for name in registry.names(kind)}, what


@pytest.mark.parametrize("name", ["RandomFeatures", "Nystroem"])
def test_both_maps_of_features_are_measured(name):
    """Their transform and their error."""
    owners = {"RandomFeatures": ("Transform", "FeatureError"), "Nystroem": ("NystroemMap", "NystroemMap")}[name]
    methods = {(owner.__name__, method) for owner, method in METHODS}
    assert {(owners[0], "time_transform"), (owners[1], "track_log10_error")} <= methods


@pytest.mark.parametrize("kind", KINDS)
def test_the_names_read_from_the_text_of_the_registry_are_those_in_it(kind):
    assert problems.solver_names(kind) == registry.names(kind)


@pytest.mark.parametrize("kind", KINDS)
def test_each_solver_is_that_of_its_kind(kind):
    """Solvers of several kinds have one name."""
    for name in registry.names(kind):
        assert problems.solver_class(kind, name) is registry.get(name, kind).load()


def test_weights_are_judged_from_the_optimum():
    problem = problems.linear_problem()
    sdca = registry.get("sdca", "linear-svm").load()
    solver = problems.make_solver("linear-svm", sdca, problem, tol=1e-7)
    while solver.advance(10_000):
        pass
    assert problem.optimum == pytest.approx(solver.objective(), rel=1e-5)
    assert problem.relative_gap(solver.solution().coef) < 1e-5
    assert problem.relative_gap(np.zeros(32)) == pytest.approx(1 / problem.optimum - 1)  # every hinge is 1


def test_a_ranking_is_judged_by_brute_force():
    problem = problems.ranking_problem()
    coef = np.random.default_rng(0).standard_normal(16)
    scores, test = problem.X @ coef, problem.X_test @ coef
    margins = scores[problem.y > 0][:, None] - scores[problem.y < 0]
    expected = 0.5 * problem.alpha * coef @ coef + np.maximum(0, 1 - margins).mean()
    assert problem.objective(coef, squared=False) == pytest.approx(expected, rel=1e-12)
    wrong = test[problem.y_test > 0][:, None] < test[problem.y_test < 0]
    assert problem.one_minus_auc(coef) == pytest.approx(wrong.mean(), rel=1e-12)


def test_every_solver_of_the_estimator_is_fitted():
    fitted, _ = MODULES["estimators"].Fit.params
    assert set(registry.names("kernel-svm")) < set(fitted)


@pytest.mark.parametrize("owner, name", TRACKED, ids=label)
def test_a_tracked_number_says_its_unit_and_that_lower_is_better(owner, name):
    method = getattr(owner, name)
    assert method.unit
    # asv reports every increase as a regression.
    assert re.search(r"lower\s+is\s+better", method.__doc__)


def test_the_suite_and_its_readme_say_that_lower_is_better():
    for text in (MODULES["__init__"].__doc__, (SUITE.parent / "README.md").read_text(encoding="utf-8")):
        assert re.search(r"lower\s+is\s+better", text, re.IGNORECASE)


def test_the_readme_lists_every_file_of_benchmarks():
    """One that declares none belongs to those that do."""
    listed = re.findall(r"`(\w+)\.py`", (SUITE.parent / "README.md").read_text(encoding="utf-8"))
    assert {owner.__module__.rpartition(".")[2] for owner in CLASSES} == set(listed) & MODULES.keys()


def test_a_solver_the_measured_commit_lacks_is_left_out():
    with pytest.raises(NotImplementedError, match="no such-solver"):
        runs.KernelRuns().setup("such-solver")


def test_the_gap_is_measured_from_the_optimum():
    problem = problems.hinge_problem()
    smo = registry.get("smo", "kernel-svm").load()
    solver = problems.make_solver("kernel-svm", smo, problem, problem.kernel, tol=1e-9)
    while solver.advance(10_000):
        pass
    exact = solver.solution()
    assert problem.optimum == pytest.approx(solver.objective(), rel=1e-7)
    assert 0 < problem.relative_gap(exact) < 1e-7
    nothing = type(exact)(np.zeros_like(exact.coef))
    assert problem.relative_gap(nothing) == pytest.approx(1 / problem.optimum - 1)  # every hinge is 1
