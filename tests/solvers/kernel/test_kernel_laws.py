"""Laws of every solver of the kernel SVM."""

from itertools import permutations

import numpy as np
import pytest
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from kernbench.kernels import Gaussian
from kernbench.solvers import driver, registry
from kernbench.solvers.registry import SOLVERS

# The closed form does not iterate; its laws are in test_closed_form.py.
KERNEL_SOLVERS = [entry for entry in SOLVERS if entry.problem == "kernel-svm" and entry.name != "closed-form"]
by_name = pytest.mark.parametrize("entry", KERNEL_SOLVERS, ids=lambda entry: entry.name)
# (P - P*) / P* after 20 epochs, or after 8 of those in STEPS
SHARE = {"smo": 1e-3, "pegasos": 0.05, "sbp": 0.05, "sdca": 0.01, "perceptron": 0.5, "scs": 1e-3, "wolfe": 1e-3}
STEPS = {"scs": 60, "wolfe": 60}  # enough where a step looks at a sample, or at all rows
STAYS = {"perceptron": 0.2}  # distance to an optimum; the Perceptron's steps do not depend on the regularisation


def optimum(problem, C):
    """The optimal objective, by LIBSVM at a tight tolerance."""
    svc = SVC(C=C, gamma=0.5 / problem.kernel.sigma**2, tol=1e-8)
    svc.fit(problem.X, problem.y, sample_weight=problem.weights)
    weights = np.ones(problem.n) if problem.weights is None else problem.weights
    f = svc.decision_function(problem.X)
    coef, alpha = svc.dual_coef_[0], 1 / (C * problem.n)
    hinge = np.maximum(0, 1 - problem.y * f)
    return 0.5 * alpha * coef @ (f[svc.support_] - svc.intercept_[0]) + weights @ hinge / problem.n


@pytest.mark.parametrize("weighted", [False, True])
@by_name
def test_approaches_the_optimum_of_libsvm(entry, weighted, classification, build):
    problem = classification(250, 1, weighted=weighted)
    best = optimum(problem, C=2.0)
    solver = build(entry, "compiled", problem, C=2.0)
    epochs = 8 if entry.name in STEPS else 20
    solver.advance(epochs * problem.n if entry.name != "smo" else 10**6)
    assert -1e-7 <= solver.objective() / best - 1 < SHARE.get(entry.name, 0.05)


@pytest.mark.parametrize("twin", ["compiled", "reference"])
@by_name
def test_gap_bounds_suboptimality(entry, twin, classification, build):
    problem = classification(120, 2, weighted=True)
    best = optimum(problem, C=5.0)
    solver = build(entry, twin, problem, C=5.0)
    for _ in range(6):
        solver.advance(15 if entry.name in STEPS else 60)
        excess = solver.objective() - best
        assert excess >= -1e-7
        assert solver.gap() >= excess - 1e-7


@by_name
def test_splitting_the_run_changes_nothing(entry, classification, build):
    problem = classification(200, 3)
    grain = max(entry.load("compiled").granularity, 1)
    whole, parts = build(entry, "compiled", problem), build(entry, "compiled", problem)
    whole.advance(12 * grain)
    for count in (1, 4, 2, 5):
        parts.advance(count * grain)
    np.testing.assert_array_equal(whole.solution().coef, parts.solution().coef)
    assert whole.objective() == parts.objective()


@by_name
def test_resumed_is_one_long_run(entry, classification, build):
    problem = classification(200, 4)
    grain = max(entry.load("compiled").granularity, 1)
    rng = np.random.default_rng(3)
    whole = build(entry, "compiled", problem, random_state=np.random.default_rng(3))
    first = build(entry, "compiled", problem, random_state=rng)
    whole.advance(6 * grain)
    first.advance(2 * grain)
    rest = build(entry, "compiled", problem, random_state=rng, initial=first.solution())
    rest.advance(4 * grain)
    assert rest.n_iter == whole.n_iter
    np.testing.assert_allclose(rest.solution().coef, whole.solution().coef, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@by_name
def test_threads_agnosticism(entry, dtype, classification, build):
    problem = classification(2200, 6, d=300)  # so long that threads share the few rows of a step
    problem.kernel = Gaussian(10.0)
    coefs = []
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="openmp"):
            options = {"classic_rows": 0} if entry.name == "smo" else {}
            solver = build(entry, "compiled", problem, dtype=dtype, **options)
            solver.advance(STEPS.get(entry.name, 300))
            coefs.append(solver.solution().coef)
    np.testing.assert_array_equal(*coefs)


@pytest.mark.parametrize("options", [{}, {"fit_intercept": False}], ids=["bias", "no-bias"])
@by_name
def test_small_caches_change_only_what_is_counted(entry, options, classification, build):
    problem = classification(400, 7)
    if entry.name == "smo":
        options = {**options, "classic_rows": 0, "working_set_size": 32}
    roomy = build(entry, "compiled", problem, **options)
    tight = build(entry, "compiled", problem, cache_bytes=40 * 400 * 8, **options)
    for solver in (roomy, tight):
        solver.advance(256 if entry.name in STEPS else 2048)
    np.testing.assert_allclose(tight.solution().coef, roomy.solution().coef, rtol=1e-7, atol=1e-10)
    assert tight.n_kernel_evaluations >= roomy.n_kernel_evaluations


@by_name
def test_warm_start_from_the_optimum_stays_there(entry, classification, build):
    problem = classification(200, 8)
    smo = build(KERNEL_SOLVERS[0], "compiled", problem)
    best = driver.run(smo, tol=1e-3)
    best.solution.state.clear()
    best.solution.n_iter = 5000
    solver = build(entry, "compiled", problem, initial=best.solution)
    assert solver.objective() == pytest.approx(best.objective, rel=1e-5)
    solver.advance(256)
    assert solver.objective() == pytest.approx(best.objective, rel=STAYS.get(entry.name, 0.05))


@pytest.mark.parametrize("change", ["C", "weights", "intercept", "no intercept", "loss"])
@pytest.mark.parametrize("entry", [one for one in KERNEL_SOLVERS if one.name != "perceptron"], ids=lambda one: one.name)
def test_a_solution_of_another_objective_is_a_start(entry, change, classification, build):
    """With all of its state, which belongs to that objective in part; the perceptron takes no steps after its pass."""
    problem, limits = classification(80, 1), {"max_iter": 2000, "tol": 1e-3}
    of_losses = entry.losses if change == "loss" else entry.losses[:1]
    for before, after in [(of_losses[0], of_losses[0])] if len(of_losses) == 1 else permutations(of_losses, 2):
        options = {"fit_intercept": change != "no intercept", "random_state": 0}
        other = {**options, "C": 100.0 if change == "C" else 1.0, "loss": before}
        if change == "weights":
            other["weights"] = np.linspace(0.1, 10.0, 80)
        if "intercept" in change:
            other["fit_intercept"] = not options["fit_intercept"]
        start = driver.run(build(entry, "compiled", problem, **other), **limits).solution
        objectives = [
            driver.run(build(entry, "compiled", problem, loss=after, initial=initial, **options), **limits).objective
            for initial in (start, None)
        ]
        assert objectives[0] <= 1.1 * objectives[1], (before, after)


@by_name
def test_bad_problems_are_refused_with_a_sentence(entry, classification, build):
    problem = classification(20, 9)
    for change, sentence in (
        ({"weights": -np.ones(20)}, "weights"),
        ({"weights": np.ones(3)}, "weights"),
        ({"weights": np.where(problem.y > 0, 1.0, 0.0)}, "class -1"),
        ({"C": -1.0}, "alpha"),
    ):
        for twin in ("compiled", "reference"):
            with pytest.raises(ValueError, match=sentence):
                build(entry, twin, problem, **change)
    one_class = classification(20, 9)
    one_class.y = np.ones(20)
    with pytest.raises(ValueError, match="class"):
        build(entry, "compiled", one_class)


def test_sbp_that_fetches_one_row_at_a_time_fetches_none_in_vain(classification, build):
    """The iterates are those of batches, and at most n evaluations are spent per step."""
    problem = classification(200, 3)
    entry = registry.get("sbp")
    one, many = (build(entry, "compiled", problem, fetch_rows=count) for count in (1, 64))
    for solver in (one, many):
        solver.advance(40)
    np.testing.assert_allclose(one.solution().coef, many.solution().coef, rtol=1e-9, atol=1e-12)
    used = np.count_nonzero(one.solution().state["dual"])
    assert one.n_kernel_evaluations == used * problem.n < many.n_kernel_evaluations
