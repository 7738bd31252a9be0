"""Every solver on explicit features: the compiled class against its plain-NumPy reference, step by step."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kernbench.solvers.registry import SOLVERS

LINEAR_SOLVERS = [entry for entry in SOLVERS if entry.problem == "linear-svm"]
NEAR = 2e-3  # gap / objective below which only the ends of the bundle method are compared
SOLVED = 1e-7  # ... and only those of a dual method that may go on to the last digit
FORMS = ("dense", "float32", "csr", "csr64")

# Ways to run a solver that take other paths through its code; every solver is also run with its defaults, for
# each of its losses.
VARIANTS = {
    "sdca": [{"tol": 1e-9}, {"shrinking": False}, {"order": "uniform", "min_iter": 150}],
    "pegasos": [{"batch_size": 3, "project": True}, {"average": False, "project": True}],
    "simba": [{"horizon": 50}],
    "sbmd": [{"n_blocks": 3, "average": False}, {"largest_step": 0.01}],
    "rbcd": [{"n_blocks": 2}],
    "bundle": [{"max_cuts": 5}],
}
CASES = [
    (entry, {"loss": loss, **options})
    for entry in LINEAR_SOLVERS
    for loss in entry.losses
    for options in ({}, *VARIANTS.get(entry.name, ()))
]


def case_name(case):
    return "-".join([case[0].name, *map(str, case[1].values())])


every_case = pytest.mark.parametrize("case", CASES, ids=case_name)


def assert_lockstep(case, problem, linear, C, rounds=12, length=31):
    """Advance both twins by the same amounts; all they know must agree to rounding."""
    entry, options = case
    planes = entry.name == "bundle"
    if planes:
        options, length, tight = {"tol": 1e-6, **options}, 1, {"rel": 1e-5, "abs": 1e-8}
    else:
        tight = {"rel": 1e-6, "abs": 1e-9}
    compiled, reference = (linear(entry, twin, problem, C=C, **options) for twin in ("compiled", "reference"))
    for _ in range(rounds):
        done = compiled.advance(length), reference.advance(length)
        if planes and reference.gap() < NEAR * reference.objective():
            # Next to the optimum many cuts meet, and which of them the small programme takes rounding
            # decides.
            assert compiled.objective() == pytest.approx(reference.objective(), rel=NEAR)
            break
        if "min_iter" in options and max(compiled.gap(), reference.gap()) < SOLVED * reference.objective():
            break  # what goes on below the tolerance is told from standing still by rounding
        assert done[0] == done[1]
        a, b = compiled.solution(), reference.solution()
        scale = max(np.abs(b.coef).max(), 1e-12)
        np.testing.assert_allclose(a.coef, b.coef, rtol=0, atol=(1e-5 if planes else 1e-8) * scale)
        assert a.state.keys() == b.state.keys()
        assert compiled.n_iter == reference.n_iter
        assert compiled.n_inner_products == reference.n_inner_products
        assert compiled.objective() == pytest.approx(
            reference.objective(), rel=1e-7 if planes else 1e-9, abs=1e-12
        )
        assert compiled.gap() == pytest.approx(reference.gap(), **tight)
        assert compiled.converged == reference.converged


@pytest.mark.parametrize("form", FORMS)
@every_case
def test_twin_is_in_lockstep(case, form, ranking, linear):
    for seed, weighted in enumerate((False, True)):
        assert_lockstep(case, ranking(80, seed, d=5, form=form, weighted=weighted), linear, C=3.0)


@every_case
@settings(
    max_examples=8,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    n=st.integers(2, 50), d=st.integers(1, 20), seed=st.integers(0, 10**6), C=st.sampled_from([0.01, 1.0, 30.0]),
    form=st.sampled_from(FORMS), weighted=st.booleans(),
)  # fmt: skip
def test_twin_is_in_lockstep_on_any_problem(case, n, d, seed, C, form, weighted, ranking, linear):
    assert_lockstep(
        case, ranking(n, seed, d=d, form=form, weighted=weighted), linear, C=C, rounds=4, length=17
    )


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_splitting_a_run_of_sdca_changes_nothing(loss, ranking, linear):
    """Also where a part ends when rows have been shrunk and none stepped over."""
    entry = next(entry for entry in LINEAR_SOLVERS if entry.name == "sdca")
    problem = ranking(60, 0, d=3)
    whole, parts = (linear(entry, "compiled", problem, C=30.0, loss=loss, tol=1e-12) for _ in range(2))
    whole.advance(3000)
    for _ in range(3000):
        parts.advance(1)
    np.testing.assert_array_equal(whole.solution().coef, parts.solution().coef)
