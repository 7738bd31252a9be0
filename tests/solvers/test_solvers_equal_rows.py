"""Rows between which nothing can be told apart: all zero, without any stored entry if they are sparse, or all equal."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy import sparse

from kernbench.kernels.threads import single_threaded_blas
from kernbench.solvers.checks.problems import FORMS, build, make_problem
from kernbench.solvers.registry import SOLVERS

ROWS = {"zero": np.zeros((1, 3)), "equal": np.array([[0.37, -1.0, 2.0]])}
CASES = [
    pytest.param(entry, form, loss, id=f"{entry.problem}-{entry.name}-{form}-{loss}")
    for entry in SOLVERS
    if entry.problem in FORMS
    for form in FORMS[entry.problem]
    for loss in entry.losses
]


@pytest.mark.parametrize("twin", ["compiled", "reference"])
@pytest.mark.parametrize("entry, form, loss", CASES)
def test_objective_and_gap_are_numbers(entry, form, loss, twin):
    for (name, row), n in product(ROWS.items(), (12, 50)):
        problem = make_problem(entry.kind, n, form=form)
        X = np.repeat(row, n, axis=0)
        solver = build(entry, replace(problem, X=sparse.csr_matrix(X) if form == "csr" else X), twin, loss=loss)
        start = solver.objective()
        with single_threaded_blas():
            for _ in range(2):
                solver.advance(15)
        assert np.isfinite(solver.objective()) and np.isfinite(solver.solution().coef).all(), (name, n)
        assert 0.0 <= solver.gap() < np.inf, (name, n)
        if solver.converged:
            assert solver.objective() <= start + 1e-9 * abs(start), (name, n)
