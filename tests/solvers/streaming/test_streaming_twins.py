"""Every streaming solver: on the compiled core against on that in NumPy, step by step."""

import numpy as np
import pytest
from lockstep import Tally, Tolerance, case_name, cases, follow
from scipy import sparse
from streaming_problems import rows_and_labels, solver_of, solver_on, stream_of

from kernbench.kernels import ArcCosine, ChiSquared, Gaussian, Laplacian, Polynomial

# Every solver is also run with its defaults, for each of its losses.
VARIANTS = {
    "doubly-sgd": [
        {"schedule": "inverse", "t0": 3.0},
        {"schedule": "inverse_sqrt", "average": "all"},
        {"schedule": "published", "average": "tail", "alpha": 0.0},
        {"average": "weighted", "form": "phase"},
        {"average": "tail", "average_from": 4, "draws": "orthogonal"},
        {"max_blocks": 3},
        {"max_blocks": 3, "operator": True},
        {"max_blocks": 2, "operator": True, "precondition": True, "draws": "qmc"},
        {"precondition": True},
        {"precondition": True, "max_blocks": 3, "damping": 1e-2},
        {"cache_size": 1e-3},
        {"n_outputs": 8, "block_size": 7},
        {"block_size": 1},
        {"window": 40, "precondition": True},
        {"window": 25, "max_blocks": 3, "schedule": "late_inverse", "t0": 4.0},
    ]
}
CASES = [
    (entry, {"loss": loss, **options})
    for entry, options in cases("doubly-stochastic", VARIANTS)
    for loss in (entry.losses if not options else ("squared_error", "log_loss"))
    if loss == "squared_error" or "operator" not in options
]
every_case = pytest.mark.parametrize("case", CASES, ids=case_name)
TIGHT = Tolerance(coef=1e-8, objective=1e-9, gap=0, gap_floor=0, counters=("n_iter", "n_feature_values"), keys=True)


def settings_of(options):
    loss = options["loss"]
    more = {"n_outputs": 3} if loss == "softmax" else {}
    if loss == "novelty":
        more = {"alpha": 0.2}
    return {**more, **options}


def twins(X, y, options, weights=None, **source):
    return (
        solver_of(X, y, twin, weights=weights, **settings_of(options), **source) for twin in ("compiled", "reference")
    )


@every_case
def test_twin_is_in_lockstep(case, global_random_seed):
    tally = Tally()
    for seed, (form, weighted) in enumerate(
        [("dense", False), ("dense", True), ("csr", True)], start=10 * global_random_seed
    ):
        options = settings_of(case[1])
        X, y = rows_and_labels(options["loss"], seed=seed, n_outputs=options.get("n_outputs", 1))
        weights = np.random.default_rng(seed).integers(0, 4, size=len(X)) / 2 if weighted else None
        if form == "csr":
            X = sparse.csr_matrix(np.where(np.abs(X) > 0.7, X, 0))
        # Eleven steps are three passes: outputs are kept from the second on, and batches end with a pass.
        both = list(twins(X, y, case[1], weights))
        follow(*both, tally, TIGHT, rounds=11, length=1, label=f"{form} {weighted}")
        if "operator" in options:
            compiled, reference = (solver.solution().state["operator"] for solver in both)
            np.testing.assert_allclose(compiled, reference, rtol=0, atol=1e-9)
            X = X.toarray() if form == "csr" else X
            np.testing.assert_allclose(*(solver.operator.explained(X) for solver in both), atol=1e-9)
    tally.require(1.0)


@every_case
def test_twin_is_in_lockstep_on_any_problem(case):
    """Problems of all shapes, the same ones in every run."""
    rng, tally = np.random.default_rng(0), Tally()
    for _ in range(4):
        n, d, B = int(rng.integers(1, 40)), int(rng.integers(1, 8)), int(rng.integers(1, 20))
        alpha, seed = float(rng.choice([1e-6, 0.01, 0.3])), int(rng.integers(10**6))
        options = settings_of({"alpha": alpha, **case[1]})
        X, y = rows_and_labels(options["loss"], n, d, seed, options.get("n_outputs", 1))
        follow(
            *twins(X, y, options, batch_size=B, shuffle=bool(rng.random() < 0.5)),
            tally, TIGHT, rounds=3, length=2, label=f"{n=} {d=} {B=} {alpha=} {seed=}",
        )  # fmt: skip
    tally.require(1.0)


@pytest.mark.parametrize("d", [2, 8])
@pytest.mark.parametrize(
    "kernel",
    [Laplacian(2.0), Gaussian(1.0) * Laplacian(3.0), ChiSquared(), ArcCosine(1), Polynomial(2, 0.5, 0.3)],
    ids=lambda kernel: type(kernel).__name__,
)
def test_twins_agree_with_any_kernel(kernel, d):
    """Blocks of 8 features hold the pairs of 2 columns, but not those of 8."""
    X, y = rows_and_labels(d=d)
    tally = Tally()
    follow(*twins(np.abs(X) / 3, y, {"loss": "squared_error", "kernel": kernel}), tally, TIGHT, rounds=4, length=2)
    tally.require(1.0)


def test_twins_agree_on_a_stream():
    X, y = rows_and_labels("hinge", n=100)
    compiled, reference = (
        solver_on(stream_of(X, y, cuts=(3, 40)), twin, loss="hinge") for twin in ("compiled", "reference")
    )
    tally = Tally()
    follow(compiled, reference, tally, TIGHT, rounds=10, length=1)
    assert compiled.finished and reference.finished and compiled.n_iter == reference.n_iter == 7


def test_twins_of_the_operator_agree_on_batches_of_many_rows():
    """The compiled core sums up 512 rows at a time."""
    X, y = rows_and_labels(n=1300)
    weights, tally = np.random.default_rng(0).integers(0, 4, size=1300) / 2, Tally()
    options = {"loss": "squared_error", "operator": True, "max_blocks": 2, "precondition": True}
    both = list(twins(X, y, options, weights, batch_size=1300))
    follow(*both, tally, TIGHT, rounds=3, length=1)
    compiled, reference = (solver.solution().state["operator"] for solver in both)
    np.testing.assert_allclose(compiled, reference, rtol=0, atol=1e-9)
    np.testing.assert_allclose(*(solver.operator.explained(X) for solver in both), atol=1e-9)
    tally.require(1.0)
