"""Regressors follow scikit-learn's conventions."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from kernbench import KernelNoveltyDetector, KernelNuSVR, KernelRegressor, KernelSVR, LinearRegressor

# Free support vectors are at the level: the sign of a rounding error decides what `predict` says of them.
AT_THE_LEVEL = {
    f"check_sample_weight_equivalence_on_{form}_data": "training rows at the level are on either side by rounding; "
    "test_weights_are_repetitions compares scores"
    for form in ("dense", "sparse")
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [
        LinearRegressor(),
        LinearRegressor("epsilon_insensitive"),
        KernelRegressor(),
        KernelRegressor(tol=1e-13),
        KernelRegressor(kernel="additive_chi2", tol=1e-9),
        KernelRegressor("huber", kernel="precomputed", tol=1e-13),
        KernelRegressor("epsilon_insensitive", tol=1e-9),
        KernelSVR(tol=1e-9),
        KernelNuSVR(tol=1e-9),
        KernelNoveltyDetector(tol=1e-9),
    ],
    expected_failed_checks=lambda estimator: AT_THE_LEVEL if isinstance(estimator, KernelNoveltyDetector) else {},
)
def test_scikit_learn_check(estimator, check):
    check(estimator)
