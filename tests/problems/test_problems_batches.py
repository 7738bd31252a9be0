"""Sources of batches: every row once in a pass, a place that is a number, streams cut anyhow."""

import numpy as np
import pytest
from scipy import sparse

from kernbench.problems.streaming.batches import ArrayBatches, Batch, PairBatches, StreamBatches, batches_of, stacked
from kernbench.problems.streaming.recent import RecentRows

X = np.arange(46.0).reshape(23, 2)


def taken(source, count):
    return [source.next() for _ in range(count)]


@pytest.mark.parametrize("shuffle", [True, False])
def test_every_row_comes_once_in_a_pass(shuffle):
    source = ArrayBatches(X, np.arange(23), batch_size=5, shuffle=shuffle, n_passes=2)
    passes = [np.concatenate([batch.rows for batch in taken(source, 5)]) for _ in range(2)]
    assert source.next() is None
    for rows in passes:
        np.testing.assert_array_equal(np.sort(rows), np.arange(23))
    assert np.array_equal(*passes) != shuffle


def test_batches_say_where_they_are():
    batches = taken(ArrayBatches(X, batch_size=10), 6)
    assert [len(batch) for batch in batches] == [10, 10, 3] * 2
    assert [batch.n_pass for batch in batches] == [0, 0, 0, 1, 1, 1]
    assert [batch.begins_pass for batch in batches] == [True, False, False] * 2


@pytest.mark.parametrize("done", [0, 3, 7])
def test_a_place_is_a_number(done):
    for make in (
        lambda: ArrayBatches(X, np.arange(23), np.arange(23) % 4, batch_size=4, seed=7),
        lambda: PairBatches(X, X[:7] + 100, batch_size=6, seed=7),
    ):
        first, second = make(), make()
        taken(first, done)
        second.place = first.place
        for a, b in zip(taken(first, 9), taken(second, 9), strict=True):
            np.testing.assert_array_equal(a.rows, b.rows)
            np.testing.assert_array_equal(a.y, b.y)
            assert (a.n_pass, a.begins_pass) == (b.n_pass, b.begins_pass)


def test_rows_of_weight_0_do_not_come():
    weights = np.arange(23) % 3
    rows = np.concatenate([b.rows for b in taken(ArrayBatches(X, weights=weights, batch_size=4), 4)])
    np.testing.assert_array_equal(np.sort(rows), np.flatnonzero(weights))


def test_two_samples_come_in_halves_of_the_same_mass():
    P, Q = np.zeros((10, 1)), np.ones((3, 1))
    source = PairBatches(P, Q, batch_size=8, n_passes=1)
    batches = taken(source, 3)
    assert source.next() is None
    assert [len(batch) for batch in batches] == [7, 7, 5]  # 4 + 3, 4 + 3, 2 + 3
    for batch in batches:
        np.testing.assert_array_equal(batch.X[:, 0], batch.y < 0)
        assert batch.weights[batch.y > 0].sum() == pytest.approx(len(batch))
        assert batch.weights[batch.y < 0].sum() == pytest.approx(len(batch))


def test_a_stream_leaves_out_rows_of_weight_0_and_fills_its_batches():
    parts = iter([(X[:4], None, np.array([1.0, 0, 0, 1])), (X[4:9], None, np.ones(5)), (X[:0], None, np.ones(0))])
    source = StreamBatches(lambda count: next(parts), batch_size=6, n_features=2, dtype=np.float32)
    batch = source.next()
    np.testing.assert_array_equal(batch.X, X[[0, 3, 4, 5, 6, 7, 8]])
    assert batch.X.dtype == np.float32 and batch.y is None


def test_a_stream_without_any_weight_is_refused():
    parts = iter([(X[:4], None, np.zeros(4)), (X[:0], None, np.ones(0))])
    source = StreamBatches(lambda count: next(parts), batch_size=6, n_features=2, dtype=np.float32)
    with pytest.raises(ValueError, match="every example of the stream has weight 0"):
        source.next()


def test_sparse_and_dense_parts_go_below_each_other():
    thin = sparse.csr_matrix(X)
    assert sparse.issparse(stacked([thin, thin])) and stacked([thin, thin]).shape == (46, 2)
    np.testing.assert_array_equal(stacked([thin, X]), np.vstack([X, X]))


def test_the_source_of_a_kind_takes_what_kernel_rows_take():
    assert batches_of(X, None, dtype=np.float32, cache_bytes=10).dtype == np.float32


def test_a_batch_larger_than_the_window_is_kept_as_a_whole():
    recent = RecentRows(2)
    recent.add(Batch(X[:3]), np.arange(3.0))
    recent.add(Batch(X[3:8]), np.arange(5.0))
    np.testing.assert_array_equal(recent.batch.X, X[3:8])
    recent.add(Batch(X[:1]), np.zeros(1))
    np.testing.assert_array_equal(recent.batch.X, X[[7, 0]])
    np.testing.assert_array_equal(recent.f, [4.0, 0.0])


@pytest.mark.parametrize("batch_size", [2, 10, 16, 30, 70, 300])
def test_a_window_of_two_samples_gives_both_the_same_mass(batch_size):
    """It began within a batch, whose rows of P come first."""
    P, Q = np.zeros((230, 1)), np.ones((90, 1))
    source, recent, n_rows = PairBatches(P, Q, batch_size=batch_size), RecentRows(100, whole_batches=True), 0
    for k in range(150):
        batch = source.next()
        n_rows += len(batch)
        recent.add(batch, batch.X + k)
        if k % 7 == 6:
            state, recent = recent.state(), RecentRows(100, whole_batches=True)
            recent.resume(state)
        y, weights = recent.batch.y, recent.batch.weights
        assert weights[y > 0].sum() == pytest.approx(weights[y < 0].sum())
        assert min(n_rows, 100) <= len(y) < 100 + batch_size and len(recent.f) == len(y) == sum(recent.sizes)
        np.testing.assert_array_equal(recent.batch.X[-len(batch) :], batch.X)


def test_rows_of_a_window_without_the_sizes_of_batches_are_one_batch():
    """As in states of earlier versions."""
    recent = RecentRows(4, whole_batches=True)
    recent.resume({"recent_X": X[:4], "recent_f": np.zeros((4, 1))})
    recent.add(Batch(X[4:7]), np.zeros((3, 1)))
    np.testing.assert_array_equal(recent.batch.X, X[:7])
    recent.add(Batch(X[7:9]), np.zeros((2, 1)))
    np.testing.assert_array_equal(recent.batch.X, X[4:9])
