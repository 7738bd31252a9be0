"""Who takes part in a race: every public model that does the task, the usual choice, and a zero model.

A race is what a :class:`~kernbench.experiments.declare.tables.Recommendation` is made from. A model that it leaves out
is named there, with the reason.
"""

from kernbench._models import BY_NAME, ESTIMATORS
from kernbench.experiments.declare.parts import Method

ZERO_CLASSIFIER = Method("zero", "zero model", "kernbench.experiments.measure.zero:ZeroClassifier")
ZERO_REGRESSOR = Method("zero", "zero model", "kernbench.experiments.measure.zero:ZeroRegressor")
ZERO_DETECTOR = Method("zero", "zero model", "kernbench.experiments.measure.zero:ZeroNoveltyDetector")

# What several races remark, and their reasons.
DEFAULT_CACHE = (
    "LIBSVM (scikit-learn SVC) has its default cache of 200 MB; with 2 GB, as another method of these races has, it "
    "can be faster."
)
TRIMMED = {
    "RankedRangeClassifier": "it minimises another objective, without the largest losses: see sorr",
    "KernelNuSVC": "it is KernelSVC with a share nu in place of C, and it is measured against NuSVC in peers-svm",
    "KernelSVCCV": "it is KernelSVC with a search of its own, and single fits are timed",
    "LinearSVCCV": "it is LinearSVC with a search of its own, and single fits are timed",
}
TRIMMED_REGRESSION = {
    "KernelRegressorCV": "it is KernelRegressor with a search of its own, and single fits are timed",
    "RankedRangeRegressor": "it minimises another objective, without the largest losses: see sorr",
    "KernelSVR": "it is KernelRegressor with the parameters of SVR, and it is measured in peers-svm",
    "KernelNuSVR": "it is KernelSVR with a share nu in place of epsilon, and it is measured against NuSVR in peers-svm",
    "DoublyStochasticGPRegressor": "its mean is a ridge regression, which runs, and its variances are judged in dsg-gp",
}
SEARCHED = {
    "ROCSVCCV": "it is ROCSVC with a search of its own, and single fits are timed",
    "PartialAUCClassifierCV": "it is PartialAUCClassifier with a search of its own, and single fits are timed",
}
RANKED_ELSEWHERE = {
    name: "it is measured in peers-auc and pauc-test, and the paper compares ROC-SVMs only"
    for name in ("PartialAUCClassifier", "AUCMarginClassifier")
}


def pipeline(*steps, before=()):
    """How a user writes a pipeline: imports, and the pipeline as the last line.

    Parameters
    ----------
    *steps : str
        As ``"kernbench:LinearSVC()"``.
    before : iterable of str
        Lines between the imports and the pipeline.
    """
    modules, made = zip(*(step.split(":", 1) for step in steps))
    imports = [f"from {module} import {step.partition('(')[0]}" for module, step in zip(modules, made)]
    return "\n".join(
        ("from sklearn.pipeline import make_pipeline", *imports, *before, f"make_pipeline({', '.join(made)})")
    )


def on_features(features, linear, package="kernbench"):
    """How a user writes a linear model on the features of a kernel: a `pipeline`.

    Parameters
    ----------
    features : str
        A transformer of `kernbench.features`, as ``'RandomFeatures("rbf", n_features=256)'``.
    linear : str
        As ``'LinearSVC("hinge")'``.
    package : str
        What the linear model is imported from.
    """
    return pipeline(f"kernbench.features:{features}", f"{package}:{linear}")


def on_landmarks(linear, package="kernbench", *, kernel="rbf", n_landmarks=300, landmarks=None):
    """`on_features`, of `n_landmarks` rows (Nyström's method), which are chosen as `landmarks` of `Nystroem` says."""
    chosen = "" if landmarks is None else f', landmarks="{landmarks}"'
    return on_features(f'Nystroem("{kernel}", n_landmarks={n_landmarks}{chosen})', linear, package)


def model_of(method):
    """The name of the public model that a method fits, or None for another library's."""
    if method.model is not None:
        return method.model
    module, _, name = method.estimator.partition(":")
    return name if name in BY_NAME and module.partition(".")[0] == "kernbench" else None


def entered(experiment, display):
    """The names of the public models among the methods of a recommendation."""
    names = [method.name for method in experiment.methods] if display.methods is None else display.methods
    return {model_of(experiment.method(name)) for name in names} - {None}


def missing(experiment, display):
    """Public models that do the task, do not take part, and of which no reason is given."""
    able = {model.name for model in ESTIMATORS if model.task == display.models}
    return sorted(able - entered(experiment, display) - set(display.left_out))
