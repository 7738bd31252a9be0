"""The experiment on tuning: one referee, right for SVC and for ours; all searches choose on the same folds."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from kernbench import KernelSVC
from kernbench.datasets import load
from kernbench.experiments import get
from kernbench.experiments.ours.tuning import referee
from kernbench.experiments.ours.tuning.peers import NystroemLinearCV, NystroemLogisticCV, TorchKM, standard_error
from kernbench.experiments.ours.tuning.runs import measure

EXPERIMENT = get("tuning")
SMALL = {"Cs": [0.1, 10.0], "gammas": [0.5, 4.0]}
HERE = [method.name for method in EXPERIMENT.methods if method.requires is None]


@pytest.fixture(scope="module", params=["checkerboard", "digits"])
def data(request):
    return load(request.param, n_train=120, n_test=60)


@pytest.mark.parametrize("make", [SVC, KernelSVC])
def test_the_referee_knows_an_optimum_and_what_is_not_one(data, make):
    model = make(kernel="rbf", C=5.0, gamma=0.1, tol=1e-5).fit(data.X_train, data.y_train)
    at = {"C": 5.0, "gamma": 0.1}
    assert -1e-9 <= referee.relative_gap(model, data.X_train, data.y_train, **at) < 1e-4
    other = make(kernel="rbf", C=0.5, gamma=0.1, tol=1e-5).fit(data.X_train, data.y_train)
    assert referee.relative_gap(other, data.X_train, data.y_train, **at) > 0.01


def test_the_objective_of_a_constant_is_that_of_its_hinge_losses():
    X, y = np.zeros((5, 1)), np.array([3, 3, 3, 7, 7])
    zero = type("Zero", (), {"classes_": np.array([3, 7]), "support_": np.array([], dtype=int),
                             "dual_coef_": np.empty((1, 0)), "intercept_": np.array([-0.5])})  # fmt: skip
    assert referee.objective(zero, X, y, C=2.0, gamma=1.0) == pytest.approx(2.0 * (3 * 0.5 + 2 * 1.5))


def test_the_auc_of_many_classes_is_the_mean_of_each_against_the_rest():
    rng = np.random.default_rng(0)
    y, scores = rng.integers(0, 3, 60), rng.random((60, 3))
    scores /= scores.sum(axis=1, keepdims=True)
    assert referee.mean_auc([0, 1, 2], y, scores) == pytest.approx(roc_auc_score(y, scores, multi_class="ovr"))
    assert referee.mean_auc([0, 1, 2], y, np.zeros(60)) is None


@pytest.mark.parametrize("method", HERE)
def test_every_search_is_measured(outcome, method):
    found = outcome(EXPERIMENT, "checkerboard", method, arguments={"n_train": 150, "n_test": 200}, **SMALL)
    metrics = found["metrics"]
    assert found["seconds"]["fit"] == found["seconds"]["measured"] >= 0
    if method == "path":
        assert metrics["n_cells"] == 4 and found["n_kernel_evaluations"] >= 2 * 150**2
        return
    if method in ("zero", "default"):  # defaults learn nothing from so few rows of this board
        assert metrics["auc"] == 0.5 or method == "default"
        return
    assert metrics["test_error"] <= 0.3 and metrics["auc"] >= 0.8
    assert metrics["C"] in SMALL["Cs"] and metrics["gamma"] in SMALL["gammas"]
    assert metrics["folds_run"] == 3 and 0 < metrics["cv_error"] < 0.5 and metrics["cv_std_error"] > 0
    assert metrics["relative_gap"] is None if method.startswith("nystroem") else -1e-9 <= metrics["relative_gap"] < 2e-3
    assert (found["n_kernel_evaluations"] is None) == (method in ("grid-svc", "halving-svc"))
    # Of so few rows KernelSVCCV's halving drops nothing.
    assert (metrics["n_dropped"] > 0) == method.startswith("halving-") or method == "race"
    assert ("standard_errors" in metrics) == (method == "race" or method.startswith("halving"))


def test_searches_of_all_cells_choose_alike(outcome):
    chosen = {
        method: outcome(EXPERIMENT, "checkerboard", method, arguments={"n_train": 150, "n_test": 200}, **SMALL)
        for method in ("exact", "grid-kernel", "grid-svc")
    }
    values = {method: [found["metrics"][name] for name in ("C", "gamma")] for method, found in chosen.items()}
    assert values["exact"] == values["grid-kernel"] == values["grid-svc"]
    errors = [found["metrics"]["cv_error"] for found in chosen.values()]
    assert max(errors) - min(errors) <= 1 / 150 + 1e-12
    exact, grid = chosen["exact"]["n_kernel_evaluations"], chosen["grid-kernel"]["n_kernel_evaluations"]
    assert exact < grid


def test_of_one_fold_the_time_of_the_others_is_extrapolated(cell_of):
    cell = cell_of(EXPERIMENT, "checkerboard", "grid-svc", arguments={"n_train": 150, "n_test": 50}, **SMALL)
    found = measure(replace(cell, params={**cell.params, "one_fold": ["grid-svc"]}))
    seconds, metrics = found["seconds"], found["metrics"]
    assert metrics["folds_run"] == 1 and metrics["cv_std_error"] is None
    assert seconds["measured"] < seconds["fit"] <= 3 * seconds["measured"]


def test_the_best_cell_is_at_distance_0_and_another_one_is_not():
    data = load("checkerboard", n_train=150, n_test=50)
    place = {"X": data.X_train, "y": data.y_train, "cv": 3, **SMALL}
    distances = [
        referee.standard_errors_below_best({"C": C, "gamma": gamma}, **place)
        for C in SMALL["Cs"]
        for gamma in SMALL["gammas"]
    ]
    assert min(distances) == 0.0 and max(distances) > 1.0


def test_a_standard_error_is_that_of_the_mean():
    assert standard_error([0.0, 1.0]) == pytest.approx(0.5) and standard_error([0.3]) == 0.0


def test_large_data_have_a_declared_extrapolation_and_the_others_none():
    for setting in EXPERIMENT.scale("paper").settings:
        is_large = setting.arguments["name"] != "digits" and setting.arguments.get("n_train", 10_000) >= 10_000
        extrapolated = is_large and len(setting.params["gammas"]) > 1
        assert bool(setting.params["one_fold"]) == extrapolated == ("one fold is run" in setting.note)
        assert setting.takes("torchkm") == (setting.arguments.get("n_train") == 5000)
        assert len(setting.params["Cs"]) == 10 and setting.params["folds"] in (5, 10)


def test_a_run_without_names_takes_ten_folds_of_whole_grids_on_at_most_10000_rows():
    declared = EXPERIMENT.scale("paper").settings
    by_default = [setting for setting in declared if not setting.optional]
    assert {setting.arguments["name"] for setting in by_default} == {"adult", "w8a", "ijcnn1", "covtype", "digits"}
    for setting in by_default:
        assert setting.params["folds"] == 10 and len(setting.params["gammas"]) == 5
        assert setting.arguments["name"] == "digits" or setting.arguments["n_train"] <= 10_000
    names = {setting.name for setting in by_default}
    for claim in EXPERIMENT.claims:
        assert claim.datasets is None or names & set(claim.datasets), claim.text


@pytest.mark.filterwarnings("ignore:The (default value for l1_ratios|fitted attributes of Logistic)")
@pytest.mark.parametrize("search", [NystroemLogisticCV, NystroemLinearCV])
def test_nystroem_chooses_among_the_cells(data, search):
    model = search([0.1, 10.0], [0.05, 4.0], cv=3, n_landmarks=40, random_state=0)
    model.fit(data.X_train, data.y_train)
    assert np.mean(model.predict(data.X_test) == data.y_test) > 0.5
    assert model.n_kernel_evaluations_ == 2 * 40 * 160


def test_torchkm_minimises_the_same_objective():
    pytest.importorskip("torchkm")
    data = load("checkerboard", n_train=150, n_test=50)
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    model = TorchKM([1.0], [2.0], cv=folds).fit(data.X_train, data.y_train)
    assert referee.relative_gap(model, data.X_train, data.y_train, C=1.0, gamma=2.0) < 0.02
    assert 0.5 < model.best_score_ <= 1.0


def test_claims_tell_where_one_fold_chose_the_cell_of_the_baseline():
    on_one = {name for setting in EXPERIMENT.scale("paper").settings for name in setting.params["one_fold"]}
    claims = [claim for claim in EXPERIMENT.claims if claim.baseline in on_one and claim.metric == "test_error"]
    assert claims and all("one fold" in claim.text for claim in claims)
