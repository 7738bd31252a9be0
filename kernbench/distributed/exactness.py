"""Which estimators are fitted exactly on rows in blocks; others are rejected, naming an alternative."""

from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from kernbench.distributed.regression_task import BlockNoveltyTask, BlockRegressionTask
from kernbench.distributed.streaming.fit import STREAM_TASKS
from kernbench.distributed.svm_task import BlockKernelTask
from kernbench.distributed.tasks import BlockLinearTask, BlockPartialAUCTask, BlockROCTask
from kernbench.estimators.doubly_stochastic.density_ratio import DoublyStochasticDensityRatio
from kernbench.estimators.doubly_stochastic.gp import DoublyStochasticGPRegressor
from kernbench.estimators.novelty.kernel_novelty import KernelNoveltyDetector
from kernbench.estimators.regression.kernel_regressor import KernelRegressor
from kernbench.estimators.regression.kernel_svr import KernelSVR
from kernbench.estimators.roc.parameters import ON_TRAINING_ROWS
from kernbench.estimators.roc.roc_svc import ROCSVC
from kernbench.estimators.svm.kernel_svc import KernelSVC
from kernbench.estimators.svm.linear_svc import LinearSVC
from kernbench.estimators.svm.parameters import FREE, has_free_intercept
from kernbench.estimators.windows.partial_auc import PartialAUCClassifier
from kernbench.features import Nystroem, RandomFeatures
from kernbench.features.nystroem.landmarks import choice_of
from kernbench.kernels.domain import is_precomputed
from kernbench.losses.table import losses_of
from kernbench.validation.numbers import is_number

TASKS = {ROCSVC: BlockROCTask, PartialAUCClassifier: BlockPartialAUCTask, LinearSVC: BlockLinearTask}
TASKS |= {KernelSVC: BlockKernelTask, KernelSVR: BlockRegressionTask, KernelRegressor: BlockRegressionTask}
TASKS[KernelNoveltyDetector] = BlockNoveltyTask
TASKS |= STREAM_TASKS
KERNEL_SOLVERS = ("smo", "scs")
BOX_LOSSES = (*losses_of("residual", piecewise_linear=True), "one_class")  # each coefficient has bounds
WINDOW_SOLVERS = ("dca-exact", "svmpauc-tight")  # the others draw rows, batch by batch
MAPS = (StandardScaler, Nystroem, RandomFeatures)
OFFER = (
    "ROCSVC or PartialAUCClassifier(features='auto', 'nystroem' or 'random'), LinearSVC(solver='bundle'), "
    "KernelSVC(solver='smo' or 'scs'), KernelSVR, KernelRegressor(solver='smo'), KernelNoveltyDetector, a doubly "
    "stochastic estimator"
)


def check_estimator(estimator):
    """Raise ValueError unless the estimator is fitted exactly on rows in blocks; return its transformers and itself.

    Returns
    -------
    maps : list of (name, transformer)
        The steps before the last of a pipeline.
    model : estimator
    """
    maps, model = [], estimator
    if isinstance(estimator, Pipeline):
        maps, model = estimator.steps[:-1], estimator.steps[-1][1]
        for name, step in maps:
            if not isinstance(step, MAPS) and step not in (None, "passthrough"):
                known = ", ".join(kind.__name__ for kind in MAPS)
                raise ValueError(f"step {name!r} of the pipeline cannot be fitted block by block: use one of {known}")
            if is_precomputed(getattr(step, "kernel", None)):
                raise ValueError(
                    f"step {name!r} has kernel='precomputed', a matrix of all pairs of rows: name a kernel"
                )
    maps = [(name, step) for name, step in maps if step not in (None, "passthrough")]
    _check_model(model)
    if isinstance(model, DoublyStochasticDensityRatio) and model is not estimator:
        raise ValueError(
            "DoublyStochasticDensityRatio is fitted to two samples, of which a pipeline takes one: transform both, and "
            "leave the pipeline out"
        )
    return maps, model


def learns_from(estimator):
    """Return what an estimator is fitted to: ``"labels"`` of rows, ``"rows"`` alone, or two ``"samples"`` of rows."""
    return getattr(TASKS.get(type(estimator)), "learns_from", "labels")


def _check_model(model):
    if type(model) not in TASKS:
        raise ValueError(f"{type(model).__name__} cannot be fitted block by block: use {OFFER}")
    if model.warm_start:
        raise ValueError("warm_start=True has no effect here, where a copy of the estimator is fitted: leave it out")
    if isinstance(model, DoublyStochasticGPRegressor) and model.std == "points":
        raise ValueError(
            "std='points' computes targets from the rows and points of fit, which has no place for them here: choose "
            "std='operator', or give the chunks to fit_chunks of the estimator"
        )
    if type(model) in STREAM_TASKS:
        return
    if isinstance(model, KernelSVC):
        _check_kernel_svc(model)
        return
    if isinstance(model, KernelRegressor | KernelSVR | KernelNoveltyDetector):
        _check_kernel_regressor(model)
        return
    if isinstance(model, LinearSVC):
        exact = FREE if has_free_intercept(model) else "bundle"
        if model.solver not in ("auto", "bundle", exact):  # that "bundle" has no free intercept is said by `LinearSVC`
            free = ", intercept_scaling=inf" * (exact == FREE)
            raise ValueError(
                f"LinearSVC(solver={model.solver!r}{free}) cannot be fitted to blocks: choose solver={exact!r}"
            )
        return
    if isinstance(model, PartialAUCClassifier):
        if model.solver not in WINDOW_SOLVERS:
            raise ValueError(
                f"PartialAUCClassifier(solver={model.solver!r}) draws rows in each step: choose solver='dca-exact' or "
                "'svmpauc-tight'"
            )
        if is_number(model.validation):
            raise ValueError("validation as a share of the rows needs all rows at once: give a pair (X, y) of others")
    if model.features == "exact":
        raise ValueError(
            "features='exact' needs the kernel of all pairs of rows: choose features='nystroem' or 'random'"
        )
    if is_precomputed(model.kernel):
        raise ValueError("kernel='precomputed' is a matrix of all pairs of rows: name a kernel")
    if choice_of(model.landmarks) == "leverage":
        raise ValueError("landmarks='leverage' needs all rows at once: choose 'stratified', 'uniform' or 'kmeans'")
    if model.threshold_on != ON_TRAINING_ROWS:
        raise ValueError(
            "threshold_on='train' is the only choice here; estimator_.adjust_threshold takes the scores of other rows"
        )


def _check_kernel_svc(model):
    if is_precomputed(model.kernel):
        raise ValueError("kernel='precomputed' is a matrix of all pairs of rows: name a kernel")
    if model.solver not in KERNEL_SOLVERS:
        raise ValueError(
            f"KernelSVC(solver={model.solver!r}) needs the kernel of all pairs of rows: choose solver='smo' or "
            "'scs', or make_pipeline(Nystroem(...), LinearSVC(solver='bundle')) with features of the kernel"
        )
    if model.solver == "smo" and model.loss != "hinge":
        raise ValueError(
            f"KernelSVC(solver='smo') is fitted to blocks with loss='hinge', got loss={model.loss!r}: choose that, or "
            f"make_pipeline(Nystroem(...), LinearSVC(solver='bundle', loss={model.loss!r})) with features of the kernel"
        )
    if model.solver == "smo" and model.solver_options:
        raise ValueError("solver_options have no effect on a cascade of working sets: leave them out")


def _check_kernel_regressor(model):
    name = type(model).__name__
    if is_precomputed(model.kernel):
        raise ValueError("kernel='precomputed' is a matrix of all pairs of rows: name a kernel")
    if model.solver not in ("auto", "smo"):
        raise ValueError(f"{name}(solver={model.solver!r}) needs the kernel of all pairs of rows: choose solver='smo'")
    if model.loss not in BOX_LOSSES:
        offered = " or ".join(map(repr, BOX_LOSSES[:1] if isinstance(model, KernelSVR) else BOX_LOSSES[:-1]))
        raise ValueError(f"{name} on blocks takes loss={offered}, got loss={model.loss!r}: choose one of these")
    if model.solver_options and model.solver_options != {"shrinking": True}:
        raise ValueError(
            f"{'solver_options have' if isinstance(model, KernelRegressor) else 'shrinking=False has'} no effect on a "
            "cascade of working sets: leave it out"
        )
