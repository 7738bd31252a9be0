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

    def smoothed(self):
        """Return the smoothed risk, or None."""
        return None

    def same_risk(self, settings):
        """Whether the cuts of a problem with these settings are cuts of this one."""
        return np.array_equal(settings[1:], self.settings()[1:])

    def signature(self, scores):
        """Return two sums over scores, by which data are recognised: if they differ for the same f, the data differ."""
        w = np.ones(self.n) if self.weights is None else self.weights
        return np.array([np.sum((w * scores)[self.positive]), np.sum((w * scores)[~self.positive])])

    def same_data(self, signature, scores):
        """Whether a solution with this signature belongs to this problem, in which its f has these scores, not all
        0."""
        size = np.abs(scores).max() * self.n
        return bool(size > 0 and np.all(np.abs(signature - self.signature(scores)) <= 1e-9 * size))
