"""From names to kernel objects."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import pairwise
from sklearn.svm import SVC

from kernbench.kernels import Callable, Gaussian, Laplacian, Linear, Polynomial, Precomputed, Sigmoid
from kernbench.kernels.names import NAMES, resolve_gamma, resolve_kernel
from kernbench.reference.kernels.bandwidth import scale


@pytest.fixture
def wide_X():
    """Rows whose entries have a mean and a variance worth the name."""
    return np.random.default_rng(4).normal(2.0, 3.0, size=(60, 7))


def scikit_learn_scale(X):
    labels = np.arange(X.shape[0]) % 2
    return SVC(gamma="scale", max_iter=1).fit(X, labels)._gamma


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])
@pytest.mark.parametrize("offset", [0.0, 1e3])
@pytest.mark.parametrize("single", [False, True], ids=["float64", "float32"])
def test_scale_is_scikit_learns(wide_X, storage, offset, single):
    X = storage((wide_X + offset).astype(np.float32) if single else wide_X + offset)
    assert resolve_gamma("scale", X) == pytest.approx(scikit_learn_scale(X), rel=1e-6)


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])
@pytest.mark.parametrize("value", [0.0, 2.0, 0.1, 1e8 / 3, -1e-30 / 3])
def test_scale_of_constant_data_is_one(storage, value):
    """Though the mean is rounded."""
    for dtype in (np.float32, np.float64):
        assert resolve_gamma("scale", storage(np.full((61, 7), value, dtype=dtype))) == 1.0
    assert scale(np.full((60, 3), value)) == 1.0


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value")
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])
@pytest.mark.parametrize("unit, what", [(1e155, "large"), (1e-155, "small"), (1e-160, "small"), (1e-170, "small")])
def test_a_variance_out_of_range_asks_to_scale_the_features(wide_X, storage, unit, what):
    for X in (unit * wide_X, unit * (np.abs(wide_X) > 1.0)):
        with pytest.raises(ValueError, match=f"variance of X is too {what} for gamma='scale': scale the features"):
            resolve_kernel("rbf", storage(X))
    assert resolve_gamma("scale", storage(np.full((61, 7), min(unit, 1.0)))) == 1.0


def test_auto_is_one_over_the_number_of_features(wide_X):
    assert resolve_gamma("auto", wide_X) == 1 / 7


def test_median_makes_sigma_the_median_distance(wide_X):
    distances = pairwise.euclidean_distances(wide_X)[np.triu_indices(60, 1)]
    for X in (wide_X, sparse.csr_matrix(wide_X)):
        kernel = resolve_kernel("rbf", X, gamma="median")
        assert kernel.sigma == pytest.approx(np.median(distances), rel=1e-12)


def test_median_looks_at_a_subset_that_the_seed_decides():
    X = np.random.default_rng(5).normal(size=(2300, 2))
    one, same, other = (resolve_gamma("median", X, seed) for seed in (0, 0, 1))
    assert one == same != other
    assert one == pytest.approx(0.5 / np.median(pairwise.euclidean_distances(X[::2])) ** 2, rel=0.1)
    assert one == resolve_gamma("median", X, np.random.default_rng(0))


@pytest.mark.parametrize("X", [np.ones((1, 3)), np.ones((6, 3))], ids=["one row", "equal rows"])
def test_median_of_no_distance_is_one(X):
    assert resolve_kernel("rbf", X, gamma="median").sigma == pytest.approx(1.0)


@pytest.mark.parametrize("number", [0.25, np.float32(0.25), 1, np.int64(2)])
def test_a_positive_number_is_itself(number, wide_X):
    gamma = resolve_gamma(number, wide_X)
    assert gamma == number and type(gamma) is float


@pytest.mark.parametrize(
    "gamma", [0, -1.0, float("nan"), float("inf"), None, [1.0], 1j, np.ones(2), 10**400, True], ids=str
)
def test_other_gammas_are_refused(gamma, wide_X):
    with pytest.raises(ValueError, match="gamma must be 'scale', 'auto', 'median' or a positive number"):
        resolve_gamma(gamma, wide_X)


@pytest.mark.parametrize("typed, meant", [("scal", "scale"), ("meadian", "median"), ("atuo", "auto")])
def test_misspelt_gamma_says_the_nearest(typed, meant, wide_X):
    with pytest.raises(ValueError, match=f"unknown gamma '{typed}'; did you mean '{meant}'"):
        resolve_gamma(typed, wide_X)


@pytest.mark.parametrize(
    "typed, meant", [("rfb", "rbf"), ("laplace", "laplacian"), ("polynomal", "polynomial"), ("Linear", "linear")]
)
def test_misspelt_kernel_says_the_nearest(typed, meant, wide_X):
    with pytest.raises(ValueError, match=f"unknown kernel '{typed}'; did you mean '{meant}'"):
        resolve_kernel(typed, wide_X)


@pytest.mark.parametrize("kernel", [None, 3, ["rbf"]], ids=repr)
def test_what_is_no_kernel_is_refused(kernel, wide_X):
    with pytest.raises(ValueError, match="kernel must be a name, a kernel object or a function"):
        resolve_kernel(kernel, wide_X)


def test_names_mean_scikit_learns_kernels(wide_X):
    shape = dict(gamma=0.02, degree=2, coef0=1.5)
    meant = {
        "rbf": pairwise.rbf_kernel(wide_X, gamma=0.02),
        "laplacian": pairwise.laplacian_kernel(wide_X, gamma=0.02),
        "poly": pairwise.polynomial_kernel(wide_X, degree=2, gamma=0.02, coef0=1.5),
        "sigmoid": pairwise.sigmoid_kernel(wide_X, gamma=0.02, coef0=1.5),
        "linear": pairwise.linear_kernel(wide_X),
        "precomputed": wide_X,
        "cosine": pairwise.cosine_similarity(wide_X),
        "additive_chi2": pairwise.additive_chi2_kernel(abs(wide_X))
        + np.add.outer(abs(wide_X).sum(axis=1), abs(wide_X).sum(axis=1)),
        "chi2": pairwise.chi2_kernel(abs(wide_X), gamma=0.02),
    }
    meant |= {"gaussian": meant["rbf"], "polynomial": meant["poly"]}
    assert set(meant) == set(NAMES)
    for name, K in meant.items():
        X = abs(wide_X) if "chi2" in name else wide_X
        np.testing.assert_allclose(resolve_kernel(name, X, **shape)(X), K, rtol=1e-10, err_msg=name)


def test_parameters_reach_the_kernel(wide_X):
    assert resolve_kernel("rbf", wide_X, gamma=0.125) == Gaussian(2.0)
    assert resolve_kernel("laplacian", wide_X, gamma=0.25) == Laplacian(4.0)
    assert resolve_kernel("poly", wide_X, gamma=0.5, degree=4, coef0=2.0) == Polynomial(4, 2.0, 0.5)
    assert resolve_kernel("sigmoid", wide_X, gamma=0.5, coef0=-2.0) == Sigmoid(0.5, -2.0)
    assert resolve_kernel("linear", wide_X, gamma="no matter") == Linear()
    assert resolve_kernel("precomputed", wide_X) == Precomputed()
    assert resolve_kernel(np.dot, wide_X) == Callable(np.dot)
    kernel = Laplacian(3.0)
    assert resolve_kernel(kernel, wide_X, gamma=-1) is kernel


@pytest.mark.parametrize(
    "kernel, name, value",
    [("poly", "degree", 2.5), ("poly", "degree", 0), ("poly", "coef0", -1.0)]
    + [(kernel, "coef0", float("nan")) for kernel in ("poly", "sigmoid")],
)
def test_degree_and_coef0_out_of_range_are_refused(kernel, name, value, wide_X):
    with pytest.raises(ValueError, match=f"{name} must be .*, got {value}"):
        resolve_kernel(kernel, wide_X, gamma=1.0, **{name: value})
