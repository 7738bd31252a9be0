"""Bad parameters and bad data: each a ValueError that says what to do, never a crash or a model of NaN."""

import re

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris

from kernbench.estimators import KernelSVC
from kernbench.kernels.checks import first_not_finite

X, Y = load_iris(return_X_y=True)
B = (Y == 2).astype(int)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"C": 0}, "C must be a positive number"),
        ({"C": -1.0}, "C must be a positive number"),
        ({"C": np.inf}, "C must be a positive number"),
        ({"C": "1"}, "C must be a positive number"),
        ({"C": True}, "C must be a positive number"),
        ({"tol": 0.0}, "tol must be a positive number"),
        ({"tol": np.nan}, "tol must be a positive number"),
        ({"max_iter": 0}, "max_iter must be a positive integer, or -1"),
        ({"max_iter": -2}, "max_iter must be a positive integer, or -1"),
        ({"max_iter": 10.5}, "max_iter must be a positive integer, or -1"),
        ({"max_seconds": 0}, "max_seconds must be a positive number of seconds, or None"),
        ({"cache_size": 0}, "cache_size must be a positive number of megabytes"),
        ({"cache_size": -5}, "cache_size must be a positive number of megabytes"),
        ({"solver": "smoo"}, "unknown solver 'smoo'; did you mean 'smo'?"),
        ({"solver": None}, "unknown solver None"),
        ({"kernel": "rbff"}, "unknown kernel 'rbff'; did you mean 'rbf'?"),
        ({"kernel": 3}, "kernel must be a name, a kernel object or a function"),
        ({"gamma": "scael"}, "unknown gamma 'scael'; did you mean 'scale'?"),
        ({"gamma": 0.0}, "gamma must be"),
        ({"gamma": -1}, "gamma must be"),
        ({"kernel": "linear", "gamma": "scael"}, "unknown gamma"),
        ({"kernel": "poly", "degree": 0}, "degree must be a positive integer"),
        ({"kernel": "poly", "degree": 2.5}, "degree must be a positive integer"),
        ({"kernel": "poly", "coef0": -1.0}, "coef0 must be at least 0"),
        ({"dtype": "float46"}, "unknown dtype 'float46'; did you mean 'float64'?"),
        ({"dtype": np.float64}, "unknown dtype"),
        ({"decision_function_shape": "ovv"}, "unknown decision_function_shape 'ovv'"),
        ({"class_weight": "balance"}, "class_weight must be None, 'balanced' or a dict"),
        ({"class_weight": {0: -1.0}}, "class_weight of class 0 must be at least 0"),
        ({"random_state": "seed"}, "random_state must be None"),
        ({"random_state": -1}, "random_state must be None"),
        ({"callback": 3}, "callback must be a function or a list of functions"),
        ({"callback": [print, "print"]}, "callback must be a function or a list of functions"),
        ({"solver_options": [1]}, "solver_options must be a dict"),
        ({"solver": "sbp", "solver_options": {"alpha": 1.0}}, "solver_options must not hold alpha"),
        ({"solver": "sbp", "solver_options": {"burn": 1}}, "does not take solver_options"),
    ],
    ids=str,
)
def test_bad_parameter(params, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        KernelSVC(**params).fit(X, Y)


def test_parameters_are_not_checked_before_fit():
    assert KernelSVC(C=-1, solver="none").set_params(tol=0).C == -1


@pytest.mark.parametrize("make", [np.array, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")])
def test_not_finite_is_named_by_column(make, value, word):
    bad = X.copy()
    bad[17, 2] = value
    message = f"column 2 holds {word}, first in row 17"
    with pytest.raises(ValueError, match=message):
        KernelSVC().fit(make(bad), Y)
    model = KernelSVC().fit(X, Y)
    with pytest.raises(ValueError, match=message):
        model.predict(make(bad))


def test_not_finite_is_named_by_the_name_of_its_column():
    bad = X.copy()
    bad[3, 1] = np.nan
    assert "column 'age' holds NaN, first in row 3" in first_not_finite(bad, ["height", "age", "a", "b"])
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="column 'age' holds NaN, first in row 3"):
        KernelSVC().fit(pandas.DataFrame(bad, columns=["height", "age", "a", "b"]), Y)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (X.astype(str).astype(object) + "cm", "X holds text.*Encode it as numbers"),
        (X + 1j, "Complex data not supported"),
        (X[:0], "0 sample"),
        (X[:, :0], "0 feature"),
        (X[0], "2D array"),
        (X[:, :, None], "dim 3"),
        (X[:-1], "inconsistent numbers of samples"),
        (X * 1e200, "too large for this kernel in float64: scale the features"),
    ],
    ids=["text", "complex", "no rows", "no columns", "one row", "three dimensions", "a row short", "huge"],
)
def test_bad_rows(rows, message):
    y = Y if len(rows) != 0 and rows.ndim != 1 else Y[: len(rows)]
    with pytest.raises(ValueError, match=message):
        KernelSVC().fit(rows, y)


def test_values_too_large_for_single_precision_only():
    scaled = X * 1e22
    with pytest.raises(ValueError, match="too large for this kernel in float32.*use dtype='float64'"):
        KernelSVC(dtype="float32").fit(scaled, Y)
    model = KernelSVC().fit(scaled, Y)  # float64, and gamma follows the scale
    assert model.score(scaled, Y) > 0.95
    with pytest.raises(ValueError, match="too large"):
        model.predict(X * 1e200)


def test_polynomial_that_overflows_is_refused():
    with pytest.raises(ValueError, match="too large for this kernel"):
        KernelSVC("poly", degree=200, gamma=10.0).fit(X, B)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.zeros(150), "The number of classes has to be greater than one; got 1 class"),
        (Y + 0.5 * np.arange(150), "Unknown label type"),
        (np.where(Y == 0, np.nan, Y), "Input y contains NaN"),
        (None, "requires y"),
        (np.column_stack([Y, Y]), "1d array|multi-output|y should be"),
    ],
    ids=["one class", "real numbers", "NaN", "none", "two columns"],
)
def test_bad_labels(y, message):
    with pytest.raises(ValueError, match=message):
        KernelSVC().fit(X, y)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (-np.ones(150), "sample_weight must be at least 0"),
        (np.zeros(150), "every example of class '0' has weight 0|at least one non-zero"),
        (np.where(Y == 1, 0.0, 1.0), "every example of class '1' has weight 0"),
        (np.ones(149), "sample_weight"),
        (np.ones((150, 2)), "[Ss]ample.weight"),
        (np.full(150, np.nan), "NaN"),
    ],
    ids=["negative", "all zero", "a class of zeros", "short", "two columns", "NaN"],
)
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_bad_weights(weights, message, class_weight):
    with pytest.raises(ValueError, match=message):
        KernelSVC(class_weight=class_weight).fit(X, Y, sample_weight=weights)


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
    with pytest.raises(
        ValueError, match=r"kernel function must return .*expected shape \(2, 3\), got \(3,\)"
    ):
        KernelSVC(lambda A, B: np.ones(3)).fit(X, Y)


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
