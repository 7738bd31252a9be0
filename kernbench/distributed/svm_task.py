"""The fit of a `KernelSVC` to `Examples`: a cascade of working sets, or a sample that grows."""

import numpy as np

from kernbench.distributed.cascade import Cascade, parts_of, solve_part
from kernbench.distributed.random_rows import RowsBetween, origin_of, rows_at_random
from kernbench.distributed.spaces import kernel_of_blocks
from kernbench.distributed.survey import check_kernel_range
from kernbench.estimators.fit.continuation import cold_start
from kernbench.estimators.fit.outcome import INTERRUPTED, set_outcome, warn_unless_converged
from kernbench.estimators.fit.parameters import callbacks_of, precision
from kernbench.estimators.fit.problem import snapshot_of
from kernbench.estimators.fit.runs import iteration_limit, run_solver, title_of
from kernbench.estimators.fit.training_data import check_labels, weigh_classes
from kernbench.estimators.svm.expansion import set_expansion
from kernbench.estimators.svm.kernel_task import KernelTask
from kernbench.estimators.svm.multiclass import Pair
from kernbench.estimators.svm.parameters import check_kernel_svc

MEGABYTE = 2**20


class BlockKernelTask:
    """A `KernelSVC` on `Examples`."""

    def __init__(self, model, examples):
        self.model, self.entry, self.examples, self.blocks = (
            model,
            check_kernel_svc(model),
            examples,
            examples.blocks,
        )
        examples.describe(model)
        classes, self.codes = check_labels(examples.y)
        if len(classes) > 2:
            raise ValueError(
                f"y has {len(classes)} classes, and KernelSVC is fitted to two of them on blocks: fit one model for "
                "each class against the rest"
            )
        self.classes = classes

    def run(self):
        """Fit the model."""
        return self._run_chunks() if self.model.solver == "scs" else self._run_cascade()

    def _run_chunks(self):
        """Fit to the chunks as they are; rows are read as they are drawn."""
        examples, blocks = self.examples, self.blocks
        rows = rows_at_random(blocks, examples.keep_bytes)
        starts = blocks.chunk_starts if blocks.is_remote else origin_of(blocks)[0].bounds
        weights = examples.checked_weights()
        chunks = [
            (RowsBetween(rows, a, b), examples.y[a:b], None if weights is None else weights[a:b])
            for a, b in zip(starts[:-1], starts[1:])
        ]
        self.model.fit_chunks(chunks, classes=self.classes)

    def _run_cascade(self):
        model, examples, blocks = self.model, self.examples, self.blocks
        sample_weight = examples.checked_weights()
        weights = weigh_classes(model, self.classes, examples.y, self.codes, sample_weight)
        weights = np.ones(blocks.n_rows) if weights is None else weights
        y = np.where(self.codes == 1, 1.0, -1.0)
        median = isinstance(model.gamma, str) and model.gamma == "median"
        seed = cold_start(model, (model.solver,), 1, draws_kernel=median, draws=self.entry.draws).kernel_seed
        model.dtype_ = precision(model.dtype, blocks.n_rows)
        model.kernel_ = kernel_of_blocks(model, blocks, sample_weight, seed)
        check_kernel_range(blocks, model.kernel_, model.dtype_, getattr(model, "feature_names_in_", None))
        settings = {
            "kernel": model.kernel_, "dtype": model.dtype_, "C": model.C, "fit_intercept": model.fit_intercept,
            "cache_bytes": int(model.cache_size * MEGABYTE),
        }  # fmt: skip
        found = _support_of_parts(blocks, y, weights, settings)
        solver = Cascade(blocks, y, weights, settings, tol=model.tol, found=found)
        model.shape_fit_ = blocks.shape

        def describe(now, solution):
            members = solver.members
            pair = Pair(0, 1, None, y[members])
            set_expansion(now, solver.vectors, self.codes[members], [pair], [solution])
            now.support_ = members[now.support_].astype(np.int32)

        def snapshot(solver):
            now = snapshot_of(model, KernelTask.shared, solver)
            describe(now, solver.solution())
            return now

        result = run_solver(
            model, solver, max_iter=iteration_limit(model, self.entry, blocks.n_rows), max_seconds=model.max_seconds,
            callbacks=callbacks_of(model), snapshot=snapshot, title=title_of(model) if model.verbose else False,
        )  # fmt: skip
        set_outcome(model, [result])
        describe(model, result.solution)
        self.n_rounds = solver.n_rounds
        if result.status == INTERRUPTED:
            raise KeyboardInterrupt
        warn_unless_converged(model, [result])


def _support_of_parts(blocks, y, weights, settings):
    """Return row indices and coefficients of the support vectors of each part, solved where it lies."""
    edges, (origin, maps) = parts_of(blocks.n_rows), origin_of(blocks)
    spans = list(zip(edges[:-1], edges[1:]))
    if blocks.is_remote:
        client = blocks.client
        tasks = [
            client.submit(solve_part, part, maps, y[a:b], weights[a:b], settings, pure=False)
            for part, (a, b) in zip(origin.parts_at(edges), spans)
        ]
        try:
            found = client.gather(tasks, direct=True)
        except BaseException:
            client.cancel(tasks)
            raise
    else:
        found = [
            solve_part(origin.rows(np.arange(a, b)), maps, y[a:b], weights[a:b], settings) for a, b in spans
        ]
    return [(begin + rows, coef) for (begin, _), (rows, coef) in zip(spans, found)]
