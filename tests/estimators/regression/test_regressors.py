"""KernelRegressor and LinearRegressor: oracles, weights, paths, warm starts, files, bad input."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import cho_factor
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import QuantileRegressor, Ridge
from sklearn.svm import SVR

import kernbench
from kernbench import KernelRegressor, KernelRegressorCV, LinearRegressor
from kernbench.estimators.fit import choice
from kernbench.losses.regression import RESIDUAL_LOSSES
from kernbench.solvers import registry
from kernbench.solvers.kernel import _newton

KINDS = {LinearRegressor: "linear-regression", KernelRegressor: "kernel-regression"}
every_model = pytest.mark.parametrize("Model", KINDS, ids=lambda model: model.__name__)
every_loss = pytest.mark.parametrize("loss", RESIDUAL_LOSSES)
every_solver = pytest.mark.parametrize(
    "Model, solver, loss",
    [
        (Model, name, loss)
        for Model, kind in KINDS.items()
        for name in registry.names(kind)
        for loss in registry.get(name, kind).losses
    ],
)


@pytest.fixture(scope="module")
def numbers():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    return X, X @ [1.0, -2.0, 0.5] + 0.3 * rng.normal(size=150) + 7.0


def test_squared_error_is_ridge_regression(numbers):
    X, y = numbers
    ours = LinearRegressor(alpha=0.1, fit_intercept=False, tol=1e-12).fit(X, y)
    np.testing.assert_allclose(ours.coef_, Ridge(alpha=15.0, fit_intercept=False).fit(X, y).coef_, rtol=1e-6)
    assert ours.duality_gap_ <= 1e-12 * ours.objective_ and ours.converged_
    ours = KernelRegressor(gamma=0.3, alpha=0.01, fit_intercept=False, tol=1e-12).fit(X, y)
    theirs = KernelRidge(kernel="rbf", gamma=0.3, alpha=1.5).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-4)
    assert ours.duality_gap_ <= 1e-12 * ours.objective_


def test_the_intercept_of_a_kernel_regressor_is_the_centre(numbers):
    X, y = numbers
    ours = KernelRegressor(gamma=0.3, alpha=0.01, tol=1e-12).fit(X, y)
    theirs = KernelRidge(kernel="rbf", gamma=0.3, alpha=1.5).fit(X, y - y.mean())
    assert ours.intercept_ == pytest.approx(y.mean())
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X) + y.mean(), atol=1e-4)
    median = KernelRegressor("absolute_error", solver="sdca").fit(X, y).intercept_
    assert abs(np.mean(y <= median) - 0.5) <= 1 / len(y)
    quantile = KernelRegressor("quantile", quantile=0.9, solver="sdca").fit(X, y).intercept_
    assert np.mean(y <= quantile) == pytest.approx(0.9)


def test_epsilon_insensitive_is_libsvm(numbers):
    """Whose intercept is free, as that of `smo`: given it, other solvers solve the same problem."""
    X, y = numbers
    theirs = SVR(gamma=0.3, C=2.0, epsilon=0.2, tol=1e-9).fit(X, y)
    b, settings = theirs.intercept_[0], {"gamma": 0.3, "alpha": 1 / (2.0 * len(y)), "epsilon": 0.2, "tol": 1e-10}
    free = KernelRegressor("epsilon_insensitive", **settings).fit(X, y)
    assert free.solver_ == "smo"
    np.testing.assert_allclose(free.predict(X), theirs.predict(X), atol=2e-4)
    ours = KernelRegressor("epsilon_insensitive", solver="sdca", fit_intercept=False, random_state=0, **settings)
    np.testing.assert_allclose(ours.fit(X, y - b).predict(X) + b, theirs.predict(X), atol=2e-4)


@pytest.mark.parametrize("q", [0.2, 0.5, 0.9])
def test_quantiles_are_those_of_the_linear_programme(q, numbers):
    X, y = numbers
    theirs = QuantileRegressor(quantile=q, alpha=0.0).fit(X, y)
    ours = LinearRegressor("quantile", quantile=q, alpha=1e-4, tol=1e-7, random_state=0).fit(X, y)

    def loss(model):
        r = model.predict(X) - y
        return np.maximum(-q * r, (1 - q) * r).mean()

    assert loss(theirs) * (1 - 1e-9) <= loss(ours) <= loss(theirs) * (1 + 1e-2)
    assert np.mean(y <= ours.predict(X)) == pytest.approx(q, abs=0.03)


@every_solver
def test_every_solver_and_loss_fits(Model, solver, loss, numbers):
    X, y = numbers
    # Without an intercept, of which each solver has its own, so that the objectives are the same.
    y, options = y - y.mean(), {"fit_intercept": False, **({} if Model is LinearRegressor else {"gamma": 0.1})}
    model = Model(loss, solver=solver, alpha=0.01, tol=0.1, max_iter=60_000, random_state=0, **options)
    model.fit(X, y)
    assert model.score(X, y) > 0.8
    assert model.duality_gap_ >= 0 and np.isfinite(model.duality_gap_)
    exact = Model(loss, alpha=0.01, tol=1e-8, random_state=0, **options).fit(X, y)
    assert exact.objective_ <= model.objective_ * (1 + 1e-7)
    assert model.objective_ - model.duality_gap_ <= exact.objective_ * (1 + 1e-7)


@every_model
@every_loss
def test_weight_k_is_k_copies(Model, loss, numbers):
    X, y = (part[:60] for part in numbers)
    weights = np.arange(60) % 4  # of another mean than 1
    weighted = Model(loss, alpha=0.02, tol=1e-10, gamma=0.3) if Model is KernelRegressor else Model(loss, alpha=0.02)
    repeated = Model(**weighted.get_params())
    weighted.fit(X, y, sample_weight=weights)
    repeated.fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-8)
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), atol=1e-3)


@pytest.mark.parametrize(
    "model",
    [LinearRegressor(solver="sdca"), LinearRegressor("huber", solver="sdca"), KernelRegressor(kernel="linear")],
    ids=str,
)
def test_weights_count_in_the_centre_and_in_the_size_of_rows(model, numbers):
    X, y = (part[:60] for part in numbers)
    weights = np.arange(60) % 4  # of another mean than 1
    weighted, repeated = (clone(model).set_params(alpha=0.02, tol=1e-10, random_state=0) for _ in range(2))
    weighted.fit(X + 3.0, y, sample_weight=weights)
    repeated.fit(np.repeat(X + 3.0, weights, axis=0), np.repeat(y, weights))
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-8)
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), atol=1e-5)


@every_model
def test_shifted_targets_shift_the_predictions(Model, numbers):
    X, y = numbers
    here, there = (Model("huber", tol=1e-9, random_state=0).fit(X, y + shift) for shift in (0.0, 1e4))
    np.testing.assert_allclose(there.predict(X) - 1e4, here.predict(X), atol=1e-4)


@every_model
def test_sparse_rows_give_the_same_model(Model, numbers):
    X, y = numbers
    X = np.where(np.abs(X) > 0.5, X, 0.0)
    options = {"gamma": 0.3} if Model is KernelRegressor else {}
    dense = Model("absolute_error", tol=1e-9, random_state=0, **options).fit(X, y)
    csr = Model("absolute_error", tol=1e-9, random_state=0, **options).fit(sparse.csr_matrix(X), y)
    np.testing.assert_allclose(csr.predict(sparse.csr_matrix(X)), dense.predict(X), atol=1e-3)


def test_a_precomputed_kernel_gives_the_same_model(numbers):
    X, y = numbers
    X = X - X.mean(axis=0)  # as the linear kernel does
    plain = KernelRegressor("huber", kernel="linear", random_state=0).fit(X, y)
    given = KernelRegressor("huber", kernel="precomputed", random_state=0).fit(X @ X.T, y)
    np.testing.assert_allclose(given.predict(X @ X.T), plain.predict(X), atol=1e-6)
    with pytest.raises(ValueError, match="square"):
        KernelRegressor(kernel="precomputed").fit(X, y)


@every_model
def test_a_path_ends_where_single_fits_do(Model, numbers):
    X, y = numbers
    alphas = [1e-3, 1.0, 0.1, 0.1]
    models = Model("epsilon_insensitive", tol=1e-8, random_state=0).path(X, y, alphas)
    assert [model.alpha for model in models] == alphas
    for model in models:
        alone = Model(**model.get_params()).fit(X, y)
        assert model.objective_ == pytest.approx(alone.objective_, rel=1e-6)
        assert model.intercept_ == pytest.approx(alone.intercept_, abs=1e-2)


@pytest.mark.parametrize("loss", ["squared_error", "huber"])
def test_newtons_method_computes_the_kernel_matrix_once(loss, numbers):
    X, y = numbers
    models = KernelRegressor(loss, solver="newton").path(X, y, [1e-1, 1e-2, 1e-3])
    assert [model.n_kernel_evaluations_ for model in models] == [150**2, 0, 0]
    assert KernelRegressor(loss).fit(X, np.column_stack([y, -y])).n_kernel_evaluations_ == 150**2


@pytest.mark.parametrize("loss", ["squared_error", "huber"])
def test_outputs_share_a_factor_and_have_the_bits_of_single_fits(loss, numbers, monkeypatch):
    X, y = numbers
    Y, weights, factors = np.column_stack([y, y**2, -y]), np.arange(150) % 4.0, []

    def counted(matrix, **options):
        factors.append(len(matrix))
        return cho_factor(matrix, **options)

    monkeypatch.setattr(_newton, "cho_factor", counted)
    model = KernelRegressor(loss, solver="newton", alpha=1e-3).fit(X, Y, sample_weight=weights)
    if loss == "squared_error":
        assert factors == [np.count_nonzero(weights)]
    for k in range(3):
        alone = KernelRegressor(loss, solver="newton", alpha=1e-3).fit(X, Y[:, k], sample_weight=weights)
        np.testing.assert_array_equal(alone.support_, model.support_)
        np.testing.assert_array_equal(alone.dual_coef_.ravel(), model.dual_coef_[k])
        assert alone.intercept_ == model.intercept_[k] and alone.duality_gap_ == model.duality_gap_[k]


def test_a_search_counts_the_kernel_values_of_newtons_method_in_its_folds(numbers):
    search = KernelRegressorCV([1e-1, 1e-2], gammas=[0.1], loss="huber", cv=3).fit(*numbers)
    assert search.n_kernel_evaluations_ == 3 * 100**2 + 150**2  # a matrix of each fold, and one of all rows


@pytest.mark.parametrize("Model, solver", [(M, name) for M, kind in KINDS.items() for name in registry.names(kind)])
def test_a_warm_start_goes_on(Model, solver, numbers):
    X, y = numbers
    options = {"solver": solver, "tol": 1e-15, "warm_start": True, "random_state": 0, "alpha": 0.1}
    half = {"rbcd": 2, "newton": 1, "smo": 100}.get(solver, 512 if Model is KernelRegressor else 100)
    if solver == "newton":  # one step is exact for the squared error
        options |= {"loss": "huber", "delta": 0.05}
    whole, parts = Model(max_iter=2 * half, **options), Model(max_iter=half, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        whole.fit(X, y)
        first = parts.fit(X, y).predict(X)
        parts.fit(X, y)
    np.testing.assert_allclose(parts.predict(X), whole.predict(X), rtol=1e-9)
    assert not np.allclose(first, whole.predict(X), rtol=1e-6)


@every_model
def test_a_saved_model_predicts_the_same_bits(Model, numbers, tmp_path):
    X, y = numbers
    model = Model("quantile", quantile=0.3, random_state=0).fit(X, y)
    model.save(tmp_path / "model.npz")
    loaded = kernbench.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert type(loaded) is Model and loaded.quantile == 0.3
    broken = Model().fit(X, y)
    broken.intercept_ = np.nan
    broken.save(tmp_path / "broken.npz")
    with pytest.raises(ValueError, match="intercept_"):
        kernbench.load(tmp_path / "broken.npz")


@every_model
def test_callbacks_see_models_that_predict(Model, numbers):
    X, y = numbers
    seen = []
    Model(callback=lambda model: seen.append(model.score(X, y)), random_state=0).fit(X, y)
    assert seen and max(seen) > 0.9


@every_model
@pytest.mark.parametrize(
    "settings, message",
    [
        ({"loss": "squared"}, "unknown loss 'squared'; did you mean 'squared_error'"),
        ({"loss": "hinge"}, "unknown loss 'hinge'"),
        ({"loss": "huber", "delta": 0}, "delta must be a positive number"),
        ({"loss": "epsilon_insensitive", "epsilon": -1}, "epsilon must be"),
        ({"loss": "quantile", "quantile": 1.5}, "quantile must be"),
        ({"alpha": 0.0}, "alpha must be a positive number"),
        ({"solver": "sbp"}, "unknown solver 'sbp'"),
        ({"fit_intercept": 2}, "fit_intercept"),
        ({"solver": "sdca", "solver_options": {"shrink": True}}, "shrinking"),
    ],
)
def test_bad_parameters_say_what_to_change(Model, settings, message, numbers):
    with pytest.raises(ValueError, match=message):
        Model(**settings).fit(*numbers)


def test_block_descent_names_the_solvers_of_losses_with_kinks(numbers):
    with pytest.raises(ValueError, match="loss='quantile' is offered by solver='sdca' or 'pegasos' or 'sbmd'"):
        LinearRegressor("quantile", solver="rbcd").fit(*numbers)


@every_model
def test_constant_targets_are_predicted(Model, numbers):
    X, _ = numbers
    for loss in RESIDUAL_LOSSES:
        model = Model(loss).fit(X, np.full(len(X), 3.0))
        np.testing.assert_allclose(model.predict(X), 3.0, atol=1e-9)
        assert model.converged_


@every_model
@every_loss
def test_the_reference_fits_the_same_model(Model, loss, numbers):
    X, y = (part[:50] for part in numbers)
    compiled, reference = (Model(loss, alpha=0.1, max_iter=512, random_state=0) for _ in range(2))
    reference._twin = "reference"
    for model in (compiled, reference):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X, y)
    np.testing.assert_allclose(reference.predict(X), compiled.predict(X), atol=1e-8)


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error"])
@every_model
def test_targets_out_of_range_are_refused(Model, loss, numbers):
    X, y = numbers
    with pytest.raises(ValueError, match="too large.* scale the targets"):
        Model(loss).fit(X, 1e150 * y)
    with pytest.raises(ValueError, match="too little for solver='sdca'"):
        Model(loss, solver="sdca").fit(X, 1e-12 * y)
    constant = Model(loss).fit(X[:20], np.full(20, 0.1))  # the mean of equal numbers is rounded
    np.testing.assert_allclose(constant.predict(X), 0.1, rtol=1e-12)


@every_model
def test_memory_and_warm_starts_are_checked(Model, numbers):
    for name, value in {"warm_start": "no", "cache_size": 1e300}.items():
        if name in Model().get_params():
            with pytest.raises(ValueError, match=f"{name} must be"):
                Model(**{name: value}).fit(*numbers)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("solver", ["auto", "sdca"])
@every_loss
def test_an_indefinite_matrix_is_named_as_the_cause(loss, solver):
    rows = np.random.default_rng(0).normal(size=(40, 3))
    # By default `sdca` takes a million steps, all of them in vain.
    limit = {} if solver == "auto" else {"max_iter": 20_000}
    model = KernelRegressor(kernel="precomputed", loss=loss, solver=solver, random_state=0, **limit)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model.fit(rows * [1, -1, 1] @ rows.T, rows[:, 0])
        except ValueError as error:
            assert "not positive semi-definite" in str(error)
        else:
            assert any("not positive semi-definite" in str(warning.message) for warning in caught)


@pytest.mark.parametrize(
    "loss, feasible, other", [("squared_error", 60, "newton"), ("absolute_error", 60, "smo"), ("huber", 59, "smo")]
)
def test_a_warning_names_a_solver_that_does_better(loss, feasible, other, numbers, monkeypatch):
    """Newton's step is exact where coordinate ascent is slow, as long as the kernel matrix can be factorised."""
    X, y = (part[:60] for part in numbers)
    monkeypatch.setattr(choice, "KERNEL_FEASIBLE", feasible)
    with pytest.warns(ConvergenceWarning, match=rf"solver='sdca'.* Try solver='{other}', too\."):
        KernelRegressor(loss, solver="sdca", alpha=1e-9, max_iter=1000, random_state=0).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        KernelRegressor(loss, solver=other, alpha=1e-9).fit(X, y)


def test_the_centre_of_many_float32_rows_is_exact():
    """The sum of a column in float32 would leave multiples of 16: each 16,003 would count as 16,000 or 16,016."""
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(20_000, 2)) + [16_003.0, 0.0]).astype(np.float32)
    y = (X[:, 0].astype(float) - 16_003.0) + 0.01 * rng.normal(size=len(X))
    fits = [LinearRegressor(solver="sdca", alpha=1e-4, random_state=0).fit(rows, y) for rows in (X, X.astype(float))]
    np.testing.assert_allclose(fits[0].coef_, fits[1].coef_, atol=1e-3)
    np.testing.assert_allclose(fits[0].coef_, [1.0, 0.0], atol=1e-2)
