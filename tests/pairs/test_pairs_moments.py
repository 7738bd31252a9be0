import numpy as np
import pytest

from kernbench.pairs import difference_moments, squared_hessian_product, squared_loss_and_gradient

WEIGHTED = pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])


def differences(p, X):
    """All x_i - x_j and their weights, which add up to 1."""
    w = np.ones(p.n) if p.weights is None else p.weights
    i, j = np.flatnonzero(p.y > 0), np.flatnonzero(p.y < 0)
    weights = np.outer(w[i], w[j]).ravel()
    return (X[i][:, None] - X[j]).reshape(len(weights), -1), weights / weights.sum()


@WEIGHTED
def test_loss_is_the_double_sum(weighted, pair_problem):
    p = pair_problem(0, 30, weighted)
    d, weights = differences(p, p.scores[:, None])
    loss, _ = squared_loss_and_gradient(p.y, p.scores, p.weights)
    assert loss == pytest.approx(weights @ (1 - d[:, 0]) ** 2, rel=1e-14)


@WEIGHTED
def test_gradient_and_hessian_are_those_of_the_quadratic(weighted, pair_problem):
    p = pair_problem(1, 30, weighted)
    loss, gradient = squared_loss_and_gradient(p.y, p.scores, p.weights)
    product = squared_hessian_product(p.y, p.v, p.weights)
    expected = loss + gradient @ p.v + 0.5 * p.v @ product
    assert squared_loss_and_gradient(p.y, p.scores + p.v, p.weights)[0] == pytest.approx(expected, rel=1e-13)
    change = squared_loss_and_gradient(p.y, p.scores + p.v, p.weights)[1] - gradient
    np.testing.assert_allclose(change, product, rtol=1e-12, atol=1e-15)


@WEIGHTED
def test_moments_of_the_differences(weighted, pair_problem):
    p = pair_problem(2, 30, weighted)
    X = p.rng.normal(size=(p.n, 3)) + 100
    d, weights = differences(p, X)
    m, M = difference_moments(X, p.y, p.weights)
    np.testing.assert_allclose(m, weights @ d, rtol=1e-12)
    np.testing.assert_allclose(M, (d * weights[:, None]).T @ d, rtol=1e-11)


def test_moments_give_the_minimiser(pair_problem):
    p = pair_problem(3, 30, True)
    X, alpha = p.rng.normal(size=(p.n, 3)), 0.1
    m, M = difference_moments(X, p.y, p.weights)
    w = np.linalg.solve(alpha * np.eye(3) + 2 * M, 2 * m)
    _, slopes = squared_loss_and_gradient(p.y, X @ w, p.weights)
    np.testing.assert_allclose(X.T @ slopes + alpha * w, 0, atol=1e-14)


def test_a_common_offset_is_immaterial(pair_problem):
    p = pair_problem(4, 30)
    scores = np.round(p.scores * 2**20) / 2**20
    one, other = (squared_loss_and_gradient(p.y, scores + offset) for offset in (0, 2.0**30))
    assert other[0] == pytest.approx(one[0], rel=1e-6)
    np.testing.assert_allclose(other[1], one[1], rtol=1e-5, atol=1e-8)


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="no negative sample"):
        squared_loss_and_gradient([1, 1], [0.0, 0.0])
    with pytest.raises(ValueError, match="finite"):
        squared_loss_and_gradient([1, -1], [0.0, np.nan])
    with pytest.raises(ValueError, match="too far apart"):
        squared_loss_and_gradient([1, -1], [1e200, -1e200])
    with pytest.raises(ValueError, match="shape"):
        squared_hessian_product([1, -1], [0.0])
    with pytest.raises(ValueError, match="n_features"):
        difference_moments(np.zeros((3, 2)), [1, -1])
    with pytest.raises(ValueError, match="finite"):
        difference_moments(np.full((2, 2), np.nan), [1, -1])


@pytest.mark.filterwarnings("error")
def test_numbers_too_far_apart_are_refused():
    far = 1e200 * np.array([[1, 1], [1, -1], [-1, 1], [-1, -1], [0, 0]])
    for X, y in ((far, [1, 1, 1, 1, -1]), ([[1e200], [-1e200]], [1, -1]), ([[1e308], [-1e308]], [1, -1])):
        with pytest.raises(ValueError, match="rows of X are too far apart for float64 arithmetic: rescale them"):
            difference_moments(X, y)
    with pytest.raises(ValueError, match="entries of v are too far apart for float64 arithmetic: rescale them"):
        squared_hessian_product([1, -1], [1e308, -1e308])
