"""The fit of a `KernelSVR`, `KernelRegressor` or `KernelNoveltyDetector` to `Examples`: a cascade of working sets."""

import numpy as np

from kernbench.distributed.blocks.spread import check_kernel_range
from kernbench.distributed.spaces import DrawnRows, centred_blocks, kernel_of_blocks
from kernbench.distributed.svm_task import MEGABYTE, CascadeProblem
from kernbench.estimators.arguments.parameters import precision
from kernbench.estimators.arguments.targets import targets_of_chunk
from kernbench.estimators.fit.continuation import cold_start
from kernbench.estimators.fit.path import fit_task
from kernbench.estimators.novelty.kernel_novelty import KernelNoveltyDetector
from kernbench.estimators.novelty.task import NoveltyTask
from kernbench.estimators.regression.kernel_regressor import KernelRegressor
from kernbench.estimators.regression.kernel_svr import KernelSVR
from kernbench.estimators.regression.parameters import offset_of
from kernbench.estimators.regression.tasks import KernelRegressionProblem, KernelRegressorTask, KernelSVRTask
from kernbench.solvers import registry


class BlockRegressionTask:
    """A kernel regressor on `Examples`.

    Attributes
    ----------
    n_rounds : int
        Working sets of the cascade.
    """

    learns_from = "labels"

    def __init__(self, model, examples):
        self.model, self.cascade = model, CASCADES[type(model)](model, examples)
        self.blocks = self.cascade.blocks

    def run(self):
        """Fit the model."""
        try:
            fit_task(self.cascade, [self.model])
        finally:
            solver = self.cascade.problems[0].solver
            self.n_rounds = 0 if solver is None else solver.n_rounds


class BlockNoveltyTask(BlockRegressionTask):
    """A `KernelNoveltyDetector` on `Examples` without labels."""

    learns_from = "rows"


class OnBlocks:
    """Mixin of the tasks of regressors: checks and settings of a model of one output, whose rows stay in blocks.

    It sets the attributes of the task on an array.
    """

    def __init__(self, model, examples):
        self.model, self.blocks, self.given = model, examples.blocks, DrawnRows(examples.blocks)
        _, self.loss = self.check(model)
        self.entry = registry.get("smo", "kernel-regression")
        examples.describe(model)
        model.shape_fit_ = self.blocks.shape
        y, sample_weight = self.targets_of(examples), examples.checked_weights()
        self.n_rows, model.solver_ = len(y), self.entry.name
        self.given_weights = np.ones(self.n_rows) if sample_weight is None else sample_weight
        self.weights, self.has_outputs = self.weights_of(self.given_weights), False
        self.free_intercept = bool(model.fit_intercept)
        median = isinstance(model.gamma, str) and model.gamma == "median"
        self.last = cold_start(model, (model.solver_,), 1, draws_kernel=median, draws=self.entry.draws)
        self.dtype = model.dtype_ = precision(model.dtype, self.n_rows)
        model.kernel_ = self.kernel = kernel_of_blocks(model, self.blocks, sample_weight, self.last.kernel_seed)
        check_kernel_range(self.blocks, model.kernel_, model.dtype_, getattr(model, "feature_names_in_", None))
        self.blocks, model.centre_ = centred_blocks(model, self.blocks)
        self.total_weight = float(self.given_weights.sum())
        self.problems = [CascadeRegression(self, 0, y, offset_of(model, self.loss, y, self.weights))]

    def targets_of(self, examples):
        """Return the checked targets."""
        return targets_of_chunk(examples.y)

    def weights_of(self, sample_weight):
        """Return the weights as the solver takes them."""
        return sample_weight / sample_weight.mean()

    def stored(self, model, solutions):
        """Return None: rows stay in blocks."""

    def advice(self):
        """Return nothing: no other solver takes rows in blocks."""
        return ""

    def settings_for(self, strength):
        """Return the settings of the cascade for one of the model's strengths."""
        model = self.model
        return {
            "kernel": model.kernel_,
            "loss": self.loss,
            "C": 1.0 / (self.alpha_of(strength) * self.n_rows),
            "fit_intercept": self.free_intercept,
            "cache_bytes": int(model.cache_size * MEGABYTE),
        }


class CascadeRegressorTask(OnBlocks, KernelRegressorTask):
    """The cascade of a `KernelRegressor`."""


class CascadeSVRTask(OnBlocks, KernelSVRTask):
    """The cascade of a `KernelSVR`."""


class CascadeNoveltyTask(OnBlocks, NoveltyTask):
    """The cascade of a `KernelNoveltyDetector`."""

    def __init__(self, model, examples):
        super().__init__(model, examples)
        self.free_intercept = True

    def targets_of(self, examples):
        return np.zeros(examples.blocks.n_rows)

    def weights_of(self, sample_weight):
        return sample_weight


class CascadeRegression(CascadeProblem, KernelRegressionProblem):
    """The problem of a regression over all rows."""

    def make_solver(self, data, strength, initial):
        task = self.task
        return self.make_cascade(data, self.y, task.weights, task.settings_for(strength), task.n_rows, initial)


CASCADES = {KernelRegressor: CascadeRegressorTask, KernelSVR: CascadeSVRTask, KernelNoveltyDetector: CascadeNoveltyTask}
