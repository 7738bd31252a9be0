"""Laws of LinearSVC for any data: optima, weights, formats, threads, paths, warm starts."""

import threading
import time
import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import scale
from sklearn.svm import LinearSVC as LiblinearSVC

from kernbench import LinearSVC, load
from kernbench.solvers import registry

X, Y = load_iris(return_X_y=True)
X = scale(X)
B = (Y == 2).astype(int)
RNG = np.random.default_rng(0)
WEIGHTS = RNG.integers(0, 4, size=150).astype(np.float64)
LARGE = RNG.normal(size=(2500, 12))  # larger than problems that are solved to rounding at any tolerance
LARGE_Y = (LARGE[:, 0] + 0.5 * LARGE[:, 1] ** 2 + RNG.normal(size=2500) > 0.5).astype(int)
quietly = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_optimum_is_that_of_liblinear(loss, weights):
    settings = {"loss": loss, "C": 0.7, "intercept_scaling": 2.0}
    peer = LiblinearSVC(**settings, dual=True, tol=1e-9, max_iter=10**6).fit(X, Y, sample_weight=weights)
    model = LinearSVC(**settings).fit(X, Y, sample_weight=weights)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=2e-5)
    np.testing.assert_allclose(model.intercept_, peer.intercept_, atol=2e-5)
    np.testing.assert_array_equal(model.predict(X), peer.predict(X))


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_optimum_of_the_logistic_loss(fit_intercept):
    Z = np.column_stack([X, np.ones(150)]) if fit_intercept else X
    sign = np.where(B == 1, 1.0, -1.0)

    def objective(w):
        return 0.5 * w @ w / (3.0 * 150) + np.logaddexp(0.0, -sign * (Z @ w)).mean()

    best = minimize(objective, np.zeros(Z.shape[1]), tol=1e-12)
    model = LinearSVC("log_loss", C=3.0, fit_intercept=fit_intercept).fit(X, B)
    assert model.objective_ == pytest.approx(best.fun, rel=1e-8)
    np.testing.assert_allclose(np.r_[model.coef_[0], model.intercept_][: Z.shape[1]], best.x, atol=1e-4)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "log_loss"])
def test_gap_bounds_the_distance_to_the_optimum(loss):
    best = LinearSVC(loss, tol=1e-9).fit(LARGE, LARGE_Y).objective_
    for tol in (0.3, 1e-2, 1e-4):
        model = LinearSVC(loss, tol=tol, random_state=1).fit(LARGE, LARGE_Y)
        assert -1e-9 <= model.objective_ - best <= model.duality_gap_ + 1e-9
        assert model.converged_ and model.duality_gap_ <= tol * model.objective_


def test_weight_k_equals_repeat_k():
    weighted = LinearSVC().fit(X, Y, sample_weight=WEIGHTS)
    repeated = LinearSVC().fit(*(np.repeat(part, WEIGHTS.astype(int), axis=0) for part in (X, Y)))
    # n counts rows, so C means the same and the objectives differ by its ratio
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-9)


def test_class_weight_of_two_classes_is_a_sample_weight():
    by_class = LinearSVC(class_weight={0: 2.0, 1: 0.5}).fit(X, B)
    by_row = LinearSVC().fit(X, B, sample_weight=np.array([2.0, 0.5])[B.astype(int)])
    np.testing.assert_allclose(by_class.coef_, by_row.coef_, atol=1e-9)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize("class_weight", ["balanced", {0: 5.0, 1: 0.1}], ids=["balanced", "dict"])
def test_class_weight_of_many_classes_is_that_of_liblinear(class_weight, weights):
    """It applies to the class that is positive, and the rest has the weight 1."""
    rows = np.r_[0:50, 50:70, 100:150]  # so that "balanced" is not 1
    weights = None if weights is None else weights[rows]
    peer = LiblinearSVC(class_weight=class_weight, dual=False, tol=1e-10, max_iter=10**5)
    model = LinearSVC(class_weight=class_weight).fit(X[rows], Y[rows], sample_weight=weights)
    if class_weight == "balanced":  # theirs counts a weighted row once
        class_weight = dict(zip(model.classes_, model.class_weight_))
        peer.set_params(class_weight=class_weight)
    peer.fit(X[rows], Y[rows], sample_weight=weights)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-5)
    np.testing.assert_array_equal(model.predict(X), peer.predict(X))


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "log_loss"])
def test_format_agnosticism(loss):
    few = np.where(np.abs(LARGE) > 0.5, LARGE, 0.0).astype(np.float32)
    settings = {"loss": loss, "tol": 1e-7, "random_state": 0}
    expected = LinearSVC(**settings).fit(few.astype(np.float64), LARGE_Y)
    for rows in (few, np.asfortranarray(few), sparse.csr_matrix(few), sparse.csr_array(few.astype(np.float64))):
        model = LinearSVC(**settings).fit(rows, LARGE_Y)
        assert model.dtype_ == rows.dtype.name
        np.testing.assert_allclose(model.decision_function(rows), expected.decision_function(few), atol=1e-3)
        assert model.objective_ == pytest.approx(expected.objective_, rel=1e-6)
    single = LinearSVC(dtype="float32", **settings).fit(few.astype(np.float64), LARGE_Y)
    assert single.dtype_ == "float32" and single.coef_.dtype == np.float64


def test_twins_fit_the_same_model():
    reference = LinearSVC("hinge", solver="sdca", random_state=3, max_iter=900)
    reference._twin = "reference"
    compiled = LinearSVC("hinge", solver="sdca", random_state=3, max_iter=900)
    for model in (reference, compiled):
        with pytest.warns(ConvergenceWarning, match="max_iter=900"):
            model.fit(X, B)
    np.testing.assert_allclose(compiled.coef_, reference.coef_, rtol=1e-9, atol=1e-12)
    assert compiled.n_inner_products_ == reference.n_inner_products_ > 900


def test_threads_agnosticism():
    y = np.digitize(LARGE[:, 0] + 0.3 * LARGE[:, 1], [-1.0, 0.0, 1.0])
    models = [LinearSVC(tol=1e-3, random_state=0, n_jobs=n_jobs).fit(LARGE, y) for n_jobs in (None, 2, -1)]
    for model in models[1:]:
        np.testing.assert_array_equal(model.coef_, models[0].coef_)
        assert model.n_inner_products_ == models[0].n_inner_products_
    assert len(models[0].trace_) == 4 and len(models[0].status_) == 4


@pytest.mark.usefixtures("begin_together")
def test_callbacks_of_several_threads_take_turns():
    inside, most, idents = 0, 0, set()

    def watch(model):
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        time.sleep(0.01)  # time for another thread to come in, were it allowed to
        error = 1 - model.score(X, np.zeros(150, dtype=bool))
        inside -= 1
        idents.add(threading.get_ident())
        return {"error": error}

    model = LinearSVC(n_jobs=2, callback=watch, random_state=0).fit(X, Y)
    assert most == 1 and len(idents) == 2 and all("error" in trace for trace in model.trace_)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_ctrl_c_leaves_a_model(n_jobs):
    def interrupt(model):
        if model.n_iter_[0] > 0:
            raise KeyboardInterrupt

    model = LinearSVC(tol=1e-9, n_jobs=n_jobs, callback=interrupt, random_state=0)
    y = np.digitize(LARGE[:, 0], [-0.5, 0.5])
    with pytest.raises(KeyboardInterrupt):
        model.fit(LARGE, y)
    assert "interrupted" in model.status_ and not model.converged_
    assert np.all(np.isfinite(model.decision_function(LARGE)))


@quietly
@pytest.mark.parametrize("solver", registry.names("linear-svm"))
def test_inner_products_of_the_classes_add_up(solver):
    """A class and a C of a path count their own products, not those of earlier runs on the same rows."""
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    settings = {"solver": solver, "max_iter": 500, "random_state": 0, "fit_intercept": False}
    whole = LinearSVC(**settings).fit(X, y)
    seen = []
    LinearSVC(callback=lambda model: seen.append(model.n_inner_products_), **settings).fit(X, y == 0)
    parts = [LinearSVC(**settings).fit(X, y == k) for k in range(3)]
    assert seen[-1] == parts[0].n_inner_products_
    # Each class has its own generator, so the numbers are similar, not equal.
    assert whole.n_inner_products_ == pytest.approx(sum(part.n_inner_products_ for part in parts), rel=0.15)
    along = LinearSVC(**settings).path(X, y == 0, [0.1, 1.0])
    assert along[1].n_inner_products_ <= 1.5 * parts[0].n_inner_products_


def test_callback_that_returns_true_ends_the_run_quietly():
    model = LinearSVC(tol=1e-9, callback=lambda model: model.n_iter_[0] > 0, random_state=0).fit(LARGE, LARGE_Y)
    assert model.status_ == "callback" and not model.converged_


@pytest.mark.parametrize("y", [LARGE_Y, np.digitize(LARGE[:, 0], [-0.5, 0.5])], ids=["two", "three"])
def test_path_ends_where_single_fits_do_with_less_work(y):
    Cs = [1.0, 0.01, 0.1]
    settings = {"loss": "hinge", "solver": "sdca", "tol": 1e-4, "random_state": 0}
    models = LinearSVC(**settings).path(LARGE, y, Cs)
    assert [model.C for model in models] == Cs
    single = [LinearSVC(C=C, **settings).fit(LARGE, y) for C in Cs]
    for along, alone in zip(models, single):
        assert along.converged_
        np.testing.assert_allclose(along.objective_, alone.objective_, rtol=3e-4)
    assert sum(np.sum(model.n_iter_) for model in models) < sum(np.sum(model.n_iter_) for model in single)


@quietly
def test_warm_start_goes_on_where_it_stopped():
    settings = {"loss": "hinge", "solver": "sdca", "tol": 1e-12, "random_state": 0}
    whole = LinearSVC(max_iter=20_000, **settings).fit(LARGE, LARGE_Y)
    parts = LinearSVC(max_iter=8_000, warm_start=True, **settings).fit(LARGE, LARGE_Y)
    parts.set_params(max_iter=12_000).fit(LARGE, LARGE_Y)
    np.testing.assert_allclose(parts.coef_, whole.coef_, rtol=1e-8, atol=1e-12)
    assert parts.n_iter_[0] == 12_000


def test_warm_start_from_the_optimum_is_short():
    model = LinearSVC(solver="sdca", tol=1e-5, warm_start=True, random_state=0).fit(LARGE, LARGE_Y)
    first = model.n_iter_[0]
    model.set_params(tol=2e-5).fit(LARGE, LARGE_Y)
    assert model.converged_ and model.n_iter_[0] <= 2 * len(LARGE) < first
    model.fit(LARGE[:1000], LARGE_Y[:1000])  # other rows: the weights are a start, no more
    assert model.converged_
    model.fit(LARGE[:, :3], LARGE_Y)  # other columns: afresh
    assert model.coef_.shape == (1, 3)


@pytest.mark.parametrize("intercept_scaling", [1.0, np.inf])
def test_warm_start_for_another_C_after_a_run_to_the_last_digits(intercept_scaling):
    settings = {"loss": "hinge", "solver": "newton", "intercept_scaling": intercept_scaling, "random_state": 0}
    rows, labels = LARGE[:60, :2], LARGE_Y[:60]  # few rows are solved to rounding
    model = LinearSVC(C=1.0, warm_start=True, **settings).fit(rows, labels)
    model.set_params(C=0.01).fit(rows, labels)
    other = LinearSVC(C=0.01, **settings).fit(rows, labels)
    assert model.converged_ and model.objective_ == pytest.approx(other.objective_, rel=1e-8)


@quietly
@pytest.mark.parametrize("name", registry.names("linear-svm"))
def test_every_solver_fits_with_the_default_loss(name):
    model = LinearSVC(solver=name, tol=0.05, random_state=0, max_seconds=3.0).fit(X, B)
    offered = registry.get(name, "linear-svm").losses
    assert model.loss_ == ("squared_hinge" if "squared_hinge" in offered else offered[0])
    assert model.score(X, B) > 0.85
    assert model.n_inner_products_ > 0 and model.n_kernel_evaluations_ == 0


@pytest.mark.parametrize(
    ("model", "y"),
    [(LinearSVC(), B), (LinearSVC("hinge", class_weight="balanced"), Y), (LinearSVC(fit_intercept=False), Y)],
    ids=["two", "three", "no intercept"],
)
def test_saved_model_comes_back(tmp_path, model, y):
    model.fit(X, y).save(tmp_path / "model.npz")
    loaded = load(tmp_path / "model.npz")
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.get_params() == model.get_params()
    assert (loaded.status_, loaded.loss_, loaded.n_inner_products_) == (
        model.status_, model.loss_, model.n_inner_products_,
    )  # fmt: skip
    loaded.coef_ = loaded.coef_[:, 1:]
    loaded.save(tmp_path / "damaged.npz")
    with pytest.raises(ValueError, match="damaged.*coef_ has shape"):
        load(tmp_path / "damaged.npz")


@pytest.mark.parametrize("solver", registry.names("linear-svm"))
def test_a_C_may_come_twice_in_a_path(solver):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = X[:, 0] + 0.5 * rng.normal(size=60) > 0
    first, second = LinearSVC(solver=solver, tol=0.05, random_state=0).path(X, y, [1.0, 1.0])
    assert second.objective_ == pytest.approx(first.objective_, rel=0.06)


def test_a_hard_fit_of_few_long_rows_ends_after_a_bounded_number_of_steps():
    rng = np.random.default_rng(0)
    n, d = 6, 5000
    X = np.repeat(rng.normal(size=(n // 2, d)), 2, axis=0)  # equal rows of opposite labels
    model = LinearSVC(solver="sdca", C=1e11, tol=1e-12, random_state=0, loss="hinge")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, np.tile([0, 1], n // 2))
    assert model.n_iter_.max() <= max(1000 * n, 10**9 // d)
    assert model.converged_ or any("max_iter" in str(w.message) or "tol" in str(w.message) for w in caught)


def test_a_tiny_C_gives_a_direction_not_zero():
    """Also beyond the little data on which steps go on after the tolerance is reached."""
    model = LinearSVC("hinge", C=1e-9, solver="newton").fit(LARGE, LARGE_Y)
    assert model.converged_ and model.coef_.any()
