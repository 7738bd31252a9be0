"""Gaussian process regression by doubly stochastic gradients: `DoublyStochasticGPRegressor`."""

from typing import Any, Literal, Self, overload

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import qmc
from sklearn.base import RegressorMixin

from kernbench._typing import Callback, RandomState, Rows
from kernbench.estimators.arguments.targets import check_targets, targets_of_chunk
from kernbench.estimators.doubly_stochastic.kept_rows import KeptRows
from kernbench.estimators.doubly_stochastic.model import DoublyStochasticModel, as_dtype, digest_of
from kernbench.estimators.doubly_stochastic.parameters import batch_size_of
from kernbench.estimators.doubly_stochastic.stream import open_stream
from kernbench.estimators.fit.fitted_state import check_floats, require
from kernbench.estimators.locks import one_at_a_time
from kernbench.features.draws.spectral_densities import SPECTRAL_DENSITIES
from kernbench.features.maps.forms import ADDITIVE, ALL_DRAWS
from kernbench.kernels import blocks
from kernbench.kernels.base import Kernel
from kernbench.kernels.functions import Matern
from kernbench.solvers.streaming.covariance_operator import CovarianceOperator
from kernbench.validation.numbers import check_name, check_number
from kernbench.validation.rows import check_rows

FEWEST_STEPS = 40
SMALLEST_BLOCK = {None: 2048, "points": 2048, "operator": 512}  # by std, if one step solves the problem
OF_FREQUENCIES = ("rbf", "gaussian", "laplacian")


class DoublyStochasticGPRegressor(RegressorMixin, KeptRows, DoublyStochasticModel):
    r"""Gaussian process regression by doubly stochastic gradients: posterior mean, and standard deviations.

    The posterior mean of a Gaussian process with covariance k and noise of variance :math:`\sigma^2` minimises

    .. math::

        \frac{\sigma^2}{2 n} \|f\|^2 + \frac{1}{2 n} \sum_{i=1}^{n} \bigl(f(x_i) - y_i\bigr)^2,

    the problem of `DoublyStochasticRegressor` with ``alpha`` = :math:`\sigma^2 / n`. The variance at a point x is
    :math:`k(x, x) - g(x)`, where g solves the same problem for the targets :math:`k(x, x_i)` [1]_.

    Parameters
    ----------
    kernel : {"rbf", "laplacian", "additive_chi2", "poly", "linear"} or Kernel, default="rbf"
        A name as in `kernbench.KernelSVC`, or an object of ``kernbench.kernels`` that has random features, see
        `kernbench.features.RandomFeatures`.
    gamma : {"median", "scale", "auto"} or float, default="median"
        Parameter of a kernel that is given by name, as are `degree` and `coef0`; in a stream it is determined by the
        first rows. The median distance is too wide where y changes quickly: try a quarter of it, 16 times its gamma.
    degree : int, default=3
    coef0 : float, default=0.0
    noise_variance : float, default=0.1
        :math:`\sigma^2`, > 0, in squared units of y; the kernel's values are prior covariances in the same units.
    std : {None, "points", "operator"}, default=None
        How standard deviations are learned; None learns the mean only. ``"points"``: `fit` is given the points at which
        standard deviations are wanted, and solves for all of them together. ``"operator"`` learns, beside the mean, an
        operator that gives the standard deviation at any point, from two independent streams of features. It is that of
        the last step: `average` applies to the mean only. Compared with ``"points"``, variances are less accurate where
        the features suffice for the width of the kernel, and about as inaccurate where they are too few (experiment
        ``dsg-gp``). The operator takes 20 (max_blocks x block_size)² bytes, for which `cache_size` must have room.
    batch_size : int, default=4096
        Number of new rows in a step. With `precondition`, a step for the mean on fewer than 1,024 rows also uses the
        rows before them: a window on the latest rows, which ``solver_options={"window": 0}`` turns off. The operator
        has no window.
    block_size : int or "auto", default="auto"
        Number of features in a step. ``"auto"`` is 2,048 if all rows are one batch, which is solved exactly (the error
        of the mean is then that of the features), and with an operator then as many as there are rows, from 512 to
        2,048; otherwise as many as a batch has rows, at most 2,048.
    precondition : bool, default=True
        Multiply the gradient of a block by the inverse covariance of its features on the batch, as the authors' program
        does: this needs almost no tuning if a batch has four rows per feature. False is Algorithm 1 of the paper.
    damping : float, default=0.0
        Added to the diagonal of the covariance.
    step_size : float or "auto", default="auto"
        Factor s of the step lengths; ``"auto"`` is 1.
    schedule : {"auto", "bounded", "inverse", "inverse_sqrt", "published", "late_inverse"}, default="auto"
        Length of step t, with s = `step_size`: ``bounded`` s / (1 + s alpha t), ``inverse`` s / (t + t0),
        ``inverse_sqrt`` s / sqrt(t), ``published`` s / (1 + 1e-4 t), ``late_inverse`` the same, times t0 / t after step
        t0. The number ``t0``, by default 0 (no later step is shorter then), is an entry of `solver_options` that
        the other schedules ignore. ``"auto"`` is ``inverse_sqrt`` with and ``bounded`` without `precondition`.
    average : {"last", "all", "tail", "weighted"}, default="tail"
        Which iterates are averaged: ``last`` takes the last one only, ``all`` the mean of all, ``tail`` the mean over
        at least the last half of the steps, ``weighted`` the mean of all with weights proportional to t. As long as all
        rows so far fit into one batch that a step solves exactly (see `max_blocks`), ``last`` is used whatever is
        given, also where several calls of `partial_fit` bring these rows.
    max_blocks : int or None, default=1
        Number of blocks, which are then updated in turn. One block, with a preconditioner and a batch of all rows,
        is solved exactly in one step; None takes a new block in each step, and has no operator.
    draws : {"auto", "iid", "orthogonal", "qmc"}, default="auto"
        How frequencies are drawn, see `kernbench.features.RandomFeatures`; ``"auto"`` is ``qmc`` where the kernel has
        it and the rows are not too wide for it (21,201 columns), else ``iid``.
    shuffle : bool, default=True
        Visit rows in random order, in each pass over arrays and within the chunks of a stream.
    max_iter : int, default=-1
        Number of batches. With -1, a fit to arrays takes one pass, but at least 40 batches unless it is solved exactly
        in one; a stream is read to its end.
    max_seconds : float, default=None
        Time budget in seconds; callbacks are not charged.
    cache_size : float, default=500
        Memory in megabytes (2²⁰ bytes) for the operator, which must fit, for frequencies, and from the second pass over
        arrays on for the outputs of all rows; of these, what does not fit is recomputed.
    dtype : {"auto", "float32", "float64"}, default="auto"
        Precision of features; sums are float64. ``"auto"`` is float64 for at most 2,000 rows, float32 above. In a
        stream, these are the rows of the first call of `partial_fit`, or `n_samples`, those of all chunks.
    warm_start : bool, default=False
        Continue the next `fit` from the last one; with the same rows, exactly where it stopped.
    random_state : int, RandomState, Generator or None, default=None
        Source of the random features and of the order of the rows. Pass an int for reproducible results; None is
        NumPy's global state (``np.random.seed``).
    callback : callable or list of callables, default=None
        Called as ``callback(model)`` during the fit, with a copy of the current model; its time is not counted.
        A returned dict adds columns to ``trace_``; True stops the run.
    verbose : int, default=0
        1 shows a progress bar.
    solver_options : dict, default=None
        More keywords of the solver: ``form`` (as in `kernbench.features.RandomFeatures`), ``t0``, ``average_from`` (the
        first step of ``average="tail"``), ``window``.

    Attributes
    ----------
    block_coef_ : ndarray of shape (n_blocks, block_size, 1)
        The coefficients of the mean.
    points_ : ndarray of shape (n_points, n_features)
        The points of ``std="points"``.
    std_ : ndarray of shape (n_points,)
        The standard deviations at them, without noise.
    operator_coef_ : ndarray of shape (n_blocks * block_size, n_blocks * block_size)
        The coefficients of ``std="operator"``.
    n_samples_ : int
        Rows so far.
    seed_ : int
        Seed of the features.
    kernel_ : Kernel
        The kernel with its numbers, for instance ``Gaussian(sigma=1.2)``.
    loss_ : str
    form_, draws_ : str
        The form of the features and the way their frequencies are drawn, see `kernbench.features.RandomFeatures`.
    dtype_ : {"float32", "float64"}
    n_iter_ : ndarray of shape (1,)
        Batches so far.
    status_ : str
        What ended the run: ``"max_iter"``, ``"max_seconds"``, ``"callback"``, ``"interrupted"``, or ``"finished"`` at
        the end of a stream.
    objective_ : float
        Mean loss of the batches of the last pass, each evaluated before the step on it, plus the regulariser. In a
        first pass this is the loss on new rows, averaged over the models of the pass. With ``std="points"`` both terms
        are summed over the mean and all points.
    converged_, fit_status_, duality_gap_ : bool, int and None
        False, 1 and None: the method has no certificate.
    n_feature_values_ : int
        Number of feature values (features times rows) computed so far.
    n_kernel_evaluations_ : int
        0: there are features in place of values of the kernel.
    trace_ : dict of lists
        Columns ``n_iter``, ``seconds``, ``n_kernel_evaluations`` (0), ``objective`` and those of the callbacks.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, if X had any.

    See Also
    --------
    sklearn.gaussian_process.GaussianProcessRegressor : The exact solution, for some thousand rows.

    References
    ----------
    .. [1] B. Dai, B. Xie, N. He, Y. Liang, A. Raj, M.-F. Balcan, L. Song, "Scalable kernel methods via doubly
       stochastic gradients", NIPS 2014.

    Examples
    --------
    >>> import numpy as np
    >>> from kernbench import DoublyStochasticGPRegressor
    >>> from kernbench.kernels import Gaussian
    >>> X = np.random.default_rng(0).uniform(-3, 3, size=(500, 1))
    >>> model = DoublyStochasticGPRegressor(Gaussian(1.0), noise_variance=0.01, std="points", random_state=0)
    >>> model = model.fit(X, np.sin(X[:, 0]), points=[[0.0], [9.0]])
    >>> mean, std = model.predict([[0.0], [9.0]], return_std=True)
    >>> bool(abs(mean[0]) < 0.05 and std[0] < 0.1 and std[1] > 0.9)
    True
    """

    _largest_block, _rows_per_feature = 2048, 1
    _steps = {False: (1.0, "bounded"), True: (1.0, "inverse_sqrt")}

    def __init__(
        self,
        kernel: str | Kernel = "rbf",
        *,
        gamma: str | float = "median",
        degree: int = 3,
        coef0: float = 0.0,
        noise_variance: float = 0.1,
        std: str | None = None,
        batch_size: int = 4096,
        block_size: int | str = "auto",
        precondition: bool = True,
        damping: float = 0.0,
        step_size: float | str = "auto",
        schedule: str = "auto",
        average: str = "tail",
        max_blocks: int | None = 1,
        draws: str = "auto",
        shuffle: bool = True,
        max_iter: int = -1,
        max_seconds: float | None = None,
        cache_size: float = 500,
        dtype: str = "auto",
        warm_start: bool = False,
        random_state: RandomState = None,
        callback: Callback = None,
        verbose: int = 0,
        solver_options: dict[str, Any] | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.noise_variance = noise_variance
        self.std = std
        self.batch_size = batch_size
        self.block_size = block_size
        self.precondition = precondition
        self.damping = damping
        self.step_size = step_size
        self.schedule = schedule
        self.average = average
        self.max_blocks = max_blocks
        self.draws = draws
        self.shuffle = shuffle
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.cache_size = cache_size
        self.dtype = dtype
        self.warm_start = warm_start
        self.random_state = random_state
        self.callback = callback
        self.verbose = verbose
        self.solver_options = solver_options

    def _check_parameters(self):
        super()._check_parameters()
        check_number("noise_variance", self.noise_variance, above=0)
        if self.std is not None:
            check_name("std", self.std, ("points", "operator"))
        if self.std == "operator" and self.max_blocks is None:
            raise ValueError("std='operator' needs max_blocks: its memory is 20 (max_blocks x block_size)² bytes")
        check_name("draws", self.draws, ("auto", *ALL_DRAWS))

    def _problem(self, n_rows):
        draws = self.draws
        if draws == "auto":
            has_frequencies = self.kernel in OF_FREQUENCIES or type(self.kernel) in SPECTRAL_DENSITIES
            draws = "qmc" if has_frequencies and self._numbers_of_a_draw() <= qmc.Sobol.MAXDIM else "iid"
        n_points = len(getattr(self, "points_", ())) if self.std == "points" else 0
        alpha = self.noise_variance / n_rows
        settings = {"loss": "squared_error", "n_outputs": 1 + n_points, "alpha": alpha, "draws": draws}
        settings |= {"operator": True} if self.std == "operator" else {}
        # An average would leave out the last iterate, and with it the rows of the last call of partial_fit.
        return {**settings, "average": "last"} if self._is_one_step(n_rows) else settings

    def _numbers_of_a_draw(self):
        """Return how many numbers ``draws="qmc"`` needs for a frequency."""
        if isinstance(self.kernel, ADDITIVE):
            return 2 * self.n_features_in_  # phases, too
        return self.n_features_in_ + isinstance(self.kernel, Matern)

    def _is_one_step(self, n_rows):
        """Whether the first step is the solution on the features of its block."""
        exact = self.step_size in ("auto", 1.0) and self.damping == 0 and self.precondition
        return n_rows <= batch_size_of(self, n_rows) and self.max_blocks == 1 and exact

    def _smallest_block(self, n_rows):
        # With few features the exact solution is that of another kernel; from 2,048 rows on a fit costs more anyway.
        return SMALLEST_BLOCK[self.std] if self._is_one_step(n_rows) else super()._smallest_block(n_rows)

    def _fewest_steps(self, n_rows):
        return 1 if self._is_one_step(n_rows) else FEWEST_STEPS

    def fit(self, X: Rows, y: ArrayLike, *, points: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Targets. Centre them first, since the prior mean is 0.
        points : array-like of shape (n_points, n_features), default=None
            Where standard deviations will be predicted, with ``std="points"``; the steps of a pipeline do not transform
            them. Memory grows with the number of points times the number of features.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For invalid parameters or data, and for steps that diverge; the message says what to change.
        KeyboardInterrupt
            After Ctrl-C; the model of the last step is kept.
        """
        self._check_parameters()
        X, y = check_targets(self, X, y, reset=True)
        before = digest_of(getattr(self, "points_", None))
        self._set_points(points)
        # The first step from 0 is the solution, a later one would be a mean of it and of the old one.
        is_solved = self.max_iter == -1 and self._is_one_step(X.shape[0])
        if is_solved or digest_of(getattr(self, "points_", None)) != before:
            vars(self).pop("_progress", None)  # outputs are those of the points
        self.n_samples_ = X.shape[0]
        self._fit_arrays(X, self._batches_of(X, y), key=(y, getattr(self, "points_", None)))
        self._keep_rows(X, y)
        return self

    @one_at_a_time
    def partial_fit(self, X: Rows, y: ArrayLike, *, points: ArrayLike | None = None) -> Self:
        """Learn from the next rows of a stream, in batches of ``batch_size``; may follow `fit`.

        Starts anew where the kernel, `std` or `block_size` has changed since the last call. Few rows are learned from
        together with rows before them, of which the model keeps as many as a block has features, and at least 1,024.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            If the kernel is given by name, the first call determines the bandwidth, so it should have many rows.
        y : array-like of shape (n_samples,)
        points : array-like of shape (n_points, n_features), default=None
            As for `fit`, in the first call.

        Returns
        -------
        self
        """
        self._check_parameters()
        first = not hasattr(self, "block_coef_")
        X, y = check_targets(self, X, y, reset=first)
        if first:
            self._set_points(points)
            self.n_samples_ = 0
        elif points is not None:
            raise ValueError("points are given in the first call of partial_fit, or in fit")
        elif self.std == "points" and not (hasattr(self, "_progress") and hasattr(self, "points_")):
            raise ValueError(
                "standard deviations cannot be continued from a model that was read from a file, nor from one without "
                "points: fit it again"
            )
        elif not self._continues(self._progress_so_far()):
            self.n_samples_ = 0
        self.n_samples_ += X.shape[0]
        self._warn_of_rows_alone(X.shape[0])
        self._fit_batch(X, self._batches_of(X, y), n_rows=self.n_samples_)
        self._keep_rows(X, y)
        return self

    def fit_chunks(self, chunks: Any, *, points: ArrayLike | None = None, n_samples: int | None = None) -> Self:
        """Fit to chunks of data, which may be larger than memory, in one pass.

        Parameters
        ----------
        chunks : iterable of (X, y) or (X, y, sample_weight)
            A list is shuffled as a whole: rows are drawn from all its chunks. An iterator is read chunk by chunk: its
            chunks should be in random order. A weight w divides the noise variance of its row by w.
        points : array-like of shape (n_points, n_features), default=None
            As for `fit`.
        n_samples : int, default=None
            Number of rows of all chunks, without those of weight 0, which the regularisation depends on; needed for
            iterators only.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For a bad chunk, with its number, counted from 1; the model is then that of the run so far. The
            outcome of an earlier fit (``status_``, ``objective_`` and the like) is removed.
        KeyboardInterrupt
            After Ctrl-C; the model of the last step is kept. Rows that were read ahead of it are not learned from.
        """
        self._check_parameters()
        if n_samples is not None:
            check_number("n_samples", n_samples, at_least=1, whole=True)
        elif isinstance(chunks, list | tuple):
            n_samples = sum(map(_n_rows, chunks))
        else:
            raise ValueError("give n_samples, the number of rows of all chunks: it scales the regularisation")
        reader, X, _, weights, _, fault = open_stream(self, chunks, n_classes=0)
        self._set_points(points)
        self.n_samples_ = 0

        def take(count):
            X, y, weights = reader.take(count)
            self.n_samples_ += np.count_nonzero(weights)
            return X, self._targets(X, targets_of_chunk(y)), weights

        self._fit_stream(X, weights, take, n_rows=max(1, int(n_samples)), fault=fault)
        return self

    def _set_points(self, points):
        vars(self).pop("points_", None)
        if self.std == "points" and points is None:
            raise ValueError("std='points' needs the points at which standard deviations will be predicted: points=")
        if self.std != "points" and points is not None:
            raise ValueError("points= needs std='points'")
        if points is not None:
            self.points_ = check_rows(self, points, reset=False, accept_sparse=False)

    def _batches_of(self, X, y):
        return self._source_of(X, np.arange(len(y)), code=lambda rows: self._targets(X[rows], y[rows]))

    def _targets(self, X, y):
        """y, and with ``std="points"`` k(x, x_i) for every point x."""
        if self.std != "points":
            return y
        return np.column_stack([y, blocks.block(self.kernel_, X, self.points_, dtype=np.float64)])

    def _set_function(self, solution, solver):
        super()._set_function(solution, solver)
        for name in ("std_", "operator_coef_"):  # of an earlier fit with another `std`
            vars(self).pop(name, None)
        if self.std != "points":
            vars(self).pop("points_", None)
        if self.std == "operator":
            self.operator_coef_ = solution.state["operator"].astype(self.dtype_, copy=False)
        if self.std == "points":
            prior = self.kernel_.diagonal(self.points_)
            explained = np.diagonal(self._outputs_of(self.points_)[:, 1:])
            self.std_ = np.sqrt(np.clip(prior - explained, 0.0, prior))
            self.block_coef_ = np.ascontiguousarray(self.block_coef_[:, :, :1])

    @overload
    def predict(self, X: Rows, return_std: Literal[False] = False) -> np.ndarray: ...
    @overload
    def predict(self, X: Rows, return_std: Literal[True]) -> tuple[np.ndarray, np.ndarray]: ...
    @overload
    def predict(self, X: Rows, return_std: bool) -> np.ndarray | tuple[np.ndarray, np.ndarray]: ...

    def predict(self, X: Rows, return_std: bool = False) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """Return the posterior mean of rows, and its standard deviation.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            With `return_std` and ``std="points"`` the points of `fit`, all of them in their order.
        return_std : bool, default=False

        Returns
        -------
        mean : ndarray of shape (n_samples,)
        std : ndarray of shape (n_samples,)
            If `return_std`; of f, without noise.
        """
        mean = self._outputs(X)[:, 0]
        if not return_std:
            return mean
        fitted = "operator" if hasattr(self, "operator_coef_") else "points" if hasattr(self, "std_") else None
        if self.std is None or self.std != fitted:
            raise ValueError(
                f"return_std=True needs std='operator', or std='points' and the points in fit; the model was fitted "
                f"with std={fitted!r}, and has std={self.std!r} now"
            )
        if fitted == "operator":
            return mean, self._std_of_operator(check_rows(self, X, reset=False))
        X = check_rows(self, X, reset=False, accept_sparse=False)
        if X.shape != self.points_.shape or not np.array_equal(X, self.points_):
            raise ValueError(
                "with std='points' standard deviations are known at the points given to fit only, in their order"
            )
        return mean, self.std_.copy()

    def _std_of_operator(self, X):
        """The square root of k(x, x) - A(x, x), which is clipped to [0, k(x, x)]."""
        second = self._make_features(second_stream=True)
        operator = CovarianceOperator(self._make_features(), second, self.seed_, self.operator_coef_)
        prior = self.kernel_.diagonal(X)
        return np.sqrt(np.clip(prior - operator.explained(as_dtype(X, self.dtype_)), 0.0, prior))

    def _check_fitted_state(self):
        super()._check_fitted_state()
        if hasattr(self, "std_"):
            require(np.shape(self.std_) == (len(self.points_),), "std_ does not fit points_")
            require(self.points_.shape[1] == self.n_features_in_, "points_ have another number of columns")
        if hasattr(self, "operator_coef_"):
            size = self.block_coef_.shape[0] * self.block_coef_.shape[1]
            check_floats(self, {"operator_coef_": (size, size)})


def _n_rows(chunk):
    """Return the number of rows of a chunk with a weight; 0 for one that the reader of the stream will reject."""
    shape = np.shape(chunk[0]) if isinstance(chunk, tuple | list) and len(chunk) else ()
    if len(shape) and len(chunk) == 3 and np.shape(chunk[2]) == shape[:1]:
        return np.count_nonzero(np.asarray(chunk[2]))
    return shape[0] if shape else 0
