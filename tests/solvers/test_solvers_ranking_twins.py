"""Every solver of the ROC-SVM: the compiled class against its plain-NumPy reference, step by step."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kernbench.solvers.registry import SOLVERS

RANKING_SOLVERS = [entry for entry in SOLVERS if entry.problem == "roc-svm"]
FORMS = ("dense", "float32", "csr", "csr64", "kernel", "tiles")
NEAR = 1e-4  # gap / objective below which only ends are compared

# Ways to run a solver that take other paths through its code; every solver is also run with its defaults.
VARIANTS = {
    "bundle": [{"loss": "squared_hinge"}, {"max_cuts": 5, "tol": 1e-9}, {"tol": 1e-7}],
    "newton": [{"tol": 1e-9}],
    "gradient": [{"average": True, "learning_rate": 0.3}],
    "adamax": [
        {"average": True, "loss": "squared_hinge"},
        {"beta_1": 0.0, "beta_2": 0.5, "learning_rate": 0.1},
    ],
}
CASES = [(entry, options) for entry in RANKING_SOLVERS for options in ({}, *VARIANTS.get(entry.name, ()))]


def case_name(case):
    return "-".join([case[0].name, *(f"{name}={value}" for name, value in case[1].items())])


every_case = pytest.mark.parametrize("case", CASES, ids=case_name)


def assert_lockstep(entry, options, problem, rank, rounds=5, length=2):
    """Advance both twins by the same amounts; all they know must agree to rounding."""
    options = {"tol": 1e-5, **options} if entry.name in ("bundle", "newton") else options
    compiled = rank(entry, "compiled", problem, **options)
    reference = rank(entry, "reference", problem, **options)
    compared = 0
    for _ in range(rounds):
        passes = compiled.n_passes, reference.n_passes
        done = compiled.advance(length), reference.advance(length)
        passes = compiled.n_passes - passes[0], reference.n_passes - passes[1]
        if reference.gap() < NEAR * reference.objective():
            # Next to the optimum many cuts meet, and which of them the small programme takes rounding decides.
            assert compiled.gap() < 10 * NEAR * compiled.objective()
            assert compiled.objective() == pytest.approx(reference.objective(), rel=10 * NEAR)
            break
        assert done[0] == done[1]
        a, b = compiled.solution(), reference.solution()
        assert compiled.n_iter == reference.n_iter
        assert compiled.converged == reference.converged
        assert compiled.objective() == pytest.approx(reference.objective(), rel=1e-7)
        assert compiled.gap() == pytest.approx(reference.gap(), rel=1e-5, abs=1e-8)
        scale = max(np.abs(b.coef).max(), 1e-12)
        np.testing.assert_allclose(a.coef, b.coef, rtol=0, atol=1e-5 * scale)
        assert a.state.keys() == b.state.keys()
        np.testing.assert_array_equal(a.state["settings"], b.state["settings"])
        assert passes[0] == passes[1]
        compared += 1
    return compared


@pytest.mark.parametrize("pairs", ["all", "drawn", "balanced"])
@pytest.mark.parametrize("form", FORMS)
@every_case
def test_twin_is_in_lockstep(case, form, pairs, ranking, rank):
    entry, options = case
    drawn = {"all": {}, "drawn": {"n_pairs": 150}, "balanced": {"n_pairs": 150, "balanced": True}}[pairs]
    compared = 0
    for seed, weighted in enumerate((False, True)):
        problem = ranking(120, seed, form=form, weighted=weighted)
        compared += assert_lockstep(entry, {**options, **drawn}, problem, rank)
    assert compared >= 2, "the twins were hardly compared"


@every_case
@settings(
    max_examples=20,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    n=st.integers(2, 60), d=st.integers(1, 5), seed=st.integers(0, 10**6), alpha=st.sampled_from([1e-4, 0.01, 1.0]),
    form=st.sampled_from(FORMS), weighted=st.booleans(), n_pairs=st.sampled_from([None, 1, 40]),
)  # fmt: skip
def test_twin_is_in_lockstep_on_any_problem(case, n, d, seed, alpha, form, weighted, n_pairs, ranking, rank):
    entry, options = case
    problem = ranking(n, seed, d=d, form=form, weighted=weighted)
    assert_lockstep(entry, {**options, "alpha": alpha, "n_pairs": n_pairs}, problem, rank, rounds=3)


@pytest.mark.parametrize("entry", RANKING_SOLVERS, ids=lambda entry: entry.name)
def test_twins_end_alike_where_scores_are_tied(entry, ranking, rank):
    """Integer features put pairs on the kink, where rounding decides; the objectives reached must not notice."""
    for seed in range(3):
        problem = ranking(90, seed, ties=True, weighted=seed == 1)
        ends = []
        for twin in ("compiled", "reference"):
            solver = rank(entry, twin, problem)
            solver.advance(200)
            ends.append(solver.objective())
        assert ends[0] == pytest.approx(ends[1], rel=2e-3)


@pytest.mark.parametrize("name", ["bundle", "newton"])
def test_twins_start_from_the_same_sample_of_many(name, ranking, rank):
    """Above 16,384 samples a fit on 4,096 of them comes first."""
    entry = next(entry for entry in RANKING_SOLVERS if entry.name == name)
    problem = ranking(17_000, 0)
    assert assert_lockstep(entry, {"tol": 1e-6}, problem, rank, rounds=2, length=1) >= 1
    assert assert_lockstep(entry, {"tol": 1e-6, "n_pairs": 17_000}, problem, rank, rounds=2, length=1) >= 1
