"""Rows of a stream of chunks as `scs` draws them: in random order, each once."""

import numpy as np
import pytest

from kernbench.estimators.arguments.chunks import Chunk, shares_of
from kernbench.estimators.svm.scs_chunks import Reader
from kernbench.kernels import Gaussian
from kernbench.problems.streaming.shuffled import Shuffled
from kernbench.problems.streaming.stream_source import StreamSource


@pytest.mark.parametrize("n", [1, 5, 1000, 70_001])
def test_a_shuffled_order_is_a_permutation(n):
    order = Shuffled(n, np.random.default_rng(0))
    whole = np.concatenate([order.between(i, min(i + 999, n)) for i in range(0, n, 999)])
    assert whole.dtype == np.intp and np.array_equal(np.sort(whole), np.arange(n))
    if n > 1000:
        assert abs(np.corrcoef(whole, np.arange(n))[0, 1]) < 0.02
        assert abs(np.corrcoef(whole[1:], whole[:-1])[0, 1]) < 0.02
        assert np.bincount(whole[:7000] * 10 // n).min() > 600


def test_rows_of_chunks_come_once_each():
    X = np.arange(40.0)[:, None]
    chunk = Chunk(1, (X, np.zeros(40)), np.random.default_rng(0))
    seen = np.concatenate([chunk.take(7)[0][:, 0] for _ in range(8)])
    assert sorted(seen) == list(range(40)) and list(seen) != list(range(40))
    reader = Reader([(X[:30], np.arange(30) % 2), (X[30:], np.arange(10) % 2)], np.random.default_rng(0))
    reader.peek(5)
    reader.classes = np.array([0, 1])
    seen = np.concatenate([reader.take(7)[0][:, 0] for _ in range(8)])
    assert sorted(seen) == list(range(40))


def test_a_list_of_chunks_is_drawn_from_as_one():
    X = np.arange(40.0)[:, None]
    reader = Reader([(X[:30], np.arange(30) % 2), (X[30:], np.arange(10) % 2)], np.random.default_rng(0))
    reader.classes = np.array([0, 1])
    reader.take(40)
    counts = np.bincount(reader.redraw(20_000)[0][:, 0].astype(int), minlength=40)
    assert counts.min() > 400 and counts.max() < 600
    assert Reader(iter([]), np.random.default_rng(0)).redraw(5) is None


def test_a_list_of_a_thousand_million_rows_is_drawn_from_as_one():
    """Its rows are copies of one row, which take no memory."""
    n = 6 * 10**8
    chunks = [(np.broadcast_to([[float(label)]], (n, 1)), np.broadcast_to(label, n)) for label in (0, 1)]
    reader = Reader(chunks, np.random.default_rng(0))
    reader.classes = np.array([0, 1])
    X, y, _ = reader.take(4_000)
    assert np.array_equal(X[:, 0] > 0, y > 0) and 1_800 < np.count_nonzero(y > 0) < 2_200


@pytest.mark.parametrize("sizes", [(3, 5, 2), (6e8, 3e8 - 1, 1e8), (6e8, 3e8, 1e8)], ids=str)
def test_shares_of_chunks_are_as_their_rows(sizes):
    left, count, rng = np.array(sizes, dtype=np.int64), 10, np.random.default_rng(0)
    found = np.array([shares_of(left, count, rng) for _ in range(2_000)])
    assert (found.sum(axis=1) == count).all() and (found <= left).all()
    np.testing.assert_allclose(found.mean(axis=0), count * left / left.sum(), atol=0.15)
    if left.sum() < 10**9:  # the draws that they always were
        rng = np.random.default_rng(0)
        np.testing.assert_array_equal(found[:50], [rng.multivariate_hypergeometric(left, count) for _ in range(50)])


@pytest.mark.parametrize("is_sparse", [False, True])
def test_a_stream_source_never_holds_a_row_twice(is_sparse):
    X = np.arange(500.0)[:, None]
    reader = Reader(iter([(X, np.arange(500) % 2)]), np.random.default_rng(0))
    reader.classes, reader.n_features = np.array([0, 1]), 1
    source = StreamSource(Gaussian(1.0), reader, 60, 1, np.float64, np.random.default_rng(1), is_sparse)
    source.fresh(10, both_classes=True)
    for _ in range(12):
        source.fresh(5)
        ids = source.validation(20)
        assert np.all((ids < source.n_sample) | ((ids >= 60) & (ids < 60 + source.n_recent)))
        rows = source.X.toarray() if is_sparse else source.X
        held = np.concatenate([rows[: source.n_sample, 0], rows[60 : 60 + source.n_recent, 0]])
        assert len(set(held.tolist())) == len(held)
        labels = np.concatenate([source.y[: source.n_sample], source.y[60 : 60 + source.n_recent]])
        assert np.array_equal(labels > 0, held % 2 == 1)
    assert source.n_sample == 60
