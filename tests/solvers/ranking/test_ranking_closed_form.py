"""The squared loss of pairs, solved by moments of the classes."""

import numpy as np
import pytest

from kernbench.reference.ranking.closed_form import squared_loss_solution as reference_solution
from kernbench.solvers.ranking.closed_form import squared_loss_solution


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("form", ["dense", "float32", "csr"])
def test_the_squared_loss_has_a_closed_form(form, weighted, ranking, design_of):
    problem = ranking(90, 4, form=form, weighted=weighted)
    w = squared_loss_solution(design_of(problem), problem.y, alpha=0.2, weights=problem.weights)
    plain = design_of(problem, "reference")
    np.testing.assert_allclose(w, reference_solution(plain, problem.y, alpha=0.2, weights=problem.weights), rtol=1e-7)
    X = plain.rows(np.arange(90))
    weights = np.ones(90) if problem.weights is None else problem.weights
    i, j = (np.ravel(k) for k in np.meshgrid(*(np.flatnonzero(problem.y == s) for s in (1, -1)), indexing="ij"))
    D, share = X[i] - X[j], weights[i] * weights[j]
    share = share / share.sum()
    np.testing.assert_allclose(0.2 * w - 2 * D.T @ (share * (1 - D @ w)), 0, atol=1e-8)


def test_the_closed_form_refuses_what_it_cannot_solve(ranking, design_of):
    problem = ranking(20, 5, form="kernel")
    with pytest.raises(ValueError, match="explicit features"):
        squared_loss_solution(design_of(problem), problem.y, alpha=1.0)
    problem = ranking(20, 5)
    for change, sentence in (({"alpha": -1.0}, "alpha"), ({"weights": np.zeros(20)}, "sample"),
                             ({"y": problem.y[:3]}, "one label")):  # fmt: skip
        arguments = {"y": problem.y, "alpha": 1.0} | change
        with pytest.raises(ValueError, match=sentence):
            squared_loss_solution(design_of(problem), **arguments)
