"""The regressor of doubly stochastic gradients: `DoublyStochasticRegressor`."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin

from kernbench._typing import Callback, RandomState, Rows
from kernbench.estimators.arguments.targets import check_targets, targets_of_chunk
from kernbench.estimators.arguments.training_data import check_weights
from kernbench.estimators.doubly_stochastic.model import DoublyStochasticModel
from kernbench.estimators.doubly_stochastic.parameters import validation_vector, warn_of_scale
from kernbench.estimators.doubly_stochastic.stream import open_stream
from kernbench.estimators.locks import one_at_a_time
from kernbench.kernels.base import Kernel
from kernbench.losses.output import output_loss
from kernbench.losses.regression import regression_loss
from kernbench.losses.table import losses_of

LOSSES = losses_of("residual")


class DoublyStochasticRegressor(RegressorMixin, DoublyStochasticModel):
    r"""Kernel regression by doubly stochastic gradients, for any number of rows, with robust and quantile losses.

    Minimises over functions :math:`f` of the kernel's space

    .. math::

        \frac{\alpha}{2} \|f\|^2 + \mathbf{E}\, l\bigl(f(x), y\bigr)

    as `DoublyStochasticClassifier` does: a step sees a batch of examples and a block of random features [1]_. There is
    no intercept: with a kernel of a short range, centre y first, for instance by
    ``sklearn.compose.TransformedTargetRegressor``. With losses other than the two squared ones, slopes are bounded, and
    the length of a step does not depend on the unit of y: scale y to a standard deviation of about 1, with `delta` and
    `epsilon` in that unit. A fit warns if the deviation is more than 100 times the largest slope or, if the loss has a
    kink, less than 1/100 of it.

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
    alpha : float, default=1e-6
        Strength of the regularisation, at least 0; with the squared error the penalty of ridge regression is n alpha
        for n rows. With `precondition` it adds to `damping`.
    loss : str, default="squared_error"
        ``"squared_error"`` r²/2 of r = f(x) - y, ``"huber"`` (r²/2 up to `delta`, linear beyond),
        ``"epsilon_insensitive"`` ``max(0, |r| - epsilon)``, ``"squared_epsilon_insensitive"`` its square,
        ``"absolute_error"`` ``|r|``, or ``"quantile"`` max(-q r, (1 - q) r), whose minimiser estimates the conditional
        quantile q = `quantile`.
    delta : float, default=1.0
        Of ``huber``: size of the residuals from which on the loss is linear, > 0.
    epsilon : float, default=0.1
        Of the epsilon-insensitive losses: residuals up to this size cost nothing; at least 0.
    quantile : float, default=0.5
        Of ``quantile``; in (0, 1).
    batch_size : int, default=1024
        Number of new rows in a step. With `precondition`, a step on a smaller batch also uses the rows before it: a
        window on the latest rows, 1,024 or four for each feature of a block, which ``solver_options={"window": 0}``
        turns off.
    block_size : int or "auto", default="auto"
        Number of features in a step; ``"auto"`` is a quarter of the rows of a batch, at most 256.
    precondition : bool, default=True
        Multiply the gradient of a block by the inverse covariance of its features on the batch, as the authors' program
        does: this needs almost no tuning if a batch has four rows per feature. False is Algorithm 1 of the paper.
    damping : float, default=1e-4
        Added to the diagonal of the covariance.
    step_size : float or "auto", default="auto"
        Factor s of the step lengths. ``"auto"`` is 0.3 with and 1 without `precondition`.
    schedule : {"auto", "bounded", "inverse", "inverse_sqrt", "published", "late_inverse"}, default="auto"
        Length of step t, with s = `step_size`: ``bounded`` s / (1 + s alpha t), ``inverse`` s / (t + t0),
        ``inverse_sqrt`` s / sqrt(t), ``published`` s / (1 + 1e-4 t), ``late_inverse`` the same, times t0 / t after step
        t0. The number ``t0``, by default 0 (no later step is shorter then), is an entry of `solver_options` that
        the other schedules ignore. ``"auto"`` is ``published`` with and ``bounded`` without `precondition`.
    average : {"last", "all", "tail", "weighted"}, default="last"
        Which iterates are averaged: ``last`` takes the last one only, ``all`` the mean of all, ``tail`` the mean over
        at least the last half of the steps, ``weighted`` the mean of all with weights proportional to t.
    max_blocks : int, default=None
        Largest number of blocks; further steps update these blocks in turn. It limits the memory and the time of a
        prediction.
    shuffle : bool, default=True
        Visit rows in random order, in each pass over arrays and within the chunks of a stream.
    max_iter : int, default=-1
        Number of batches. With -1, a fit to arrays takes one pass, but at least 100 batches. With `precondition` and a
        `batch_size` below 1,024, with or without a window, the minimum rises to as many batches as visit the rows of
        100 batches of 1,024, or all rows 100 times if they are fewer, but to 1,600 at most. A stream is read to its
        end.
    max_seconds : float, default=None
        Time budget in seconds; callbacks are not charged.
    cache_size : float, default=500
        Memory in megabytes (2²⁰ bytes) for frequencies, and from the second pass over arrays on for the outputs of all
        rows. What does not fit is recomputed.
    dtype : {"auto", "float32", "float64"}, default="auto"
        Precision of features; sums are float64. ``"auto"`` is float64 for at most 2,000 rows, float32 above and for
        streams.
    warm_start : bool, default=False
        Continue the next `fit` from the last one; with the same rows, exactly where it stopped. Not from a model far
        worse than f = 0, such as that of targets a thousand times as large.
    random_state : int, RandomState, Generator or None, default=None
        Source of the random features and of the order of the rows. Pass an int for reproducible results; None is
        NumPy's global state (``np.random.seed``).
    callback : callable or list of callables, default=None
        Called as ``callback(model)`` during the fit, with a copy of the current model; its time is not counted.
        A returned dict adds columns to ``trace_``; True stops the run.
    verbose : int, default=0
        1 shows a progress bar.
    solver_options : dict, default=None
        More keywords of the solver: ``form``, ``draws`` (as in `kernbench.features.RandomFeatures`), ``t0``,
        ``average_from`` (the first step of ``average="tail"``), ``window``.

    Attributes
    ----------
    block_coef_ : ndarray of shape (n_blocks, block_size, 1)
        The coefficients.
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
        first pass this is the loss on new rows, averaged over the models of the pass.
    converged_, fit_status_, duality_gap_ : bool, int and None
        False, 1 and None: the method has no certificate.
    n_feature_values_ : int
        Number of feature values (features times rows) computed so far.
    n_kernel_evaluations_ : int
        0: there are features in place of values of the kernel.
    trace_ : dict of lists
        Columns ``n_iter``, ``seconds``, ``n_kernel_evaluations`` (0), ``objective``, ``validation_loss`` if there are
        validation rows, and those of the callbacks.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, if X had any.

    See Also
    --------
    KernelRegressor : Exact solutions, up to some hundred thousand rows.
    DoublyStochasticGPRegressor : The squared error, with standard deviations.

    References
    ----------
    .. [1] B. Dai, B. Xie, N. He, Y. Liang, A. Raj, M.-F. Balcan, L. Song, "Scalable kernel methods via doubly
       stochastic gradients", NIPS 2014.

    Examples
    --------
    >>> import numpy as np
    >>> from kernbench import DoublyStochasticRegressor
    >>> X = np.random.default_rng(0).uniform(-3, 3, size=(500, 1))
    >>> model = DoublyStochasticRegressor(gamma=1.0, random_state=0).fit(X, np.sin(2 * X[:, 0]))
    >>> bool(abs(model.predict([[0.5]])[0] - np.sin(1.0)) < 0.05)
    True
    """

    def __init__(
        self,
        kernel: str | Kernel = "rbf",
        *,
        gamma: str | float = "median",
        degree: int = 3,
        coef0: float = 0.0,
        alpha: float = 1e-6,
        loss: str = "squared_error",
        delta: float = 1.0,
        epsilon: float = 0.1,
        quantile: float = 0.5,
        batch_size: int = 1024,
        block_size: int | str = "auto",
        precondition: bool = True,
        damping: float = 1e-4,
        step_size: float | str = "auto",
        schedule: str = "auto",
        average: str = "last",
        max_blocks: int | None = None,
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
        self.alpha = alpha
        self.loss = loss
        self.delta = delta
        self.epsilon = epsilon
        self.quantile = quantile
        self.batch_size = batch_size
        self.block_size = block_size
        self.precondition = precondition
        self.damping = damping
        self.step_size = step_size
        self.schedule = schedule
        self.average = average
        self.max_blocks = max_blocks
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
        output_loss(self.loss, offered=LOSSES, **self._loss_parameters())

    def _loss_parameters(self):
        return {"delta": self.delta, "epsilon": self.epsilon, "quantile": self.quantile}

    def _problem(self, n_rows):
        return {"loss": self.loss, "n_outputs": 1, "alpha": self.alpha, **self._loss_parameters()}

    def fit(
        self,
        X: Rows,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        X_val: Rows | None = None,
        y_val: ArrayLike | None = None,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors of the losses, used as they are: a mean below 1 acts like a larger `alpha`, so divide them by their
            mean. Rows of weight 0 are left out.
        X_val, y_val : array-likes, default=None
            Rows, which may be sparse and which the steps of a pipeline do not transform, and targets, on which the mean
            loss is traced, ``trace_["validation_loss"]``.

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
        validate = self._validation(X_val, y_val)
        X, y = check_targets(self, X, y, reset=True)
        weights = None if sample_weight is None else check_weights(sample_weight, X)
        self._warn_of_scale(y, weights)
        self._fit_arrays(X, self._source_of(X, y, weights), weights=weights, key=(y, weights), validate=validate)
        return self

    @one_at_a_time
    def partial_fit(self, X: Rows, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from the next rows of a stream, in batches of ``batch_size``; may follow `fit`.

        Starts anew where the kernel, the loss or `block_size` has changed since the last call.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            If the kernel is given by name, the first call determines the bandwidth, so it should have many rows.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        self._check_parameters()
        is_first = not hasattr(self, "block_coef_")
        X, y = check_targets(self, X, y, reset=is_first)
        weights = None if sample_weight is None else check_weights(sample_weight, X)
        if is_first:
            self._warn_of_scale(y, weights)
        self._fit_batch(X, self._source_of(X, y, weights), weights=weights)
        return self

    def fit_chunks(self, chunks: Any, *, X_val: Rows | None = None, y_val: ArrayLike | None = None) -> Self:
        """Fit to chunks of data, which may be larger than memory, in one pass.

        Parameters
        ----------
        chunks : iterable of (X, y) or (X, y, sample_weight)
            A list is shuffled as a whole: rows are drawn from all its chunks, and only those rows of a memory map are
            read. An iterator is read chunk by chunk: its chunks should be in random order.
        X_val, y_val : array-likes, default=None
            As for `fit`.

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
        validate = self._validation(X_val, y_val)
        reader, X, y, weights, _, fault = open_stream(self, chunks, n_classes=0)
        self._warn_of_scale(y, weights)

        def take(count):
            X, y, weights = reader.take(count)
            return X, targets_of_chunk(y), weights

        self._fit_stream(X, weights, take, validate=validate, fault=fault)
        return self

    def _warn_of_scale(self, y, weights):
        used = y if weights is None else y[weights > 0]
        warn_of_scale(self, regression_loss(self.loss, **self._loss_parameters()), used)

    def _validation(self, X, y):
        """A callback that traces the mean loss on validation rows, or None without rows."""
        y = validation_vector(X, y)
        if y is None:
            return None
        loss, y = output_loss(self.loss, **self._loss_parameters()), targets_of_chunk(y)
        return lambda model: {"validation_loss": float(loss.value(model.predict(X)[:, None], y).mean())}

    def predict(self, X: Rows) -> np.ndarray:
        """Return f of rows.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._outputs(X)[:, 0]
