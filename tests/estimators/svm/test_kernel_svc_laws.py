"""Laws of KernelSVC: what must not change the model, up to stated tolerances."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits, make_classification
from sklearn.metrics.pairwise import rbf_kernel
from threadpoolctl import threadpool_limits

from kernbench.estimators import KernelSVC
from kernbench.kernels.functions import Gaussian
from kernbench.solvers import registry

# The closed form does not allow the intercept of these models; test_closed_form_limit.py fits it.
SOLVERS = [name for name in registry.names("kernel-svm") if name != "closed-form"]
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


# They do not reach the optimum, or approach it too slowly for a short run.
ROUGH = ("perceptron", "norma")


def problem(n=150, n_classes=2, seed=0):
    return make_classification(n, 8, n_informative=5, n_classes=n_classes, flip_y=0.1, random_state=seed)


def settings(solver, max_iter=512):
    """A short, repeatable run."""
    return {"solver": solver, "random_state": 0, **({} if solver == "smo" else {"max_iter": max_iter})}


@pytest.mark.parametrize("n_classes", [2, 3])
def test_permuting_rows_does_not_matter(n_classes):
    X, y = problem(n_classes=n_classes)
    order = np.random.default_rng(1).permutation(len(y))
    model, permuted = KernelSVC(tol=1e-8).fit(X, y), KernelSVC(tol=1e-8).fit(X[order], y[order])
    np.testing.assert_allclose(model.decision_function(X), permuted.decision_function(X), atol=1e-6)
    assert set(order[permuted.support_]) == set(model.support_)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_dense_equals_sparse(solver, n_classes):
    X, y = problem(n_classes=n_classes)
    X[np.abs(X) < 0.7] = 0
    S = sparse.csr_matrix(X)
    dense, thin = KernelSVC(**settings(solver)).fit(X, y), KernelSVC(**settings(solver)).fit(S, y)
    expected = dense.decision_function(X)
    for model in dense, thin:
        for rows in X, S, sparse.csr_array(X), S.tocsc():
            np.testing.assert_allclose(model.decision_function(rows), expected, atol=1e-7)


@pytest.mark.parametrize("solver", SOLVERS)
def test_float32_is_close_to_float64(solver):
    X, y = problem()
    X = X.astype(np.float32)
    single = KernelSVC(dtype="float32", **settings(solver)).fit(X, y)
    double = KernelSVC(dtype="float64", **settings(solver)).fit(X, y)
    assert (single.dtype_, double.dtype_) == ("float32", "float64")
    assert single.objective_ == pytest.approx(double.objective_, rel=2e-3)
    assert np.mean(single.predict(X) == double.predict(X)) > 0.98


def test_precision_follows_the_number_of_rows():
    rng = np.random.default_rng(0)
    for n, expected in (2000, "float64"), (2001, "float32"):
        X = rng.normal(size=(n, 2))
        model = KernelSVC("linear", max_iter=1).fit(X, X[:, 0] > 0)
        assert model.dtype_ == expected


@pytest.mark.parametrize("solver", SOLVERS)
def test_memory_layout_does_not_matter(solver):
    X, y = problem()
    expected = KernelSVC(**settings(solver)).fit(X, y)
    wide = np.zeros((len(X), 16))
    wide[:, ::2] = X
    frozen = X.copy()
    frozen.flags.writeable = False
    for rows in np.asfortranarray(X), wide[:, ::2], frozen, X.tolist():
        model = KernelSVC(**settings(solver)).fit(rows, y)
        np.testing.assert_array_equal(model.dual_coef_, expected.dual_coef_)
        np.testing.assert_array_equal(model.decision_function(rows), expected.decision_function(X))


def test_memory_mapped_rows(tmp_path):
    X, y = problem()
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    np.testing.assert_array_equal(
        KernelSVC().fit(mapped, y).decision_function(mapped), KernelSVC().fit(X, y).decision_function(X)
    )


@pytest.mark.parametrize("solver", SOLVERS)
def test_number_of_threads_does_not_matter(solver):
    X, y = load_digits(return_X_y=True)
    y = y % 2
    models = []
    for n_threads in 1, 2:
        with threadpool_limits(n_threads):
            model = KernelSVC(dtype="float32", **settings(solver)).fit(X, y)
            models.append((model.dual_coef_, model.intercept_, model.decision_function(X)))
    for one, two in zip(*models, strict=True):
        np.testing.assert_array_equal(one, two)


def test_explicit_zeros_and_duplicates_in_sparse_rows_do_not_matter():
    X, y = problem()
    S = sparse.csr_matrix(X)
    # Every entry in two parts.
    halves = sparse.csr_matrix((np.repeat(S.data / 2, 2), np.repeat(S.indices, 2), S.indptr * 2), shape=S.shape)
    before = halves.data.copy()
    np.testing.assert_allclose(
        KernelSVC().fit(halves, y).decision_function(halves), KernelSVC().fit(S, y).decision_function(S), atol=1e-9
    )
    np.testing.assert_array_equal(halves.data, before)  # the caller's matrix is unchanged


@pytest.mark.parametrize("gamma", ["scale", "median", 0.2])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_weight_k_equals_repeat_k(gamma, class_weight):
    X, y = problem(n=60, n_classes=3)
    weights = np.random.default_rng(0).integers(0, 4, len(y))
    if gamma == "median":  # of distances between rows: weights of 0 and 1 only
        weights = np.minimum(weights, 1)
    model = {"gamma": gamma, "class_weight": class_weight, "tol": 1e-9}
    weighted = KernelSVC(**model).fit(X, y, sample_weight=weights)
    repeated = KernelSVC(**model).fit(X.repeat(weights, axis=0), y.repeat(weights))
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-7)
    assert np.all(weights[weighted.support_] > 0)


@pytest.mark.parametrize("solver", [name for name in SOLVERS if name != "smo"])
def test_stochastic_weight_k_equals_repeat_k(solver):
    """Both runs certify their distance to the same optimum (times the number of rows)."""
    X, y = problem(n=60)
    weights = np.random.default_rng(0).integers(0, 4, len(y))
    run = {"solver": solver, "random_state": 0, "C": 0.1, "gamma": 0.2, "max_iter": 12_800, "tol": 1e-3}
    weighted = KernelSVC(**run).fit(X, y, sample_weight=weights)
    repeated = KernelSVC(**run).fit(X.repeat(weights, axis=0), y.repeat(weights))
    exact = KernelSVC(C=0.1, gamma=0.2, tol=1e-9).fit(X, y, sample_weight=weights)
    n_weighted, n_repeated = np.count_nonzero(weights), weights.sum()
    optimum = exact.objective_ * n_weighted
    for model, n in (weighted, n_weighted), (repeated, n_repeated):
        assert 0 <= model.objective_ * n - optimum + 1e-9 <= model.duality_gap_ * n + 2e-9
    if solver not in ROUGH:
        assert max(weighted.duality_gap_ / weighted.objective_, repeated.duality_gap_ / repeated.objective_) < 0.05
        np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=0.25)


@pytest.mark.parametrize("solver", SOLVERS)
def test_weights_of_any_scale_are_c(solver):
    X, y = problem()
    weighted = KernelSVC(C=1.0, gamma=0.2, **settings(solver)).fit(X, y, sample_weight=np.full(len(y), 4.0))
    scaled = KernelSVC(C=4.0, gamma=0.2, **settings(solver)).fit(X, y)
    if solver == "scs":  # its radii are absolute: a different path to the same optimum
        assert weighted.objective_ == pytest.approx(4 * scaled.objective_, rel=0.02)
        return
    np.testing.assert_allclose(weighted.decision_function(X), scaled.decision_function(X), atol=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
def test_constant_features_make_no_nan(solver):
    X = np.ones((30, 3))
    y = np.arange(30) % 3 > 0
    model = KernelSVC(**settings(solver)).fit(X, y)
    assert np.all(np.isfinite(model.decision_function(X)))
    assert model.predict(X).all()  # the larger class


@pytest.mark.parametrize("solver", SOLVERS)
def test_same_random_state_same_model(solver):
    X, y = problem(n_classes=3)
    one, two = (KernelSVC(**settings(solver)).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(one.dual_coef_, two.dual_coef_)


def test_each_pair_is_a_binary_fit_of_its_own():
    X, y = problem(n_classes=3)
    model = KernelSVC(gamma=0.2, decision_function_shape="ovo").fit(X, y)
    for k, (i, j) in enumerate([(0, 1), (0, 2), (1, 2)]):
        own = (y == i) | (y == j)
        pair = KernelSVC(gamma=0.2).fit(X[own], y[own])
        np.testing.assert_allclose(-model.decision_function(X)[:, k], pair.decision_function(X), atol=1e-6)


@pytest.mark.parametrize("solver", ["smo", "pegasos"])
def test_reference_twin_gives_the_same_model(solver):
    class Reference(KernelSVC):
        _twin = "reference"

    X, y = problem(n_classes=3)
    run = {"gamma": 0.2, **settings(solver)}
    ours, reference = KernelSVC(**run).fit(X, y), Reference(**run).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), reference.decision_function(X), atol=1e-8)


def test_prediction_keeps_the_kernel_of_the_fit():
    X, y = problem()
    model = KernelSVC(gamma="scale").fit(X, y)
    assert isinstance(model.kernel_, Gaussian)
    expected = model.decision_function(X[:7])
    np.testing.assert_allclose(model.decision_function(X)[:7], expected, rtol=1e-12)


LOSSES = {
    "hinge": lambda m: np.maximum(0, 1 - m),
    "squared_hinge": lambda m: np.maximum(0, 1 - m) ** 2,
    "log_loss": lambda m: np.log1p(np.exp(-m)),
}


@pytest.mark.parametrize(
    ("solver", "loss"), [(name, loss) for name in SOLVERS for loss in registry.get(name, "kernel-svm").losses]
)
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_objective_is_that_of_the_loss_and_its_gap_bounds_the_optimum(solver, loss, fit_intercept):
    X, y = problem()
    run = {"gamma": 0.1, "C": 0.5, "loss": loss, "fit_intercept": fit_intercept}
    model = KernelSVC(**run, **settings(solver, 1536)).fit(X, y)

    def objective(coef, b):
        f = K @ coef
        return coef @ f / (2 * 0.5 * len(y)) + LOSSES[loss]((2 * y - 1) * (f + b)).mean()

    K = rbf_kernel(X, gamma=0.1)
    coef = np.zeros(len(y))
    coef[model.support_] = model.dual_coef_[0]
    assert model.objective_ == pytest.approx(objective(coef, model.intercept_[0]), rel=1e-6)
    # The optimum is between the certified bound and every function, such as multiples and shifts of this one.
    bound = model.objective_ - model.duality_gap_ - 1e-12  # up to rounding
    shifts = (-0.5, 0.0, 0.5) if fit_intercept else (0.0,)
    assert all(bound <= objective(s * coef, model.intercept_[0] + b) for s in (0, 0.5, 1, 1.5) for b in shifts)
    if solver not in ROUGH:
        assert model.duality_gap_ < 0.3 * model.objective_


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_bound_of_conjugate_subgradients_counts_weights():
    """Long before convergence, where it is that of the averaged subgradient."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y, weights = X[:, 0] + 0.5 * rng.normal(size=80) > 0, rng.integers(1, 6, size=80)
    model = KernelSVC(solver="wolfe", gamma=1.0, dtype="float64", max_iter=20)
    found = [
        model.fit(*data).duality_gap_ / model.objective_
        for data in ((X, y, weights), (np.repeat(X, weights, axis=0), np.repeat(y, weights)))
    ]
    assert found[0] == pytest.approx(found[1], rel=1e-6)
