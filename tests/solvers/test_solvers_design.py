"""Designs: features or a kernel, from coefficients to scores and back."""

import numpy as np
import pytest
from scipy import sparse

from kernbench.reference.design import as_design as reference_as_design
from kernbench.solvers.design import FeatureDesign, KernelDesign, as_design
from kernbench.solvers.design._block_design import chunk_starts

FORMS = ("dense", "float32", "csr", "csr64", "kernel", "tiles")


@pytest.mark.parametrize("n, d", [(2, 1), (7, 3), (50, 8), (50, 33), (5000, 9)])
@pytest.mark.parametrize("form", FORMS)
def test_a_design_maps_to_scores_and_back(form, n, d, ranking, design_of):
    if form in ("kernel", "tiles"):
        n = min(n, 300)
    problem = ranking(n, 0, d=d, form=form)
    design, plain = design_of(problem), design_of(problem, "reference")
    rng = np.random.default_rng(1)
    f, g = rng.normal(size=design.n_coef), rng.normal(size=n)
    assert (design.n_samples, design.n_coef, design.is_kernel) == (plain.n_samples, plain.n_coef, plain.is_kernel)
    np.testing.assert_allclose(design.scores(f), plain.scores(f), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(design.combine(g), plain.combine(g), rtol=1e-9, atol=1e-9)
    assert design.n_passes == plain.n_passes
    some = np.arange(0, n, 2)
    part = design.take(some)
    small = rng.normal(size=part.n_coef)
    # An element found on a subset is the same function on the whole.
    np.testing.assert_allclose(part.scores(small), design.scores(design.embed(small, some))[some], rtol=1e-9, atol=1e-9)


def test_a_design_refuses_vectors_of_another_length(ranking, design_of):
    design = design_of(ranking(10, 0))
    for call, size in ((design.scores, 4), (design.combine, 3)):
        with pytest.raises(ValueError, match="must have shape"):
            call(np.zeros(size))


@pytest.mark.parametrize("make", [as_design, reference_as_design])
@pytest.mark.parametrize("wrong", [-1, 3, 2**20])
def test_a_design_refuses_columns_out_of_bounds(make, wrong):
    X = sparse.csr_matrix((np.ones(2), np.array([0, 2]), np.array([0, 1, 2])), shape=(2, 3))
    X.indices[1] = wrong
    with pytest.raises(ValueError, match=f"row 1 has the column index {wrong}"):
        make(X)


def test_a_design_refuses_columns_beyond_32_bits():
    wide = 2**31 + 1
    indices = np.array([0, wide - 1], dtype=np.int64)
    X = sparse.csr_matrix((np.ones(2), indices, np.array([0, 1, 2], dtype=np.int64)), shape=(2, wide))
    with pytest.raises(ValueError, match=f"X has {wide} features: the columns of sparse rows are numbered in 32 bits"):
        FeatureDesign(X)


@pytest.mark.parametrize("shape", [(2, 5), (5, 2), (4,)])
def test_a_kernel_matrix_must_be_square(shape):
    with pytest.raises(ValueError, match="a kernel matrix must be square"):
        KernelDesign(np.ones(shape))


def test_rows_without_columns_are_one_chunk():
    np.testing.assert_array_equal(chunk_starts(5, 0), [0, 5])
