"""Random features against their reference, entry by entry: dense and sparse rows, both precisions."""

import numpy as np
import pytest
from scipy import sparse

from kernbench.features import FeatureBlocks, feature_block
from kernbench.features.maps.forms import FORMS, resolve_form, terms_of
from kernbench.features.maps.rows import prefers_sparse
from kernbench.kernels.functions import Gaussian, Intersection, Matern, Product, SkewedChiSquared
from kernbench.reference.features import random_features as reference

SEED, BLOCK = 2**40 + 7, 5
COLUMNS = 48  # of a term; 32 + 16 for a TensorSketch


def expected_block(case, X):
    """The reference's features of all terms, side by side."""
    terms = terms_of(case.kernel)
    n_factors, blocks = 0, []
    for weight, factors in terms:
        form = resolve_form(factors, case.form, COLUMNS, X.shape[1], may_be_exact=False)
        kernel = Product(factors) if len(factors) > 1 else factors[0]
        Z = reference.feature_block(
            SEED, BLOCK, COLUMNS, X, kernel, form=form, draws=case.draws, first_factor=n_factors
        )
        blocks.append(np.sqrt(weight) * Z)
        n_factors += len(factors)
    return np.hstack(blocks)


def our_block(case, X):
    columns = COLUMNS * len(terms_of(case.kernel))
    return feature_block(SEED, BLOCK, columns, X, case.kernel, form=case.form, draws=case.draws)


def test_every_kernel_that_has_random_features_is_among_those_tested(all_cases):
    factors = [factor for case in all_cases for _, factors in terms_of(case.kernel) for factor in factors]
    assert {type(factor) for factor in factors} == set(FORMS)


def test_dense_rows(case):
    X = case.rows(9)
    expected = expected_block(case, X)
    # The Jensen-Shannon density comes from a table, the reference's from quadrature.
    close = 1e-9 if "JensenShannon" in str(case) else 1e-10
    np.testing.assert_allclose(our_block(case, X), expected, rtol=0, atol=close * np.abs(expected).max())


def test_float32_rows(case):
    X = case.rows(9).astype(np.float32)
    expected = expected_block(case, X.astype(np.float64))
    Z = our_block(case, X)
    assert Z.dtype == np.float32
    np.testing.assert_allclose(Z, expected, rtol=0, atol=1e-5 * np.abs(expected).max())


def sparse_rows(case, d=12, dtype=np.float64):
    rng = np.random.default_rng(1)
    X = np.abs(rng.normal(size=(70, d))) if case.histograms else rng.normal(size=(70, d))
    X[rng.random(X.shape) > 0.15] = 0.0
    X[0] = 0.0
    X = sparse.csr_matrix(X.astype(dtype))
    X.data[3] = 0.0  # a zero that is stored
    return X


@pytest.mark.parametrize("indices", [np.int32, np.int64])
def test_sparse_rows_are_dense_rows(case, indices):
    X = sparse_rows(case)
    X.indices, X.indptr = X.indices.astype(indices), X.indptr.astype(indices)
    assert prefers_sparse(X)
    dense = our_block(case, X.toarray())
    np.testing.assert_allclose(our_block(case, X), dense, rtol=0, atol=1e-11 * np.abs(dense).max())


def test_sparse_float32_rows(case):
    X = sparse_rows(case, dtype=np.float32)
    dense = our_block(case, X.toarray().astype(np.float64))
    Z = our_block(case, X)
    assert Z.dtype == np.float32
    np.testing.assert_allclose(Z, dense, rtol=0, atol=3e-5 * np.abs(dense).max())


@pytest.mark.parametrize("d", [1, 2, 3, 16, 17])
@pytest.mark.parametrize("draws", ["orthogonal", "fastfood"])
def test_groups_of_any_width(d, draws):
    """Groups of d (Fastfood: of the power of two from d on) do not divide the block."""
    X = np.random.default_rng(d).normal(size=(40, d))
    Z = feature_block(3, 2, 70, X, Gaussian(2.0), form="phase", draws=draws)
    expected = reference.feature_block(3, 2, 70, X, Gaussian(2.0), form="phase", draws=draws)
    np.testing.assert_allclose(Z, expected, atol=1e-11)


def test_float32_rows_far_from_the_origin_keep_their_digits():
    """Their arguments are too large for float32, so these rows are computed in float64; the others are not."""
    X = np.random.default_rng(0).normal(size=(20, 3)).astype(np.float32)
    X[::2] += 30_000
    expected = reference.feature_block(1, 0, 64, X.astype(np.float64), Gaussian(), form="pair")
    np.testing.assert_allclose(feature_block(1, 0, 64, X, Gaussian()), expected, atol=3e-6)


@pytest.mark.parametrize("kernel", [Gaussian(1e-7), Matern(0.05, 1e-3), Intersection()])
def test_enormous_arguments_stay_cosines(kernel):
    X = np.array([[1.0, 2.0], [1e6, 3e5]])
    for rows in (X, X.astype(np.float32)):
        Z = feature_block(0, 0, 256, rows, kernel)
        assert np.all(np.isfinite(Z))
        lengths = (Z**2).sum(axis=1)
        np.testing.assert_allclose(lengths, kernel.diag(rows), rtol=1e-5)


def test_blocks_drawn_once_serve_any_rows(kind):
    X = kind.rows(30)
    m = COLUMNS * len(terms_of(kind.kernel))
    blocks = FeatureBlocks(kind.kernel, m, X.shape[1], form=kind.form, draws=kind.draws)
    drawn = blocks.draw(SEED, BLOCK, np.float64)
    out = np.empty((30, m))
    for rows in (slice(0, 7), slice(7, 30)):
        blocks.write(X[rows], drawn, out[rows])
    np.testing.assert_allclose(out, our_block(kind, X), rtol=0, atol=1e-12 * np.abs(out).max())


def test_entries_stored_twice_are_added():
    X = sparse.csr_matrix(([1.0, 2.0, 0.5], ([0, 0, 1], [3, 3, 1])), shape=(2, 20))
    twice = sparse.csr_matrix((np.array([1.0, 2.0, 0.5]), [3, 3, 1], [0, 2, 3]), shape=(2, 20))
    assert not twice.has_canonical_format
    expected = feature_block(0, 0, 8, X.toarray(), SkewedChiSquared(2.0))
    np.testing.assert_allclose(feature_block(0, 0, 8, twice, SkewedChiSquared(2.0)), expected, atol=1e-14)
    assert twice.nnz == 3
