"""Every solver of the ROC-SVM: the compiled class against its plain-NumPy reference, step by step."""

import numpy as np
import pytest
from lockstep import Tally, Tolerance, case_name, cases, follow

from kernbench.solvers.registry import get

FORMS = ("dense", "float32", "csr", "csr64", "kernel", "tiles")
NEAR = 1e-4  # gap / objective below which only ends are compared

# Options that take other paths through a solver's code; every solver is also run with its defaults.
VARIANTS = {
    "bundle": [{"loss": "squared_hinge"}, {"loss": "log_loss"}, {"max_cuts": 5, "tol": 1e-9}, {"tol": 1e-7}],
    "newton": [{"tol": 1e-9}, {"loss": "log_loss"}],
    "gradient": [{"average": True, "step_size": 0.3}, {"loss": "log_loss"}],
    "adamax": [{"average": True, "loss": "squared_hinge"}, {"beta_1": 0.0, "beta_2": 0.5, "step_size": 0.1}],
}
CASES = cases("roc-svm", VARIANTS)
every_case = pytest.mark.parametrize("case", CASES, ids=case_name)
# Share of the rounds that must be compared: the bundle and Newton's method are soon near the optimum.
SHARE = {"bundle": 0.6, "newton": 0.35}
TOLERANCE = Tolerance(
    coef=1e-5, objective=1e-7, gap=1e-5, gap_floor=1e-8, counters=("n_iter", "n_passes"), state=("settings",)
)


def next_to_the_optimum(compiled, reference):
    """Near the optimum many cuts intersect, and rounding decides which of them become active."""
    if reference.gap() >= NEAR * reference.objective():
        return None
    assert compiled.gap() < 10 * NEAR * compiled.objective()
    assert compiled.objective() == pytest.approx(reference.objective(), rel=10 * NEAR)
    return "next to the optimum"


def compare(entry, options, problem, rank, tally, *, rounds=5, label=""):
    options = {"tol": 1e-5, **options} if entry.name in ("bundle", "newton") else options
    compiled, reference = (rank(entry, twin, problem, **options) for twin in ("compiled", "reference"))
    length = 2 if entry.name in ("gradient", "adamax") else 1
    follow(
        compiled, reference, tally, TOLERANCE, rounds=rounds, length=length, rounding=next_to_the_optimum, label=label
    )


@pytest.mark.parametrize("pairs", ["all", "drawn", "balanced"])
@every_case
def test_twin_is_in_lockstep(case, pairs, ranking, rank, global_random_seed):
    entry, options = case
    drawn = {"all": {}, "drawn": {"n_pairs": 150}, "balanced": {"n_pairs": 150, "balanced": True}}[pairs]
    tally = Tally()
    for number, form in enumerate(FORMS):
        for seed, weighted in enumerate((False, True), start=10 * global_random_seed):
            if pairs != "all" and weighted != bool(number % 2):
                continue  # with drawn pairs each form once
            problem = ranking(120, seed, form=form, weighted=weighted)
            compare(entry, {**options, **drawn}, problem, rank, tally, label=f"{form=} {weighted=}")
    tally.require(SHARE.get(entry.name, 1.0))


@every_case
def test_twin_is_in_lockstep_on_any_problem(case, ranking, rank):
    """Problems of all shapes, the same ones in every run."""
    entry, options = case
    rng, tally = np.random.default_rng(0), Tally()
    for _ in range(20):
        n, d, seed = int(rng.integers(2, 61)), int(rng.integers(1, 6)), int(rng.integers(10**6))
        alpha, form = float(rng.choice([1e-4, 0.01, 1.0])), str(rng.choice(FORMS))
        weighted, n_pairs = bool(rng.random() < 0.5), (None, 1, 40)[rng.integers(3)]
        if entry.name == "newton" and form in ("kernel", "tiles"):
            alpha = max(alpha, 0.01)  # below, conjugate gradients without a preconditioner amplify rounding
        problem = ranking(n, seed, d=d, form=form, weighted=weighted)
        label = f"{n=} {d=} {seed=} {alpha=} {form=} {weighted=} {n_pairs=}"
        settings = {**options, "alpha": alpha, "n_pairs": n_pairs}
        compare(entry, settings, problem, rank, tally, rounds=3, label=label)
    tally.require(SHARE.get(entry.name, 1.0))


@pytest.mark.parametrize("entry", [entry for entry, options in CASES if not options], ids=lambda entry: entry.name)
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


@pytest.mark.parametrize("name, rounds", [("bundle", 2), ("newton", 1)])
def test_twins_start_from_the_same_sample_of_many(name, rounds, ranking, rank):
    """Above 16,384 samples a fit on 4,096 of them comes first. The second round of Newton's is next to the optimum."""
    entry, tally = get(name, "roc-svm"), Tally()
    problem = ranking(17_000, 0)
    for pairs in ({}, {"n_pairs": 17_000}):
        compare(entry, {"tol": 1e-6, **pairs}, problem, rank, tally, rounds=rounds, label=f"{pairs=}")
    tally.require(0.5)
