"""The public models, each listed once: adding an estimator adds a line here.

The package itself, model files, ``kernbench fit``, ``predict`` and ``list`` and the tests of conventions read this
list. The classes are named in text and imported when they are first used.
"""

from dataclasses import dataclass

from kernbench._lazy import load


@dataclass(frozen=True)
class Model:
    """One public class.

    Attributes
    ----------
    name : str
        The class.
    address : str
        ``"module:Class"``.
    task : {"classify", "rank", "regress", "novelty", "ratio", "transform"}
        What it learns: labels; a ranking of two classes; numbers; outliers; the ratio of two densities; features of a
        kernel.
    work : str
        What takes the time of a fit: a key of ``ORDERS`` in `kernbench.experiments.ours.scaling.orders`, which states
        how that time grows. By default iterations that cost as much as a pass over the rows.
    """

    name: str
    address: str
    task: str
    work: str = "iterations"

    def load(self):
        """Import and return the class."""
        return load(self.address)


MODELS = (
    Model("KernelSVC", "kernbench.estimators.svm.kernel_svc:KernelSVC", "classify", "kernel"),
    Model("KernelNuSVC", "kernbench.estimators.svm.kernel_nu_svc:KernelNuSVC", "classify", "kernel"),
    Model("KernelSVCCV", "kernbench.estimators.search.kernel_svc_cv:KernelSVCCV", "classify", "kernel search"),
    Model("LinearSVC", "kernbench.estimators.svm.linear_svc:LinearSVC", "classify", "passes"),
    Model("LinearSVCCV", "kernbench.estimators.svm.linear_svc_cv:LinearSVCCV", "classify", "linear search"),
    Model(
        "KernelRegressor",
        "kernbench.estimators.regression.kernel_regressor:KernelRegressor",
        "regress",
        "kernel passes",
    ),
    Model(
        "KernelRegressorCV",
        "kernbench.estimators.regression.kernel_regressor_cv:KernelRegressorCV",
        "regress",
        "regression search",
    ),
    Model("KernelSVR", "kernbench.estimators.regression.kernel_svr:KernelSVR", "regress", "kernel"),
    Model("KernelNuSVR", "kernbench.estimators.regression.kernel_nu_svr:KernelNuSVR", "regress", "kernel"),
    Model(
        "KernelNoveltyDetector",
        "kernbench.estimators.novelty.kernel_novelty:KernelNoveltyDetector",
        "novelty",
        "kernel",
    ),
    Model("LinearRegressor", "kernbench.estimators.regression.linear_regressor:LinearRegressor", "regress", "passes"),
    Model("ROCSVC", "kernbench.estimators.roc.roc_svc:ROCSVC", "rank"),
    Model("ROCSVCCV", "kernbench.estimators.roc.roc_svc_cv:ROCSVCCV", "rank", "search"),
    Model("PartialAUCClassifier", "kernbench.estimators.windows.partial_auc:PartialAUCClassifier", "rank"),
    Model(
        "PartialAUCClassifierCV", "kernbench.estimators.windows.partial_auc_cv:PartialAUCClassifierCV", "rank", "search"
    ),
    Model("AUCMarginClassifier", "kernbench.estimators.windows.auc_margin:AUCMarginClassifier", "rank", "batches"),
    Model(
        "RankedRangeClassifier",
        "kernbench.estimators.windows.ranked_range_classifier:RankedRangeClassifier",
        "classify",
    ),
    Model(
        "RankedRangeRegressor", "kernbench.estimators.windows.ranked_range_regressor:RankedRangeRegressor", "regress"
    ),
    Model(
        "DoublyStochasticClassifier",
        "kernbench.estimators.doubly_stochastic.classifier:DoublyStochasticClassifier",
        "classify",
        "stream",
    ),
    Model(
        "DoublyStochasticRegressor",
        "kernbench.estimators.doubly_stochastic.regressor:DoublyStochasticRegressor",
        "regress",
        "stream",
    ),
    Model(
        "DoublyStochasticNoveltyDetector",
        "kernbench.estimators.doubly_stochastic.novelty:DoublyStochasticNoveltyDetector",
        "novelty",
        "stream",
    ),
    Model(
        "DoublyStochasticDensityRatio",
        "kernbench.estimators.doubly_stochastic.density_ratio:DoublyStochasticDensityRatio",
        "ratio",
        "stream",
    ),
    Model(
        "DoublyStochasticGPRegressor",
        "kernbench.estimators.doubly_stochastic.gp:DoublyStochasticGPRegressor",
        "regress",
        "stream",
    ),
    Model("Nystroem", "kernbench.features.nystroem.nystroem:Nystroem", "transform", "features"),
    Model("RandomFeatures", "kernbench.features.random_features:RandomFeatures", "transform", "features"),
)
ESTIMATORS = tuple(model for model in MODELS if model.task != "transform")
TRANSFORMERS = tuple(model for model in MODELS if model.task == "transform")
BY_NAME = {model.name: model for model in MODELS}


def task_of(estimator):
    """Return the task of an instance of one of the models."""
    return BY_NAME[type(estimator).__name__].task
