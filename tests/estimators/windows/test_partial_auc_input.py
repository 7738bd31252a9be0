"""Classifiers of a part of the ROC curve: steps that diverge, parameters out of range."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from kernbench import AUCMarginClassifier, PartialAUCClassifier, RankedRangeClassifier, RankedRangeRegressor
from kernbench.solvers import registry

MODELS = {
    "partial-auc": PartialAUCClassifier((0.0, 0.5)),
    "ranked-range": RankedRangeClassifier(),
    "auc-margin": AUCMarginClassifier(),
}


@pytest.mark.parametrize("solver", ["agd-sbcd", "dca", "proximal-dca"])
def test_steps_that_are_too_long_leave_the_last_finite_model_and_name_the_parameter(solver):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    y = (X[:, 0] + rng.normal(size=200) > 1).astype(int)
    model = PartialAUCClassifier(
        (0.05, 0.5), loss="squared_hinge", solver=solver, solver_options={"step_size": 1e200}, random_state=0
    )
    with pytest.warns(
        ConvergenceWarning, match="lower step_size, or scale the features. The model is the last iterate"
    ):
        model.fit(1e150 * X, y)
    assert model.status_ == "diverged" and not model.converged_
    assert np.isfinite(model.coef_).all() and model.predict(X).shape == y.shape


@pytest.mark.parametrize(
    "solver, max_iter", [("dca", 1), ("dca", 1000), ("proximal-dca", 1000), ("agd-sbcd", 1000), ("minibatch", 1000)]
)
def test_finite_coefficients_whose_scores_overflow_are_not_the_model(solver, max_iter):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    y = (X[:, 0] + rng.normal(size=200) > 1).astype(int)
    model = PartialAUCClassifier(
        (0.05, 0.5), loss="squared_hinge", solver=solver, solver_options={"step_size": 1e10}, alpha=0.0,
        max_iter=max_iter, random_state=0,
    )  # fmt: skip
    with pytest.warns(ConvergenceWarning, match="lower step_size, or scale the features"):
        model.fit(1e150 * X, y)
    assert model.status_ == "diverged" and not model.converged_
    assert np.isfinite(model.decision_function(1e150 * X)).all()


def test_an_objective_that_overflows_has_diverged():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    y = X[:, 0] + 0.5 * rng.normal(size=400) > 0
    options = {"solver": "agd-sbcd", "solver_options": {"step_size": 10.0}, "max_iter": 32_500, "random_state": 0}
    with pytest.warns(ConvergenceWarning, match="not finite.*lower step"):
        model = PartialAUCClassifier((0.05, 0.5), loss="squared_hinge", **options).fit(X, y)
    assert model.status_ == "diverged" and not model.converged_


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore:no function f does better")
@pytest.mark.parametrize("scale", [0.01, 1.0, 100.0])
@pytest.mark.parametrize(
    "model",
    [
        PartialAUCClassifier((0.05, 0.5), loss="squared_hinge", solver="agd-sbcd"),
        PartialAUCClassifier((0.05, 0.5), loss="squared_hinge", solver="minibatch"),
        RankedRangeClassifier(loss="squared_hinge", solver="agd"),
        RankedRangeRegressor(loss="squared_error", solver="agd"),
    ],
    ids=lambda model: f"{model.solver}-{type(model).__name__}",
)
def test_default_steps_suit_losses_of_unbounded_slope(model, scale):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    y = X @ rng.normal(size=5) + 0.5 * rng.normal(size=400)
    if not isinstance(model, RankedRangeRegressor):
        y = np.sign(y)
    stochastic = clone(model).set_params(random_state=0, max_iter=5_000).fit(scale * X, y)
    exact = clone(model).set_params(solver="dca-exact").fit(scale * X, y)
    zero = clone(exact).set_params(alpha=1e12).fit(scale * X, y)  # coefficients of almost 0
    gained = zero.objective_ - exact.objective_
    assert stochastic.status_ != "diverged"
    assert stochastic.objective_ <= min(3 * exact.objective_, zero.objective_ - 0.2 * gained)


@pytest.mark.parametrize("margin", [0.0, 1e300, "wide"])
def test_margins_whose_square_is_no_number_are_refused(margin):
    with pytest.raises(ValueError, match="margin must be"):
        AUCMarginClassifier(margin=margin).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("kernel", ["linear", "poly"])
@pytest.mark.parametrize(
    "model",
    [PartialAUCClassifier((0.0, 0.5)), AUCMarginClassifier(), RankedRangeClassifier(), RankedRangeRegressor()],
    ids=lambda model: type(model).__name__,
)
def test_validation_rows_too_large_are_refused(model, kernel):
    """As for a prediction; their scores overflowed."""
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = (X[:, 0] > 0.5).astype(float)
    others = X[:20].copy()
    others[3] *= 1e200
    model = clone(model).set_params(kernel=kernel, gamma=1.0, validation=(others, y[:20]))
    with pytest.raises(ValueError, match="X holds values up to .*, too large for this kernel in float64"):
        model.fit(X, y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore:no function f does better")
@pytest.mark.parametrize(
    "entry",
    [entry for entry in registry.SOLVERS if entry.problem in MODELS],
    ids=lambda entry: f"{entry.problem}-{entry.name}",
)
def test_solvers_that_cannot_take_a_kernel_are_given_features(entry):
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = X[:, 0] > 0.5
    model = clone(MODELS[entry.problem]).set_params(solver=entry.name, kernel="rbf", max_iter=20, random_state=0)
    needs_features = entry.load().needs_features
    assert model.fit(X, y).features_ == ("nystroem" if needs_features else "exact")
    model.set_params(features="exact")
    if needs_features:
        with pytest.raises(ValueError, match="choose features='nystroem' or 'random'"):
            model.fit(X, y)
    else:
        assert model.fit(X, y).features_ == "exact"


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_warm_start_with_a_solver_that_cannot_take_a_kernel_leaves_it():
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = X[:, 0] > 0.5
    model = PartialAUCClassifier((0.0, 0.5), kernel="rbf", warm_start=True, random_state=0).fit(X, y)
    assert model.features_ == "exact"
    assert model.set_params(solver="agd-sbcd", max_iter=20).fit(X, y).features_ == "nystroem"


@pytest.mark.parametrize("ends", [list, np.array], ids=["list", "array"])
@pytest.mark.parametrize(
    ("model", "name", "same", "other"),
    [
        (PartialAUCClassifier(validation=0.2), "fpr_range", (0.0, 0.5), (0.0, 0.3)),
        (PartialAUCClassifier(), "ranks", (0, 50), (0, 30)),
        (RankedRangeClassifier(), "ranked_range", (0.05, 1.0), (0.1, 1.0)),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_a_warm_start_tells_ranges_by_their_ends(model, name, same, other, ends):
    """Of two arrays, in place of pairs, it could not tell whether they are equal."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = X[:, 0] + 0.3 * rng.normal(size=200) > 0.0
    model = clone(model).set_params(**{name: same}, warm_start=True, random_state=0).fit(X, y)
    n_iter = model.n_iter_[0]
    assert model.set_params(**{name: ends(same)}).fit(X, y).trace_["n_iter"][0] == n_iter > 0
    assert model.set_params(**{name: ends(other)}).fit(X, y).trace_["n_iter"][0] == 0
    expected = clone(model).set_params(**{name: other}, warm_start=False).fit(X, y)
    assert model.objective_ == pytest.approx(expected.objective_, rel=0.1)  # perhaps another critical point


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_objective_of_the_auc_margin_has_the_margin():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), np.arange(200) % 4 == 0
    X[y] += 0.5
    model = AUCMarginClassifier(0.1, margin=3.0, max_iter=200, random_state=0).fit(X, y)
    scores = model.decision_function(X)
    short = 3.0 + scores[~y].mean() - scores[y].mean()
    value = 0.05 * np.sum(model.coef_**2) + scores[y].var() + scores[~y].var() + max(0.0, short) ** 2
    assert model.objective_ == pytest.approx(value, rel=1e-6)
