"""Products with the kernel matrix agree with those of the stored matrix, without storing it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from kernbench.kernels import Callable, Gaussian, Linear, Precomputed
from kernbench.kernels.blocks import matmul
from kernbench.reference.kernels.rows import evaluate


@settings(max_examples=20, deadline=None)
@given(
    n=st.sampled_from([1, 2, 64, 255, 257, 600]),
    m=st.sampled_from([1, 15, 17, 65, 511, 700]),
    d=st.sampled_from([1, 3, 12]),
    n_rhs=st.sampled_from([None, 1, 2, 7]),
    density=st.sampled_from([0.1, 1.0]),
    seed=st.integers(0, 50),
)
def test_product_is_the_matrix_times_the_right_hand_sides(
    kernel, dtype, assert_close, thin_rows, n, m, d, n_rhs, density, seed
):
    X, Z = thin_rows(n, d, seed, density), thin_rows(m, d, seed + 1, density)
    A = np.random.default_rng(seed).normal(size=m if n_rhs is None else (m, n_rhs))
    K = evaluate(kernel, X, Z)
    for left, right in ((X, Z), (sparse.csr_matrix(X), sparse.csr_matrix(Z))):
        product = matmul(kernel, left, right, A, dtype=dtype)
        assert product.dtype == np.float64
        # Errors of the entries add up like a random walk; entries of a polynomial are larger than 1.
        assert_close(product, K @ A, dtype, factor=2 * np.sqrt(m) * max(1.0, np.abs(K).max()))


def test_right_hand_sides_of_any_layout(X, kernel, assert_close):
    A = np.random.default_rng(1).normal(size=(30, 4))
    expected = evaluate(kernel, X) @ A
    for right in (np.asfortranarray(A), np.repeat(A, 2, axis=1)[:, ::2], A.tolist()):
        assert_close(matmul(kernel, X, X, right), expected)
    assert_close(matmul(kernel, X, X, A.astype(np.float32)), expected, np.float32, factor=100)
    assert_close(matmul(kernel, X, X, np.ones(30, dtype=int)), evaluate(kernel, X).sum(axis=1))


def test_many_right_hand_sides_are_summed_as_one_is(dtype):
    """Coefficients that cancel cost no more digits than the terms of the sum have."""
    X = np.random.default_rng(2).normal(size=(700, 2))
    a = 1e4 * np.where(np.arange(700) % 2, 1.0, -1.0)
    one = matmul(Linear(), X, X, a, dtype=dtype)
    many = matmul(Linear(), X, X, np.stack([a, 2 * a], axis=1), dtype=dtype)
    terms = np.abs(X @ X.T) @ np.abs(a)
    assert np.all(np.abs(many - np.stack([one, 2 * one], axis=1)).max(axis=1) <= 4 * np.finfo(dtype).eps * terms)


@pytest.mark.parametrize("n_rhs", [None, 3])
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])
def test_product_of_a_precomputed_matrix(storage, n_rhs, assert_close):
    K = np.random.default_rng(3).normal(size=(40, 25))
    A = np.random.default_rng(4).normal(size=25 if n_rhs is None else (25, n_rhs))
    product = matmul(Precomputed(), storage(K), np.zeros((25, 1)), A)
    assert_close(product, K @ A)
    assert product.shape == (40,) + A.shape[1:]


def test_product_of_a_function_shows_it_bounded_batches(monkeypatch, assert_close):
    monkeypatch.setattr("kernbench.kernels.blocks.CHUNK_BYTES", 8 * 50 * 300)
    shown = []

    def function(X, Z):
        shown.append(len(X))
        return X @ Z.T

    X, Z = np.random.default_rng(5).normal(size=(1000, 3)), np.random.default_rng(6).normal(size=(50, 3))
    for A in (np.ones(50), np.ones((50, 2))):
        assert_close(matmul(Callable(function), X, Z, A), X @ (Z.T @ A))
    assert shown == [300, 300, 300, 100] * 2


def test_product_over_several_chunks_of_rows(monkeypatch, kernel, dtype, assert_close):
    monkeypatch.setattr("kernbench.kernels.blocks.CHUNK_BYTES", 0)  # 256 rows at a time
    X = np.random.default_rng(7).normal(size=(600, 4))
    A = np.random.default_rng(8).normal(size=(600, 2)) / 600
    assert_close(matmul(kernel, X, X, A, dtype=dtype), evaluate(kernel, X) @ A, dtype, factor=10)


def test_nothing_times_nothing_is_zero(kernel, X):
    none = X[:0]
    np.testing.assert_array_equal(matmul(kernel, X, none, np.zeros(0)), np.zeros(30))
    np.testing.assert_array_equal(matmul(kernel, X, none, np.zeros((0, 2))), np.zeros((30, 2)))
    assert matmul(kernel, none, X, np.zeros(30)).shape == (0,)
    assert matmul(kernel, X, X, np.zeros((30, 0))).shape == (30, 0)


@pytest.mark.parametrize(
    "one", [Gaussian(1.0), Precomputed(), Callable(lambda X, Z: X @ Z.T)], ids=["kernel", "precomputed", "function"]
)
def test_right_hand_sides_must_have_one_entry_per_row(one, X):
    """Without the check the compiled loops read past the end of a short one."""
    rows = X @ X.T if isinstance(one, Precomputed) else X
    for shape in ((29,), (31,), (29, 2), (1,), (0,), ()):
        with pytest.raises(ValueError, match="A must have one entry"):
            matmul(one, rows, X, np.ones(shape))


BUDGET = """
import numpy as np
from kernbench.kernels import Gaussian
from kernbench.kernels.blocks import matmul

X = np.random.default_rng(0).normal(size=(20_000, 4)).astype(np.float32)
matmul(Gaussian(1.0), X[:600], X[:600], np.ones((600, 2)))  # threads and BLAS take their own first
before = peak()
assert np.all(matmul(Gaussian(1.0), X, X, np.ones(20_000)) >= 1)
assert np.all(matmul(Gaussian(1.0), X, X[:5_000], np.ones((5_000, 8))) >= 0)
print(peak() - before)
"""


def test_memory_stays_in_budget(run_with_peak):
    """Stored, this matrix of 20,000 by 20,000 would take 1.6 GB."""
    assert int(run_with_peak(BUDGET)) < 60e6  # "some 50 MB of tiles", says the docstring
