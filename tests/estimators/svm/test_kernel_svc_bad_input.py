"""Bad parameters and bad data: each a ValueError that says what to change, never a crash or a model of NaN."""

import re

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from kernbench.estimators import KernelRegressor, KernelSVC
from kernbench.solvers import registry
from kernbench.validation.rows import first_not_finite

X, Y = load_iris(return_X_y=True)
B = (Y == 2).astype(int)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"loss": "hinges"}, "unknown loss 'hinges'; did you mean 'hinge'?"),
        ({"multi_class": "ovr", "decision_function_shape": "ovo"}, "it needs multi_class='ovo'"),
        ({"solver": "smoo"}, "unknown solver 'smoo'; did you mean 'smo'?"),
        ({"kernel": 3}, "kernel must be a name, a kernel object or a function"),
        ({"gamma": -1}, "gamma must be"),
        ({"kernel": "linear", "gamma": "scael"}, "unknown gamma"),
        ({"kernel": "poly", "degree": 0}, "degree must be a positive integer"),
        ({"kernel": "poly", "degree": 2.5}, "degree must be a positive integer"),
        ({"kernel": "poly", "coef0": -1.0}, "coef0 must be at least 0"),
        ({"fit_intercept": "no"}, "fit_intercept must be True or False, got 'no'"),
        ({"decision_function_shape": "ovv"}, "unknown decision_function_shape 'ovv'"),
        ({"solver": "sbp", "solver_options": {"alpha": 1.0}}, "solver_options must not hold alpha"),
        ({"solver": "sbp", "solver_options": {"burn": 1}}, "unknown option of solver 'sbp' 'burn'"),
    ],
    ids=str,
)
def test_bad_parameter(params, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        KernelSVC(**params).fit(X, Y)


def test_parameters_are_not_checked_before_fit():
    assert KernelSVC(C=-1, solver="none").set_params(tol=0).C == -1


def test_not_finite_is_named_by_the_name_of_its_column():
    bad = X.copy()
    bad[3, 1] = np.nan
    assert "column 'age' holds NaN, first in row 3" in first_not_finite(bad, ["height", "age", "a", "b"])
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="column 'age' holds NaN, first in row 3"):
        KernelSVC().fit(pandas.DataFrame(bad, columns=["height", "age", "a", "b"]), Y)


def test_rows_too_large_for_float64():
    with pytest.raises(ValueError, match="too large for this kernel in float64: scale the features"):
        KernelSVC().fit(X * 1e200, Y)


def test_values_too_large_for_single_precision_only():
    scaled = X * 1e22
    with pytest.raises(ValueError, match="too large for this kernel in float32.*use dtype='float64'"):
        KernelSVC(dtype="float32").fit(scaled, Y)
    model = KernelSVC().fit(scaled, Y)  # float64, and gamma follows the scale
    assert model.score(scaled, Y) > 0.95
    with pytest.raises(ValueError, match="too large"):
        model.predict(X * 1e200)


def test_polynomial_that_overflows_is_refused():
    with pytest.raises(ValueError, match="too large for this kernel in float64: scale the features.*, or lower gamma"):
        KernelSVC("poly", degree=200, gamma=10.0).fit(X, B)


def test_class_weight_of_zero_is_a_class_of_zeros():
    with pytest.raises(ValueError, match="every example of class '1' has weight 0"):
        KernelSVC(class_weight={1: 0.0}).fit(X, Y)


def test_precomputed_kernel_of_the_wrong_shape():
    with pytest.raises(ValueError, match=r"must be a square matrix, got shape \(150, 4\)"):
        KernelSVC("precomputed").fit(X, Y)
    model = KernelSVC("precomputed").fit(X @ X.T, Y)
    with pytest.raises(ValueError, match="150 features"):
        model.predict(X @ X[:20].T)
    with pytest.raises(TypeError, match="dense data is required"):
        KernelSVC("precomputed").fit(sparse.csr_array(X @ X.T), Y)


def test_function_that_is_no_kernel():
    with pytest.raises(ValueError, match=r"kernel function must return .*expected shape \(2, 3\), got \(3,\)"):
        KernelSVC(lambda A, B: np.ones(3)).fit(X, Y)


@pytest.mark.parametrize("model", [KernelSVC(), KernelRegressor()], ids=lambda model: type(model).__name__)
def test_function_of_two_rows_is_told_of_the_arrays(model):
    """As `sklearn.kernel_ridge.KernelRidge` calls it."""
    with pytest.raises(ValueError, match=r"raised ValueError for arrays of 2 and 3 rows.*not with two rows") as caught:
        model.set_params(kernel=lambda x, z: np.exp(-np.sum((x - z) ** 2))).fit(X, Y)
    assert caught.value.__cause__ is not None


def test_function_that_gives_nan_makes_no_model():
    def kernel(A, B):
        K = A @ B.T
        K[K > 60] = np.nan
        return K

    with pytest.raises(ValueError, match="NaN or infinity"):
        KernelSVC(kernel, max_iter=1000).fit(X, Y)


def test_prediction_with_the_wrong_number_of_features():
    with pytest.raises(ValueError, match="X has 3 features, but KernelSVC is expecting 4 features"):
        KernelSVC().fit(X, Y).predict(X[:, :3])


def test_a_failed_fit_leaves_the_fitted_model_as_it_was():
    model = KernelSVC().fit(X, Y)
    expected = model.decision_function(X)
    with pytest.raises(ValueError, match="greater than one"):
        model.fit(X, np.zeros(150))
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.full_like(X, np.nan), Y)
    np.testing.assert_array_equal(model.decision_function(X), expected)


# --- every solver -------------------------------------------------------------------------------------------

ENTRIES = [entry for entry in registry.SOLVERS if entry.problem == "kernel-svm"]
# `closed-form` is for small C without an intercept only: it has separate tests.
SOLVERS = [name for name in registry.names("kernel-svm") if name != "closed-form"]
every_solver = pytest.mark.parametrize("solver", SOLVERS)
quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def settings(solver, max_iter=512):
    """A short, repeatable run."""
    return {"solver": solver, "random_state": 0, **({} if solver == "smo" else {"max_iter": max_iter})}


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_every_solver_stands_in_the_docstring(entry):
    assert f"* ``{entry.name}``:" in KernelSVC.__doc__


@every_solver
@pytest.mark.parametrize(
    ("rows", "labels", "message"),
    [
        (X, np.zeros(150), "greater than one; got 1 class"),
        (np.where(np.arange(4) == 2, np.nan, X), Y, "column 2 holds NaN"),
        (X[:0], Y[:0], "0 sample"),
        (X, np.where(Y == 0, np.nan, Y), "Input y contains NaN"),
    ],
    ids=["one class", "NaN", "no rows", "NaN labels"],
)
def test_bad_data_is_refused_whatever_the_solver(solver, rows, labels, message):
    with pytest.raises(ValueError, match=message):
        KernelSVC(**settings(solver)).fit(rows, labels)


def test_loss_that_another_solver_offers_is_said_with_its_name():
    offered = {loss: {e.name for e in ENTRIES if loss in e.losses} for loss in ("squared_hinge", "log_loss")}
    for entry in ENTRIES:
        for loss, names in offered.items():
            if loss not in entry.losses:
                with pytest.raises(ValueError, match=f"minimises loss='hinge'.*{loss}") as refused:
                    KernelSVC(solver=entry.name, loss=loss).fit(X, Y)
                assert all(repr(name) in str(refused.value) for name in names)


@quiet
@every_solver
def test_duplicate_rows_with_opposite_labels(solver):
    """Not separable: a function has the same value at both rows of a pair, and all numbers stay finite."""
    rows, labels = np.repeat(X[:30], 2, axis=0), np.tile([0, 1], 30)
    model = KernelSVC(C=100.0, max_iter=200, solver=solver, random_state=0, tol=1e-12).fit(rows, labels)
    values = model.decision_function(rows)
    assert np.all(np.isfinite(values))
    np.testing.assert_allclose(values[::2], values[1::2], atol=1e-9)
    assert np.isfinite(model.objective_) and model.duality_gap_ >= 0


@every_solver
def test_c_too_large_for_the_limit_says_the_gap_it_reached(solver):
    rows = np.random.default_rng(0).normal(size=(80, 3))
    labels = np.arange(80) % 2
    with pytest.warns(ConvergenceWarning, match=r"max_iter=5 with a duality gap of \S+ at the objective"):
        model = KernelSVC(C=1e10, solver=solver, max_iter=5, random_state=0).fit(rows, labels)
    assert not model.converged_ and model.status_ == "max_iter"
    assert np.isfinite(model.objective_) and model.duality_gap_ > 0
    assert np.all(np.isfinite(model.decision_function(rows)))


@quiet
@every_solver
def test_a_single_support_vector(solver):
    """Two rows, one of them at the origin: with a linear kernel only the other one has an effect."""
    model = KernelSVC("linear", C=10.0, **settings(solver)).fit([[0.0], [2.0]], [0, 1])
    moving = model.dual_coef_[0][model.support_ == 1]
    assert len(moving) <= 1 and np.all(moving > 0)
    alone = KernelSVC("linear", C=10.0, fit_intercept=False, **settings(solver)).fit([[0.0], [2.0]], [0, 1])
    values = alone.decision_function([[0.0], [1.0], [2.0]])
    assert np.all(np.isfinite(values)) and values[0] == 0 and values[2] > 0
    np.testing.assert_allclose(values[2], 2 * values[1], rtol=1e-6)


@quiet
@every_solver
def test_a_million_sparse_features(solver):
    rng = np.random.default_rng(0)
    n, d, used = 60, 1_000_000, 20
    columns = rng.choice(d, size=(n, used)).ravel()
    rows = sparse.csr_matrix((rng.random(n * used), (np.repeat(np.arange(n), used), columns)), shape=(n, d))
    labels = np.arange(n) % 2
    rows = rows + sparse.csr_matrix((2.0 * labels, (np.arange(n), np.zeros(n, dtype=int))), shape=(n, d))
    model = KernelSVC("linear", **settings(solver)).fit(rows, labels)
    thin = KernelSVC("linear", **settings(solver)).fit(rows[:, np.unique(rows.indices)], labels)
    np.testing.assert_array_equal(model.dual_coef_, thin.dual_coef_)
    assert model.support_vectors_.shape == (len(model.support_), d) and sparse.issparse(model.support_vectors_)
    assert model.score(rows, labels) > 0.9


def test_precision_is_double_where_a_narrow_kernel_needs_it():
    """exp(-gamma |x - z|^2) from single-precision inner products of long rows is not even 1 at x = z."""
    rng = np.random.default_rng(0)
    rows = 30 * rng.normal(size=(2100, 5))
    labels = rows[:, 0] > 0
    wide = KernelSVC(gamma=1e-3, max_iter=1, solver="pegasos", random_state=0)
    narrow = KernelSVC(gamma=1e6, max_iter=1, solver="pegasos", random_state=0)
    with pytest.warns(ConvergenceWarning):
        assert wide.fit(rows, labels).dtype_ == "float32"
        assert narrow.fit(rows, labels).dtype_ == "float64"
        assert narrow.fit(sparse.csr_matrix(rows), labels).dtype_ == "float64"
        # Far from the origin but near one another: rows are centred before they are multiplied.
        assert wide.fit(rows + 1e4, labels).dtype_ == "float32"
        assert narrow.set_params(dtype="float32").fit(rows, labels).dtype_ == "float32"
