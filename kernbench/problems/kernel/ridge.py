"""Kernel ridge regression on all rows but some, from one eigendecomposition for every alpha and all sets of rows.

With weights s_i, S their sum over the training rows and c_i = sqrt(s_i) u_i, the minimiser f = sum_i c_i k(x_i, .) of

    alpha/2 ||f||^2 + 1/(2 S) sum_i s_i (f(x_i) - y_i)^2

solves (M + shift I) u = t with M_ij = sqrt(s_i) K_ij sqrt(s_j), t_i = sqrt(s_i) y_i and shift = alpha S. Let
M = Q diag(d) Q^T. To leave out the rows B is to let their equations hold with any right-hand side: with
C = (M + shift I)^-1 = Q diag(1 / (d + shift)) Q^T,

    u = C (t + I_B z),   u_B = 0   <=>   C_BB z = -(C t)_B,

a system of as many equations as there are rows in B. Formulas of this kind are those of leave-one-out (Golub, Heath,
Wahba, Technometrics 21, 1979) and of blocks (Pahikkala, Boberg, Salakoski, SCAI 2006; An, Liu, Venkatesh, Pattern
Recognition 40, 2007).

For coefficients c let g_i = f(x_i) - y_i + shift c_i / s_i be the residuals of the equations. The primal objective less
the dual one at shift c_i / s_i is exactly 1/(2 S) sum_i s_i g_i^2, so that the certificate needs one product with M.

With as many sets as rows, one row each, these products would cost more than the decomposition. Then u = Q v is not
computed either: with E = M Q - Q diag(d) and O = Q^T Q - I, the residuals (M + shift I) Q v - t have at most the norm
||O|| ||t|| + ||E|| ||v||, besides the rounding of t and v.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

EPS = float(np.finfo(np.float64).eps)
COLUMNS = 256  # of a product at a time


@dataclass(frozen=True)
class LeftOut:
    """A regression on all rows but some.

    Attributes
    ----------
    rows : ndarray of intp
        Those that are left out.
    offset : ndarray of shape (n_outputs,)
        Subtracted from the targets.
    mass : float
        S, the sum of the weights of the other rows.
    """

    rows: np.ndarray
    offset: np.ndarray
    mass: float


class Ridge:
    """The kernel ridge regressions on parts of one set of rows.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        A kernel matrix, positive semi-definite up to rounding; changed if there are weights.
    y : ndarray of shape (n, n_outputs)
    weights : ndarray of shape (n,)
        Positive.
    decompose : callable, default=numpy.linalg.eigh

    Attributes
    ----------
    least : float
        The smallest eigenvalue of M divided by the largest: negative by rounding, or where K is indefinite.
    """

    def __init__(self, K, y, weights, decompose=np.linalg.eigh):
        self.y, self.roots, self.M = y, np.sqrt(weights), K
        if np.any(weights != 1.0):
            self.M *= self.roots[:, None]
            self.M *= self.roots
        values, self.Q = decompose(self.M)
        self.least = float(values[0] / max(values[-1], np.finfo(float).tiny))
        self.d = np.maximum(values, 0.0)
        self.spectral_targets = self.Q.T @ (self.roots[:, None] * y)
        self.spectral_ones = self.Q.T @ self.roots[:, None]

    def solve(self, parts, alpha):
        """Return the coefficients u of parts, without regard to rounding.

        Parameters
        ----------
        parts : list of LeftOut
        alpha : float

        Returns
        -------
        ndarray of shape (n_parts, n, n_outputs)
            NaN where rounding made a system indefinite.
        """
        spectral = [self._spectral(part, alpha) for part in parts]
        u = self._of_parts(self.Q @ _side_by_side(spectral), len(parts))
        for own, part in zip(u, parts, strict=True):
            own[part.rows] = 0.0
        return u

    def _spectral(self, part, alpha):
        """Return Q^T u."""
        inverse = 1.0 / (self.d + alpha * part.mass)
        start = inverse[:, None] * (self.spectral_targets - self.spectral_ones * part.offset)
        rows = self.Q[part.rows]
        half = rows * np.sqrt(inverse)
        try:
            factor = cho_factor(half @ half.T, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError:
            return np.full_like(start, np.nan)
        z = cho_solve(factor, -(rows @ start), check_finite=False)
        return start + inverse[:, None] * (rows.T @ z)

    def examine(self, parts, alpha, u, unit, largest):
        """Return the function values of coefficients u, and their certificates.

        Parameters
        ----------
        parts : list of LeftOut
        alpha : float
        u : ndarray of shape (n_parts, n, n_outputs)
        unit : float
            Bound on the error of a kernel value, relative to the largest.
        largest : float
            The largest k(x, x).

        Returns
        -------
        scores : ndarray of shape (n_parts, n, n_outputs)
            f(x_i) of all rows.
        objectives, gaps : ndarray of shape (n_parts, n_outputs)
            The gaps with the rounding of kernel values and of the product.
        """
        products = self._of_parts(self.M @ _side_by_side(u), len(parts))
        objectives, gaps = [], []
        for own, f, part in zip(u, products, parts, strict=True):
            residuals = f - self.roots[:, None] * (self.y - part.offset)  # times the roots of the weights
            residuals[part.rows] = 0.0
            equations = residuals + alpha * part.mass * own
            losses = np.square(residuals).sum(axis=0) / part.mass
            objectives.append(0.5 * (alpha * (own * f).sum(axis=0) + losses))
            rounding = (unit + EPS * (len(own) + 8)) * largest * (self.roots @ np.abs(own))  # of a score
            roots = np.sqrt(np.square(equations).sum(axis=0) / part.mass)
            gaps.append(0.5 * (roots + rounding) ** 2)
        return products / self.roots[:, None], np.array(objectives), np.array(gaps)

    def leave_one_out(self, parts, alpha, unit, largest):
        """Return the predictions of single rows that are left out, and how far they may be from the optimum.

        Parameters
        ----------
        parts, alpha, unit, largest : see `examine`; one row each

        Returns
        -------
        predictions : ndarray of shape (n_parts, n_outputs)
        ratios : ndarray of shape (n_parts, n_outputs)
            Bounds on the gap divided by the objective.
        """
        rows = np.concatenate([part.rows for part in parts])
        mass, offsets = np.array([part.mass for part in parts]), np.array([part.offset for part in parts])
        shift, own = alpha * mass, self.Q[rows]
        inverse = 1.0 / (self.d + shift[:, None])
        scaled = own * inverse
        diagonal = (own * scaled).sum(axis=1)  # of C
        error_of_d, error_of_Q = self._errors
        sizes, all_roots = np.linalg.norm(self.M[rows], axis=1), np.linalg.norm(self.roots)
        predictions, ratios = np.empty_like(offsets), np.empty_like(offsets)
        for k, offset in enumerate(offsets.T):
            v = inverse * (self.spectral_targets[:, k] - offset[:, None] * self.spectral_ones[:, 0])
            z = -(own * v).sum(axis=1) / diagonal
            v += scaled * z[:, None]
            norms = np.linalg.norm(v, axis=1)
            left = np.abs((own * v).sum(axis=1)) + EPS * len(self.d) * norms  # of u on the row that is left out
            t = np.linalg.norm(self.roots * self.y[:, k]) + np.abs(offset) * all_roots + np.abs(z)
            rounding = 2.0 * EPS * len(self.d) ** 1.5 * t  # of Q^T t, and of what follows
            residuals = error_of_Q * t + error_of_d * norms + rounding + sizes * left
            residuals += (unit + EPS) * largest * np.sqrt(mass) * all_roots * norms  # of kernel values
            # The residuals of the regression itself are -shift u up to these.
            losses = shift * (norms * (1.0 - error_of_Q) - left) - residuals
            ratios[:, k] = np.where(residuals == 0.0, 0.0, np.square(residuals / np.maximum(losses, 0.0)))
            predictions[:, k] = self.y[rows, k] + z / self.roots[rows]
        return predictions, ratios

    @cached_property
    def _errors(self):
        """Bounds on the norms of M Q - Q diag(d) and of Q^T Q - I."""
        n, squares = len(self.d), np.zeros(2)
        for first in range(0, n, COLUMNS):
            columns = slice(first, first + COLUMNS)
            own = self.Q[:, columns]
            squares[0] += np.square(self.M @ own - own * self.d[columns]).sum()
            products = self.Q.T @ own
            products[columns].flat[:: products.shape[1] + 1] -= 1.0
            squares[1] += np.square(products).sum()
        rounding = EPS * n**1.5  # of a product with Q, whose columns have norm 1
        return np.sqrt(squares) + 2.0 * rounding * np.array([np.linalg.norm(self.M), np.sqrt(n)])

    def _of_parts(self, columns, n_parts):
        return np.ascontiguousarray(columns.reshape(len(columns), n_parts, -1).transpose(1, 0, 2))


def _side_by_side(blocks):
    """Return blocks of shape (n, n_outputs) as the columns of one matrix."""
    return np.concatenate(list(blocks), axis=1)
