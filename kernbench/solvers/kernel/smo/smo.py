"""SMO on kernel rows of one precision or of two: the class that the registry names."""

from kernbench.kernels.two_precisions import TwoPrecisionRows
from kernbench.solvers.kernel.smo import _smo
from kernbench.solvers.kernel.smo.refined_smo import RefinedSMO


class SMO(_smo.SMO):
    """Kernel SVM by sequential minimal optimisation.

    Given `TwoPrecisionRows` it returns a `RefinedSMO`, which starts on float32 rows and ends in float64; on other rows
    it is the compiled solver.

    Parameters
    ----------
    rows : KernelRows or TwoPrecisionRows
    y : array-like of shape (n,)
        -1 and +1; targets for a loss of residuals.
    alpha : float
        Weight of the norm, ``1 / (C n)``.
    weights : array-like of shape (n,), optional
    fit_intercept : bool, default=True
    loss : str or ResidualLoss, default="hinge"
        One of `losses`.
    tol : float, default=1e-3
        Largest violation of the optimality conditions, in units of the margin (LIBSVM's ``tol``), or in a regression of
        the targets' mean distance from the best constant.
    random_state : ignored
        The method has no randomness.
    initial : Solution, optional
        Start from these coefficients, clipped to the box. ``initial.state["products"]``, if given, must be K times
        them.
    working_set_size : int, optional
        1024 by default, from 20,000 rows on 1536.
    shrinking : bool, default=True
    classic_rows : int, default=4000
        Problems of at most this many rows are solved as one working set.
    """

    def __new__(
        cls,
        rows,
        y,
        *,
        alpha,
        weights=None,
        fit_intercept=True,
        loss="hinge",
        tol=1e-3,
        random_state=None,
        initial=None,
        working_set_size=None,
        shrinking=True,
        classic_rows=_smo.CLASSIC_ROWS,
    ):
        if not isinstance(rows, TwoPrecisionRows):
            return super().__new__(cls)  # Python calls _smo.SMO.__init__ with the same arguments next
        return RefinedSMO(
            rows, y, alpha=alpha, weights=weights, fit_intercept=fit_intercept, loss=loss, tol=tol, initial=initial,
            working_set_size=working_set_size, shrinking=shrinking, classic_rows=classic_rows,
        )  # fmt: skip
