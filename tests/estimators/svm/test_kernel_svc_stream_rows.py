"""Rows of a stream of chunks as `scs` draws them: in random order, each once."""

import numpy as np
import pytest

from kernbench.estimators.arguments.chunks import Chunk
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
