"""The cache of KernelRows: its counters, its order of eviction, its size."""

from collections import OrderedDict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernbench.kernels import Callable, Gaussian, Precomputed, _cached_rows
from kernbench.kernels.rows import KernelRows
from kernbench.reference.kernels.rows import evaluate

N = 20


@pytest.fixture(scope="session")
def points():
    return np.random.default_rng(0).normal(size=(N, 3))


@pytest.fixture
def make_rows(points):
    """A function that makes rows with a cache of a given number of them, float64."""
    return lambda capacity: KernelRows(points, Gaussian(1.0), cache_bytes=capacity * N * 8, dtype=np.float64)


def counted(rows, ask):
    """What `ask` adds to the counters, in rows: (fresh, cached)."""
    before = rows.n_evaluations, rows.n_cached
    ask(rows)
    return (rows.n_evaluations - before[0]) / rows.n_rows, (rows.n_cached - before[1]) / rows.n_rows


def test_fresh_and_cached_are_counted_apart(make_rows):
    rows = make_rows(10)
    assert counted(rows, lambda r: r.batch([3, 1, 4])) == (3, 0)
    assert counted(rows, lambda r: r.batch([1, 5, 9])) == (2, 1)
    assert counted(rows, lambda r: r.row(9)) == (0, 1)
    assert counted(rows, lambda r: r.batch([])) == (0, 0)
    assert rows.n_evaluations == 5 * N and rows.n_cached == 2 * N


def test_blocks_and_products_are_counted_but_not_cached(make_rows):
    rows = make_rows(10)
    rows.block([1, 2], [3, 4, 5])
    assert rows.n_evaluations == 6
    rows.product([1, 2], [3, 4, 5], np.ones(3))
    assert rows.n_evaluations == 12
    rows.product([1, 2], [3, 4, 5], np.ones(3), count=False)
    rows.matvec(np.ones(N))
    rows.diagonal()
    assert rows.n_evaluations == 12 and rows.n_cached == 0
    assert counted(rows, lambda r: r.row(1)) == (1, 0)


@pytest.mark.parametrize("precomputed", [False, True])
def test_every_row_asked_for_is_counted_once(make_rows, precomputed):
    """A row requested twice at once is computed once, and served once from the cache."""
    rows = KernelRows(np.eye(N), Precomputed()) if precomputed else make_rows(10)
    assert counted(rows, lambda r: r.batch([3, 3, 1, 3])) == (2, 2)
    assert counted(rows, lambda r: r.batch([3, 3, 2, 2])) == (1, 3)


def test_the_least_recently_used_row_goes_first(make_rows):
    rows = make_rows(3)
    rows.batch([0, 1, 2])
    rows.row(0)
    assert counted(rows, lambda r: r.row(3)) == (1, 0)  # 1 makes room
    assert counted(rows, lambda r: r.batch([0, 2, 3])) == (0, 3)
    assert counted(rows, lambda r: r.row(1)) == (1, 0)  # 0 makes room
    assert counted(rows, lambda r: r.row(2)) == (0, 1)
    assert counted(rows, lambda r: r.row(0)) == (1, 0)  # 3 makes room
    assert counted(rows, lambda r: r.batch([0, 1, 2])) == (0, 3)


def test_a_request_does_not_throw_out_what_it_asks_for(make_rows):
    rows = make_rows(3)
    rows.batch([0, 1, 2])
    assert counted(rows, lambda r: r.batch([7, 8, 0])) == (2, 1)  # 0 is the oldest, and wanted


def test_more_rows_than_the_cache_holds_are_served_in_parts(make_rows, points, assert_close):
    rows, K = make_rows(3), evaluate(Gaussian(1.0), points)
    assert_close(rows.batch(np.arange(N)), K)
    assert rows.n_evaluations == N * N
    assert counted(rows, lambda r: r.batch([N - 3, N - 2, N - 1])) == (0, 3)
    assert_close(rows.batch(np.tile(np.arange(N), 2)[::-1]), np.tile(K, (2, 1))[::-1])


@pytest.mark.parametrize("single", [True, False], ids=["float32", "float64"])
@pytest.mark.parametrize("cache_bytes", [0, 1, 79, 160, 161, 1000, 1601, 10**9])
def test_cache_stays_in_its_bounds(points, cache_bytes, single):
    rows = KernelRows(points, Gaussian(), cache_bytes=cache_bytes, dtype=np.float32 if single else np.float64)
    row_bytes = N * (4 if single else 8)
    assert rows.capacity == min(N, max(2, cache_bytes // row_bytes))
    rows.batch(np.arange(N))
    kept = [i for i in range(N - 1, -1, -1) if counted(rows, lambda r, i=i: r.row(i)) == (0, 1)]
    # Requested from the newest on, so that no request evicts a row that is still to be requested.
    assert kept == list(range(N - 1, N - 1 - rows.capacity, -1))


class Model:
    """A model of the cache in plain Python: a dictionary in the order of last use."""

    def __init__(self, cache_bytes, n):
        self.cache_bytes, self.n, self.all = cache_bytes, n, n
        self.kept = OrderedDict()
        self.fresh = self.cached = 0

    @property
    def capacity(self):
        return min(self.n, max(2, self.cache_bytes // (8 * self.n)))

    def batch(self, indices):
        for first in range(0, len(indices), self.capacity):
            part = indices[first : first + self.capacity]
            for i in [i for i in part if i in self.kept]:
                self.kept.move_to_end(i)
                self.cached += self.n
            for i in [i for i in part if i not in self.kept]:
                if len(self.kept) == self.capacity:
                    self.kept.popitem(last=False)
                self.kept[i] = True
                self.fresh += self.n

    def restrict(self, keep):
        place = {old: new for new, old in enumerate(keep)}
        self.kept = OrderedDict((place[i], True) for i in self.kept if i in place)
        self.n = len(keep)

    def release(self):
        if self.n != self.all:
            self.n, self.kept = self.all, OrderedDict()


REQUESTS = st.lists(st.lists(st.integers(0, N - 1), max_size=9, unique=True), max_size=25)


@settings(max_examples=60, deadline=None)
@given(requests=REQUESTS, capacity=st.integers(0, 8))
def test_any_requests_agree_with_a_dictionary(points, requests, capacity):
    rows, model = (
        KernelRows(points, Gaussian(), cache_bytes=capacity * N * 8, dtype=np.float64),
        Model(capacity * N * 8, N),
    )
    K = evaluate(Gaussian(), points)
    for indices in requests:
        np.testing.assert_allclose(rows.batch(indices), K[indices], rtol=0, atol=1e-12)
        model.batch(indices)
        assert (rows.n_evaluations, rows.n_cached) == (model.fresh, model.cached)


KINDS = {"dense": Gaussian(), "callable": Callable(lambda X, Z: np.exp(-np.abs(X[:, :1] - Z[:, 0])))}
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["batch", "batch", "restrict", "restrict", "release"]),
        st.lists(st.integers(0, N - 1), min_size=1, max_size=N, unique=True),
    ),
    max_size=25,
)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sparse", [False, True], ids=["", "sparse"])
@settings(max_examples=40, deadline=None)
@given(steps=STEPS, capacity=st.integers(0, 8))
def test_restricted_rows_are_rows_of_the_submatrix(thin_rows, kind, sparse, steps, capacity):
    """Restricted again and again, released, restricted anew: cached rows are compacted, more of them fit."""
    X, kernel = thin_rows(N, 12, density=0.15 if sparse else 1.0), KINDS[kind]
    K = kernel(X)
    rows = KernelRows(X, kernel, cache_bytes=capacity * N * 8, dtype=np.float64)
    model, active = Model(capacity * N * 8, N), np.arange(N)
    for step, numbers in steps:
        numbers = np.array([i for i in numbers if i < rows.n_rows], dtype=np.intp)
        if step == "batch":
            np.testing.assert_allclose(rows.batch(numbers), K[active[numbers]][:, active], rtol=0, atol=1e-12)
            model.batch(numbers.tolist())
        elif step == "restrict" and len(numbers):
            rows.restrict(np.sort(numbers))
            model.restrict(np.sort(numbers).tolist())
            active = active[np.sort(numbers)]
        elif step == "release":
            rows.release()
            model.release()
            active = np.arange(N)
        assert (rows.n_rows, rows.capacity) == (len(active), model.capacity)
        assert (rows.n_evaluations, rows.n_cached) == (model.fresh, model.cached)
    a = np.linspace(-1, 1, rows.n_rows)
    some, sub = np.arange(rows.n_rows)[::2], K[np.ix_(active, active)]
    np.testing.assert_allclose(rows.matvec(a), sub @ a, rtol=0, atol=1e-11)
    # A product takes the indices of all rows, restricted or not.
    product = rows.product(active[some], active[some], a[some])
    np.testing.assert_allclose(product, sub[::2, ::2] @ a[some], rtol=0, atol=1e-11)
    np.testing.assert_allclose(rows.block(some, some), sub[::2, ::2], rtol=0, atol=1e-12)
    np.testing.assert_allclose(rows.diagonal(), np.diag(sub), rtol=0, atol=1e-12)


def test_restricted_to_nothing_and_back(make_rows, points, assert_close):
    rows = make_rows(5)
    rows.batch([1, 2])
    rows.restrict(np.empty(0, dtype=np.intp))
    assert rows.n_rows == 0 and rows.batch([]).shape == (0, 0)
    with pytest.raises(IndexError):
        rows.row(0)
    rows.release()
    assert_close(rows.batch([1, 2]), evaluate(Gaussian(1.0), points)[[1, 2]])


@pytest.mark.parametrize("keep", [[0, N], [-1, 2], [2, 1], [1, 1]], ids=["beyond", "negative", "falling", "twice"])
def test_restriction_to_what_is_no_subset_is_refused(make_rows, points, keep, assert_close):
    """Compacting rows in place relies on ascending indices; others would corrupt them silently."""
    rows = make_rows(5)
    rows.batch([1, 2])
    with pytest.raises((ValueError, IndexError)):
        rows.restrict(np.array(keep, dtype=np.intp))
    assert_close(rows.batch([1, 2]), evaluate(Gaussian(1.0), points)[[1, 2]])


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_a_restriction_that_is_broken_off_loses_the_cache_only(make_rows, points, error, monkeypatch, assert_close):
    """Cached rows are compacted first, so that they no longer are where the slots say."""

    def broken_off(*operands):
        raise error

    rows = make_rows(5)
    rows.batch([1, 2, 3])
    with monkeypatch.context() as patch, pytest.raises(error):
        patch.setattr(_cached_rows, "make_engine", broken_off)
        rows.restrict(np.arange(1, N, 2))
    assert rows.n_rows == N
    assert_close(rows.batch([1, 2, 3]), evaluate(Gaussian(1.0), points)[[1, 2, 3]])
