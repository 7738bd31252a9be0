"""``peers-svm``, regression and one class: one objective and one lower bound for all; the zero model is above them."""

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from sklearn.svm import SVR, OneClassSVM

from kernbench._lazy import load
from kernbench._models import ESTIMATORS
from kernbench.datasets import load as load_data
from kernbench.experiments import get
from kernbench.experiments.measure.landmarks import NystroemSVR, SnapSVC
from kernbench.experiments.measure.svm_family import (
    one_class_bound,
    one_class_objective,
    regression_bound,
    regression_objective,
)
from kernbench.experiments.ours.svm_peers import family
from kernbench.solvers import registry

EXPERIMENT = get("peers-svm")
SVR_PROBLEM = {"gamma": 0.1, "C": 2.0, "epsilon": 0.1}
N = 150


@pytest.fixture(scope="module")
def examples():
    data = load_data("cpu-small-like", n_train=N, n_test=60)
    return data.X_train, data.y_train


def measured(name):
    """The record of a method on a small data set."""
    method = EXPERIMENT.method(name)
    one_class = method.measure == family.NOVELTY
    loader = f"{family.HERE}.fits_of_family:inliers" if one_class else "kernbench.datasets:load"
    params = {"gamma": 0.05, "nu": 0.2} if one_class else SVR_PROBLEM
    cell = SimpleNamespace(
        loader=loader,
        arguments={"name": "adult-like" if one_class else "cpu-small-like", "n_train": N, "n_test": 60},
        estimator=method.estimator,
        params={**params, **method.params, **({"random_state": 0} if method.seed_param else {})},
        input_dtype=method.input_dtype,
        warm_up_rows=10,
    )
    return load(method.measure)(cell)


def installed(names):
    return [name for name in names if EXPERIMENT.method(name).requires is None]


def test_the_bound_of_regression_encloses_the_optimum_with_the_objective(examples):
    X, y = examples
    rest = {name: SVR_PROBLEM[name] for name in ("C", "epsilon")}
    exact = SVR(**SVR_PROBLEM, tol=1e-8).fit(X, y)
    objective = regression_objective(exact, X, y, **rest)
    found = regression_bound(X, y, **SVR_PROBLEM, rows=exact.support_, coef=exact.dual_coef_.ravel())
    assert found <= objective * (1 + 1e-9) and found == pytest.approx(objective, rel=1e-6)
    rng = np.random.default_rng(0)
    for scale in (0.01, 0.3, 3.0):
        any_coef = scale * rng.standard_normal(N)
        assert regression_bound(X, y, **SVR_PROBLEM, rows=np.arange(N), coef=any_coef) <= objective * (1 + 1e-9)
    assert regression_bound(X, y, **SVR_PROBLEM, rows=np.empty(0, dtype=int), coef=np.empty(0)) == 0.0


def test_the_bound_of_one_class_encloses_the_optimum_with_the_objective(examples):
    X, _ = examples
    exact = OneClassSVM(gamma=0.1, nu=0.2, tol=1e-8).fit(X)
    objective, coef = one_class_objective(exact, X, nu=0.2), exact.dual_coef_.ravel()
    found = one_class_bound(X, gamma=0.1, nu=0.2, rows=exact.support_, coef=coef)
    assert found <= objective + 1e-12 and found == pytest.approx(objective, rel=1e-6)
    rng = np.random.default_rng(0)
    for _ in range(3):
        any_coef = rng.random(N) ** 3
        assert one_class_bound(X, gamma=0.1, nu=0.2, rows=np.arange(N), coef=any_coef) <= objective
    larger = SimpleNamespace(
        dual_coef_=7 * exact.dual_coef_,
        support_=exact.support_,
        offset_=7 * exact.offset_,
        score_samples=lambda rows: 7 * exact.score_samples(rows),
    )
    assert one_class_objective(larger, X, nu=0.2) == pytest.approx(objective)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_regression_is_judged_and_below_the_zero_model():
    records = {name: measured(name)["metrics"] for name in installed(family.REGRESSOR_NAMES)}
    zero = records.pop("svr-zero")
    assert zero["objective"] is not None
    for name, metrics in records.items():
        assert metrics["rmse"] < 0.8 * zero["rmse"], name
        if name in family.EXPANSIONS:
            assert -1e-9 <= metrics["relative_gap"] and metrics["objective"] < 0.5 * zero["objective"], name
        else:
            assert "objective" not in metrics, name
    assert records["svr-libsvm"]["seconds_to_gap"] is not None


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_outlier_detector_is_judged_and_below_the_zero_model():
    records = {name: measured(name)["metrics"] for name in installed(family.DETECTOR_NAMES)}
    zero = records.pop("one-class-zero")
    assert zero["objective"] == 0.0 and zero["relative_gap"] == 1.0 and zero["auc"] == 0.5
    for name, metrics in records.items():
        assert 0.0 <= metrics["auc"] <= 1.0 and 0.0 < metrics["share_novel"] < 0.6, name
        assert metrics.get("relative_gap", 0.0) < 0.5, name


def test_all_solvers_and_models_of_ours_take_part():
    solvers = {e.name for e in registry.SOLVERS if e.problem == "kernel-regression" and family.LOSS in e.losses}
    assert set(family.REGRESSION_SOLVERS) == solvers, f"list them in {family.__name__}.REGRESSION_SOLVERS"
    detectors = {model.address for model in ESTIMATORS if model.task == "novelty"}
    assert detectors <= {method.estimator for method in family.DETECTORS}


def test_only_rows_of_one_class_are_trained_on():
    data = load("kernbench.experiments.ours.svm_peers.fits_of_family:inliers")("adult-like", n_train=200, n_test=100)
    assert set(data.y_train) == {-1} and set(data.y_test) == {-1, 1} and data.X_train.shape[0] == len(data.y_train)


def test_optional_libraries_get_the_same_problem(monkeypatch, examples):
    """Stand-ins for libraries that may not be installed record what they are given."""
    X, y = examples
    given = {}

    class Recording:
        def __init__(self, *arguments, **keywords):
            given.update(keywords, arguments=arguments)

        def fit(self, X, y):
            self.coef_, given["shape"] = np.zeros(X.shape[1]), X.shape
            return self

    for name, attribute in (("rehline", "plq_Ridge_Regressor"), ("snapml", "SupportVectorMachine")):
        module = ModuleType(name)
        setattr(module, attribute, Recording)
        monkeypatch.setitem(sys.modules, name, module)
    NystroemSVR(gamma=0.1, C=2.0, epsilon=0.3, n_landmarks=40, library="rehline", random_state=0).fit(X, y)
    assert given["arguments"] == ({"name": "SVR", "epsilon": 0.3},) and given["C"] == 2.0 and given["shape"] == (N, 40)
    SnapSVC(gamma=0.1, C=4.0).fit(X, y > 0)
    assert given["regularizer"] == 0.25 and given["gamma"] == 0.1 and given["shape"] == X.shape


def test_no_claim_asks_for_an_objective_below_the_optimum():
    """Of the zero model's, on a thousand rows; with more rows the optimum is lower."""
    claims = [claim for claim in EXPERIMENT.claims if claim.baseline == "svr-zero"]
    assert {claim.method for claim in claims} == {f"svr-{name}" for name in family.REGRESSION_SOLVERS}
    params = {setting.name: setting.params for setting in family.PAPER_SETTINGS}
    for name, bound in {(name, claim.bound) for claim in claims for name in claim.datasets}:
        data, rest = load_data(name, n_train=1000, n_test=10), {key: params[name][key] for key in ("C", "epsilon")}
        zero = load(EXPERIMENT.method("svr-zero").estimator)(loss=family.LOSS, epsilon=rest["epsilon"])
        models = (SVR(**params[name]), zero)
        fitted = (model.fit(data.X_train, data.y_train) for model in models)
        least, most = (regression_objective(model, data.X_train, data.y_train, **rest) for model in fitted)
        assert least < bound * most
