"""Rows in blocks: the sums of an array, bit for bit, wherever the rows lie and however they are cut."""

from functools import partial

import numpy as np
import pytest
from scipy import sparse

from kernbench.distributed.blocks import local_blocks
from kernbench.distributed.blocks.file_blocks import FileBlocks
from kernbench.distributed.blocks.mapped_blocks import MappedBlocks
from kernbench.kernels.threads import openmp_threads
from kernbench.reference.design import as_design as as_reference_design
from kernbench.solvers.bundle._preconditioner import solve_pairwise_hessian
from kernbench.solvers.design import BlockDesign, FeatureDesign, as_design
from kernbench.solvers.design._block_design import chunk_starts, leaf_starts

SHAPES = [(1, 1), (5, 3), (2047, 2), (2049, 8), (20_011, 7), (4_100, 301)]


@pytest.fixture(params=[1 << 30, 100_000, 3_000])
def block_bytes(request, monkeypatch):
    """Blocks of all rows, of several chunks and of parts of a chunk."""
    monkeypatch.setattr(local_blocks, "BLOCK_BYTES", request.param)


@pytest.mark.parametrize("n, d", SHAPES)
@pytest.mark.parametrize("kind", ["float64", "float32", "sparse"])
@pytest.mark.usefixtures("block_bytes")
def test_scores_and_combinations_are_those_of_the_array_bit_for_bit(n, d, kind, examples, blocks_of):
    X, _ = examples(n, d, "float32" if kind == "float32" else "float64", kind == "sparse")
    rng = np.random.default_rng(1)
    w, g = rng.normal(size=d), rng.normal(size=n)
    array = FeatureDesign(X)
    for cuts in ((), tuple(np.unique(rng.integers(1, max(2, n), size=3)))):
        design = as_design(blocks_of(X, cuts))
        assert isinstance(design, BlockDesign)
        assert design.n_values == array.n_values
        assert np.array_equal(design.scores(w), array.scores(w))
        assert np.array_equal(design.combine(g), array.combine(g))


def test_few_large_chunks_are_summed_up_in_parts_bit_for_bit(monkeypatch):
    """With many columns a chunk is longer than a block."""
    monkeypatch.setattr(local_blocks, "BLOCK_BYTES", 1 << 22)
    X = np.random.default_rng(0).normal(size=(9_001, 600)).astype(np.float32)
    wide = sparse.csr_matrix(X)
    wide.resize(9_001, 300_000)
    g = np.random.default_rng(1).normal(size=9_001)
    blocks = FileBlocks([wide[:3_000], wide[3_000:]])
    assert len(blocks.starts) == 5 and blocks.rows_at_once < 2_250
    assert np.array_equal(blocks.combine(g), FeatureDesign(wide).combine(g))


@pytest.mark.parametrize("n, d", [(20_011, 7), (9_000, 301)])
def test_sums_do_not_depend_on_threads_or_blocks(n, d, examples, blocks_of, monkeypatch):
    X, y = examples(n, d)
    rng = np.random.default_rng(1)
    h, rows = rng.random(n), np.sort(rng.choice(n, n // 2, replace=False))
    means = rng.normal(size=(2, d))
    found = []
    for size in (1 << 26, 5_000_000):  # from a chunk on: parts of one are multiplied by themselves
        monkeypatch.setattr(local_blocks, "BLOCK_BYTES", size)
        for threads in (1, 2):
            with openmp_threads(threads):
                blocks = blocks_of(X, (n // 3,))
                found.append([blocks.moments(rows, h, (y > 0).view(np.uint8), means), blocks.combine(h)])
    for moments, sums in found[1:]:
        assert np.array_equal(moments, found[0][0]) and np.array_equal(sums, found[0][1])


@pytest.mark.parametrize("kind", ["float64", "sparse"])
@pytest.mark.usefixtures("block_bytes")
def test_moments_and_rows_are_those_of_the_reference(kind, examples, blocks_of):
    n, d = 6_001, 9
    X, y = examples(n, d, is_sparse=kind == "sparse")
    rng = np.random.default_rng(1)
    h, rows, means = rng.random(n), np.sort(rng.choice(n, 4_000, replace=False)), rng.normal(size=(2, d))
    blocks = blocks_of(X, (17, 4_100))
    array, plain = as_reference_design(X), as_reference_design(blocks)
    upper = np.triu_indices(d)
    for classes, mask in ((y > 0, (y > 0).view(np.uint8)), (None, None)):
        expected = array.moments(rows, h, classes, means)
        np.testing.assert_allclose(blocks.moments(rows, h, mask, means)[upper], expected[upper], rtol=1e-11)
        np.testing.assert_allclose(plain.moments(rows, h, classes, means), expected, rtol=1e-11)
    some = rng.integers(n, size=50)
    taken = blocks.rows(some)
    assert np.array_equal(taken.toarray() if kind == "sparse" else taken, array.rows(some))
    assert np.array_equal(plain.rows(some), array.rows(some))
    w = rng.normal(size=d)
    np.testing.assert_allclose(plain.scores(w), array.scores(w), rtol=1e-12)
    np.testing.assert_allclose(plain.combine(h), array.combine(h), rtol=1e-12)


@pytest.mark.parametrize("n, d", SHAPES)
def test_leaves_are_whole_chunks(n, d):
    starts, leaves = chunk_starts(n, d), leaf_starts(n, d)
    assert leaves[0] == 0 and leaves[-1] == n and np.isin(leaves, starts).all()
    assert np.all(np.diff(leaves) > 0)


@pytest.mark.parametrize("keep", [0, 10**9, 40_000])
@pytest.mark.usefixtures("block_bytes")
def test_a_pass_maps_each_row_once_or_never_again(keep, examples, blocks_of):
    X, _ = examples(5_000, 4, "float32")
    seen = []

    def double(rows):
        seen.append(len(rows))
        return np.concatenate([rows, rows * 2], axis=1)

    mapped = MappedBlocks(blocks_of(X, (100, 3_000)), double, 8, np.float32, keep_bytes=keep)
    array = FeatureDesign(np.concatenate([X, X * 2], axis=1))
    w, g = np.arange(8.0), np.random.default_rng(0).normal(size=5_000)
    for _ in range(3):
        assert np.array_equal(mapped.scores(w), array.scores(w))
    assert np.array_equal(mapped.combine(g), array.combine(g))
    once = sum(seen)
    assert once == 5_000 if keep == 10**9 else 5_000 < once <= 20_000 if keep else once == 20_000


def test_kept_features_of_several_chunks_are_found_for_each_of_them(examples, blocks_of):
    X, _ = examples(5_000, 4)
    seen = []
    mapped = MappedBlocks(blocks_of(X), lambda rows: seen.append(len(rows)) or 2 * rows, 4, X.dtype, keep_bytes=10**9)
    a, b, c = mapped.starts[:3]
    for start, stop in ((a, c), (a, b), (b, c)):
        assert np.array_equal(mapped.read(start, stop), 2 * X[start:stop])
    assert seen == [b - a, c - b]
    mapped.read(a, b - 4)  # a product of fewer rows may have other bits
    assert seen[2:] == [b - 4 - a]


def test_rows_without_columns_are_refused(tmp_path):
    np.save(tmp_path / "x.npy", np.empty((3, 0)))
    for data in ([np.empty((3, 0))], tmp_path / "x.npy"):
        with pytest.raises(ValueError, match="hold no columns"):
            FileBlocks(data)


def test_arrays_that_blocks_are_given_own_their_memory(examples, blocks_of, monkeypatch):
    """After Ctrl-C threads, or messages to workers, may still read them when that of the solver is free again."""
    X, y = examples(50, 3)
    blocks, given = blocks_of(X), []

    def recorded(method, *arrays):
        given.extend(arrays)
        return method(*arrays)

    for name in ("scores", "combine", "moments"):
        monkeypatch.setattr(blocks, name, partial(recorded, getattr(blocks, name)))
    design = as_design(blocks)
    design.scores(np.ones(3)), design.combine(np.ones(50))
    solve_pairwise_hessian(design, y > 0, 1.0, np.ones(50), np.ones(3))
    assert given and all(array.flags.owndata for array in given)


def test_vectors_that_do_not_fit_are_refused(examples, blocks_of):
    design = as_design(blocks_of(examples(10, 3)[0]))
    for call, size in ((design.scores, 4), (design.combine, 9)):
        with pytest.raises(ValueError, match="must have shape"):
            call(np.zeros(size))
