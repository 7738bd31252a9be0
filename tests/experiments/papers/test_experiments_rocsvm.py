"""The experiments on the ROC-SVM: declared as in the paper, correctly judged, runnable."""

from importlib import import_module

import numpy as np
import pytest

from kernbench import ROCSVC
from kernbench.datasets import load
from kernbench.experiments import get
from kernbench.experiments.measure.building import build
from kernbench.experiments.papers.rocsvm import drawn_pairs, equal, theorem
from kernbench.experiments.papers.rocsvm.naive import NaiveROCSVC
from kernbench.experiments.papers.rocsvm.parts import ROC_SVC
from kernbench.experiments.run.cells import plan
from kernbench.report.claims.findings import findings
from kernbench.report.records.reading import results_of

LINEAR, NYSTROEM, REAL, PEERS = EXPERIMENTS = [
    get(name) for name in ("rocsvm-linear", "rocsvm-nystroem", "rocsvm-real", "peers-auc")
]
TINY = {"n_train": 150, "n_test": 200}


@pytest.fixture(scope="module")
def small():
    return load("roc-linear", 300, 400, seed=3)


# --- what is declared ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("experiment", "dataset", "method", "seconds", "percent"),
    [
        (LINEAR, "n-5000", "full-naive", 196.10, 90.370),
        (LINEAR, "n-10000", "full-naive", 819.10, 90.374),
        (LINEAR, "n-5000", "incomplete", 2.69, 90.370),
        (LINEAR, "n-100000", "incomplete", 10.26, 90.376),
        (NYSTROEM, "n-10000", "kernel-incomplete", 19.81, 90.863),
        (NYSTROEM, "n-50000", "nystroem-incomplete", 5.19, 90.936),
        (REAL, "skin", "linear-incomplete", 8.38, 94.64),
        (REAL, "bank-marketing", "rbf-incomplete", 46.33, 76.04),
        (REAL, "accelerometer", "rbf-incomplete", 1.60, 89.92),
    ],
)
def test_numbers_are_those_of_the_paper(experiment, dataset, method, seconds, percent):
    assert experiment.paper_number(dataset, method, "fit_seconds") == seconds
    assert experiment.paper_number(dataset, method, "auc") == pytest.approx(percent / 100, abs=1e-12)


def test_distances_to_the_population_are_those_the_paper_s_numbers_imply():
    assert LINEAR.paper_number("n-5000", "incomplete", "gap") == pytest.approx(0.00007)
    assert LINEAR.paper_number("n-100000", "incomplete", "gap") == pytest.approx(0.00001)
    assert NYSTROEM.paper_number("n-5000", "nystroem-incomplete", "gap") == pytest.approx(0.00064)
    assert LINEAR.paper_number("n-50000", "full-naive", "gap") is None


def test_paper_scale_is_that_of_the_paper():
    for experiment in (LINEAR, NYSTROEM):
        scale = experiment.scale("paper")
        sizes = {s.arguments["n_train"] for s in scale.settings if s.name.startswith("n-")}
        assert sizes == {5000, 10_000, 50_000, 100_000} and scale.repeats == 50
        assert {s.arguments["n_test"] for s in scale.settings if s.name != "theorem"} == {25_000}
    assert REAL.scale("paper").repeats == 30
    assert {method.params.get("n_landmarks") for method in REAL.methods} == {None, 300}
    for method in (LINEAR.method("incomplete"), REAL.method("rbf-incomplete")):
        assert method.params["pairs"] == "n_samples" and method.params["solver"] == "adamax"


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda experiment: experiment.name)
def test_declared_data_exist_and_quick_ones_need_no_file(experiment):
    registry = import_module("kernbench.datasets")
    for name, scale in experiment.scales.items():
        for setting in scale.settings:
            entry = registry.describe(setting.arguments["name"])
            given = {*setting.arguments, setting.repeat_argument} - {"name", "n_train", "n_test", "seed"}
            assert given <= set(entry.options)
            assert name != "quick" or entry.kind == "generated"


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda experiment: experiment.name)
def test_every_repeat_has_data_of_its_own_which_its_methods_share(experiment):
    cells, _ = plan([experiment], "quick", repeats=3)
    arguments = {}
    for cell in cells:
        arguments.setdefault((cell.dataset, cell.repeat), []).append(cell.arguments)
    for (dataset, repeat), found in arguments.items():
        assert all(given == found[0] for given in found)
        assert found[0] != arguments[dataset, (repeat + 1) % 3][0]


def test_the_note_tells_which_methods_choose_alpha_on_all_rows():
    """A kernel among a method's own parameters makes a search take fewer rows."""
    search = REAL.scale("paper").setting("skin").params["search"]
    assert search["max_kernel_rows"] < search["max_rows"]
    of_kernels = {method.name for method in REAL.methods if method.params.get("kernel", "linear") != "linear"}
    assert of_kernels == {"rbf-incomplete", "rbf-exact"}  # not "rbf-logistic"
    assert "10,000 of them for Gaussian ROC-SVMs, of all for the logistic regression on landmarks" in REAL.note


def test_peers_that_are_not_installed_are_gaps_with_a_reason(monkeypatch):
    cells = import_module("kernbench.experiments.run.cells")
    monkeypatch.setattr(cells, "find_spec", lambda name: None)
    planned, gaps = plan([PEERS], "quick")
    assert {gap.method: gap.reason for gap in gaps} == {
        "survival-svm": "scikit-survival is not installed",
        "libauc": "libauc is not installed",
    }
    assert {"survival-svm", "libauc"}.isdisjoint(cell.method for cell in planned)


# --- parts --------------------------------------------------------------------------------------------------


def test_naive_and_sorted_full_risk_take_the_same_steps(small):
    naive = NaiveROCSVC(alpha=0.01, max_iter=60).fit(small.X_train, small.y_train)
    by_sorting = ROCSVC(alpha=0.01, solver="adamax", tol=1e-6, max_iter=60)
    with pytest.warns(match="max_iter"):
        by_sorting.fit(small.X_train, small.y_train)
    np.testing.assert_allclose(naive.coef_, by_sorting.coef_, rtol=1e-9)


def test_naive_risk_on_the_worked_example():
    positives, negatives = np.array([[2.0, 0], [0, 1]]), np.array([[0.0, 0], [1, 1], [-1, 0]])
    value, g = NaiveROCSVC(alpha=0.1)._value_and_subgradient(np.array([0.5, 0.25]), positives, negatives)
    assert value == pytest.approx(0.557291667)
    np.testing.assert_allclose(g, [-0.116666667, -0.141666667])


def test_summary_of_drawn_pairs_on_known_values():
    rows = []
    for share in (0.5, 1.0, 2.0):
        rows.append((drawn_pairs.ALL, share, 0, 0.01, None, 1.0))
        rows.append((drawn_pairs.AT_RANDOM, share, 0, 0.01 + 0.004 / share, 0.3 / share, 1.0))
    found = drawn_pairs.summary(rows)
    assert found == {
        "excess": pytest.approx(0.3),
        "excess_slope": pytest.approx(-1.0),
        "pairs_cost": pytest.approx(0.004),
    }


# --- cells --------------------------------------------------------------------------------------------------

RUNS = [
    (experiment, setting.name, method.name)
    for experiment in EXPERIMENTS
    for setting in experiment.scale("quick").settings
    if setting.name != "n-1000"
    for method in experiment.methods
    if setting.takes(method.name) and method.requires is None and method.measure is None
]


@pytest.mark.parametrize(("experiment", "dataset", "method"), RUNS)
@pytest.mark.filterwarnings("ignore:.*max_iter", "ignore:.*converge")
def test_every_method_fits_and_fills_its_metrics(outcome, experiment, dataset, method):
    small = {"max_iter": 30} if "solver" in experiment.method(method).params else {}
    if "search" in experiment.scale("quick").setting(dataset).params:
        small["search"] = {"alphas": [0.1, 0.01], "folds": 2, "max_rows": 100}
    found = outcome(experiment, dataset, method, arguments=TINY, **small)
    assert 0.3 < found["metrics"]["auc"] <= 1.0
    assert found["seconds"]["fit"] > 0
    assert ("search" in found["seconds"]) == ("search" in small)
    assert (found["metrics"]["gap"] is not None) == found["data"]["name"].startswith("roc-")


@pytest.mark.parametrize("experiment", [LINEAR, NYSTROEM], ids=lambda experiment: experiment.name)
def test_more_pairs_come_nearer_to_all_pairs(outcome, experiment):
    found = outcome(experiment, "pairs", "pairs", arguments=TINY, shares=[1.0, 10.0], n_seeds=2)
    metrics, trace = found["metrics"], found["trace"]
    assert metrics["excess"] > 0 and metrics["excess_slope"] < 0
    assert min(above for above in trace["excess"] if above is not None) > -1e-4
    assert set(trace["draws"]) == {drawn_pairs.AT_RANDOM, drawn_pairs.EVENLY, drawn_pairs.ALL}


def test_the_whole_kernel_is_fitted_on_with_more_rows():
    """With a step of one size for all n it ended at step 32 of 1,000, since a step moves all n coefficients."""
    params = NYSTROEM.method("kernel-incomplete").params
    for n in (200, 1600):
        data = load("roc-radial", n, 100, seed=1)
        own = params | {"alpha": 1e-3, "random_state": 0}
        with pytest.warns(match="max_iter"):
            early, late = (
                build(ROC_SVC, own | {"max_iter": steps}, n).fit(data.X_train, data.y_train) for steps in (32, 200)
            )
        assert late.n_iter_[0] == 200 and late.objective_ < early.objective_


@pytest.mark.parametrize("experiment", [LINEAR, NYSTROEM], ids=lambda experiment: experiment.name)
def test_equal_objectives_take_longer_than_the_limit_that_they_are_above_at(outcome, experiment):
    found = outcome(experiment, "equal", "equal", arguments=TINY, limit=50, most=4000)
    metrics, trace = found["metrics"], found["trace"]
    for kind in ("drawn", "all"):
        assert metrics[f"{kind}_limit_excess"] > equal.WITHIN
        assert metrics[f"{kind}_equal_steps"] is None or metrics[f"{kind}_equal_steps"] > 50
        assert (metrics[f"{kind}_equal_steps"] is None) == (metrics[f"{kind}_equal_factor"] is None)
    assert set(trace["line"]) == set(equal.LINES.values()) and min(trace["excess"]) > -1e-9


def test_the_first_point_within_a_per_cent_counts():
    assert equal._reached([(1.0, 10, 0.2), (2.0, 20, 0.01), (3.0, 30, 0.001)]) == (2.0, 20)
    assert equal._reached([(1.0, 10, 0.2)]) == (None, None)


def test_drawing_pairs_errs_less_with_more_rows(outcome):
    found = outcome(NYSTROEM, "theorem", "theorem", sizes=[64, 192, 576], n_seeds=5)
    metrics, trace = found["metrics"], found["trace"]
    assert metrics["drawn"] < 0 and metrics["drawn_low"] < metrics["drawn"] < metrics["drawn_high"]
    spectrum = [value for name, value in zip(trace["quantity"], trace["value"]) if name == theorem.SPECTRUM]
    assert len(spectrum) == 15 and 0 <= min(spectrum) <= max(spectrum) < 1


# --- claims -------------------------------------------------------------------------------------------------


def record(experiment, dataset, method, seconds=1.0, **metrics):
    return {
        "experiment": experiment.name,
        "scale": "paper",
        "dataset": dataset,
        "method": method,
        "repeat": 0,
        "status": "ok",
        "metrics": metrics,
        "seconds": {"fit": seconds},
        "environment": {},
        "data": {},
        "trace": {},
    }


def verdicts(experiment, records):
    """Verdict by the text of the claim, of those that could be judged."""
    ((results,), _) = results_of(records)
    assert results.experiment is experiment
    return {
        finding.text: judgement.verdict
        for finding in findings([results])[0]
        for judgement in finding.judgements
        if judgement.verdict != "cannot be judged"
    }


@pytest.mark.parametrize(("auc", "expected"), [(0.95, "held so far"), (0.90, "did not hold so far")])
def test_reaching_the_paper_is_judged_both_ways(auc, expected):
    found = verdicts(REAL, [record(REAL, "skin", "linear-incomplete", auc=auc)])
    assert found == {"The paper's method, linear, reaches the paper's AUC on skin: 94.64 %.": expected}


@pytest.mark.parametrize(
    ("auc", "seconds", "expected"),
    [(0.908, 0.5, "held so far"), (0.905, 0.5, "did not hold so far"), (0.908, 1.5, "did not hold so far")],
)
def test_exact_against_incomplete_is_judged_by_auc_and_time(auc, seconds, expected):
    records = [record(LINEAR, "n-5000", "incomplete", auc=0.908), record(LINEAR, "n-5000", "exact", seconds, auc=auc)]
    (claim,) = [text for text in verdicts(LINEAR, records) if "in no more time" in text]
    assert verdicts(LINEAR, records)[claim] == expected


def test_the_note_tells_steps_limit_and_starts_of_the_papers_method():
    linear, gaussian = (REAL.method(f"{kernel}-incomplete").params for kernel in ("linear", "rbf"))
    size = gaussian["solver_options"]["step_size"]
    assert "solver_options" not in linear and f"{size:g} for Gaussian" in REAL.note
    assert f"{linear['max_iter']:,} steps" in REAL.note and "the final fit from 0" in REAL.note


def test_both_numbers_of_columns_that_the_paper_has_of_bank_marketing_are_told():
    data = REAL.had_in_paper("bank-marketing")
    assert "18 columns" in str(data) and "19" in str(data)
