"""The experiments on the batch perceptron: counted as in the paper, judged at equal counts."""

from types import SimpleNamespace

import numpy as np
import pytest

from kernbench.datasets import describe, load
from kernbench.experiments import get
from kernbench.experiments.measure.record import exponent
from kernbench.experiments.papers.sbp import complexity, curves, fourier, lemma, runs
from kernbench.experiments.papers.sbp.runs import Point, carried

NAMES = ("sbp-kernel-evaluations", "sbp-inner-products")
PROBLEM = {"gamma": 5.0, "C": 10.0}


def cell(**params):
    arguments = {"name": "checkerboard", "n_train": 160, "n_test": 300, "noise": 0.0}
    return SimpleNamespace(
        loader="kernbench.datasets:load",
        estimator="sklearn.svm:LinearSVC",
        arguments=arguments,
        params={**PROBLEM, **params},
        seed=3,
    )


def points(costs, n_support=1):
    return [Point(k, cost, 10 * k, n_support, np.zeros(1)) for k, cost in enumerate(costs)]


@pytest.mark.parametrize(
    ("dataset", "variance", "nu"),
    [("reuters-money-fx", 0.5, 6.34e-4), ("adult", 10, 1.10e-2), ("mnist-8-vs-rest", 25, 2.21e-4)],
)
@pytest.mark.parametrize("name", NAMES)
def test_parameters_are_those_of_table_2_without_bias(name, dataset, variance, nu):
    scale = get(name).scale("paper")
    params = scale.setting(dataset).params
    assert scale.repeats == 10
    assert (params["gamma"], params["C"], params["nu"]) == (pytest.approx(1 / (2 * variance)), 1.0, nu)


def test_solvers_run_ten_epochs_and_the_perceptron_a_hundred_on_adult():
    experiment = get("sbp-kernel-evaluations")
    epochs = {method.name: method.params["epochs"] for method in experiment.methods}
    assert epochs.pop("perceptron-100") == 100 and set(epochs.values()) == {10}
    takers = [s.name for s in experiment.scale("paper").settings if s.takes("perceptron-100")]
    assert takers == ["adult"]


@pytest.mark.parametrize("name", [*NAMES, "peers-svm"])
def test_quick_scale_needs_no_file_and_few_cells(name):
    experiment = get(name)
    settings = experiment.scale("quick").settings
    for setting in settings:
        entry = describe(setting.arguments["name"])
        assert entry.kind == "generated"
        assert set(setting.arguments) - {"name", "n_train", "n_test", "seed"} <= set(entry.options)
    installed = [method.name for method in experiment.methods if method.requires is None]
    assert sum(s.takes(name) for s in settings for name in installed) <= 56


@pytest.mark.parametrize("name", ["sbp", "smo"])
def test_a_step_with_a_whole_row_costs_it(name):
    data = load("checkerboard", n_train=120, n_test=20)
    solver = runs.start(name, data.X_train, data.y_train, gamma=5.0, alpha=1e-2, seed=0)
    *_, last = runs.walk(name, solver, data.X_train, data.X_test, gamma=5.0, epochs=1)
    assert last.cost == 120 * last.n_iter == 120 * solver.n_iter
    assert last.computed == solver.n_kernel_evaluations <= 120 * 120


def test_a_step_on_one_example_costs_the_support_vectors():
    """At most the final number; at least the number for uniform growth."""
    data = load("checkerboard", n_train=400, n_test=20)
    solver = runs.start("pegasos", data.X_train, data.y_train, gamma=5.0, alpha=1e-2, seed=0)
    found = list(runs.walk("pegasos", solver, data.X_train, data.X_test, gamma=5.0, epochs=4))
    last = found[-1]
    assert last.n_iter * last.n_support / 2 <= last.cost < last.n_iter * last.n_support
    assert [p.cost for p in found] == sorted(p.cost for p in found)
    assert all(later.cost >= runs.GROWTH * first.cost for first, later in zip(found, found[1:-1]))


def test_scores_are_those_of_the_solution():
    data = load("checkerboard", n_train=150, n_test=80)
    solver = runs.start("smo", data.X_train, data.y_train, gamma=5.0, alpha=1e-2, seed=0)
    *_, last = runs.walk("smo", solver, data.X_train, data.X_test, gamma=5.0, epochs=1000)
    assert solver.converged
    squared = ((data.X_test[:, None] - data.X_train) ** 2).sum(axis=2)
    expected = np.exp(-5.0 * squared) @ solver.solution().coef
    np.testing.assert_allclose(last.scores, expected, rtol=1e-4, atol=1e-5)


def test_a_slack_budget_takes_the_place_of_alpha():
    data = load("checkerboard", n_train=60, n_test=20)
    solver = runs.start("sbp", data.X_train, data.y_train, gamma=5.0, alpha=1.0, seed=0, options={"nu": 0.01})
    assert solver.problem.alpha is None


def test_a_model_is_carried_on_and_never_back():
    found = points([10.0, 20.0, 40.0])
    assert carried(found, [0.5, 0.3, 0.2], [5, 10, 19.9, 20, 100]) == [None, 0.5, 0.5, 0.3, 0.2]


def test_summary_of_a_curve():
    found = points([16.0, 64.0, 128.0, 512.0])  # of n = 8: n²/8 = 8, n² = 64
    on_grid = [None] + [0.2] * 20
    metrics = curves.summary(found, [0.4, 0.2, 0.25, 0.3], on_grid, 8)
    assert metrics["curve_error"] == pytest.approx((0.5 + 20 * 0.2) / 21) == curves.mean_error(on_grid)
    assert (metrics["early_error"], metrics["epoch_error"], metrics["test_error"]) == (None, 0.2, 0.3)
    assert metrics["rise"] == pytest.approx(0.1)


def test_a_curve_has_a_value_at_every_common_point():
    record = curves.measure(cell(solver="sbp", epochs=10))
    trace = record["trace"]
    assert len(trace["passes"]) == len(trace["test_error"]) == 21
    assert trace["passes"][0] == pytest.approx(10 / 1024) and trace["passes"][-1] == 10
    assert trace["evaluations"][-1] == 10 * 160 * 160 == record["metrics"]["evaluations"]
    assert trace["test_error"][-1] == record["metrics"]["test_error"] < 0.25
    assert len(trace["model_error"]) == len(trace["model_evaluations"]) == len(trace["model_computed"])
    again = curves.measure(cell(solver="sbp", epochs=10))
    assert again["trace"] == trace  # nothing depends on the clock


def test_fourier_features_cost_their_inner_products():
    record = fourier.measure(cell(pairs=40, tol=1e-3))
    trace = record["trace"]
    assert trace["pairs"] == [1, 2, 4, 8, 16, 32]
    assert trace["evaluations"] == [160 * k for k in trace["pairs"]]
    assert trace["test_error"][-1] < trace["test_error"][0]
    metrics = record["metrics"]
    assert metrics["matched_error"] == metrics["test_error"] == trace["test_error"][-1]
    assert metrics["early_error"] == trace["test_error"][4]  # 16 pairs of 160 / 8 = 20
    assert metrics["epoch_error"] is None  # 32 pairs do not reach 160


def test_features_and_solvers_are_compared_as_far_as_features_go():
    assert [curves.most_pairs(limit) for limit in (1, 2, 40, 64, 4096)] == [1, 2, 32, 64, 4096]
    on_grid = [None] * 4 + list(np.linspace(0.4, 0.1, 17))
    assert curves.mean_error(on_grid, curves.PASSES[5]) == pytest.approx((4 * 0.5 + sum(on_grid[4:6])) / 6)
    assert curves.mean_error(on_grid, curves.PASSES[0] / 2) is None
    record = curves.measure(cell(solver="sbp", epochs=2, pairs=40))
    trace, metrics = record["trace"], record["metrics"]
    assert metrics["shared_error"] == curves.mean_error(trace["test_error"], 32 / 160)
    spent = [k for k, cost in enumerate(trace["model_evaluations"]) if cost <= 32 * 160]
    assert metrics["matched_error"] == trace["model_error"][spent[-1]]


@pytest.mark.parametrize(
    ("name", "small", "large"),
    [("sbp", 1, 4), ("perceptron", 1, 4), ("sdca", 2, 4), ("norm-ball-sgd", 3, 4), ("pegasos", 3, 5)],
)
def test_bounds_have_the_powers_of_table_1(name, small, large):
    """Of 1/eps: `small` where eps is far above L, `large` where it is far below."""
    bound = complexity.BOUNDS[name]
    for L, e, expected in ((1e-9, 1e-2, small), (1e3, 1e-5, large)):
        assert exponent([1 / e, 2 / e], [bound(L, e, 2.0), bound(L, e / 2, 2.0)]) == pytest.approx(expected, abs=0.01)


def test_claims_name_the_place_of_each_bound():
    """Table 1 has no row of Pegasos, nor of the Perceptron."""
    claims = {claim.metric: claim.text for claim in get("sbp-kernel-evaluations").claims if claim.method == "bounds"}
    for name in complexity.BOUNDS:
        place = {"pegasos": "Theorem D.3", "perceptron": "Theorem D.4"}.get(name, "Table 1")
        assert f"than the bound of {place} (" in claims[f"beyond_{name}"]


def test_a_step_of_smo_without_an_intercept_changes_one_coefficient():
    data = load("checkerboard", n_train=120, n_test=20)
    solver = runs.start("smo", data.X_train, data.y_train, gamma=5.0, alpha=1e-2, seed=0)
    coef = solver.solution().coef.copy()
    for _ in range(30):
        assert solver.advance(1) == 1
        before, coef = coef, solver.solution().coef.copy()
        assert np.count_nonzero(coef != before) == 1


def test_least_cost_is_over_all_numbers_of_rows():
    frontier = [(10, 0.5), (20, 0.3), (15, 0.3), (40, 0.1)]
    assert complexity.least_cost(frontier, 0.3) == 15
    assert complexity.least_cost(frontier, 0.05) is None


def test_measured_slopes_stand_beside_the_bounds():
    record = complexity.measure(cell(solvers=["sbp", "pegasos"], sizes=[40, 80, 160], epochs=3))
    metrics, trace = record["metrics"], record["trace"]
    assert set(metrics["slope"]) == set(metrics["bound"]) <= {"sbp", "pegasos"} and metrics["slope"]
    for name, slope in metrics["slope"].items():
        assert slope >= 0 and metrics["beyond"][name] == pytest.approx(slope - metrics["bound"][name])
    kinds = set(trace["kind"])
    assert kinds == {complexity.MEASURED, complexity.BOUND}
    starts = {}
    for solver, kind, value in zip(trace["solver"], trace["kind"], trace["evaluations"]):
        starts.setdefault((solver, kind), value)
    for solver in set(trace["solver"]):
        assert starts[solver, complexity.MEASURED] == pytest.approx(starts[solver, complexity.BOUND])


def test_the_note_on_slopes_tells_that_their_sbp_has_no_slack_budget_of_its_own():
    experiment = get("sbp-kernel-evaluations")
    scale = experiment.scale("paper")
    assert "nu" in scale.setting("adult").params and "nu" not in scale.setting("adult-by-size").params
    (table,) = [table for table in experiment.tables if table.name == "slopes"]
    assert "not the ν of Figure 2" in " ".join(table.notes) and "t² in its average" in " ".join(table.notes)


# --- Lemma 3.2 ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dataset", ["checkerboard", "linear"])
def test_the_average_approaches_the_best_level_from_below(outcome, dataset):
    found = outcome(get("sbp-rates"), dataset, "rate", arguments={"n_train": 80}, steps=[64, 256, 1024, 4096])
    metrics, trace = found["metrics"], found["trace"]
    names = ("sbp", "simba") if dataset == "linear" else ("sbp",)
    assert set(trace["line"]) == {lemma.LABELS[name] for name in names}
    for name in names:
        line = [d for of, d in zip(trace["line"], trace["distance"]) if of == lemma.LABELS[name]]
        assert -1e-6 < line[-1] < line[0] and line[-1] == metrics[f"{name}_distance"]
        assert metrics[f"{name}_low"] <= metrics[f"{name}_slope"] < 0
    costs = [c / t for of, t, c in zip(trace["line"], trace["n_iter"], trace["inner_products"]) if of == "SBP"]
    assert costs == [80.0] * 4


def test_the_perceptron_is_said_to_end_above_its_least_error_not_to_overfit():
    """Its last iterate fluctuates by as much."""
    experiment = get("sbp-kernel-evaluations")
    (claim,) = [claim for claim in experiment.claims if claim.metric == "overfitting"]
    assert "overfit" not in claim.text and "fluctuates" in experiment.note
    at_an_epoch = [claim for claim in experiment.claims if claim.metric == "epoch_error"]
    assert at_an_epoch and all("its first epoch" in claim.text for claim in at_an_epoch)
