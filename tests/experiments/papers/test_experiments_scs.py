"""The experiments on stochastic conjugate subgradients: declared as in the paper, correctly judged, runnable."""

import re
from inspect import signature

import numpy as np
import pytest

from kernbench.datasets import load
from kernbench.experiments import get
from kernbench.experiments.papers.scs import evaluation, width
from kernbench.experiments.run.cells import plan
from kernbench.solvers.kernel.conjugate.scs import SCS

ACCURACY, OBJECTIVE = EXPERIMENTS = [get(name) for name in ("scs-accuracy", "scs-objective")]


# --- what is declared ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dataset", "method", "accuracy", "seconds"),
    [
        ("heart-failure", "wolfe", 0.833, 1.48),
        ("wine-quality", "pegasos", 0.855, 3.93),
        ("avila", "scs", 0.718, 38.26),
        ("occupancy", "pegasos", 0.974, 56.54),
        ("skin", "scs", 0.97, 19.68),
        ("hepmass-stand-in", "pegasos", 0.83, 3762.89),
    ],
)
def test_numbers_are_those_of_the_paper(dataset, method, accuracy, seconds):
    assert ACCURACY.paper_number(dataset, method, "accuracy") == accuracy
    assert ACCURACY.paper_number(dataset, method, "fit_seconds") == seconds


def test_the_paper_has_no_number_for_wolfe_where_it_ran_out_of_memory():
    assert ACCURACY.paper_number("magic", "wolfe", "accuracy") is None


@pytest.mark.parametrize(
    ("dataset", "n_train"),
    [("heart-failure", 273), ("breast-cancer", 500), ("wine-quality", 680), ("wine-quality-red", 680), ("magic", 5000)],
)
def test_as_many_rows_train_as_in_the_paper(dataset, n_train):
    setting = ACCURACY.scale("paper").setting(dataset)
    totals = {"heart-failure": 299, "breast-cancer": 569, "wine-quality": 6497, "wine-quality-red": 1599}
    total = (totals | {"magic": 19_020})[dataset]
    assert total - round(setting.arguments["test_fraction"] * total) == n_train
    if dataset == "breast-cancer":  # the one that needs no file
        assert len(load(**setting.arguments).y_train) == n_train


def test_paper_scale_has_ten_sets_and_twenty_seeds():
    scale = ACCURACY.scale("paper")
    sets = [s.name for s in scale.settings if s.name != "growing"]
    assert len(set(sets) - {"wine-quality-red"}) == 10 and scale.repeats == 20  # that is one set, read in two ways
    for setting in scale.settings:
        if "stand-in" in setting.name:
            assert setting.stands_for and "STAND-IN" in setting.note
    assert max(scale.setting("growing").params["sizes"]) == 3_500_000


@pytest.mark.parametrize("scale", ["quick", "paper"])
def test_only_the_mapped_file_is_fitted_to_growing_sizes(scale):
    cells = [(cell.dataset, cell.method) for cell in plan([ACCURACY], scale, repeats=1)[0]]
    assert [method for dataset, method in cells if dataset == "growing"] == ["scs-growing"]
    assert [dataset for dataset, method in cells if method == "scs-growing"] == ["growing"]


def test_the_note_tells_that_pegasos_is_rescaled_in_one_experiment_alone():
    for method in OBJECTIVE.methods:
        if method.params["solver"] == "pegasos":
            assert method.params["rescale"] is False
    rescaled = [method for method in ACCURACY.methods if method.name.startswith("pegasos")]
    assert all("solver_options" not in method.params for method in rescaled)  # the default
    assert "Pegasos' last iterate is taken at its best multiple" in ACCURACY.note


def test_every_lambda_is_tried_and_the_papers_is_among_them():
    tried = ACCURACY.method("scs-validated").params["search"]["alphas"]
    assert sorted(tried, reverse=True) == pytest.approx([10.0**-k for k in range(7)])
    assert ACCURACY.method("scs").params["alpha"] == 1.0
    assert "Parzen" in ACCURACY.note


# --- what runs ----------------------------------------------------------------------------------------------


def test_the_exact_solver_reaches_the_closed_form(outcome):
    found = outcome(ACCURACY, "breast-cancer", "smo")["metrics"]
    closed = outcome(ACCURACY, "breast-cancer", "closed-form")["metrics"]
    assert found["excess"] < 1e-6 and closed["excess"] < 1e-6
    assert found["accuracy"] == closed["accuracy"]


@pytest.mark.parametrize("method", ["scs", "scs-validated", "wolfe", "pegasos", "majority"])
def test_methods_run_and_learn(outcome, method):
    found = outcome(ACCURACY, "breast-cancer", method, **({} if method == "majority" else {"max_iter": 60}))
    assert found["metrics"]["accuracy"] > (0.55 if method == "majority" else 0.75)
    assert (found["metrics"].get("excess") is None) == (method == "majority")


def test_time_is_measured_on_growing_rows_of_a_mapped_file(outcome):
    found = outcome(
        ACCURACY, "growing", "scs-growing", sizes=[300, 3000], max_iter=5, arguments={"n_test": 100},
        solver_options={"alpha": 1e-2, "sample_cap": 100},
    )  # fmt: skip
    assert found["metrics"]["growth"] > 0
    # More than the window holds; less than the rows would be in float64, which is how a copy might slip in.
    assert 200 * 28 * 4 < found["metrics"]["fit_memory"] < 3000 * 28 * 8
    assert sorted(set(found["trace"]["n_rows"])) == [300, 3000] and len(found["trace"]["seconds"]) == 6


@pytest.mark.parametrize("method", ["scs", "wolfe-small", "pegasos-small", "scs-euclidean"])
def test_first_and_last_iterations_are_followed(outcome, method):
    found = outcome(OBJECTIVE, "breast-cancer", method, n_iter=70, n_epochs=0)
    trace = found["trace"]
    first = [k for k, window in zip(trace["iteration"], trace["window"]) if window == "first"]
    last = [k for k, window in zip(trace["iteration"], trace["window"]) if window == "last"]
    assert first == list(range(1, len(first) + 1)) and last == list(range(1 - len(last), 1))
    assert len(last) == min(50, found["metrics"]["n_iter"])
    values = np.array(trace["objective"])
    assert np.all(values >= found["metrics"]["best"] - 1e-9) and values[-1] < values[0]
    assert found["metrics"]["excess"] == trace["excess"][-1]


# --- the width of the kernel ----------------------------------------------------------------------------------------


def test_a_width_is_validated_on_training_rows_and_the_best_one_bounds_it(outcome):
    found = outcome(
        get("scs-width"), "breast-cancer", "width", arguments={"test_fraction": 0.8}, factors=[0.25, 1.0, 4.0]
    )
    metrics, trace = found["metrics"], found["trace"]
    assert max(metrics["accuracy_here"], metrics["accuracy_validated"]) <= metrics["best"]
    assert metrics["best_factor"] in trace["factor"] and metrics["validated_factor"] in trace["factor"]
    optimum = [a for line, a in zip(trace["line"], trace["accuracy"]) if line == width.OPTIMUM]
    scs = [a for line, a in zip(trace["line"], trace["accuracy"]) if line == width.SCS]
    assert len(optimum) == len(scs) == 3 and metrics["best"] == max(optimum)
    assert metrics["scs_loses"] == pytest.approx(max(a - b for a, b in zip(optimum, scs)))


def test_the_bound_of_many_columns_in_single_precision_is_that_in_double(monkeypatch):
    data = load("clusters-large", n_train=400, n_test=50, n_features=60)
    exact = evaluation.optimum(data, 1 / 60, 0.01)
    monkeypatch.setattr(evaluation, "MOST_IN_DOUBLE", 0)
    assert evaluation.optimum(data, 1 / 60, 0.01) == pytest.approx(exact, abs=1e-6)
    assert evaluation.optimum(data, 1 / 60, 0.01) != exact


@pytest.mark.parametrize("name", ["scs-accuracy", "scs-objective", "scs-width", "cross-paper"])
def test_notes_tell_how_scs_differs_from_the_published_algorithm(name):
    defaults = {key: parameter.default for key, parameter in signature(SCS).parameters.items()}
    assert (defaults["geometry"], defaults["line_search"]) == ("rkhs", "exact")
    note = get(name).note
    assert re.search("norm of the (kernel's space|function)", note) and re.search("exact(ly)?[ ;.]", note)
    assert re.search("brackets a step|differs from the published", note)
    if name == "cross-paper":
        assert f"at most {defaults['sample_cap']:,} of the 4,000 rows" in note
