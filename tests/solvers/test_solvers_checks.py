"""The checks of solvers: kernbench's own keep them, and each catches the fault it is about."""

import sys
from dataclasses import replace

import numpy as np
import pytest

from kernbench.cli.plugins.creating import EXPERIMENT
from kernbench.experiments import plugins
from kernbench.solvers import driver, registry
from kernbench.solvers.checks import FORMS, LAWS, laws
from kernbench.solvers.checks.problems import build, enclosed_optimum, make_problem, objective_of
from kernbench.solvers.kinds import KINDS
from kernbench.solvers.registry import SOLVERS

# The closed form is no iteration: it has its answer after one step, which may be worse than f = 0.
CHECKED = [entry for entry in SOLVERS if entry.name != "closed-form" and entry.problem in FORMS]


# The twins of every solver are compared on more problems in the tests of each problem, test_*_twins.py.
TWINS = "twins are in lockstep"
AT_LENGTH = [pytest.param(law, marks=pytest.mark.slow if law == TWINS else ()) for law in LAWS]

# Laws of runs as long as an estimator's, or tenfold, and solvers that are let run until their time is up.
OF_WHOLE_RUNS = ("improves", "starts from the solution for another C")
FEWER = {"simba": 2000, "sbmd": 4000}


@pytest.mark.parametrize("law", AT_LENGTH)
@pytest.mark.parametrize("entry", CHECKED, ids=lambda entry: f"{entry.problem}-{entry.name}")
def test_every_solver_of_ours_keeps_every_law(entry, law, monkeypatch):
    if law == "states its objective":
        monkeypatch.setattr(laws, "STEPS", 20)  # thrice: Wolfe's adds up responses anew after 50
    if law in OF_WHOLE_RUNS and entry.name in FEWER:
        entry = replace(entry, default_iterations=FEWER[entry.name])
    LAWS[law](entry)


@pytest.mark.parametrize("kind", EXPERIMENT)
def test_the_templates_of_kernbench_new_keep_every_law(kind, write_plugin):
    (entry,) = plugins.load(write_plugin("mine", kind=kind)).solvers
    for law in LAWS.values():
        law(entry)


@pytest.mark.parametrize("kind", EXPERIMENT)
def test_the_templates_start_from_a_solution_of_another_objective(kind, write_plugin):
    """With a tenth of C its coefficients leave the box; where an intercept keeps their sum, that must be zero again."""
    (entry,) = plugins.load(write_plugin("mine", kind=kind)).solvers
    problem, other = (make_problem(entry.kind, 80, C=C) for C in (1.0, 10.0))
    start = driver.run(build(entry, other), max_iter=4000, tol=1e-6).solution
    warm, cold = (driver.run(build(entry, problem, initial=one), max_iter=4000, tol=1e-6) for one in (start, None))
    assert warm.objective <= 1.01 * cold.objective


@pytest.mark.parametrize("kind", ["kernel-svm", "kernel-regression"])
def test_the_templates_draw_no_row_of_weight_zero(kind, write_plugin):
    (entry,) = plugins.load(write_plugin("mine", kind=kind)).solvers
    problem, weights = make_problem(entry.kind, 60), np.repeat([1.0, 0.0], [40, 20])
    few = replace(problem, X=problem.X[:40], y=problem.y[:40], alpha=problem.alpha * 60 / 40)
    found = []
    for solver in (build(entry, few), build(entry, problem, weights=weights)):
        solver.advance(200)
        found.append(solver.solution().coef)
    np.testing.assert_allclose(found[1], np.append(found[0], np.zeros(20)), rtol=1e-12, atol=1e-12)


FAULTS = {
    "takes what the estimators give": ("rows, y, *, alpha", "rows, y, alpha", "not raised for alpha by position"),
    "offers its losses and refuses the others": (
        "        margin_loss(loss, offered=self.losses)\n",
        "        loss = 'hinge'\n",
        "loss='squared_hinge' is accepted",
    ),
    "refuses bad problems": (
        "alpha=alpha, weights=weights",
        "alpha=abs(alpha), weights=weights",
        "alpha = -1: no ValueError",
    ),
    "keeps the contract": (
        "            self.n_iter += 1\n",
        "            self.n_iter += 2\n",
        "returned 40, and n_iter is 80",
    ),
    "returns copies": ("Solution(self.beta.copy()", "Solution(self.beta", "Not equal"),
    "states its objective": (
        "return self.problem.objective(f, self.beta @ f,",
        "return 1.001 * self.problem.objective(f, self.beta @ f,",
        r"objective\(\) \(kernel, hinge\) is .*, computed from solution\(\)",
    ),
    "certifies its distance to the optimum": (
        "return self.problem.gap(",
        "return 0.1 * self.problem.gap(",
        "the gap .* is wrong",
    ),
    "improves": (
        "        s = min(max(slope / curvature, low), high)",
        "        s = min(max(-slope, low), high)",
        "after 2000 iterations the objective",
    ),
    "draws by its seed": ("as_generator(random_state)", "as_generator(None)", "two runs with one seed differ"),
    "may be split": (
        "        for i, j in self.used[",
        "        self.rng = as_generator(n_iter)\n        for i, j in self.used[",
        "Arrays are not equal",
    ),
    "may be resumed": ("            self.e -= rows.matvec(self.beta)\n", "", "after a start from it"),
    "starts from the solution for another C": (
        "self.problem.feasible(initial.coef)",
        "np.clip(initial.coef, self.lower, self.upper)",
        "from the solution for 10 C a run ends at the objective",
    ),
}


@pytest.mark.parametrize("law", FAULTS)
def test_a_fault_is_caught_by_the_law_it_breaks(law, write_plugin, monkeypatch):
    old, new, words = FAULTS[law]
    # Runs end by their iterations: on a busy machine one of half a second may be too short to show the fault.
    run = laws._run
    monkeypatch.setattr(laws, "_run", lambda *of, **options: run(*of, **options | {"max_seconds": 60.0}))
    (entry,) = plugins.load(write_plugin("mine", (old, new))).solvers
    with pytest.raises(AssertionError, match=words):
        LAWS[law](entry)


def test_a_solver_that_counts_cached_rows_itself_breaks_the_contract(write_plugin):
    old = "        return self.rows.n_evaluations\n"
    (entry,) = plugins.load(write_plugin("mine", (old, "        return 3600 * self.n_iter\n"))).solvers
    with pytest.raises(AssertionError, match="is to include rows.n_evaluations"):
        LAWS["keeps the contract"](entry)


def test_a_solution_may_have_a_state_of_booleans(write_plugin):
    change = ("self._f()), self.n_iter)", 'self._f()), self.n_iter, {"is_at_bound": self.beta >= self.upper})')
    (entry,) = plugins.load(write_plugin("mine", change)).solvers
    LAWS["returns copies"](entry)


TWO_CORES = (
    ('    losses = ("hinge",)', '    compiled_core, reference_core = "_mine", __name__\n    losses = ("hinge",)'),
    ("random_state=None, initial=None\n    ):\n",
     'random_state=None, initial=None, core="compiled"\n    ):\n        super().__init__(core)\n'),
    ("self._step(i, j)\n", "self._step(i, self.core.partner(j, self.problem.n))\n"),
    ("SOLVERS = [", "def partner(j, n):\n    return j\n\n\nSOLVERS = ["),
)  # fmt: skip


@pytest.mark.parametrize("shift", [0, 1])
def test_cores_that_differ_are_caught(shift, write_plugin, monkeypatch):
    monkeypatch.delitem(sys.modules, "_mine", raising=False)
    path = write_plugin("mine", *TWO_CORES)
    path.with_name("_mine.py").write_text(f"def partner(j, n):\n    return (j + {shift}) % n\n")
    (entry,) = plugins.load(path).solvers
    assert entry.has_two_twins
    if shift:
        with pytest.raises(AssertionError, match="round 1 of 12"):
            LAWS["twins are in lockstep"](entry)
    else:
        LAWS["twins are in lockstep"](entry)


def test_solvers_without_a_gap_bound_the_optimum_from_above():
    """All others for pairs and the hinge; without a bound the check of the one with a gap could not fail."""
    entry = registry.get("bundle", "roc-svm")
    problem = make_problem(entry.kind, 50)
    _, upper = enclosed_optimum(problem, "hinge", entry)
    found = driver.run(build(entry, problem, loss="hinge", tol=1e-6))
    assert found.objective - found.gap <= upper <= 1.01 * found.objective


@pytest.mark.parametrize("kind", FORMS)
def test_the_optimum_is_enclosed_and_the_objective_of_a_solution_is_computed_apart(kind):
    entry = next(entry for entry in SOLVERS if entry.problem == kind)
    for form in FORMS[kind]:
        problem = make_problem(KINDS[kind], 50, form=form, weighted=True)
        lower, upper = enclosed_optimum(problem, entry.losses[0], None)
        assert lower != 0 and lower <= upper <= lower + 0.01 * abs(lower)
        solver = build(entry, problem)
        solver.advance(500)
        assert lower - 1e-9 * abs(lower) <= objective_of(problem, solver.solution(), entry.losses[0])
