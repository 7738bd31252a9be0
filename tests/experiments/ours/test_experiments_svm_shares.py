"""``peers-svm`` with a share nu: one objective and one lower bound for all; the zero model is above them."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.svm import NuSVC, NuSVR

from kernbench._lazy import load
from kernbench.datasets import load as load_data
from kernbench.experiments import get
from kernbench.experiments.measure.objectives import dual_coefficients
from kernbench.experiments.measure.svm_family import (
    margin_bound,
    margin_objective,
    residual_bound,
    residual_objective,
    share_sum,
)
from kernbench.experiments.ours.svm_peers import shares

EXPERIMENT = get("peers-svm")
N = 150


def measured(method):
    """The record of a method on a small data set."""
    of_classes = method.measure == shares.CLASSES
    name, params = ("adult-like", shares.OF_CLASSES) if of_classes else ("cpu-small-like", shares.OF_NUMBERS)
    cell = SimpleNamespace(
        loader="kernbench.datasets:load",
        arguments={"name": name, "n_train": N, "n_test": 60},
        estimator=method.estimator,
        params={**params, **method.params, **({"random_state": 0} if method.seed_param else {})},
        input_dtype=method.input_dtype,
        warm_up_rows=40,
    )
    return load(method.measure)(cell)


@pytest.mark.parametrize("methods", [shares.CLASSIFIERS, shares.REGRESSORS], ids=["NuSVC", "NuSVR"])
def test_every_method_is_judged_and_below_the_zero_model(methods):
    found = {method.name: measured(method)["metrics"] for method in methods if method.requires is None}
    (zero,) = (metrics for name, metrics in found.items() if name.endswith("zero"))
    for name, metrics in found.items():
        assert metrics["relative_gap"] >= -1e-9, name
        if metrics is not zero:
            assert metrics["objective"] < zero["objective"] and metrics["relative_gap"] <= 0.01, name
            assert metrics.get("rmse", 0.0) <= zero.get("rmse", 0.0), name
    assert found[f"{methods[0].name.removesuffix('-libsvm')}-ours"]["relative_gap"] <= 1e-3


@pytest.mark.parametrize("nu", [0.1, 0.3])
def test_bound_and_objective_of_classes_enclose_the_optimum(nu):
    data = load_data("adult-like", n_train=N, n_test=60)
    X, y = data.X_train, data.y_train
    exact = NuSVC(nu=nu, gamma=0.1, tol=1e-8).fit(X, y)
    objective, coef = margin_objective(exact, X, y, nu=nu), dual_coefficients(exact)
    bound = margin_bound(X, y, gamma=0.1, nu=nu, rows=exact.support_, coef=coef)
    assert objective < 0.0 and bound <= objective * (1 - 1e-9) and bound == pytest.approx(objective, rel=1e-5)
    rng = np.random.default_rng(0)
    for _ in range(3):
        assert margin_bound(X, y, gamma=0.1, nu=nu, rows=np.arange(N), coef=y * rng.random(N) ** 3) <= objective
    flipped = SimpleNamespace(
        support_=exact.support_,
        dual_coef_=-exact.dual_coef_,
        intercept_=-exact.intercept_,
        decision_function=lambda rows: -exact.decision_function(rows),
    )
    assert margin_objective(flipped, X, y, nu=nu) == 0.0


@pytest.mark.parametrize("nu", [0.2, 1.0])
def test_bound_and_objective_of_numbers_enclose_the_optimum(nu):
    data = load_data("cpu-small-like", n_train=N, n_test=60)
    X, y = data.X_train, data.y_train
    exact = NuSVR(nu=nu, C=2.0, gamma=0.1, tol=1e-8).fit(X, y)
    objective = residual_objective(exact, X, y, nu=nu, C=2.0)
    bound = residual_bound(X, y, gamma=0.1, nu=nu, C=2.0, rows=exact.support_, coef=exact.dual_coef_.ravel())
    assert bound <= objective * (1 + 1e-9) and bound == pytest.approx(objective, rel=1e-5)
    rng = np.random.default_rng(0)
    for scale in (0.01, 0.3, 3.0):
        other = scale * rng.standard_normal(N)
        assert residual_bound(X, y, gamma=0.1, nu=nu, C=2.0, rows=np.arange(N), coef=other) <= objective * (1 + 1e-9)


@pytest.mark.parametrize("nu, expected", [(0.25, -3.0), (0.5, -1.0), (0.6, -0.2), (1.0, 8.0)])
def test_the_last_value_of_a_share_counts_in_part(nu, expected):
    assert share_sum(np.array([7.0, -3.0, 2.0, 2.0]), nu) == pytest.approx(expected)
