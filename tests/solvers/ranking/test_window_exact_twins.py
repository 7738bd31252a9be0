"""The exact solvers of a range of ranks: the compiled class against its plain-NumPy reference, step by step."""

import numpy as np
import pytest
from lockstep import Tally, Tolerance, case_name, cases, follow

FORMS = ("dense", "float32", "csr", "csr64", "kernel", "tiles")
NEAR = 1e-4  # gap / objective below which only ends are compared

VARIANTS = {
    "partial-auc": {
        "dca-exact": [
            {"loss": "hinge", "fpr_range": (0.0, 0.3)},
            {"loss": "squared_hinge"},
            {"loss": "hinge", "alpha": 0.0},
            {"loss": "hinge", "tol": 0.5},
        ],
        "svmpauc-tight": [{"plain": True}, {"rounding": "integer", "weights": None}, {"max_cuts": 5}],
    },
    "ranked-range": {
        "dca-exact": [
            {"loss": "hinge"},
            {"loss": "huber"},
            {"loss": "absolute_error", "alpha": 0.0},
            {"loss": "squared_error"},
        ]
    },
}
EXACT = ("dca-exact", "svmpauc-tight")
CASES = [
    (entry, options)
    for kind, variants in VARIANTS.items()
    for entry, options in cases(kind, variants)
    if entry.name in EXACT
]
every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0].problem}-{case_name(case)}")
TOLERANCE = Tolerance(
    coef=1e-5, objective=1e-7, gap=1e-5, gap_floor=1e-8, counters=("n_iter", "n_passes"), state=("settings",)
)


def next_to_the_optimum(compiled, reference):
    """There many cuts meet, and rounding decides which of them the small programme takes."""
    coefs = compiled.solution().coef, reference.solution().coef
    if compiled.objective() == pytest.approx(reference.objective(), rel=1e-3) and not np.allclose(*coefs, rtol=1e-5):
        return "a step that ends where the order of two losses changes"
    gap = reference.gap() if reference.gap() is not None else reference.subproblem_gap
    if gap >= NEAR * reference.objective() and reference.n_cuts == compiled.n_cuts:
        return None
    assert compiled.objective() == pytest.approx(reference.objective(), rel=0.05)
    return "next to the optimum"


def compare(case, problem, windowed, tally, label, rounds=6):
    entry, options = case
    compiled, reference = (
        windowed(entry, twin, problem, **{"tol": 1e-6, **options}) for twin in ("compiled", "reference")
    )
    follow(compiled, reference, tally, TOLERANCE, rounds=rounds, length=1, rounding=next_to_the_optimum, label=label)
    return compiled, reference


@every_case
def test_twin_is_in_lockstep(case, ranking, windowed):
    tally = Tally()
    for form in FORMS:
        compare(case, ranking(120, 3, form=form), windowed, tally, form)
    if case[1].get("rounding") != "integer":
        compare(case, ranking(120, 4, weighted=True), windowed, tally, "weighted")
    tally.require(0.5)


@every_case
def test_twin_is_in_lockstep_on_any_problem(case, ranking, windowed):
    tally = Tally()
    for seed in range(8):
        n = 40 + 35 * seed
        compare(case, ranking(n, seed, d=1 + seed % 5), windowed, tally, f"{n=} {seed=}")
    tally.require(0.4)
