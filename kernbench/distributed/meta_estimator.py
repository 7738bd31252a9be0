"""`Distributed`: an estimator that is fitted to rows in files, in chunks, or on a Dask cluster."""

from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.preprocessing import StandardScaler
from sklearn.utils.metaestimators import available_if

from kernbench.distributed.blocks.kept_rows import Room
from kernbench.distributed.blocks.random_rows import chunks_in_order
from kernbench.distributed.cluster.workers import free_bytes
from kernbench.distributed.exactness import TASKS, check_estimator, learns_from
from kernbench.distributed.predictions import Predictions
from kernbench.distributed.reading import read, read_weights
from kernbench.distributed.scaling import fit_scaler
from kernbench.distributed.spaces import features_of, fit_map
from kernbench.distributed.tasks import Examples
from kernbench.estimators.arguments.parameters import callbacks_of
from kernbench.estimators.arguments.training_data import distinct_labels
from kernbench.estimators.fit.path import fit_task, models_along
from kernbench.kernels.threads import single_threaded_blas
from kernbench.validation.container import available_bytes
from kernbench.validation.numbers import check_number

# Bytes a row at this process during a fit: labels, scores, slopes, sorted order. Measured: see docs/distributed.md.
BYTES_PER_ROW = 150  # measured: 145 for ROCSVC, 150 for PartialAUCClassifier; 40 for LinearSVC
COUNTS = ("n_passes", "n_bytes_sent", "n_bytes_received")
SHARE = 0.25  # of the memory that is left, for rows and features that are kept; arrays of a pass and a sort need some


def _learns_from_streams(self):
    self.estimator.partial_fit  # noqa: B018  its AttributeError says what is missing
    return True


class Distributed(Predictions, MetaEstimatorMixin, BaseEstimator):
    """Fit an estimator to rows that need not be in memory, with the objective and the certificate of one array.

    Parameters
    ----------
    estimator : estimator
        ROCSVC, PartialAUCClassifier, LinearSVC(solver="bundle"), KernelSVC(solver="smo" or "scs"),
        KernelSVR, KernelRegressor(solver="smo"), KernelNoveltyDetector, a doubly stochastic estimator, or a Pipeline of
        StandardScaler, Nystroem, RandomFeatures and one of these. Others are rejected, naming an alternative.
    client : distributed.Client, default=None
        A client of a Dask cluster whose workers hold or read the rows. None reads files and chunks in this process.
    memory : "auto" or int, default="auto"
        Bytes, of this process or of all workers together, for all that is kept between passes: rows that are slow to
        read (text, Parquet), then features in what these leave. What does not fit is read or computed again in each
        pass. Rows that are drawn at random, by doubly stochastic estimators and ``solver="scs"``, must fit if they are
        slow to read. ``"auto"`` is a quarter of the free memory; with a client, of what the workers' memory limits
        leave, so that workers without a limit keep nothing.

    Attributes
    ----------
    estimator_ : estimator
        The fitted plain estimator, which can be saved, loaded and used without this one.
    classes_ : ndarray
    n_features_in_ : int
    n_samples_ : int
        Rows of `fit`, and those of `partial_fit` since.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, if X had any.
    n_passes_, n_bytes_sent_, n_bytes_received_ : int
        With a client: the number of passes over the rows in the run of the solver, and the bytes of arrays sent to and
        received from workers. If the estimator has callbacks, these are also columns of its ``trace_``.
    n_rounds_ : int or ndarray of shape (n_problems,)
        For kernel machines solved by SMO: number of working sets that were solved.

    Notes
    -----
    X is a file (``.npy``, ``.svm``, ``.csv``, ``.parquet``, ``.arrow``), a folder of files in the order of their names,
    or a list of chunks: files, arrays, CSR matrices, tables, or pairs (X, y). Those without rows are skipped. y is
    an array, a ``.npy`` file, a folder or list of these, or the name or number of a column of the files; None takes the
    labels of svmlight files and of pairs. With a client X and y are Dask arrays, Dask data frames, or lists of delayed
    chunks, cut in any way, or a folder that all workers see, each file of which is read by one of them.
    Labels and weights are gathered here once. DoublyStochasticDensityRatio learns from two samples, ``fit(P, Q)``,
    novelty detectors from rows alone, ``fit(X)``.

    Sums over rows are taken over chunks that depend only on the shape of the data, and in a fixed order: the model does
    not depend, bit for bit, on how the rows are partitioned and on the number of threads. Only KernelSVC(solver="scs"),
    which draws rows from the chunks as they are, depends on where these are cut, as its ``fit_chunks`` does.

    Examples
    --------
    >>> import numpy as np
    >>> from kernbench import ROCSVC
    >>> from kernbench.distributed import Distributed
    >>> rng = np.random.default_rng(0)
    >>> chunks = [rng.normal(size=(500, 3)) for _ in range(4)]
    >>> y = [chunk[:, 0] + rng.normal(size=500) > 1 for chunk in chunks]
    >>> model = Distributed(ROCSVC()).fit(chunks, y)
    >>> model.decision_function(chunks).shape
    (2000,)
    """

    classes_: np.ndarray
    n_features_in_: int
    feature_names_in_: np.ndarray
    n_samples_: int
    n_passes_: int
    n_bytes_sent_: int
    n_bytes_received_: int

    def __init__(self, estimator: Any, client: Any = None, *, memory: Any = "auto") -> None:
        self.estimator = estimator
        self.client = client
        self.memory = memory

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit a copy of the estimator, ``estimator_``.

        Parameters
        ----------
        X : str, Path or list
            Files or chunks; see the notes.
        y : array-like, str, Path, int or list, default=None
            Labels, or files of labels; for a density ratio the rows of the other sample, as X.
        sample_weight : array-like of shape (n_samples,), str, Path or list, default=None
            As for the estimator; as arrays or ``.npy`` files.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For an estimator that cannot be fitted to blocks, and for invalid data; the model of an earlier fit stays.
        KeyboardInterrupt
            After Ctrl-C; ``estimator_`` is the model of the last step.
        """
        before, model, fresh = dict(vars(self)), None, clone(self.estimator)
        for name in before:
            if name.endswith("_"):  # of an earlier fit; another estimator, or other rows, may not set it again
                delattr(self, name)
        self.estimator_: Any = fresh
        try:
            model, task = self._task(self.estimator_, X, y, sample_weight)
            self._run(task, [model])
        except BaseException:
            if hasattr(model, "n_iter_"):  # it is fitted as far as the run got
                self._describe()
            else:
                vars(self).clear()
                vars(self).update(before)
            raise
        self._describe()
        return self

    @available_if(_learns_from_streams)
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Call ``partial_fit`` of the estimator for more rows, in their order, some 16,000 or more at a time.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`. The first call must contain all classes.

        Returns
        -------
        self
        """
        kind = learns_from(self.estimator)
        if kind == "samples":
            raise ValueError(
                f"partial_fit takes the chunks of one sample, {type(self.estimator).__name__} learns from two: call "
                "its own partial_fit(P, Q) with a chunk of each"
            )
        blocks, y = read(self.client, X, y, kind, getattr(self, "n_features_in_", 0))
        sample_weight = read_weights(self.client, sample_weight, blocks)
        sample_weight = Examples(blocks, y, sample_weight, None, Room(0)).checked_weights()
        is_first = not hasattr(self, "estimator_")
        if is_first:
            self.estimator_, self.n_samples_ = clone(self.estimator), 0
            self._names = None if blocks.names is None else list(blocks.names)
        self._check_names(blocks.names)
        vars(self.estimator_).pop("feature_names_in_", None)  # `_describe` sets it again: chunks are arrays
        try:
            options = {"classes": distinct_labels(y)} if is_first and is_classifier(self.estimator) else {}
            for start, rows in chunks_in_order(blocks):
                here = slice(start, start + rows.shape[0])
                weights = {} if sample_weight is None else {"sample_weight": sample_weight[here]}
                if not weights or np.any(sample_weight[here]):  # else an estimator could learn nothing
                    self.estimator_.partial_fit(rows, None if y is None else y[here], **options, **weights)
                    options = {}
                self.n_samples_ += rows.shape[0]
        except BaseException:
            if hasattr(self.estimator_, "n_iter_"):  # it has learned from the chunks before
                self._describe()
            else:  # the next call is the first one
                del self.estimator_, self.n_samples_
            raise
        self._describe()
        return self

    def path(self, X: Any, y: Any = None, strengths: ArrayLike | None = None, sample_weight: Any = None) -> list[Any]:
        """Fit a model for each of several strengths, ``alpha`` or ``C``, each from the previous solution.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        strengths : array-like
            Each > 0, in any order.

        Returns
        -------
        list of estimator
            Fitted models in the order of `strengths`, to be used without this one.
        """
        _, model = check_estimator(self.estimator)
        if not hasattr(TASKS[type(model)], "strength"):
            raise ValueError(f"{type(model).__name__} has no path: fit one for each strength")
        if model is not self.estimator:
            raise ValueError("path takes an estimator, not a pipeline: fit one for each strength")
        name = TASKS[type(model)].strength
        models, in_turn = models_along(model, name, strengths, ascending=name == "C")
        apart = copy(self)  # this one keeps the attributes of its own fit
        _, task = apart._task(in_turn[0], X, y, sample_weight)
        apart._run(task, in_turn)
        return models

    def __sklearn_clone__(self) -> Self:
        apart = copy(self)
        apart.client = None  # a connection, which cannot be copied
        made = super(Distributed, apart).__sklearn_clone__()
        made.client = self.client
        return made

    def _run(self, task, models):
        """Fit the models; with a client, count passes and bytes, in traces too if there are callbacks."""
        model, blocks = models[0], task.blocks
        own = model.callback
        if self.client is not None and callbacks_of(model):
            model.callback = [*callbacks_of(model), lambda _: {name: getattr(blocks, name) for name in COUNTS}]
        try:
            task.run() if hasattr(task, "run") else fit_task(task, models)
        finally:
            model.callback = own
            if hasattr(task, "n_rounds"):
                self.n_rounds_: Any = task.n_rounds
            for name in COUNTS:
                if self.client is not None:
                    setattr(self, f"{name}_", getattr(blocks, name))

    def _task(self, estimator, X, y, sample_weight):
        """Fit the steps before the last and return the last, and its task."""
        maps, model = check_estimator(estimator)
        kind = learns_from(model)
        if kind == "samples" and sample_weight is not None:
            raise ValueError(f"{type(model).__name__} has no sample_weight: leave it out")
        blocks, y = read(self.client, X, y, kind)
        self.n_samples_, names = blocks.n_rows, blocks.names
        self._names: Any = None if names is None else list(names)
        sample_weight = read_weights(self.client, sample_weight, blocks)
        needed = BYTES_PER_ROW * blocks.n_rows
        if needed > available_bytes():
            raise ValueError(
                f"{blocks.n_rows} rows need about {needed / 1e9:.2g} GB here for labels and scores "
                f"({BYTES_PER_ROW} bytes a row), and {available_bytes() / 1e9:.2g} GB are free: fit fewer rows, or "
                "where there is more memory"
            )
        room = Room(self._keep_bytes(needed))
        if not blocks.is_remote:
            blocks.keep_in(room)
        with single_threaded_blas():
            for _, step in maps:
                if isinstance(step, StandardScaler):
                    blocks = fit_scaler(step, blocks)
                else:
                    fit_map(step, blocks, names, y)
                    blocks = features_of(blocks, step, blocks.dtype, room if step is maps[-1][1] else 0)
                names = None
            return model, TASKS[type(model)](model, Examples(blocks, y, sample_weight, names, room))

    def _keep_bytes(self, needed):
        """Return the memory for rows and features to keep, after the bytes `needed` in this process for the fit."""
        if self.memory == "auto":
            free = available_bytes() - needed if self.client is None else free_bytes(self.client)
            return int(SHARE * max(0, free))
        check_number("memory", self.memory, at_least=0, whole=True)
        return int(self.memory)
