"""Blocks of features times coefficients, without the features."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_limits

from kernbench.features.blocks import FeatureBlocks, _size_of, feature_block
from kernbench.features.maps import rows
from kernbench.features.maps.forms import terms_of
from kernbench.kernels import ChiSquared, Gaussian, Polynomial, SkewedChiSquared

RTOL = {"float64": 1e-12, "float32": 2e-5}


def by_features(kind, X, seed, blocks, A):
    """The sum of Z_b A_b in float64, block by block."""
    total = np.zeros((X.shape[0], A.shape[2]))
    for b, A_b in zip(blocks, A):
        total += feature_block(seed, b, A.shape[1], X, kind.kernel, form=kind.form, draws=kind.draws) @ A_b
    return total


def close(found, expected, dtype="float64"):
    np.testing.assert_allclose(found, expected, rtol=0, atol=RTOL[dtype] * np.abs(expected).max())


def blocks_of(kind, m, d, **options):
    return FeatureBlocks(kind.kernel, m, d, form=kind.form, draws=kind.draws, **options)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_products_are_those_of_the_features(kind, dtype, form):
    m, blocks = 16 * len(terms_of(kind.kernel)), [0, 1, 2, 9, 4, 5]
    X = kind.rows(37)
    X = (np.where(X > np.median(X), X, 0) if form == "sparse" else X).astype(dtype)
    d = X.shape[1]
    X = sparse.csr_matrix(X) if form == "sparse" else X
    A = np.random.default_rng(0).normal(size=(len(blocks), m, 2))
    wide = X.astype(np.float64)
    expected = by_features(kind, wide, 5, blocks, A)
    maker = blocks_of(kind, m, d)
    close(maker.multiply(X, 5, blocks, A), expected, dtype)
    out = np.ones((37, 2))
    assert maker.multiply(X, 5, blocks, A, out) is out
    close(out, 1 + expected, dtype)
    G = np.random.default_rng(1).normal(size=(37, 2))
    Z = feature_block(5, 3, m, wide, kind.kernel, form=kind.form, draws=kind.draws)
    close(maker.transposed(X, 5, 3, G), Z.T @ G, dtype)
    close(maker.features(X, 5, 3), Z, dtype)


def test_the_transposed_product_is_over_all_slices_of_rows(monkeypatch):
    monkeypatch.setattr(rows, "SLICE_VALUES", 160)  # ten rows of features
    maker, rng = FeatureBlocks(Gaussian(1.5), 16, 3), np.random.default_rng(0)
    X, G = rng.normal(size=(37, 3)), rng.normal(size=(37, 2))
    close(maker.transposed(X, 5, 3, G), feature_block(5, 3, 16, X, Gaussian(1.5)).T @ G)


def test_a_cache_changes_nothing(kind):
    m, X = 16 * len(terms_of(kind.kernel)), kind.rows(20)
    A = np.random.default_rng(0).normal(size=(40, m, 1))
    without, small, large = (blocks_of(kind, m, X.shape[1], cache_bytes=b) for b in (0, 2_000, 10**8))
    for _ in range(2):  # the second time from the cache
        expected = without.multiply(X, 1, range(40), A)
        np.testing.assert_array_equal(small.multiply(X, 1, range(40), A), expected)
        np.testing.assert_array_equal(large.multiply(X, 1, range(40), A), expected)
    assert large._cache and not without._cache and len(small._cache) <= len(large._cache)


def test_what_is_kept_is_of_one_seed_one_precision_and_one_form_of_rows():
    kernel, rng = Gaussian(1.5), np.random.default_rng(0)
    X, A = np.where(rng.random((20, 40)) < 0.1, rng.normal(size=(20, 40)), 0.0), rng.normal(size=(4, 16, 1))
    maker = FeatureBlocks(kernel, 16, 40, cache_bytes=10**8)
    for own in (X, X.astype(np.float32), sparse.csr_matrix(X)):
        for seed in (1, 2, 1):
            found = maker.multiply(own, seed, range(4), A)
            np.testing.assert_array_equal(found, FeatureBlocks(kernel, 16, 40).multiply(own, seed, range(4), A))


class Plain:
    """A Gaussian kernel of many blocks."""

    kernel, form, draws = Gaussian(2.0), "pair", "iid"


def test_a_cache_holds_no_more_than_its_room():
    maker = blocks_of(Plain, 512, 10, cache_bytes=200_000)  # 20 kB a block, drawn eight at a time
    maker.multiply(np.zeros((3, 10)), 1, range(40), np.zeros((40, 512, 1)))
    kept = sum(drawn.matrix.nbytes for _, drawn in maker._cache.values())
    assert 100_000 < kept <= 200_000


@pytest.mark.parametrize("n_outputs", [1, 3, 6, 7, 20])
@pytest.mark.parametrize("n", [1, 15, 128, 1000])
def test_any_number_of_rows_and_outputs(n, n_outputs):
    rng = np.random.default_rng(n)
    X, A = (rng.normal(size=(n, 5)), rng.normal(size=(60, 100, n_outputs)))  # 50 draws a block: no multiple of lanes
    close(blocks_of(Plain, 100, 5).multiply(X, 2, range(60), A), by_features(Plain, X, 2, range(60), A))


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_threads_do_not_matter(form):
    rng = np.random.default_rng(0)
    X, A = rng.normal(size=(700, 9)).astype(np.float32), rng.normal(size=(30, 128, 2))
    if form == "sparse":
        X = sparse.csr_matrix(np.where(np.abs(X) > 1.3, X, 0).astype(np.float32))
    results = []
    for n_threads in (1, 2, 3):
        with threadpool_limits(n_threads):
            results.append(blocks_of(Plain, 128, 9).multiply(X, 2, range(30), A))
    for other in results[1:]:
        np.testing.assert_array_equal(other, results[0])


def test_rows_far_from_the_origin_are_worked_out_in_double():
    rng = np.random.default_rng(0)
    X, A = rng.normal(size=(300, 3)), rng.normal(size=(20, 32, 1))
    X[::7] *= 1e4
    X = X.astype(np.float32)
    expected = by_features(Plain, X.astype(np.float64), 2, range(20), A)
    close(blocks_of(Plain, 32, 3).multiply(X, 2, range(20), A), expected, "float32")


def test_nothing_times_something_is_nothing():
    maker = blocks_of(Plain, 32, 3)
    assert not maker.multiply(np.ones((4, 3)), 0, [], np.zeros((0, 32, 2))).any()
    assert maker.multiply(np.ones((0, 3)), 0, [1], np.zeros((1, 32, 2))).shape == (0, 2)


def test_the_last_block_is_multiplied_as_others():
    X, A = np.random.default_rng(0).normal(size=(4, 3)), np.ones((1, 32, 1))
    expected = feature_block(0, 2**32 - 1, 32, X, Gaussian(2.0)) @ A[0]
    close(blocks_of(Plain, 32, 3).multiply(X, 0, [2**32 - 1], A), expected)


def test_coefficients_of_another_shape_are_refused():
    with pytest.raises(ValueError, match="2 blocks of 32 columns"):
        blocks_of(Plain, 32, 3).multiply(np.ones((4, 3)), 0, [0, 1], np.zeros((2, 16, 1)))


@pytest.mark.parametrize(
    ("seed", "blocks", "message"),
    [
        (0, [-1], r"blocks must be integers of at least 0 and at most 4294967295, got \[-1\]"),
        (0, [2**32], "blocks must be integers"),
        (0, [2**64], "blocks must be integers"),
        (0, [0.5], "blocks must be integers"),
        (-1, [0], "seed must be an integer of at least 0"),
        (1.5, [0], "seed must be an integer"),
    ],
)
def test_numbers_of_blocks_that_do_not_exist_are_refused(seed, blocks, message):
    """They gave zeros, the features of another block, or an overflow."""
    with pytest.raises(ValueError, match=message):
        blocks_of(Plain, 32, 3).multiply(np.ones((4, 3)), seed, blocks, np.zeros((1, 32, 1)))


@pytest.mark.parametrize("kernel", [Gaussian(), ChiSquared(), Polynomial(2)])
@pytest.mark.parametrize("width", [2, 40])
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix])
def test_rows_of_another_width_are_refused(kernel, width, storage):
    X, maker = storage(np.eye(4, width)), FeatureBlocks(kernel, 12, 3)
    message = f"X has {width} columns, but the blocks are for rows of 3"
    for compute in (
        lambda: maker.features(X, 0, 0),
        lambda: maker.multiply(X, 0, [0], np.zeros((1, 12, 1))),
        lambda: maker.transposed(X, 0, 0, np.zeros((4, 1))),
    ):
        with pytest.raises(ValueError, match=message):
            compute()


def test_sparse_rows_whose_zeros_are_lifted_stay_sparse():
    """Zeros become log(c), which counts for the norms that decide on the precision of a row."""
    X = sparse.random(2000, 4000, 1e-3, format="csr", random_state=0, dtype=np.float32)
    blocks, A = FeatureBlocks(SkewedChiSquared(0.5), 16, 4000), np.ones((2, 16, 1))
    tracemalloc.start()
    try:
        found = blocks.multiply(X, 0, range(2), A)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 * X.shape[0] * X.shape[1] / 4
    close(found[:50], blocks.multiply(X[:50].toarray(), 0, range(2), A), "float32")


def test_norms_of_sparse_rows_are_those_of_dense_ones():
    X = sparse.csr_matrix(np.arange(10_000) < 150 * np.arange(60)[:, None], dtype=np.float32)
    (term,) = FeatureBlocks(SkewedChiSquared(1e-8), 16, 10_000)._terms
    far = term.map._far(X.toarray())
    assert 0 < far.sum() < 60
    assert np.array_equal(term.map._far(X), far)


def test_the_cache_has_room_for_the_frequencies_of_rows_afar():
    X = np.random.default_rng(0).normal(size=(4, 3000)).astype(np.float32)
    X[0] *= 1e4
    blocks, A = FeatureBlocks(Gaussian(50.0), 64, 3000, cache_bytes=2**22), np.ones((8, 64, 1))
    found = blocks.multiply(X, 0, range(8), A)
    assert 0 < sum(_size_of(drawn) for _, drawn in blocks._cache.values()) <= 2**22
    assert np.array_equal(blocks.multiply(X, 0, range(8), A), found)


def test_quasi_random_frequencies_are_held_twice_at_most_while_they_are_drawn():
    blocks, n_bytes = FeatureBlocks(Gaussian(1.0), 2**13, 500, draws="qmc"), 8 * 2**12 * 500
    tracemalloc.start()
    try:
        blocks.draw(0, 0, np.float64)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2.3 * n_bytes
