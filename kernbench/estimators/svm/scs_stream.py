"""`KernelSVC(solver="scs")` on a stream: conjugate subgradients that need a sample, not all of the data.

Of the stream a :class:`kernbench.problems.streaming.stream_source.StreamSource` keeps the sample the model is made from
and recent examples to evaluate steps on. Its size is the solver's ``sample_cap``, so memory does
not grow with the stream.
"""

from dataclasses import dataclass, field
from functools import partial

import numpy as np
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets

from kernbench._random import generator_of
from kernbench._whole_fits import whole_or_not
from kernbench.estimators.arguments.chunks import unless_alike
from kernbench.estimators.arguments.kernel import kernel_of
from kernbench.estimators.arguments.parameters import callbacks_of, precision
from kernbench.estimators.arguments.training_data import check_batch, two_labels, weights_of_stream
from kernbench.estimators.fit.outcome import (
    INTERRUPTED,
    SAMPLE_CAP,
    drop_outcome,
    set_outcome,
    warn_if_sample_misleads,
    warn_unless_converged,
)
from kernbench.estimators.fit.problem import snapshot_of
from kernbench.estimators.fit.runs import iteration_limit, run_solver, title_of
from kernbench.estimators.fit.solver import make_solver
from kernbench.estimators.svm.expansion import set_expansion
from kernbench.estimators.svm.kernel_task import KernelTask
from kernbench.estimators.svm.multiclass import Pair
from kernbench.estimators.svm.parameters import check_kernel_svc
from kernbench.estimators.svm.scs_chunks import Reader
from kernbench.kernels.domain import check_range, is_precomputed
from kernbench.problems.streaming.batches import stacked
from kernbench.problems.streaming.stream_source import StreamSource
from kernbench.solvers.base import Solution

FIRST_ROWS = 1000  # examples, at least, that determine the classes and the width of the kernel
GROWTH = 50  # default of the solver
FEWEST_ITERATIONS = 20  # of a call of partial_fit
SPARSE_BELOW = 0.5  # share of stored entries from which rows, with the indices of these, take more memory than dense


@dataclass
class ScsStream:
    """The state of `partial_fit`.

    Attributes
    ----------
    source : StreamSource or None
        None until both classes have come.
    solution : Solution or None
    rng : Generator
    waiting : list of (X, y, weights)
        Examples of a single class, until the other one comes.
    has_warned : bool
        Whether the warning about a sample that is too small was given.
    """

    rng: np.random.Generator
    source: StreamSource | None = None
    solution: Solution | None = None
    waiting: list = field(default_factory=list)
    has_warned: bool = False


def can_stream(model):
    """Whether the solver works on a sample; if not, an AttributeError says what would."""
    if model.solver != "scs" or is_precomputed(model.kernel):
        raise AttributeError("streams need a solver that works on a sample: solver='scs', with a kernel of rows")
    return True


def partial_fit(model, X, y, classes, sample_weight):
    """Learn from a batch; see `KernelSVC.partial_fit`."""
    entry = check_kernel_svc(model)
    stream = getattr(model, "_scs_stream", None)
    X, y, labels, weights = check_batch(model, X, y, classes, sample_weight, reset=stream is None)
    stream = stream or ScsStream(generator_of(model.random_state))
    chunks = [*stream.waiting, (X, y, weights)]
    used = np.concatenate([y[weights > 0] for _, y, weights in chunks])
    if stream.source is None and len(np.unique(used)) < 2:
        _wait(model, stream, chunks, labels, used if len(used) else y)
        return
    batch = chunks[0] if len(chunks) == 1 else _joined(chunks)
    if stream.source is not None:  # else `kernel_of` does: one row that is too large would spoil all later batches
        _check_range(model, X[weights > 0])
    reader = Reader(iter([batch]), stream.rng)  # no list: its rows are read once only
    _configure(model, reader, labels)
    source = stream.source or _source(model, reader, batch[0], unless_alike(batch[2]), stream.rng)
    source.reader = reader
    n_iter, n_rows = model.max_iter, batch[0].shape[0]
    if n_iter == -1:
        n_iter = max(FEWEST_ITERATIONS, -(-n_rows // (_option(model, "growth", GROWTH) or n_rows)))
    result = _run(model, entry, stream, source, n_iter)
    if result.status == INTERRUPTED:
        raise KeyboardInterrupt
    # As long as the sample grows, more batches are the remedy.
    if source.n_sample == source.room and not result.sample_grows and not stream.has_warned:
        stream.has_warned = warn_if_sample_misleads(model, [result], is_stream=True)


@whole_or_not
def fit_chunks(model, chunks, classes=None):
    """Fit to a stream; see `KernelSVC.fit_chunks`."""
    entry = check_kernel_svc(model)
    stream = ScsStream(generator_of(model.random_state))
    reader = Reader(chunks, stream.rng)
    X, y, weights, labels, fault = reader.peek(FIRST_ROWS, classes)
    if fault is not None and len(np.unique(y)) < 2:
        raise fault
    if len(y) == 0:
        raise ValueError("the stream is empty: chunks must contain at least one (X, y) with rows")
    check_classification_targets(y)
    two_labels(labels)
    reader.set_columns(model)
    _configure(model, reader, labels)
    source = _source(model, reader, X, weights, stream.rng)
    reader.check = partial(_check_range, model)
    result = _run(model, entry, stream, source, iteration_limit(model, entry, 0))
    if result.status == INTERRUPTED:
        raise KeyboardInterrupt
    if fault is not None:
        raise fault
    warn_unless_converged(model, [result])
    warn_if_sample_misleads(model, [result], is_stream=True)


def _option(model, name, default):
    return (model.solver_options or {}).get(name, default)


def _configure(model, reader, labels):
    """Set the labels of the two classes, and their weights."""
    weights = weights_of_stream(model.class_weight, labels)
    reader.classes, reader.factors = np.asarray(labels), tuple(weights.tolist())
    model.classes_, model.class_weight_ = reader.classes, weights


def _source(model, reader, X, weights, rng):
    vars(model).pop("shape_fit_", None)  # of an earlier fit
    model.dtype_ = precision(model.dtype, np.inf)
    model.kernel_, model.centre_ = kernel_of(model, X, weights, int(rng.integers(2**31))), None
    room = int(_option(model, "sample_cap", SAMPLE_CAP))
    return StreamSource(model.kernel_, reader, room, X.shape[1], np.dtype(model.dtype_), rng, _stay_sparse(X))


def _check_range(model, X):
    """Raise ValueError for rows that the kernel does not take, before the stream keeps them."""
    check_range(X, model.kernel_, model.dtype_, feature_names=getattr(model, "feature_names_in_", None))


def _stay_sparse(X):
    """Whether rows are sparse, and take less memory so than dense."""
    return sparse.issparse(X) and X.nnz < SPARSE_BELOW * X.shape[0] * X.shape[1]


def _joined(batches):
    """Return (X, y, weights) of several batches as one, dense unless all are sparse."""
    X, y, weights = (stacked(column) for column in zip(*batches, strict=True))
    return X if _stay_sparse(X) or not sparse.issparse(X) else X.toarray(), y, weights


def _wait(model, stream, chunks, labels, y):
    """Keep the examples of a single class, that of `y`, as many as a sample holds, and predict that class for now."""
    room = int(_option(model, "sample_cap", SAMPLE_CAP))
    kept = tuple(column[-room:].copy() for column in _joined(chunks))  # not views of what the caller may change
    model.classes_, model.class_weight_ = np.asarray(labels), np.ones(2)
    model.dtype_ = precision(model.dtype, np.inf)
    model.kernel_, model.centre_ = kernel_of(model, kept[0], unless_alike(kept[2]), 0), None
    only = 1.0 if len(y) and y[0] == labels[1] else -1.0
    nothing = np.empty((0, kept[0].shape[1]))
    _set_function(model, nothing, np.empty(0), Solution(np.empty(0), only))
    drop_outcome(model)
    vars(model).pop("shape_fit_", None)  # of an earlier fit
    model.n_iter_ = np.zeros(1, dtype=int)
    stream.waiting = [kept]  # now that nothing refuses these rows
    model._scs_stream = stream


def _run(model, entry, stream, source, max_iter):
    """Advance the solver on the stream and set the model to its solution, whatever ended the run."""
    settings = {"fit_intercept": model.fit_intercept, "random_state": stream.rng, "initial": stream.solution}
    if "alpha" not in (model.solver_options or {}):
        settings["alpha"] = 1.0 / (model.C * source.room)
    source.n_evaluations = 0
    solver = make_solver(model, entry, source, None, settings)

    def snapshot(solver):
        now = snapshot_of(model, KernelTask.shared, solver)
        _set_function(now, source.X, source.y, solver.solution())
        return now

    try:
        result = run_solver(
            model,
            solver,
            max_iter=max_iter,
            max_seconds=model.max_seconds,
            callbacks=callbacks_of(model),
            snapshot=snapshot,
            title=title_of(model) if model.verbose else False,
        )
        set_outcome(model, [result])
    except BaseException:
        drop_outcome(model)  # the function below is that of this run
        raise
    finally:
        stream.source, stream.solution, stream.waiting = source, solver.solution(), []
        source.reader = None
        _set_function(model, source.X, source.y, stream.solution)
        model.n_iter_ = np.array([solver.n_iter])
        model._scs_stream = stream
    return result


def _set_function(model, X, y, solution):
    """Set the expansion, which ends any stream of the model."""
    set_expansion(model, X, (y > 0).astype(np.intp), [Pair(0, 1, None, y)], [solution])
