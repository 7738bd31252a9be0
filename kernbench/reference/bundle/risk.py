"""A convex risk of scores: what cutting planes need of a problem, alpha/2 ||f||^2 + R(f(x_1), …, f(x_n)).

R is a mean over pairs (`ranking/problem`) or over samples (`linear/bundle`).
"""

import numpy as np


class Risk:
    """Base of the risks.

    They have ``design``, ``n``, ``alpha``, ``positive``, ``weights``, the risk ``at_zero`` scores and the
    classes that the Hessian is ``centred_by``; they define ``risk``, ``density``, ``settings``, ``sample`` and
    ``take``.
    """

    def with_alpha(self, alpha):
        """Return the same problem with another alpha."""
        other = self.take(np.arange(self.n), self.design)
        other.alpha = alpha
        return other

    def smoothed(self):
        """Return the smoothed risk, or None."""
        return None
