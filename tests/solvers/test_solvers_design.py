"""Designs: features or a kernel, from coefficients to scores and back."""

import numpy as np
import pytest

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
