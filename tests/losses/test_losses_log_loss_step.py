"""The dual step of the logistic loss solves its equation, also where Newton's method alone would oscillate."""

import pytest
from scipy.special import logit

from kernbench.losses.margin import LogLoss


@pytest.mark.parametrize("curvature", [1e-8, 0.3, 27.881332420485016, 1e3, 1e6])
@pytest.mark.parametrize("margin", [-40.0, -3.1451097044087497, 0.0, 2.0, 60.0])
@pytest.mark.parametrize("a", [0.0, 1e-9, 0.4, 1.0])
def test_step_of_the_logistic_loss_solves_its_equation(a, margin, curvature):
    best = LogLoss.dual_coordinate(a, margin, curvature)
    assert 0.0 <= best <= 1.0

    def slope(b):  # of psi(b) - margin (b - a) - curvature/2 (b - a)^2, which falls from +inf to -inf
        return -logit(b) - margin - curvature * (b - a)

    width = 1e-9 * max(1.0, best)
    assert slope(max(best - width, 0.0)) > 0.0 if best > width else slope(width) < 0.0
    assert slope(min(best + width, 1.0)) < 0.0 if best < 1.0 - width else slope(1.0 - width) > 0.0
