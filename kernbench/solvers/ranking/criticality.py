"""Distance of a solution from a critical point of the objective of a range of ranks, by proximal points.

With the objective alpha/2 |f|^2 + U - L, and

    prox_n(w) = argmin over v of  alpha/2 |v|^2 + U(v) + |v - w|^2 / (2 mu),
    prox_m(w) = argmin over v of  L(v) + |v - w|^2 / (2 mu),

(prox_m(w) - prox_n(w)) / mu is the gradient at w of the objective smoothed by Moreau envelopes. Where it is 0, both
proximal points are equal, and this point is critical, not w (Yao, Lin, Yang, Definition 2). A solution f is therefore
judged at the w with prox_m(w) = f, which is f + mu g for a subgradient g of L at f.

The proximal points are computed by cutting planes. Their problems are strongly convex, so a certified gap bounds the
distance of each from the exact point by sqrt(2 gap / strength).
"""

import numpy as np

from kernbench.problems.draws import seed_of
from kernbench.problems.margin_problem import require_number
from kernbench.solvers.bundle.cutting_planes import CuttingPlanes
from kernbench.solvers.method import core_at

CORE = "kernbench.solvers.ranking._lbfgs_dca"

MAX_CUTS = 300
CLOSED = 1e-14  # relative gap of the size of rounding errors
CUTS = 10  # between two evaluations of the error


def criticality(design, ranked, coef, *, alpha=0.0, mu=1.0, tol=1e-2, max_iter=1000, smoothed=False, core="compiled"):
    """Return |prox_m(w) - prox_n(w)| / mu, at the w whose prox_m is a solution, and a bound of its error.

    Parameters
    ----------
    design : FeatureDesign or KernelDesign
        Made by `as_design`.
    ranked : RankedProblem
        Targets, weights, loss and range.
    coef : array-like of shape (n_coef,)
        Coefficients found by any solver.
    alpha : float, default=0.0
    mu : float, default=1.0
        The paper's mu, whose objective is a sum over pairs, times the number of pairs within the range.
    tol : float, default=1e-2
        The error to reach, as a share of the criticality or, if that is larger, of a proximal step over mu.
    max_iter : int, default=1000
        Cuts for each point.
    smoothed : bool, default=False
        Take `coef` as w itself, and return the norm of the gradient of the smoothed objective there.
    core : {"compiled", "reference"} or module, default="compiled"
        The core of `lbfgs_dca`.

    Returns
    -------
    criticality, error : float
    """
    core = core_at(CORE, core) if isinstance(core, str) else core
    alpha, mu = require_number("alpha", alpha), require_number("mu", mu, positive=True)
    w = start = np.array(coef, dtype=np.float64)
    scores = design.scores(w)
    if not smoothed:
        w = start + mu * design.combine(core.RankedRisk(design, ranked, alpha).lower_slopes(scores))
        scores = design.scores(w)
    # prox_n: with v = w / (1 + alpha mu) + u, the quadratic terms are (alpha + 1 / mu) / 2 |u|^2 and a constant.
    shrunk = 1 / (1 + alpha * mu)
    points = [_Proximal(core, design, ranked, alpha + 1 / mu, 1.0, shrunk * scores)]
    if smoothed and ranked.low > 0:
        # L is the mean over the ranks up to m, times m / (n - m).
        points.append(_Proximal(core, design, ranked.below(), 1 / mu, ranked.low / (ranked.high - ranked.low), scores))
    while True:
        error = sum(point.error() for point in points) / mu
        prox_n = shrunk * w + points[0].step()
        prox_m = w + points[1].step() if len(points) > 1 else start
        value, *moves = (_norm(design, v) / mu for v in (prox_m - prox_n, prox_n - w, prox_m - w))
        if error <= tol * max(value, *moves) or not any([point.advance(CUTS, max_iter) for point in points]):
            return value, error


def _norm(design, v):
    return float(np.sqrt(max(0.0, v @ (design.scores(v) if design.is_kernel else v))))


class _Proximal:
    """The minimiser u of strength/2 |u|^2 + factor * upper part(f_0 + u); f_0 has the scores `origin`."""

    def __init__(self, core, design, ranked, strength, factor, origin):
        self.factor, self.strength = factor, strength
        risk = core.RankedRisk(design, ranked, strength / factor, origin)
        self.solver = CuttingPlanes(risk, tol=CLOSED, max_cuts=MAX_CUTS, seed=seed_of(0), core=core.cutting_planes)
        self.solver.advance(1)

    def error(self):
        return float(np.sqrt(2 * self.factor * self.solver.gap() / self.strength))

    def step(self):
        return self.solver.solution().coef

    def advance(self, n_iter, max_iter):
        """Add cuts; return whether there were any."""
        return self.solver.n_iter < max_iter and self.solver.advance(n_iter) > 0
