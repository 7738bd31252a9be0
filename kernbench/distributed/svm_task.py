"""The fit of a `KernelSVC` to `Examples`: a cascade of working sets, or a sample that grows."""

from dataclasses import dataclass

import numpy as np

from kernbench.distributed.blocks.random_rows import RowsBetween, origin_of, rows_at_random
from kernbench.distributed.blocks.spread import check_kernel_range
from kernbench.distributed.cascade import Cascade
from kernbench.distributed.parts import support_of_parts
from kernbench.distributed.spaces import DrawnRows, centred_blocks, kernel_of_blocks
from kernbench.estimators.arguments.parameters import precision
from kernbench.estimators.arguments.training_data import check_each_class_has_weight, check_labels, weigh_classes
from kernbench.estimators.fit.continuation import cold_start
from kernbench.estimators.fit.path import fit_task
from kernbench.estimators.svm.kernel_task import KernelTask, PairProblem
from kernbench.estimators.svm.multiclass import Pair, pairs_of
from kernbench.estimators.svm.parameters import check_kernel_svc
from kernbench.problems.certificate.curvature import shows_negative_curvature

MEGABYTE = 2**20


class BlockKernelTask:
    """A `KernelSVC` on `Examples`.

    Attributes
    ----------
    n_rounds : int or ndarray of shape (n_problems,)
        Working sets of a cascade.
    """

    def __init__(self, model, examples):
        self.model, self.examples, self.blocks = model, examples, examples.blocks
        check_kernel_svc(model)
        examples.describe(model)
        if model.solver == "smo":
            self.cascades = CascadeTask(model, examples)
            self.blocks = self.cascades.blocks
            return
        self.classes, codes = check_labels(examples.y)
        if len(self.classes) > 2:
            raise ValueError(
                f"y has {len(self.classes)} classes, and KernelSVC(solver={model.solver!r}) is fitted to two of them "
                "on blocks: choose solver='smo', or fit one model for each class against the rest"
            )
        self.weights = examples.checked_weights()
        if self.weights is not None:
            check_each_class_has_weight(self.classes, codes, self.weights)

    def run(self):
        """Fit the model."""
        if self.model.solver != "smo":
            self._run_chunks()
            return
        try:
            fit_task(self.cascades, [self.model])
        finally:
            rounds = self.cascades.n_rounds
            self.n_rounds = rounds[0] if len(rounds) == 1 else np.array(rounds)

    def _run_chunks(self):
        """Fit to the chunks in their order; rows are read when they are drawn."""
        examples, blocks, weights = self.examples, self.blocks, self.weights
        rows = rows_at_random(blocks, examples.room)
        starts = blocks.chunk_starts if blocks.is_remote else origin_of(blocks)[0].bounds
        chunks = [
            (RowsBetween(rows, a, b), examples.y[a:b], None if weights is None else weights[a:b])
            for a, b in zip(starts[:-1], starts[1:])
        ]
        try:
            self.model.fit_chunks(chunks, classes=self.classes)
        finally:
            examples.describe(self.model)  # chunks have no names


class CascadeTask(KernelTask):
    """The cascades of a `KernelSVC`, one for each pair of classes, or for each class against the rest.

    Attributes
    ----------
    n_rounds : list of int
    """

    def __init__(self, model, examples):
        self.model, self.entry, self.given = model, check_kernel_svc(model), DrawnRows(examples.blocks)
        blocks, sample_weight = examples.blocks, examples.checked_weights()
        labels, codes = check_labels(examples.y)
        self.codes, weights = weigh_classes(model, labels, examples.y, codes, sample_weight)
        self.weights = np.ones(blocks.n_rows) if weights is None else weights
        median = isinstance(model.gamma, str) and model.gamma == "median"
        self.last = cold_start(model, (model.solver,), 1, draws_kernel=median, draws=self.entry.draws)
        self.dtype = model.dtype_ = precision(model.dtype, blocks.n_rows)
        model.kernel_ = kernel_of_blocks(model, blocks, sample_weight, self.last.kernel_seed)
        check_kernel_range(blocks, model.kernel_, model.dtype_, getattr(model, "feature_names_in_", None))
        model.shape_fit_, self.shares_data, self.plural = blocks.shape, True, "pairs of classes"
        pairs = pairs_of(self.codes, len(model.classes_), self.weights, model.multi_class)
        self.blocks, model.centre_ = centred_blocks(model, blocks, len(pairs))
        self.settings = {
            "kernel": model.kernel_, "loss": "hinge", "C": model.C,
            "fit_intercept": model.fit_intercept, "cache_bytes": int(model.cache_size * MEGABYTE),
        }  # fmt: skip
        self.problems = [CascadePair(self, k, pair) for k, pair in enumerate(pairs)]

    def stored(self, model, solutions):
        """Return None: what storing the intercept costs is not computed, since rows stay in blocks."""

    @property
    def n_rounds(self):
        return [problem.solver.n_rounds for problem in self.problems if problem.solver is not None]


@dataclass(frozen=True)
class KernelBlocks:
    """Rows in blocks, and the precision of their kernel values in a cascade."""

    blocks: object
    dtype: str


class CascadeProblem:
    """Mixin of problems over rows in blocks."""

    solver = None

    def make_data(self, dtype=None):
        return KernelBlocks(self.task.blocks, dtype or self.task.dtype)

    def start(self, data):
        return None

    def counted_from(self, data):
        return 0

    def examined(self, data, solver, strength):
        """Return the curvature: rows in blocks are read from files or workers, and the cascade certifies all of them
        itself, if its kernel is positive semi-definite."""
        return Curvature(solver)

    def make_cascade(self, data, y, weights, settings, n_counted, initial):
        """Return the cascade that begins with the support vectors of the parts, after solving these, or with the last
        working set of a run in float32, which ended at `initial`."""
        blocks, settings, before = data.blocks, {**settings, "dtype": data.dtype}, self.solver
        if initial is None:
            found = support_of_parts(blocks, y, weights, settings)
        else:
            found = [(before.members, initial.coef[before.members])]
        solver = Cascade(blocks, y, weights, settings, n_counted=n_counted, tol=self.task.model.tol, found=found)
        if initial is not None:
            solver.n_iter, solver.n_rounds = solver.n_iter + initial.n_iter, before.n_rounds
        self.solver = solver
        return solver


class Curvature:
    """Whether the kernel of a cascade shows, on its last working set, that it is not positive semi-definite."""

    def __init__(self, solver):
        self.solver = solver

    def is_indefinite(self, solution, objective, gap):
        """Whether the kernel shows negative curvature."""
        solver = self.solver
        return shows_negative_curvature(
            solver.settings["kernel"],
            solver.vectors,
            solution.coef[solver.members],
            balanced=solver.problem.fit_intercept,
            objective=None if solver.is_one_class else objective,
            lower=-np.inf,
            at_zero=0.0,
        )


class CascadePair(CascadeProblem, PairProblem):
    """The problem of a pair of classes, over all rows: those of other classes have weight 0."""

    def __init__(self, task, k, pair):
        y, self.weights = np.where(task.codes == pair.positive, 1.0, -1.0), task.weights
        if pair.rows is not None:
            self.weights = np.zeros(len(y))
            self.weights[pair.rows] = task.weights[pair.rows]
        super().__init__(task, k, Pair(pair.negative, pair.positive, None, y))

    def make_solver(self, data, C, initial):
        n_counted = int(np.count_nonzero(self.weights))
        return self.make_cascade(data, self.pair.y, self.weights, self.task.settings, n_counted, initial)
