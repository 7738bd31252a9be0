"""Every solver on explicit features: the compiled class against its plain-NumPy reference, step by step."""

import numpy as np
import pytest
from lockstep import Tally, Tolerance, case_name, cases, follow
from scipy import sparse

from kernbench.losses.regression import RESIDUAL_LOSSES
from kernbench.problems.linear import newton as newton_problem
from kernbench.solvers.base import Solution
from kernbench.solvers.bundle import cutting_planes
from kernbench.solvers.linear import newton
from kernbench.solvers.registry import get

TWINS = ("compiled", "reference")
NEAR = 2e-3  # gap / objective below which only the ends of the bundle method are compared
SOLVED = 1e-7  # ... and only those of a dual method that may go on to the last digit
FORMS = ("dense", "float32", "csr", "csr64")

# Options that take other paths through a solver's code; every solver is also run with its defaults, for each of its
# losses.
VARIANTS = {
    "sdca": [
        {"tol": 1e-9},
        {"shrinking": False},
        {"order": "uniform", "min_iter": 150},
        {"batch_size": 7},
        {"batch_size": 5, "order": "uniform"},
    ],
    "pegasos": [{"batch_size": 3, "project": True}, {"average": False, "project": True}],
    "simba": [{"horizon": 50}],
    "sbmd": [{"n_blocks": 3, "average": False}, {"largest_step": 0.01}],
    "rbcd": [{"n_blocks": 2}],
    "bundle": [{"max_cuts": 5}],
}
CASES = [
    (entry, {"loss": loss, **options}) for entry, options in cases("linear-svm", VARIANTS) for loss in entry.losses
]
every_case = pytest.mark.parametrize("case", CASES, ids=case_name)
# Share of the rounds that must be compared; all of them if choices are not tied.
SHARE = {"bundle": 0.35, "sdca": 0.7}
TIGHT = Tolerance(coef=1e-8, objective=1e-9, gap=1e-6, gap_floor=1e-9, counters=("n_iter", "n_inner_products"))
OF_PLANES = Tolerance(coef=1e-5, objective=1e-7, gap=1e-5, gap_floor=1e-8, counters=("n_iter", "n_inner_products"))


def next_to_the_optimum(compiled, reference):
    """Near the optimum many cuts intersect, and rounding decides which of them become active."""
    if reference.gap() >= NEAR * reference.objective():
        return None
    assert compiled.objective() == pytest.approx(reference.objective(), rel=NEAR)
    return "cuts meet"


def below_the_tolerance(compiled, reference):
    """Below the tolerance, rounding decides whether a method still moves."""
    solved = max(compiled.gap(), reference.gap()) < SOLVED * reference.objective()
    return "solved to the last digits" if solved else None


def compare(case, problem, linear, tally, *, C, rounds, length=31, label=""):
    entry, options = case
    rounding, tolerance = None, TIGHT
    if entry.name == "bundle":
        options, length, tolerance, rounding = {"tol": 1e-6, **options}, 1, OF_PLANES, next_to_the_optimum
    elif "min_iter" in options:
        rounding = below_the_tolerance
    compiled, reference = (linear(entry, twin, problem, C=C, **options) for twin in ("compiled", "reference"))
    follow(compiled, reference, tally, tolerance, rounds=rounds, length=length, rounding=rounding, label=label)


def forms_and_weights(case, turn):
    """All four with the defaults, two with each set of options and loss, in turn; an odd seed takes the other two."""
    pairs = list(zip(FORMS, (False, True, True, False)))
    return pairs if len(case[1]) == 1 else pairs[(CASES.index(case) + turn) % 2 :: 2]


@every_case
def test_twin_is_in_lockstep(case, ranking, linear, global_random_seed):
    tally = Tally()
    rounds = 4 if case[0].name == "bundle" and case[1]["loss"] != "hinge" else 12  # few cuts are enough
    for seed, (form, weighted) in enumerate(forms_and_weights(case, global_random_seed), start=10 * global_random_seed):
        problem = ranking(80, seed, d=5, form=form, weighted=weighted)
        compare(case, problem, linear, tally, C=3.0, rounds=rounds, label=f"{form=} {weighted=}")
    tally.require(SHARE.get(case[0].name, 1.0))


@every_case
def test_twin_is_in_lockstep_on_any_problem(case, ranking, linear):
    """Problems of all shapes, the same ones in every run: with the defaults all, else every other one, in turn."""
    rng, tally = np.random.default_rng(0), Tally()
    for number in range(8):
        n, d, seed = int(rng.integers(2, 51)), int(rng.integers(1, 21)), int(rng.integers(10**6))
        C, form = float(rng.choice([0.01, 1.0, 30.0])), str(rng.choice(FORMS))
        weighted = bool(rng.random() < 0.5)
        # Of the few rounds of the bundle method many are left out: it sees all.
        if case[0].name != "bundle" and len(case[1]) > 1 and number % 2 != CASES.index(case) % 2:
            continue
        problem = ranking(n, seed, d=d, form=form, weighted=weighted)
        label = f"{n=} {d=} {seed=} {C=} {form=} {weighted=}"
        compare(case, problem, linear, tally, C=C, rounds=4, length=17, label=label)
    tally.require(SHARE.get(case[0].name, 1.0))


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "log_loss"])
def test_newton_without_a_factor_is_in_lockstep(loss, ranking, linear):
    """Few stored values and many columns: the diagonal preconditions, at first or always."""
    entry, tally = get("newton", "linear-svm"), Tally()
    for seed, (d, C) in enumerate([(150, 30.0), (400, 1.0), (1600, 1.0)]):
        problem = ranking(60, seed, d=d)
        keep = np.random.default_rng(seed).random(problem.X.shape) < 6 / d
        problem.X = sparse.csr_matrix(np.where(keep, problem.X, 0.0))
        compiled, reference = (linear(entry, twin, problem, C=C, loss=loss) for twin in ("compiled", "reference"))
        follow(compiled, reference, tally, TIGHT, rounds=6, length=1, rounding=below_the_tolerance)
        if d < 1500:  # it began without a factor
            begun = linear(entry, "compiled", problem, C=C, loss=loss)
            begun.advance(1)
            assert begun.solution().state["hessian"].size == 0
    tally.require(0.7)


@pytest.mark.parametrize("min_iter", [0, 1 << 20])
@pytest.mark.parametrize("C", [1e-3, 1e4])
def test_twins_of_newton_ascend_by_coordinates_alike(C, min_iter, ranking, linear):
    """Columns enough that passes over the data are cheap: where they suffice and where they do not."""
    entry, problem = get("newton", "linear-svm"), ranking(150, 0, d=60)
    options = {"C": C, "loss": "hinge", "min_iter": min_iter}
    compiled, reference = (linear(entry, twin, problem, **options) for twin in ("compiled", "reference"))
    for solver in (compiled, reference):
        solver.advance(6)
        assert solver.converged == (solver.n_iter == 1) == (C == 1e-3)
    assert compiled.n_iter == reference.n_iter and compiled.n_inner_products == reference.n_inner_products
    np.testing.assert_allclose(compiled.solution().coef, reference.solution().coef, rtol=1e-6, atol=1e-9)
    assert compiled.gap() == pytest.approx(reference.gap(), rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_splitting_a_run_of_sdca_changes_nothing(loss, ranking, linear):
    """Also if a part ends after rows were shrunk and before a step."""
    entry = get("sdca", "linear-svm")
    problem = ranking(60, 0, d=3)
    whole, parts = (linear(entry, "compiled", problem, C=30.0, loss=loss, tol=1e-12) for _ in range(2))
    whole.advance(3000)
    for _ in range(3000):
        parts.advance(1)
    np.testing.assert_array_equal(whole.solution().coef, parts.solution().coef)


@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("loss", get("newton", "linear-svm").losses + get("newton", "linear-regression").losses)
def test_newton_with_an_intercept_is_in_lockstep(loss, form, ranking, regression, linear, regress):
    """The coefficient of a last column of ones has no penalty, and is kept at its best value."""
    entry, tally, make = get("newton", "linear-svm"), Tally(), ranking
    if loss in RESIDUAL_LOSSES:
        entry, make = get("newton", "linear-regression"), regression
    for seed, alpha in enumerate((1e-3, 1e-1)):
        problem = make(60, seed, d=4, form=form, weighted=seed == 1)
        columns = [problem.X, np.ones((60, 1))]
        problem.X = sparse.hstack(columns, format="csr") if form == "csr" else np.hstack(columns)
        options = {"loss": loss, "free_last": True, "tol": 1e-9}
        if loss in RESIDUAL_LOSSES:
            both = [regress(entry, twin, problem, alpha=alpha, **options) for twin in TWINS]
        else:
            both = [linear(entry, twin, problem, C=1 / (60 * alpha), **options) for twin in TWINS]
        follow(*both, tally, TIGHT, rounds=6, length=1, label=f"{alpha=}")
    tally.require(1.0)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "log_loss"])
def test_newton_on_a_sample_of_many_rows_is_in_lockstep(loss, ranking, linear, monkeypatch):
    """A fit to some rows comes first, and the Hessian is a sum over some; their number is lowered here."""
    monkeypatch.setattr(newton, "SAMPLE", 30)
    for name, value in (("SAMPLE", 30), ("MOST_WORK", 1.0)):
        monkeypatch.setattr(newton_problem, name, value)
    tally, rounds = Tally(), 12 if loss == "hinge" else 4  # smooth losses are solved to the last digits soon
    for seed, form in enumerate(("dense", "csr")):
        problem = ranking(200, seed, d=6, form=form, weighted=seed == 1)
        both = [linear(get("newton", "linear-svm"), twin, problem, C=3.0, loss=loss, tol=1e-9) for twin in TWINS]
        assert all(solver.sample is not None for solver in both)
        follow(*both, tally, TIGHT, rounds=rounds, length=1, rounding=below_the_tolerance, label=form)
    tally.require(0.4)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "log_loss"])
def test_the_bundle_starts_from_the_same_sample_of_many(loss, ranking, linear, monkeypatch):
    monkeypatch.setattr(cutting_planes, "SAMPLE", 40)
    problem, tally = ranking(400, 0, d=5, weighted=True), Tally()
    both = [linear(get("bundle", "linear-svm"), twin, problem, C=3.0, loss=loss, tol=1e-6) for twin in TWINS]
    follow(*both, tally, OF_PLANES, rounds=4, length=1, rounding=next_to_the_optimum)
    tally.require(0.5)


@pytest.mark.parametrize("loss", ["hinge", "log_loss"])
def test_long_runs_of_projected_pegasos_are_in_lockstep(loss, ranking, linear):
    """|g|^2 is recomputed in step 4,096."""
    tally = Tally()
    both = [linear(get("pegasos", "linear-svm"), twin, ranking(60, 2), loss=loss, project=True) for twin in TWINS]
    follow(*both, tally, TIGHT, rounds=1, length=4200)
    np.testing.assert_allclose(both[0].numbers, both[1].numbers, rtol=1e-9)
    tally.require(1.0)


@pytest.mark.parametrize("twin", TWINS)
def test_simba_keeps_a_floor_under_small_entries(twin, ranking, linear):
    """An entry that underflows could never be drawn again."""
    problem = ranking(40, 3, weighted=True)
    solver = linear(get("simba", "linear-svm"), twin, problem)
    solver.q[5:] *= 1e-200
    solver.advance(1)
    np.testing.assert_array_equal(solver.q > 0, problem.weights > 0)
    np.testing.assert_allclose(solver.q[5:][problem.weights[5:] > 0], 1e-150, rtol=1e-12)


@pytest.mark.parametrize("case", [case for case in CASES if len(case[1]) == 1], ids=case_name)
def test_twins_go_on_alike_from_any_coefficients(case, ranking, linear):
    entry, options = case
    problem, tally = ranking(80, 4, d=5, weighted=True), Tally()
    start = Solution(np.linspace(-0.4, 0.6, 5), 0.0, 37)
    both = [linear(entry, twin, problem, C=3.0, initial=start, **options) for twin in TWINS]
    tolerance, length = OF_PLANES if entry.name == "bundle" else TIGHT, 1 if entry.name in ("bundle", "newton") else 31
    follow(*both, tally, tolerance, rounds=3, length=length)
    tally.require(1.0)


def test_sdca_solves_rows_of_any_size_alike(ranking, linear):
    """The dual variables of log losses of large rows are tiny: what a step does to the margin tells when all stand."""
    problem = ranking(40, 5, d=3)
    problem.X = 1e6 * problem.X
    both = [linear(get("sdca", "linear-svm"), twin, problem, loss="log_loss", C=1.0, tol=0.0) for twin in TWINS]
    done = [solver.advance(40 * 400) for solver in both]
    assert done[0] == pytest.approx(done[1], rel=0.1)
    np.testing.assert_allclose(both[0].solution().coef, both[1].solution().coef, rtol=1e-6)


@pytest.mark.parametrize("twin", TWINS)
def test_newton_ends_where_the_smoothing_is_within_rounding(twin, ranking, linear):
    solver = linear(get("newton", "linear-svm"), twin, ranking(60, 0, d=3), loss="hinge", tol=1e-300)
    assert 20 < solver.advance(400) < 400
    assert solver.gap() <= 1e-10 * solver.objective()
