"""A warm start with a smaller tol is held to it: a start that converged to the larger one goes on."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification

from kernbench import (
    ROCSVC,
    KernelRegressor,
    KernelSVC,
    KernelSVR,
    LinearSVC,
    PartialAUCClassifier,
    RankedRangeClassifier,
    RankedRangeRegressor,
)

MODELS = {
    "KernelSVC": KernelSVC(gamma=0.2),
    "KernelSVR": KernelSVR(gamma=0.2),
    "KernelRegressor": KernelRegressor("huber", solver="newton", gamma=0.2),
    "LinearSVC, bundle": LinearSVC(solver="bundle"),
    "LinearSVC, sdca": LinearSVC(solver="sdca", random_state=0),
    "ROCSVC": ROCSVC(random_state=0),
    "ROCSVC, newton": ROCSVC(solver="newton", loss="squared_hinge", random_state=0),
    "PartialAUCClassifier": PartialAUCClassifier((0.05, 0.5), random_state=0),
    "PartialAUCClassifier, svmpauc-tight": PartialAUCClassifier((0.0, 0.5), solver="svmpauc-tight", random_state=0),
    "RankedRangeClassifier": RankedRangeClassifier(random_state=0),
    "RankedRangeRegressor": RankedRangeRegressor(random_state=0),
}


def examples(model, n=400):
    X, y = make_classification(n, 8, n_informative=5, flip_y=0.1, random_state=0)
    is_regressor = hasattr(model, "epsilon") or type(model).__name__.endswith("Regressor")
    return X, X[:, 0] + np.sin(X[:, 1]) + 0.3 * np.random.default_rng(0).normal(size=n) if is_regressor else y


def relative_gap(model):
    gap = getattr(model, "subproblem_gap_", None)
    gap = model.duality_gap_ if gap is None else gap
    return float(np.max(np.asarray(gap) / np.asarray(model.objective_)))


@pytest.mark.parametrize("larger", [1e-2, 9e-4])
@pytest.mark.parametrize("name", MODELS)
def test_a_smaller_tol_is_reached(name, larger):
    model = clone(MODELS[name]).set_params(tol=larger, warm_start=True)
    X, y = examples(model)
    first = relative_gap(model.fit(X, y))
    model.set_params(tol=1e-6).fit(X, y)
    assert np.all(model.converged_) and relative_gap(model) <= 1e-6
    assert first <= 1e-6 or np.all(model.n_iter_ > 0)
    model.set_params(tol=1e-6).fit(X, y)
    assert np.all(model.converged_) and relative_gap(model) <= 1e-6


@pytest.mark.parametrize("name", ["LinearSVC, bundle", "ROCSVC", "PartialAUCClassifier, svmpauc-tight"])
def test_a_run_that_a_limit_stopped_goes_on(name):
    """Within the default tol of 1e-3, which is not that of the model."""
    model = clone(MODELS[name]).set_params(tol=1e-7, warm_start=True, max_iter=1)
    X, y = examples(model)
    with pytest.warns(UserWarning, match="max_iter"):
        for _ in range(100):
            if np.all(model.fit(X, y).converged_):
                break
            assert np.all(model.n_iter_ == 1)
    assert np.all(model.converged_) and relative_gap(model) <= 1e-7


@pytest.mark.parametrize("name", ["ROCSVC", "LinearSVC, bundle"])
def test_a_path_of_close_strengths_is_held_to_tol(name):
    model = clone(MODELS[name]).set_params(tol=1e-7)
    strength = model.C if hasattr(model, "C") else model.alpha
    for fitted in model.path(*examples(model), strength * np.geomspace(1.0, 0.999, 4)):
        assert fitted.converged_ and relative_gap(fitted) <= 1e-7


@pytest.mark.parametrize(
    ("model", "twin"),
    [
        (RankedRangeRegressor(), "compiled"),
        (RankedRangeRegressor(), "reference"),
        (PartialAUCClassifier((0, 0.5), start="solver"), "compiled"),
    ],
    ids=str,
)
def test_columns_that_the_sample_of_the_first_fit_lacks(model, twin):
    """More than 1,500 columns, and more rows than four samples; one column has a single entry."""
    n, d = 17_000, 1_600
    rng = np.random.default_rng(0)
    columns = np.append(rng.integers(0, d - 1, 2 * n), d - 1)
    X = sparse.csr_array((np.ones(2 * n + 1), (np.append(np.repeat(np.arange(n), 2), n - 1), columns)), shape=(n, d))
    scores = X @ rng.normal(size=d)
    model = clone(model).set_params(max_iter=2, random_state=0)
    model._twin = twin
    with pytest.warns(UserWarning, match="max_iter=2"):
        model.fit(X, np.where(scores > 0, 1, -1) if hasattr(model, "fpr_range") else scores)
    assert model.coef_.shape[-1] == d and np.isfinite(model.coef_).all() and model.coef_.any()
