"""Every solver of the kernel SVM: the compiled class against its plain-NumPy reference, step by step."""

import numpy as np
import pytest
from lockstep import Tally, Tolerance, case_name, cases, follow, parted_by_a_tie, watch_ties

from kernbench.solvers import registry

# Options that take other paths through a solver's code; every solver is also run with its defaults.
VARIANTS = {
    "smo": [
        {"classic_rows": 0, "working_set_size": 24},
        {"classic_rows": 0, "working_set_size": 16, "shrinking": False},
        {"classic_rows": 0, "working_set_size": (8, 48)},
        {"loss": "squared_hinge"},
        {"loss": "squared_hinge", "classic_rows": 0, "working_set_size": 24},
    ],
    "pegasos": [{"rescale": False}, {"loss": "squared_hinge"}, {"batch_size": 5}],
    "sbp": [{"burn_in": 7, "average_power": 1.0}, {"fetch_rows": 1}],
    "norm-ball-sgd": [{"radius": 0.5, "loss": "squared_hinge"}, {"average_power": 0.5, "loss": "log_loss"}],
    "perceptron": [{"n_passes": None, "output": "average"}, {"n_passes": 3, "output": "random", "order": "index"}],
    "norma": [
        {"schedule": "inverse", "loss": "log_loss"},
        {"schedule": "constant", "truncation": 7, "window": 20},
        {"truncation": 5, "rescale": False, "loss": "squared_hinge"},
        {"batch_size": 20, "loss": "log_loss"},
    ],
    "sdca": [
        {"loss": "squared_hinge", "order": "uniform"},
        {"loss": "log_loss", "shrinking": False},
        {"order": "uniform", "shrinking": False},
    ],
    "scs": [
        {"geometry": "euclidean", "line_search": "bracket"},
        {"validation": "holdout", "sample_cap": 64, "s0": 9, "growth": 7},
        # All rows watched (unwatched ones: test_scs_matrix); below eps directions differ by rounding only.
        {"sample_cap": 40, "s0": 20, "growth": 7, "eps": 1e-6},
    ],
    "wolfe": [{"geometry": "euclidean", "line_search": "bracket"}, {"bundle_size": 4}],
}
CONJUGATE = ("scs", "wolfe")
CASES = cases("kernel-svm", VARIANTS)
every_case = pytest.mark.parametrize("case", CASES, ids=case_name)
by_name = pytest.mark.parametrize(
    "entry", [entry for entry, options in CASES if not options], ids=lambda entry: entry.name
)
# Share of the rounds that must be compared; all of them if choices are not tied.
SHARE = {"smo": 0.4, "scs": 0.9, "wolfe": 0.9}


def is_solved(solver):
    """Whether the problem is solved up to rounding: then a conjugate direction is zero in one twin and tiny in the
    other."""
    return solver.gap() is not None and solver.gap() <= 1e-12 * solver.objective()


def end_of_conjugate_directions(compiled, reference):
    if not (is_solved(compiled) and is_solved(reference)):
        return None
    a, b = compiled.solution().coef, reference.solution().coef
    np.testing.assert_allclose(a, b, rtol=0, atol=1e-9 * np.abs(b).max())
    return "solved to the last digit"


def compare(case, problem, build, tally, *, C, fit_intercept, rounds, length=3, label=""):
    entry, options = case
    if entry.name == "closed-form":  # right where regularisation is strong: no margin reaches 1
        C, fit_intercept = 0.5 / (problem.n if problem.weights is None else problem.weights.sum()), False
    compiled, reference = (
        build(entry, twin, problem, C=C, fit_intercept=fit_intercept, **options) for twin in ("compiled", "reference")
    )
    rounding = end_of_conjugate_directions if entry.name in CONJUGATE else None
    if entry.name == "smo":
        watch_ties(reference)
        rounding = parted_by_a_tie
    # What is computed ahead is counted in one twin only, but not the evaluations of the method as published.
    counters = tuple(name for name in ("n_iter", "n_logical_evaluations") if hasattr(compiled, name))
    tolerance = Tolerance(
        coef=1e-9, smallest=1e-6 * C, objective=1e-9, gap=1e-6, gap_floor=1e-9, counters=counters, keys=False
    )
    follow(compiled, reference, tally, tolerance, rounds=rounds, length=length, rounding=rounding, label=label)


@every_case
def test_twin_is_in_lockstep(case, classification, build, global_random_seed):
    """With and without weights and an intercept: all four ways with the defaults, two in turn with other options.

    An odd seed takes the other two. SMO, of which ties leave out rounds, takes all.
    """
    every = not case[1] or case[0].name == "smo"
    tally, rounds = Tally(), 10 if case[0].name in CONJUGATE else 20
    for seed, weighted in enumerate((False, True), start=2 * global_random_seed):
        for fit_intercept in (False, True):
            if not every and (weighted == fit_intercept) != bool((CASES.index(case) + global_random_seed) % 2):
                continue
            problem = classification(90, seed, weighted=weighted)
            label = f"{seed=} {weighted=} {fit_intercept=}"
            options = {"fit_intercept": fit_intercept, "rounds": rounds, "length": 6}
            compare(case, problem, build, tally, C=3.0, label=label, **options)
    tally.require(SHARE.get(case[0].name, 1.0))


@every_case
def test_twin_is_in_lockstep_on_any_problem(case, classification, build):
    """Problems of all shapes. The same ones in every run, since twins may diverge by rounding at tied choices."""
    rng, tally = np.random.default_rng(0), Tally()
    for _ in range(8):
        n, d, seed = int(rng.integers(2, 61)), int(rng.integers(1, 6)), int(rng.integers(10**6))
        C = float(rng.choice([0.01, 1.0, 100.0]))
        weighted, fit_intercept = rng.random() < 0.5, rng.random() < 0.5
        if case[0].name in CONJUGATE:
            # A few rows far apart soon have all margins at 1, or f = 0: then rounding decides which loss is positive.
            n, d, C = n + 30, min(d, 2), max(C, 1.0)
        compare(
            case, classification(n, seed, d=d, weighted=weighted), build, tally, C=C,
            fit_intercept=fit_intercept, rounds=4, label=f"{n=} {d=} {seed=} {C=} {weighted=} {fit_intercept=}",
        )  # fmt: skip
    tally.require(SHARE.get(case[0].name, 1.0))


@pytest.mark.parametrize("options", [{}, {"loss": "squared_hinge"}, {"shrinking": False}], ids=str)
def test_twin_shrinks_alike(options, classification, build):
    """Problems large enough to leave coordinates out although they are one working set."""
    entry, tally, cores = registry.get("smo", "kernel-svm"), Tally(), 0
    for seed, fit_intercept in enumerate((False, True, False, True)):
        problem = classification(240, seed, weighted=seed > 1)
        follow_core = build(entry, "reference", problem, C=10.0, fit_intercept=fit_intercept, **options)
        follow_core.advance(350)
        cores += follow_core.rounds.inner.core is not None
        compare((entry, options), problem, build, tally, C=10.0, fit_intercept=fit_intercept, rounds=6, length=70,
                label=f"{seed=} {fit_intercept=}")  # fmt: skip
    tally.require(SHARE["smo"])
    assert (cores > 0) == options.get("shrinking", True)


@by_name
def test_float32_rows_end_where_float64_rows_do(entry, classification, build):
    problem = classification(300, 5)
    objectives = []
    for dtype in (np.float32, np.float64):
        solver = build(entry, "compiled", problem, dtype=dtype)
        solver.advance(300 if entry.name in CONJUGATE else 3000)
        objectives.append(solver.objective())
    assert objectives[0] == pytest.approx(objectives[1], rel=1e-4)


@pytest.mark.parametrize("nu", [0.0, 1e-6, 1e-4])
def test_sbp_where_few_of_many_examples_are_below_the_level_is_in_lockstep(nu, classification):
    """Hundreds of proposals in a row are refused: then a walk over all examples decides."""
    entry, tally = registry.get("sbp", "kernel-svm"), Tally()
    tolerance = Tolerance(coef=1e-9, objective=1e-9, gap=1e-6, gap_floor=1e-9)
    for fit_intercept in (False, True):
        problem = classification(2500, 3, weighted=fit_intercept)
        compiled, reference = (
            entry.load(twin)(
                entry.kind.make_data(problem.X, problem.kernel, twin=twin, dtype=np.float64), problem.y, nu=nu,
                weights=problem.weights, fit_intercept=fit_intercept, random_state=0,
            )
            for twin in ("compiled", "reference")
        )  # fmt: skip
        follow(compiled, reference, tally, tolerance, rounds=3, length=8, label=f"{fit_intercept=}")
        _, _, *proposals = reference.solution().state["streams"]
        assert sum(proposals) > 50 * reference.n_iter
    tally.require(1.0)
