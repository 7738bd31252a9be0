"""Written by tools/types/stubs: the public names of kernbench.estimators."""

from kernbench.estimators.doubly_stochastic.classifier import DoublyStochasticClassifier as DoublyStochasticClassifier
from kernbench.estimators.doubly_stochastic.density_ratio import DoublyStochasticDensityRatio as DoublyStochasticDensityRatio
from kernbench.estimators.doubly_stochastic.gp import DoublyStochasticGPRegressor as DoublyStochasticGPRegressor
from kernbench.estimators.doubly_stochastic.novelty import DoublyStochasticNoveltyDetector as DoublyStochasticNoveltyDetector
from kernbench.estimators.doubly_stochastic.regressor import DoublyStochasticRegressor as DoublyStochasticRegressor
from kernbench.estimators.novelty.kernel_novelty import KernelNoveltyDetector as KernelNoveltyDetector
from kernbench.estimators.regression.kernel_nu_svr import KernelNuSVR as KernelNuSVR
from kernbench.estimators.regression.kernel_regressor import KernelRegressor as KernelRegressor
from kernbench.estimators.regression.kernel_regressor_cv import KernelRegressorCV as KernelRegressorCV
from kernbench.estimators.regression.kernel_svr import KernelSVR as KernelSVR
from kernbench.estimators.regression.linear_regressor import LinearRegressor as LinearRegressor
from kernbench.estimators.roc.roc_svc import ROCSVC as ROCSVC
from kernbench.estimators.roc.roc_svc_cv import ROCSVCCV as ROCSVCCV
from kernbench.estimators.search.kernel_svc_cv import KernelSVCCV as KernelSVCCV
from kernbench.estimators.svm.closed_form import closed_form_limit as closed_form_limit
from kernbench.estimators.svm.kernel_nu_svc import KernelNuSVC as KernelNuSVC
from kernbench.estimators.svm.kernel_svc import KernelSVC as KernelSVC
from kernbench.estimators.svm.linear_svc import LinearSVC as LinearSVC
from kernbench.estimators.svm.linear_svc_cv import LinearSVCCV as LinearSVCCV
from kernbench.estimators.windows.auc_margin import AUCMarginClassifier as AUCMarginClassifier
from kernbench.estimators.windows.partial_auc import PartialAUCClassifier as PartialAUCClassifier
from kernbench.estimators.windows.partial_auc_cv import PartialAUCClassifierCV as PartialAUCClassifierCV
from kernbench.estimators.windows.ranked_range_classifier import RankedRangeClassifier as RankedRangeClassifier
from kernbench.estimators.windows.ranked_range_regressor import RankedRangeRegressor as RankedRangeRegressor

__all__ = [
    "AUCMarginClassifier",
    "DoublyStochasticClassifier",
    "DoublyStochasticDensityRatio",
    "DoublyStochasticGPRegressor",
    "DoublyStochasticNoveltyDetector",
    "DoublyStochasticRegressor",
    "KernelNoveltyDetector",
    "KernelNuSVC",
    "KernelNuSVR",
    "KernelRegressor",
    "KernelRegressorCV",
    "KernelSVC",
    "KernelSVCCV",
    "KernelSVR",
    "LinearRegressor",
    "LinearSVC",
    "LinearSVCCV",
    "PartialAUCClassifier",
    "PartialAUCClassifierCV",
    "ROCSVC",
    "ROCSVCCV",
    "RankedRangeClassifier",
    "RankedRangeRegressor",
    "closed_form_limit",
]
