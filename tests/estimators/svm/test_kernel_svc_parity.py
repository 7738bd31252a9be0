"""KernelSVC(solver="smo") is scikit-learn's SVC: the same model, attribute by attribute."""

from itertools import combinations

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits, load_iris, make_classification
from sklearn.metrics.pairwise import laplacian_kernel, polynomial_kernel, rbf_kernel
from sklearn.svm import SVC
from sklearn.utils.multiclass import _ovr_decision_function

from kernbench.estimators import KernelSVC
from kernbench.estimators.svm.multiclass import class_scores, pair_values
from kernbench.kernels.functions import Gaussian

PRECISE = {"tol": 1e-6}
VALUES = {"rtol": 1e-4, "atol": 1e-4}


def two_classes(n=120, seed=0):
    return make_classification(n, 6, n_informative=4, flip_y=0.1, random_state=seed)


def three_classes():
    """Unlike iris, without equal rows: the dual solution is unique."""
    return make_classification(120, 6, n_informative=4, n_classes=3, flip_y=0.1, random_state=1)


def digits(n=300):
    X, y = load_digits(return_X_y=True)
    return X[:n] / 16, y[:n]


def assert_same_model(ours, theirs, X, dual=True):
    """Same decision values; where the dual solution is unique, the same attributes."""
    np.testing.assert_array_equal(ours.classes_, theirs.classes_)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), **VALUES)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, **VALUES)
    if dual:
        np.testing.assert_array_equal(ours.support_, theirs.support_)
        np.testing.assert_array_equal(ours.n_support_, theirs.n_support_)
        assert ours.support_.dtype == theirs.support_.dtype and ours.n_support_.dtype == theirs.n_support_.dtype
        np.testing.assert_allclose(ours.dual_coef_, _dense(theirs.dual_coef_), rtol=1e-3, atol=1e-3)
        np.testing.assert_array_equal(_dense(ours.support_vectors_), _dense(theirs.support_vectors_))
    assert ours.n_iter_.shape == theirs.n_iter_.shape


def _dense(X):
    return X.toarray() if sparse.issparse(X) else X


@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
def test_binary(C):
    X, y = two_classes()
    ours, theirs = KernelSVC(C=C, **PRECISE).fit(X, y), SVC(C=C, **PRECISE).fit(X, y)
    assert_same_model(ours, theirs, X)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert ours.converged_ and ours.fit_status_ == theirs.fit_status_ == 0


@pytest.mark.parametrize("load", [lambda: load_iris(return_X_y=True), digits], ids=["iris", "digits"])
@pytest.mark.parametrize("shape", ["ovr", "ovo"])
def test_many_classes(load, shape):
    X, y = load()
    settings = {"decision_function_shape": shape, "C": 2.0, **PRECISE}
    ours = KernelSVC(**settings).fit(X, y)
    theirs = SVC(break_ties=shape == "ovr", **settings).fit(X, y)
    assert_same_model(ours, theirs, X)
    if shape == "ovr":
        np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_labels_of_text():
    X, y = load_iris(return_X_y=True)
    names = np.array(["rose", "ash", "oak"], dtype=object)[y]  # not in the order of the codes
    assert_same_model(KernelSVC(**PRECISE).fit(X, names), SVC(**PRECISE).fit(X, names), X)


@pytest.mark.parametrize("load", [two_classes, three_classes])
@pytest.mark.parametrize(
    "weighting",
    [{"class_weight": "balanced"}, {"class_weight": {0: 3.0, 1: 0.5}}, {"sample_weight": True}],
    ids=["balanced", "dict", "sample"],
)
def test_weights(load, weighting):
    X, y = load()
    X, y = X[10:], y[10:]  # so that the classes are not of one size
    class_weight = weighting.get("class_weight")
    weights = np.random.default_rng(0).choice([0.5, 1.0, 4.0], len(y)) if "sample_weight" in weighting else None
    settings = {"gamma": 0.3, "class_weight": class_weight, **PRECISE}
    ours = KernelSVC(**settings).fit(X, y, sample_weight=weights)
    theirs = SVC(**settings).fit(X, y, sample_weight=weights)
    assert_same_model(ours, theirs, X)
    np.testing.assert_allclose(ours.class_weight_, theirs.class_weight_)


def test_weights_of_zero():
    X, y = three_classes()
    weights = np.random.default_rng(0).choice([0.0, 1.0, 2.0], len(y))
    ours = KernelSVC(gamma=0.3, **PRECISE).fit(X, y, sample_weight=weights)
    theirs = SVC(gamma=0.3, **PRECISE).fit(X, y, sample_weight=weights)
    assert_same_model(ours, theirs, X, dual=False)
    # LIBSVM counts support_ among the rows it kept; ours are rows of X.
    np.testing.assert_array_equal(X[ours.support_], theirs.support_vectors_)


@pytest.mark.parametrize("kernel", ["linear", "poly"])
def test_other_kernels(kernel):
    X, y = two_classes()
    X = X / 3  # flat enough for LIBSVM's cubic kernel to converge soon
    settings = {"kernel": kernel, "degree": 3, "coef0": 1.0, "gamma": 0.2, **PRECISE}
    ours, theirs = KernelSVC(**settings).fit(X, y), SVC(**settings).fit(X, y)
    assert_same_model(ours, theirs, X, dual=False)
    if kernel == "linear":
        np.testing.assert_allclose(ours.coef_, theirs.coef_, **VALUES)
        assert not ours.coef_.flags.writeable


def test_linear_weights_of_many_classes():
    X, y = load_iris(return_X_y=True)
    ours, theirs = KernelSVC("linear", **PRECISE).fit(X, y), SVC(kernel="linear", **PRECISE).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, **VALUES)
    np.testing.assert_allclose(KernelSVC("linear", **PRECISE).fit(sparse.csr_array(X), y).coef_, ours.coef_)


def test_coef_is_for_the_linear_kernel():
    X, y = two_classes()
    assert not hasattr(KernelSVC().fit(X, y), "coef_")
    assert not hasattr(KernelSVC("linear"), "coef_")


def test_laplacian():
    X, y = two_classes()
    ours = KernelSVC("laplacian", gamma=0.2, **PRECISE).fit(X, y)
    theirs = SVC(kernel=lambda A, B: laplacian_kernel(A, B, gamma=0.2), **PRECISE).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), **VALUES)
    np.testing.assert_array_equal(ours.support_, theirs.support_)


@pytest.mark.parametrize("load", [two_classes, three_classes])
def test_python_function_as_kernel(load):
    X, y = load()

    def kernel(A, B):
        return polynomial_kernel(A, B, degree=2, gamma=0.1)

    ours, theirs = KernelSVC(kernel, **PRECISE).fit(X, y), SVC(kernel=kernel, **PRECISE).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X[::2]), theirs.decision_function(X[::2]), **VALUES)


@pytest.mark.parametrize("load", [two_classes, three_classes])
def test_precomputed(load):
    X, y = load()
    train, test = np.arange(len(y)) % 3 > 0, np.arange(len(y)) % 3 == 0
    K = rbf_kernel(X, gamma=0.3)
    ours = KernelSVC("precomputed", **PRECISE).fit(K[np.ix_(train, train)], y[train])
    theirs = SVC(kernel="precomputed", **PRECISE).fit(K[np.ix_(train, train)], y[train])
    plain = KernelSVC(gamma=0.3, **PRECISE).fit(X[train], y[train])
    values = ours.decision_function(K[np.ix_(test, train)])
    np.testing.assert_allclose(values, theirs.decision_function(K[np.ix_(test, train)]), **VALUES)
    np.testing.assert_allclose(values, plain.decision_function(X[test]), **VALUES)
    assert ours.support_vectors_.shape == (0, 0)


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csr_array])
def test_sparse(make, index):
    X, y = load_iris(return_X_y=True)
    S = make(np.where(X > 2, X, 0))
    S.indices, S.indptr = S.indices.astype(index), S.indptr.astype(index)
    ours = KernelSVC(**PRECISE).fit(S, y)
    theirs = SVC(**PRECISE).fit(sparse.csr_matrix(S.toarray()), y)
    assert_same_model(ours, theirs, sparse.csr_matrix(S.toarray()))
    assert sparse.issparse(ours.support_vectors_) and ours.support_vectors_.format == "csr"


def test_kernel_object_is_its_name():
    X, y = two_classes()
    named, given = KernelSVC(gamma=0.5).fit(X, y), KernelSVC(Gaussian(1.0)).fit(X, y)
    np.testing.assert_array_equal(named.decision_function(X), given.decision_function(X))


def test_objective_is_the_documented_one():
    X, y = two_classes()
    model = KernelSVC(C=2.0, gamma=0.3, tol=1e-8).fit(X, y)
    f = model.decision_function(X)
    a = np.zeros(len(y))
    a[model.support_] = model.dual_coef_[0]
    alpha = 1 / (2.0 * len(y))
    expected = alpha / 2 * a @ rbf_kernel(X, gamma=0.3) @ a + np.maximum(0, 1 - (2 * y - 1) * f).mean()
    assert model.objective_ == pytest.approx(expected, rel=1e-9)
    dual = alpha * (np.abs(a).sum() - a @ rbf_kernel(X, gamma=0.3) @ a / 2)
    assert model.objective_ - dual <= model.duality_gap_ + 1e-12
    assert model.duality_gap_ < 1e-6


@pytest.mark.parametrize("n_classes", [3, 4, 7])
def test_scores_of_classes_are_scikit_learns(n_classes):
    values = np.random.default_rng(0).normal(size=(50, n_classes * (n_classes - 1) // 2)).round(1)  # with zeros
    expected = _ovr_decision_function(values < 0, -values, n_classes)
    # Of each pair, the earlier class brings a third and the later one the rest.
    products, intercept = np.zeros((n_classes, 50, n_classes - 1)), np.full(values.shape[1], 0.25)
    for column, (i, j) in zip(values.T, combinations(range(n_classes), 2), strict=True):
        products[i, :, j - 1], products[j, :, i] = column - 1.5, 1.25
    np.testing.assert_allclose(pair_values(products, intercept), values, atol=1e-15)
    np.testing.assert_allclose(class_scores(products, intercept), expected, rtol=1e-13)
    votes = np.zeros((50, n_classes))
    for column, (i, j) in zip(values.T, combinations(range(n_classes), 2), strict=True):
        votes[np.arange(50), np.where(column > 0, i, j)] += 1  # LIBSVM gives a value of 0 to the later class
    np.testing.assert_array_equal(class_scores(products, intercept, break_ties=False), votes)
