"""Every registry entry: the compiled class against its plain-NumPy reference, step by step."""

import numpy as np
import pytest

from kernbench.reference.kernel.smo.smo import SMO as ReferenceSMO
from kernbench.solvers.registry import SOLVERS

KERNEL_SOLVERS = [entry for entry in SOLVERS if entry.problem == "kernel-svm"]
by_name = pytest.mark.parametrize("entry", KERNEL_SOLVERS, ids=lambda entry: entry.name)

# Ways to run a solver that take other paths through its code; every solver is also run with its defaults.
VARIANTS = {
    "smo": [
        {"classic_rows": 0, "working_set_size": 24},
        {"classic_rows": 0, "working_set_size": 16, "shrinking": False},
        {"loss": "squared_hinge"},
        {"loss": "squared_hinge", "classic_rows": 0, "working_set_size": 24},
    ],
    "pegasos": [{"rescale": False}, {"loss": "squared_hinge"}],
    "sbp": [{"burn_in": 7, "average_power": 1.0}, {"fetch_rows": 1}],
    "norm-ball-sgd": [{"radius": 0.5, "loss": "squared_hinge"}, {"average_power": 0.5, "loss": "log_loss"}],
    "perceptron": [
        {"n_passes": None, "output": "average"},
        {"n_passes": 3, "output": "random", "order": "index"},
    ],
    "norma": [
        {"schedule": "inverse", "loss": "log_loss"},
        {"schedule": "constant", "truncation": 7, "window": 20},
        {"truncation": 5, "rescale": False, "loss": "squared_hinge"},
    ],
    "sdca": [
        {"loss": "squared_hinge", "order": "uniform"},
        {"loss": "log_loss", "shrinking": False},
        {"order": "uniform", "shrinking": False},
    ],
    "scs": [
        {"geometry": "euclidean", "line_search": "bracket"},
        {"validation": "holdout", "sample_cap": 64, "s0": 9, "growth": 7},
        # All rows watched (unwatched ones: test_solvers_scs_matrix); below eps only rounding tells directions apart.
        {"sample_cap": 40, "s0": 20, "growth": 7, "eps": 1e-6},
    ],
    "wolfe": [{"geometry": "euclidean", "line_search": "bracket"}, {"bundle_size": 4}],
}
CONJUGATE = ("scs", "wolfe")
CLOSED = "closed-form"  # no iteration; see test_solvers_closed_form.py
CASES = [
    (entry, options)
    for entry in KERNEL_SOLVERS
    if entry.name != CLOSED
    for options in ({}, *VARIANTS.get(entry.name, ()))
]


def case_name(case):
    return "-".join([case[0].name, *map(str, case[1].values())])


@by_name
def test_both_twins_exist(entry):
    for twin in ("compiled", "reference"):
        solver = entry.load(twin)
        assert callable(solver.advance), f"{entry.name} has no {twin} twin"
    assert entry.load("compiled") is not entry.load("reference")
    assert not entry.load("reference").__module__.split(".")[-1].startswith("_")


class TieWatchingSMO(ReferenceSMO):
    """Remembers the closest call of all its choices of a pair.

    After a step on (i, j) the two gradients are equal, up to rounding; when both are then the best, rounding
    decides which is taken, and twins that round differently part. Up to that moment they must agree.
    """

    closest_call = np.inf

    def _pair_step(self, block, beta, e, diagonal, lower, upper, grain, goal):
        violation, move = super()._pair_step(block, beta, e, diagonal, lower, upper, grain, goal)
        if move is not None:
            ups = np.sort(e[beta < upper])[::-1]
            if len(ups) > 1 and ups[0] != 1.0:  # at the start e = y: those ties are exact, in both twins
                self.closest_call = min(self.closest_call, ups[0] - ups[1])
            i = int(np.argmax(np.where(beta < upper, e, -np.inf)))
            curvature = np.maximum(diagonal[i] + diagonal - 2 * block[i], 1e-12)
            gains = np.sort((np.maximum(ups[0] - e, 0) ** 2 / curvature)[beta > lower])[::-1]
            if len(gains) > 1:
                self.closest_call = min(self.closest_call, (gains[0] - gains[1]) / gains[0])
        return violation, move


def is_solved(solver):
    """Whether nothing but rounding is left: then a conjugate direction is none in one twin, and tiny in the other."""
    return solver.gap() is not None and solver.gap() <= 1e-12 * solver.objective()


def assert_lockstep(entry, options, problem, build, C, fit_intercept, rounds=60, length=3):
    """Advance both twins by the same amounts; all they know must agree to rounding."""
    compiled = build(entry, "compiled", problem, C=C, fit_intercept=fit_intercept, **options)
    reference = build(entry, "reference", problem, C=C, fit_intercept=fit_intercept, **options)
    if entry.name == "smo":
        reference.__class__ = TieWatchingSMO
    compared = 0
    for _ in range(rounds):
        done = compiled.advance(length), reference.advance(length)
        if getattr(reference, "closest_call", np.inf) < 1e-9:
            break
        a, b = compiled.solution(), reference.solution()
        scale = max(np.abs(b.coef).max(), 1e-6 * C)
        np.testing.assert_allclose(a.coef, b.coef, rtol=0, atol=1e-9 * scale)
        assert a.intercept == pytest.approx(b.intercept, abs=1e-8)
        if done[0] != done[1] and entry.name in CONJUGATE and is_solved(compiled) and is_solved(reference):
            break
        assert done[0] == done[1]
        assert compiled.n_iter == reference.n_iter
        assert compiled.objective() == pytest.approx(reference.objective(), rel=1e-9, abs=1e-12)
        gaps = compiled.gap(), reference.gap()
        assert gaps == (None, None) or gaps[0] == pytest.approx(gaps[1], rel=1e-6, abs=1e-9)
        assert compiled.converged == reference.converged
        compared += 1
        if entry.name in CONJUGATE and is_solved(compiled) and is_solved(reference):
            break
    return compared


@pytest.mark.parametrize("fit_intercept", [True, False], ids=["bias", "no-bias"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("case", CASES, ids=case_name)
def test_twin_is_in_lockstep(case, weighted, fit_intercept, classification, build):
    problem = classification(90, int(weighted), weighted=weighted)
    compared = assert_lockstep(*case, problem, build, C=3.0, fit_intercept=fit_intercept, rounds=40)
    assert compared >= 1, "the twins were hardly compared"


@pytest.mark.slow
@pytest.mark.parametrize("fit_intercept", [True, False], ids=["bias", "no-bias"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("case", CASES, ids=case_name)
def test_twin_stays_in_lockstep(case, weighted, fit_intercept, classification, build):
    compared = 0
    for seed in range(3):
        problem = classification(90, seed, weighted=weighted)
        compared += assert_lockstep(*case, problem, build, C=3.0, fit_intercept=fit_intercept)
    assert compared >= 3, "the twins were hardly compared"


@pytest.mark.parametrize("case", CASES, ids=case_name)
def test_twin_is_in_lockstep_on_any_problem(case, classification, build):
    """Problems of all shapes. The same ones in every run: where choices tie, rounding may part the twins."""
    rng = np.random.default_rng(0)
    for _ in range(8):
        n, d, seed = int(rng.integers(2, 61)), int(rng.integers(1, 6)), int(rng.integers(10**6))
        C = float(rng.choice([0.01, 1.0, 100.0]))
        weighted, fit_intercept = rng.random() < 0.5, rng.random() < 0.5
        if case[0].name in CONJUGATE:
            # A few rows far apart soon have all margins at 1, or f = 0: there rounding says who counts as a loss.
            n, d, C = n + 30, min(d, 2), max(C, 1.0)
        problem = classification(n, seed, d=d, weighted=weighted)
        assert_lockstep(*case, problem, build, C=C, fit_intercept=fit_intercept, rounds=4)


@by_name
def test_float32_rows_end_where_float64_rows_do(entry, classification, build):
    problem = classification(300, 5)
    objectives = []
    for dtype in (np.float32, np.float64):
        solver = build(entry, "compiled", problem, dtype=dtype)
        solver.advance(300 if entry.name == "scs" else 3000)
        objectives.append(solver.objective())
    assert objectives[0] == pytest.approx(objectives[1], rel=1e-4)
