"""Coordinate ascent in place of Newton's method, where conjugate gradients on many columns do not end."""

import numpy as np
import pytest
from scipy import sparse

from kernbench import LinearSVC
from kernbench.reference.design import as_design as reference_design
from kernbench.solvers.design import as_design
from kernbench.solvers.linear import newton


def nearly_separable(n, d, density, seed):
    """Sparse rows with noisy labels, yet few enough that a hyperplane separates them."""
    rng = np.random.default_rng(seed)
    X = sparse.random(n, d, density=density, random_state=seed, format="csr")
    y = X @ rng.normal(size=d) > 0
    flipped = rng.random(n) < 0.1
    y[flipped] = ~y[flipped]
    return X, y


@pytest.mark.parametrize("C", [1e3, 1e5])
def test_noisy_sparse_rows_at_a_large_C(C, global_random_seed):
    X, y = nearly_separable(2400, 1600, 0.01, global_random_seed)
    model = LinearSVC(solver="newton", C=C, random_state=0).fit(X, y)
    assert model.converged_
    assert model.n_inner_products_ < 8000 * 2400  # 1,000 Newton steps take some 100,000 passes
    other = LinearSVC(solver="sdca", C=C, random_state=0).fit(X, y)
    assert model.objective_ == pytest.approx(other.objective_, rel=1e-3)


def twins(X, y, monkeypatch, **settings):
    """Return both twins of Newton's method, which try coordinate ascent before the first step."""
    monkeypatch.setattr(newton, "ascends_late", lambda work, design: work >= 0.0)
    return [
        newton.Newton(design(X), y, random_state=0, core=core, **settings)
        for core, design in (("compiled", as_design), ("reference", reference_design))
    ]


def test_twins_are_in_lockstep(monkeypatch, global_random_seed):
    X, y = nearly_separable(60, 40, 0.2, global_random_seed)
    both = twins(X, np.where(y, 1.0, -1.0), monkeypatch, alpha=1e-3)
    for solver in both:
        solver.advance(1)
    ours, theirs = both
    assert ours.n_iter == theirs.n_iter and ours.converged == theirs.converged
    assert ours.n_inner_products == theirs.n_inner_products
    assert np.asarray(ours.solution().coef) == pytest.approx(np.asarray(theirs.solution().coef), abs=1e-9)


def test_it_is_tried_once_also_by_a_run_that_continues(monkeypatch):
    X, y = nearly_separable(60, 40, 0.2, 0)
    y = np.where(y, 1.0, -1.0)
    monkeypatch.setattr(newton, "ascends_in", lambda *arguments: False)  # it is given up
    for k, solver in enumerate(twins(X, y, monkeypatch, alpha=1e-3, tol=1e-10)):
        tries = []
        monkeypatch.setattr(newton, "ascends_in", lambda *arguments: bool(tries.append(arguments)))
        solver.advance(2)
        design = (as_design, reference_design)[k](X)
        again = type(solver)(
            design, y, alpha=1e-3, tol=1e-10, random_state=0, initial=solver.solution(), core=solver.core
        )
        again.advance(2)
        assert len(tries) == 1


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])  # late, or before the first step
def test_it_obeys_the_clock(loss, monkeypatch):
    X, y = nearly_separable(60, 40, 0.2, 0)
    monkeypatch.setattr(newton, "most_passes", lambda design: 40)
    for solver in twins(X, np.where(y, 1.0, -1.0), monkeypatch, alpha=1e-4, tol=1e-6, loss=loss):
        solver.stop_at(0.0)
        solver.advance(3)
        assert not solver.converged and solver.n_inner_products < 20 * 60
        assert 0.0 < solver.objective() - solver.gap() < solver.objective() <= 1.0
        solver.stop_at(np.inf)
        assert solver.advance(1) == 1  # continues from there


def test_a_far_deadline_changes_no_bit(monkeypatch):
    X, y = nearly_separable(60, 40, 0.2, 1)
    monkeypatch.setattr(newton, "most_passes", lambda design: 40)
    found = []
    for deadline in (np.inf, 1e18):
        solver = twins(X, np.where(y, 1.0, -1.0), monkeypatch, alpha=1e-2, loss="hinge")[0]
        solver.stop_at(deadline)
        solver.advance(5)
        found.append((np.array(solver.solution().coef), solver.n_inner_products, solver.gap()))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    assert found[0][1:] == found[1][1:]
