"""Every solver of a regression: the compiled class against its plain-NumPy reference, step by step."""

from dataclasses import replace

import numpy as np
import pytest
from lockstep import Tally, Tolerance, case_name, cases, follow, parted_by_a_tie, watch_ties

from kernbench.losses.regression import regression_loss

# Options that take other paths through a solver's code; every solver is also run with its defaults, for each of its
# losses.
LINEAR = {
    "sdca": [{"tol": 1e-9}, {"shrinking": False}, {"order": "uniform", "min_iter": 150}],
    "pegasos": [{"batch_size": 3, "project": True}, {"average": False, "project": True}],
    "sbmd": [{"n_blocks": 3, "average": False}, {"largest_step": 0.01}],
    "rbcd": [{"n_blocks": 2}],
}
KERNEL = {
    "smo": [
        {"fit_intercept": True},
        {"classic_rows": 0, "working_set_size": 16},
        {"classic_rows": 0, "working_set_size": (8, 48)},
        {"classic_rows": 0, "working_set_size": 24, "fit_intercept": True},
    ],
    "sdca": [{"order": "uniform"}, {"shrinking": False}],
    "pegasos": [{"rescale": False}, {"project": True}],
    "norma": [{"schedule": "inverse"}, {"schedule": "constant", "truncation": 7, "window": 20}],
}
CASES = [
    (entry, {"loss": loss, **options})
    for kind, variants in (("linear-regression", LINEAR), ("kernel-regression", KERNEL))
    for entry, options in cases(kind, variants)
    for loss in entry.losses
]
every_case = pytest.mark.parametrize(
    "case", CASES, ids=lambda case: f"{case[0].problem.partition('-')[0]}-{case_name(case)}"
)
FORMS = ("dense", "float32", "csr", "csr64")
TIGHT = Tolerance(coef=1e-8, objective=1e-9, gap=1e-6, gap_floor=1e-9, keys=False)
SOLVED = 1e-7  # gap / objective below which rounding decides whether a dual method still moves
PARAMETERS = {"delta": 0.6, "epsilon": 0.2, "quantile": 0.3}


def solved(compiled, reference):
    """Rounding decides: on the last digits, or for pairs, two of which SMO's steps make equally good."""
    if hasattr(reference, "closest_call") and (reason := parted_by_a_tie(compiled, reference)):
        return reason
    done = max(compiled.gap(), reference.gap()) < SOLVED * reference.objective()
    return "solved to the last digits" if done else None


def compare(case, problem, regress, tally, *, alpha, rounds, length, label):
    entry, options = case
    options = {**options, "loss": regression_loss(options["loss"], **PARAMETERS)}
    compiled, reference = (regress(entry, twin, problem, alpha=alpha, **options) for twin in ("compiled", "reference"))
    if entry.name == "smo":
        watch_ties(reference)
    rounding = solved if entry.name in ("sdca", "smo") else None
    # Kernel values that are computed ahead are counted in one twin only.
    counted = "n_logical_evaluations" if entry.kind.first == "rows" else "n_inner_products"
    counters = ("n_iter", counted) if hasattr(compiled, counted) else ("n_iter",)
    tolerance = replace(TIGHT, counters=counters)
    follow(compiled, reference, tally, tolerance, rounds=rounds, length=length, rounding=rounding, label=label)


def share(case):
    return 0.4 if case[0].name in ("sdca", "smo") else 1.0


def forms_of(entry):
    return ("dense",) if entry.kind.first == "rows" else FORMS


def forms_and_weights(case, turn):
    """All four with the defaults, two with each set of options and loss, in turn; an odd seed takes the other two."""
    if case[0].kind.first == "rows":
        return [("dense", False), ("dense", True)] * (2 if case[0].name == "smo" else 1)  # ties leave out rounds of it
    pairs = list(zip(FORMS, (False, True, True, False)))
    return pairs if len(case[1]) == 1 else pairs[(CASES.index(case) + turn) % 2 :: 2]


@every_case
def test_twin_is_in_lockstep(case, regression, regress, global_random_seed):
    tally = Tally()
    for seed, (form, weighted) in enumerate(forms_and_weights(case, global_random_seed), start=10 * global_random_seed):
        problem = regression(60, seed, d=5, form=form, weighted=weighted)
        label = f"{form=} {weighted=}"
        compare(case, problem, regress, tally, alpha=0.01, rounds=6, length=23, label=label)
    tally.require(share(case))


@every_case
def test_twin_is_in_lockstep_on_any_problem(case, regression, regress):
    """Problems of all shapes, the same ones in every run: with the defaults all, else every other one, in turn."""
    rng, tally = np.random.default_rng(0), Tally()
    for number in range(4):
        n, d, seed = int(rng.integers(2, 51)), int(rng.integers(1, 21)), int(rng.integers(10**6))
        alpha, form = float(rng.choice([1.0, 1e-2, 1e-3])), str(rng.choice(forms_of(case[0])))
        weighted = bool(rng.random() < 0.5)
        # Most of the few rounds that SMO takes are left out: it sees all.
        if case[0].name != "smo" and len(case[1]) > 1 and number % 2 != CASES.index(case) % 2:
            continue
        problem = regression(n, seed, d=d, form=form, weighted=weighted)
        label = f"{n=} {d=} {seed=} {alpha=} {form=} {weighted=}"
        compare(case, problem, regress, tally, alpha=alpha, rounds=4, length=17, label=label)
    tally.require(share(case))
