"""``peers-svm``: all methods are judged by one objective, against a certified optimum."""

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import SVC

from kernbench.datasets import load
from kernbench.experiments import get
from kernbench.experiments.measure.building import build
from kernbench.experiments.measure.objectives import svm_objective
from kernbench.experiments.measure.optimum import certified_optimum
from kernbench.experiments.measure.race import in_precision, laid_out
from kernbench.experiments.ours.svm_peers import fits, limit
from kernbench.experiments.ours.svm_peers.thunder import ThunderSVC

ARGUMENTS = {"name": "checkerboard", "n_train": 300, "n_test": 200}
PROBLEM = {"gamma": 5.0, "C": 10.0}


def cell(method, **changes):
    declared = get("peers-svm").method(method)
    params = {**PROBLEM, **declared.params}
    if declared.seed_param:
        params[declared.seed_param] = 0
    return SimpleNamespace(
        loader="kernbench.datasets:load",
        arguments=ARGUMENTS,
        estimator=declared.estimator,
        params=params,
        seed=0,
        traced=declared.traced,
        input_dtype=declared.input_dtype,
        dense_input=declared.dense_input,
        warm_up_rows=20,
        **changes,
    )


@pytest.fixture(scope="module")
def exact():
    """LIBSVM's solution at a tight tolerance, and its data."""
    data = load(**ARGUMENTS)
    return data, SVC(**PROBLEM, tol=1e-8).fit(data.X_train, data.y_train)


def test_optimum_is_enclosed(exact):
    data, model = exact
    objective, _ = svm_objective(model, data.X_train, data.y_train)
    optimum = certified_optimum(data, **PROBLEM)
    assert optimum.lower <= objective * (1 + 1e-9)
    assert -1e-9 <= optimum.relative_gap(objective) < 1e-4
    assert optimum.n_support == pytest.approx(len(model.support_), abs=3)
    assert optimum.relative_gap(None) is None


@pytest.mark.parametrize("method", ["libsvm", "smo"])
def test_exact_solvers_reach_it_and_say_when(method):
    record = fits.measure(cell(method))
    metrics, trace = record["metrics"], record["trace"]
    assert 0 <= metrics["relative_gap"] < 1e-3
    assert 0 < metrics["seconds_to_gap"] and metrics["seconds_to_error"] is not None
    assert len(trace["seconds"]) == len(trace["relative_gap"]) == len(trace["test_error"])
    if method == "libsvm":
        assert metrics["seconds_to_gap"] == record["seconds"]["fit"] == trace["seconds"][-1]
    else:
        assert metrics["seconds_to_gap"] <= trace["seconds"][-1]


def test_sparse_data_become_dense_for_those_who_ask_and_nobody_else():
    data = load("sparse-text", n_train=40, n_test=20)
    kept, dense = (laid_out(SimpleNamespace(dense_input=ask), data) for ask in (False, True))
    assert kept is data and sparse.issparse(data.X_train)
    assert isinstance(dense.X_train, np.ndarray) and isinstance(dense.X_test, np.ndarray)
    np.testing.assert_array_equal(dense.X_train, data.X_train.toarray())
    single = in_precision(SimpleNamespace(input_dtype="float32"), dense)
    assert single.X_train.dtype == single.X_test.dtype == np.float32
    takers = {method.name for method in get("peers-svm").methods if method.dense_input}
    assert takers == {"intelex-f32", "intelex-f64", "thundersvm", "snapml"}


def test_peers_that_keep_kernel_rows_have_as_much_memory_for_them():
    methods = {method.name: method.params for method in get("peers-svm").methods}
    assert methods["thundersvm"]["max_mem_size"] == methods["intelex-f32"]["cache_size"] == 4000


@pytest.mark.parametrize("sign", [1, -1])
def test_thundersvm_is_judged_as_libsvm_is_whichever_class_comes_first(exact, sign):
    pytest.importorskip("thundersvm")
    data, _ = exact
    labels = sign * data.y_train
    model = ThunderSVC(**PROBLEM).fit(data.X_train, labels)
    oracle = SVC(**PROBLEM).fit(data.X_train, labels)
    np.testing.assert_allclose(model.decision_function(data.X_test), oracle.decision_function(data.X_test), atol=0.02)
    assert np.mean(model.predict(data.X_test) == oracle.predict(data.X_test)) > 0.98
    objective, gap = svm_objective(model, data.X_train, labels)
    assert objective == pytest.approx(svm_objective(oracle, data.X_train, labels)[0], rel=1e-3)
    assert 0 <= gap < 1e-3 * objective


def test_what_thundersvm_is_asked_and_what_it_answers_keep_the_labels(monkeypatch):
    """A stand-in for the library, whose positive class is that of the first row, and whose intercept is subtracted."""

    class Library:
        def __init__(self, **params):
            self.params = params

        def fit(self, X, y):
            self.support_, self.dual_coef_ = np.array([0, 1]), np.array([[2.0, -2.0]])
            self.intercept_, self.first = np.array([0.5]), y[0]
            return self

        def decision_function(self, X):
            return X[:, :1] * self.first - 0.5

    module = ModuleType("thundersvm")
    module.SVC = Library
    monkeypatch.setitem(sys.modules, "thundersvm", module)
    X = np.array([[-3.0], [3.0]])
    model = ThunderSVC(C=2.0, gamma=0.5).fit(X, np.array([4, 9]))
    assert model.model_.params == {"kernel": "rbf", "C": 2.0, "gamma": 0.5, "max_mem_size": 4000}
    assert model.predict(X).tolist() == [4, 9] and model.decision_function(X).tolist() == [-2.5, 3.5]
    assert model.dual_coef_.tolist() == [[-2.0, 2.0]] and model.intercept_.tolist() == [0.5]


def test_a_model_without_dual_variables_has_no_objective():
    record = fits.measure(cell("nystroem-sklearn"))
    assert record["metrics"]["objective"] is None and record["metrics"]["seconds_to_gap"] is None
    assert record["metrics"]["test_error"] < 0.2


def test_first_within_looks_from_the_end():
    seconds, values = [1.0, 2.0, 3.0, 4.0], [0.5, 0.1, 0.3, 0.2]
    assert fits.first_within(seconds, values, 0.3) == 2.0
    assert fits.first_within(seconds, values, 0.2) == 4.0
    assert fits.first_within(seconds, values, 0.1) is None
    assert fits.first_within(seconds, [None, None, 0.1, 0.1], 0.2) == 3.0


def test_limit_is_the_rows_of_the_support_vectors(exact):
    record = limit.measure(cell("limit"))
    metrics = record["metrics"]
    assert metrics["n_support"] == pytest.approx(len(exact[1].support_), abs=3)
    assert record["seconds"]["fit"] == pytest.approx(metrics["row_seconds"] * metrics["n_support"])


def test_nystroem_of_both_libraries_errs_alike():
    """The two differ in landmarks and in the intercept only."""
    data = load(**ARGUMENTS)
    errors = []
    for method in ("nystroem", "nystroem-sklearn"):
        declared = get("peers-svm").method(method)
        params = {**PROBLEM, **declared.params, "n_landmarks": 150, "random_state": 0}
        model = build(declared.estimator, params, len(data.y_train))
        errors.append(np.mean(model.fit(data.X_train, data.y_train).predict(data.X_test) != data.y_test))
    assert abs(errors[0] - errors[1]) < 0.05


def test_settings_are_those_the_field_is_measured_by():
    settings = {s.name: s.params for s in get("peers-svm").scale("paper").settings}
    assert settings["adult"] == {"gamma": 0.05, "C": 1.0}
    assert settings["adult-wide"] == {"gamma": 0.005, "C": 100.0}
    assert settings["mnist-8-vs-rest"] == {"gamma": 0.02, "C": 1000.0}
    assert settings["covtype"] == {"gamma": 0.0075, "C": 10.0}
    assert {"ijcnn1", "w8a"} <= set(settings)


def test_rows_in_batches_are_not_called_a_limit():
    """Larger batches can be faster."""
    experiment = get("peers-svm")
    (claim,) = [claim for claim in experiment.claims if claim.baseline == "limit"]
    assert f"batches of {limit.BATCH}" in claim.text
    assert "limit" not in claim.text + experiment.method("limit").label
