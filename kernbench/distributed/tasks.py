"""The problems of an estimator on rows in blocks, for the one fit of `kernbench.estimators.fit`."""

from dataclasses import dataclass

import numpy as np

from kernbench.distributed.blocks.kept_rows import Room
from kernbench.distributed.blocks.mapped_blocks import mapped
from kernbench.distributed.blocks.spread import check_kernel_range, spread_of
from kernbench.distributed.spaces import features_of, fit_space_of_blocks, text_names
from kernbench.estimators.arguments.training_data import (
    check_each_class_has_weight,
    check_labels,
    check_weights,
    weigh_classes,
)
from kernbench.estimators.fit.continuation import cold_start
from kernbench.estimators.fit.solver_data import with_constant
from kernbench.estimators.roc.roc_task import ROC
from kernbench.estimators.roc.rows import Rows
from kernbench.estimators.roc.space_task import Formulation, SpaceTask
from kernbench.estimators.svm.linear_task import ClassProblem, LinearTask
from kernbench.estimators.svm.parameters import check_linear_svc
from kernbench.estimators.windows.partial_auc_task import PARTIAL_AUC
from kernbench.kernels.functions import Linear
from kernbench.solvers import registry
from kernbench.solvers.design import as_design


@dataclass(frozen=True)
class Examples:
    """Rows in blocks, their labels and weights.

    Attributes
    ----------
    blocks : RowBlocks
    y : ndarray of shape (n_rows,), or None
    sample_weight : ndarray of shape (n_rows,), or None
    names : ndarray of str, or None
        Names of the columns.
    room : Room
        Memory for what is kept of rows and features.
    """

    blocks: object
    y: np.ndarray
    sample_weight: np.ndarray | None
    names: np.ndarray | None
    room: Room

    def describe(self, model):
        """Set the attributes of an estimator that describe the columns."""
        model.n_features_in_ = self.blocks.n_columns
        if (names := text_names(self.names)) is not None:
            model.feature_names_in_ = names

    def checked_weights(self):
        """Return the weights, checked."""
        rows = np.broadcast_to(0.0, self.blocks.n_rows)  # of which the number counts
        return None if self.sample_weight is None else check_weights(self.sample_weight, rows)


class BlockRankingTask(SpaceTask):
    """The task of a ranking, or of a path over alpha, on `Examples`: checked labels, a space, features in blocks."""

    ranking: Formulation

    def __init__(self, model, examples):
        self.open(self.ranking, model)
        examples.describe(model)
        model.classes_, codes = check_labels(examples.y)
        weights = examples.checked_weights()
        if len(model.classes_) > 2:
            raise ValueError(f"Only binary classification is supported: y has {len(model.classes_)} classes, and a "
                             "ranking orders two. Fit one model for each class against the rest")  # fmt: skip
        if weights is not None:
            check_each_class_has_weight(model.classes_, codes, weights)
        self.begin()
        positive, seeds = codes == 1, self.last.draws
        self.rows = self.without_held(Rows(None, np.where(positive, 1.0, -1.0), weights))
        self.space, self.largest = fit_space_of_blocks(
            model, examples.blocks, positive, weights, (seeds.kernel, seeds.map)
        )
        self.check_held()
        blocks, self.n_of_the_map = examples.blocks, 0
        if self.space.map is not None:
            blocks = features_of(blocks, self.space.map, self.space.dtype, examples.room)
            n_landmarks = len(getattr(self.space.map, "normalization_", ()))
            self.n_of_the_map = (blocks.n_rows + n_landmarks) * n_landmarks
        self.blocks, self.design = blocks, as_design(blocks)
        self.n_rows, self.n_coef = self.design.n_samples, self.design.n_coef


class BlockROCTask(BlockRankingTask):
    """The task of one `ROCSVC`, or of a path of them, on `Examples`."""

    ranking = ROC


class BlockPartialAUCTask(BlockRankingTask):
    """The task of one `PartialAUCClassifier`, or of a path of them, on `Examples`."""

    ranking = PARTIAL_AUC


class BlockLinearTask(LinearTask):
    """The task of one `LinearSVC`, or of a path of them, on `Examples`."""

    def __init__(self, model, examples):
        self.model = model
        entry, model.loss_ = check_linear_svc(model)
        self.entry = entry or registry.get("bundle", "linear-svm")  # "auto" passes over the rows
        model.solver_ = self.entry.name
        self.n_jobs, self.min_iter, blocks = None, 0, examples.blocks
        examples.describe(model)
        spread_of(blocks)
        labels, codes = check_labels(examples.y)
        self.sample_weight = examples.checked_weights()
        self.codes, self.weights = weigh_classes(model, labels, examples.y, codes, self.sample_weight)
        model.dtype_ = blocks.dtype.name if model.dtype == "auto" else model.dtype
        check_kernel_range(blocks, Linear(), model.dtype_, getattr(model, "feature_names_in_", None))
        n_classes = len(model.classes_)
        positives = [1] if n_classes == 2 else range(n_classes)
        self.problems = [ClassProblem(self, k, positive) for k, positive in enumerate(positives)]
        self.last = cold_start(model, (), len(self.problems))
        self.X = blocks
        if model.fit_intercept or model.dtype_ != blocks.dtype.name:
            scaling, dtype = self.constant, np.dtype(model.dtype_)
            extra = int(scaling is not None)
            self.X = mapped(
                blocks,
                WithConstant(scaling, dtype),
                blocks.n_columns + extra,
                dtype,
                n_stored=blocks.n_values + extra * blocks.n_rows if blocks.is_sparse else None,
                keep_bytes=examples.room if blocks.is_remote else 0,
            )
        self.blocks = self.X


class WithConstant:
    """Convert rows to a precision and append a constant column, unless the constant is None."""

    def __init__(self, scaling, dtype):
        self.scaling, self.dtype = scaling, dtype

    def __call__(self, X):
        return with_constant(X, self.scaling, self.dtype)
