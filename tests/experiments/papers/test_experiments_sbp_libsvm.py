"""The experiment ``sbp-libsvm``: declared as in the paper, and runnable."""

import json
from importlib import import_module

import pytest

from kernbench._lazy import load
from kernbench.experiments import get, names
from kernbench.experiments.measure.building import build, takes
from kernbench.experiments.papers.sbp.libsvm import BUDGET, QUARTER
from kernbench.experiments.run import Store, run

EXPERIMENT = get("sbp-libsvm")


def test_registry_knows_it_and_refuses_others_with_the_nearest():
    assert "sbp-libsvm" in names()
    with pytest.raises(ValueError, match="did you mean 'sbp-libsvm'"):
        get("spb-libsvm")


@pytest.mark.parametrize(
    ("dataset", "variance", "lam_n"),
    [
        ("adult", 100, 1 / 100),
        ("adult-narrow", 10, 1),
        ("mnist-8-vs-rest", 25, 1 / 1000),
        ("covtype", 5000, 1e-4),
        ("forest", 5000, 1e-4),
    ],
)
def test_parameters_are_those_of_table_2(dataset, variance, lam_n):
    params = EXPERIMENT.scale("paper").setting(dataset).params
    assert params["kernel"] == "rbf"
    assert params["gamma"] == pytest.approx(1 / (2 * variance))
    assert params["C"] == pytest.approx(1 / lam_n)


def test_numbers_are_those_of_the_paper():
    number = EXPERIMENT.paper_number
    assert number("adult", "libsvm", "test_error") == 0.149
    assert number("adult", "sbp-quarter", "fit_seconds") == 48.75
    assert number("mnist-8-vs-rest", "sbp-quarter", "test_error") == 0.0046
    assert number("mnist-8-vs-rest", "sbp-quarter", "fit_seconds") == 495.0
    assert number("forest", "libsvm", "test_error") == 0.018
    assert number("forest", "sbp-quarter", "fit_seconds") == 8.75 * 3600
    assert number("adult-narrow", "libsvm", "test_error") is None


def test_a_subset_has_no_numbers_of_the_paper_but_says_what_it_stands_for():
    subset, whole = (EXPERIMENT.scale("paper").setting(name) for name in ("covtype", "forest"))
    assert EXPERIMENT.paper_number("covtype", "libsvm", "test_error") is None
    assert subset.stands_for == whole.name and subset.params == whole.params
    assert {"n_train": 50_000, **whole.arguments} == subset.arguments


def test_declared_data_sets_exist_and_quick_ones_need_no_file():
    registry = import_module("kernbench.datasets")
    for scale in EXPERIMENT.scales.values():
        for setting in scale.settings:
            entry = registry.describe(setting.arguments["name"])
            assert set(setting.arguments) - {"name", "n_train", "n_test", "seed"} <= set(entry.options)
            assert scale is not EXPERIMENT.scale("quick") or entry.kind in ("generated", "bundled")
    stand_ins = [setting.stands_for for setting in EXPERIMENT.scale("quick").settings]
    assert "adult" in stand_ins


def test_declared_estimators_take_their_parameters():
    for method in EXPERIMENT.methods:
        if method.requires is None:
            build(method.estimator, method.params, 100)
            expected = {method.seed_param, method.depends_on and method.budget_param, method.traced and "callback"}
            assert all(takes(load(method.estimator), name) for name in expected if name)


def test_it_runs_end_to_end(tmp_path):
    methods = ["sbp-quarter", "smo-converged"]  # and libsvm, for the quarter
    run("sbp-libsvm", results=tmp_path, repeats=1, datasets=["checkerboard"], methods=methods, time_limit=60)
    records = {record["method"]: record for record in Store(tmp_path).records("sbp-libsvm")}
    assert {name: record["error"] for name, record in records.items() if record["status"] != "ok"} == {}

    objectives = {name: record["metrics"]["objective"] for name, record in records.items()}
    reference = records["libsvm"]["metrics"]
    optimum = reference["objective"] - reference["gap"]  # from below
    assert all(objective >= optimum - 1e-6 for objective in objectives.values())
    assert objectives["smo-converged"] == pytest.approx(objectives["libsvm"], rel=1e-3)
    assert all(record["metrics"]["test_error"] < 0.2 for name, record in records.items() if "quarter" not in name)

    assert 0.8 * QUARTER < BUDGET < QUARTER  # the rest is for work that is not on the solver's clock
    budget = BUDGET * records["libsvm"]["seconds"]["fit"]
    assert records["sbp-quarter"]["params"]["max_seconds"] == pytest.approx(budget)
    trace = records["smo-converged"]["trace"]
    assert len(trace["seconds"]) == len(trace["test_error"]) > 1
    assert trace["n_kernel_evaluations"][-1] == records["smo-converged"]["n_kernel_evaluations"]
    assert len(records["libsvm"]["trace"]["test_error"]) == 1
    json.dumps(records, allow_nan=False)


def test_the_budget_that_follows_from_c_is_told_where_the_paper_has_one_of_its_own():
    assert not any("nu" in method.params.get("solver_options", {}) for method in EXPERIMENT.methods)
    assert "in place of the ν of Table 2" in EXPERIMENT.differs
