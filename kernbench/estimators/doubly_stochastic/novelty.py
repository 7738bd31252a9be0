"""Novelty detection by doubly stochastic gradients: `DoublyStochasticNoveltyDetector`."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import OutlierMixin

from kernbench._typing import Callback, RandomState, Rows
from kernbench.estimators.arguments.training_data import check_weights
from kernbench.estimators.doubly_stochastic.model import DoublyStochasticModel
from kernbench.estimators.doubly_stochastic.stream import open_stream
from kernbench.estimators.fit.fitted_state import require
from kernbench.estimators.locks import one_at_a_time
from kernbench.kernels.base import Kernel
from kernbench.validation.numbers import check_number
from kernbench.validation.rows import check_rows

STEPS_OF_THE_LEVEL = (
    20.0  # over nu: the level rises by about nu in a step, after one of the first steps has lowered it far
)


class DoublyStochasticNoveltyDetector(OutlierMixin, DoublyStochasticModel):
    r"""One-class support vector machine by doubly stochastic gradients, for any number of rows.

    Minimises over functions :math:`f` of the kernel's space and levels :math:`\tau`

    .. math::

        \frac{\nu}{2} \|f\|^2 + \mathbf{E}\, \max\bigl(0, \tau - f(x)\bigr) - \nu \tau,

    scikit-learn's ``OneClassSVM`` in another scale. At the optimum a share :math:`\nu` of the training rows is below
    the level. The steps are those of `DoublyStochasticClassifier` without a preconditioner [1]_.

    Parameters
    ----------
    kernel : {"rbf", "laplacian", "additive_chi2", "poly", "linear"} or Kernel, default="rbf"
        A name as in `kernbench.KernelSVC`, or an object of ``kernbench.kernels`` that has random features, see
        `kernbench.features.RandomFeatures`.
    nu : float, default=0.1
        The share of outliers, in (0, 1), and the strength of the regularisation.
    gamma : {"median", "scale", "auto"} or float, default="median"
        Parameter of a kernel that is given by name, as are `degree` and `coef0`; in a stream it is determined by the
        first rows.
    degree : int, default=3
    coef0 : float, default=0.0
    batch_size : int, default=1024
        Number of rows in a step.
    block_size : int or "auto", default="auto"
        Number of features in a step; ``"auto"`` is a quarter of the rows of a batch, at most 256.
    step_size : float or "auto", default="auto"
        Step t has the length s / (1 + s nu t), with s = `step_size`; ``"auto"`` is 1.
    average : {"last", "all", "tail", "weighted"}, default="tail"
        Which iterates are averaged: ``last`` takes the last one only, ``all`` the mean of all, ``tail`` the mean over
        at least the last half of the steps, ``weighted`` the mean of all with weights proportional to t.
    max_blocks : int, default=None
        Largest number of blocks; further steps update these blocks in turn. It limits the memory and the time of a
        prediction.
    shuffle : bool, default=True
        Visit rows in random order, in each pass over arrays and within the chunks of a stream.
    max_iter : int, default=-1
        Number of batches. With -1, a fit to arrays takes one pass, but at least 100 batches and at least 20 / `nu`; a
        stream is read to its end.
    max_seconds : float, default=None
        Time budget in seconds; callbacks are not charged.
    cache_size : float, default=500
        Memory in megabytes (2²⁰ bytes) for frequencies, and from the second pass over arrays on for the outputs of all
        rows. What does not fit is recomputed.
    dtype : {"auto", "float32", "float64"}, default="auto"
        Precision of features; sums are float64. ``"auto"`` is float64 for at most 2,000 rows, float32 above and for
        streams.
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
        More keywords of the solver: ``form``, ``draws`` (as in `kernbench.features.RandomFeatures`),
        ``average_from`` (the first step of ``average="tail"``).

    Attributes
    ----------
    block_coef_ : ndarray of shape (n_blocks, block_size, 1)
        The coefficients.
    offset_ : float
        The level: rows that score less are novel.
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
        Columns ``n_iter``, ``seconds``, ``n_kernel_evaluations`` (0), ``objective`` and those of the callbacks.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, if X had any.

    See Also
    --------
    KernelNoveltyDetector : The exact solution, up to some hundred thousand rows.

    References
    ----------
    .. [1] B. Dai, B. Xie, N. He, Y. Liang, A. Raj, M.-F. Balcan, L. Song, "Scalable kernel methods via doubly
       stochastic gradients", NIPS 2014.

    Examples
    --------
    >>> import numpy as np
    >>> from kernbench import DoublyStochasticNoveltyDetector
    >>> X = np.random.default_rng(0).normal(size=(2000, 2))
    >>> model = DoublyStochasticNoveltyDetector(random_state=0).fit(X)
    >>> print(model.predict([[0.0, 0.0], [6.0, 6.0]]))
    [ 1 -1]
    """

    def __init__(
        self,
        kernel: str | Kernel = "rbf",
        *,
        nu: float = 0.1,
        gamma: str | float = "median",
        degree: int = 3,
        coef0: float = 0.0,
        batch_size: int = 1024,
        block_size: int | str = "auto",
        step_size: float | str = "auto",
        average: str = "tail",
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
        self.nu = nu
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.batch_size = batch_size
        self.block_size = block_size
        self.step_size = step_size
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

    # Parameters of the base class, fixed here.
    precondition, damping, schedule, alpha = False, 0.0, "bounded", 0.0

    def _check_parameters(self):
        super()._check_parameters()
        check_number("nu", self.nu, above=0, below=1)

    def _problem(self, n_rows):
        return {"loss": "novelty", "n_outputs": 1, "alpha": self.nu}

    def _fewest_steps(self, n_rows):
        return max(super()._fewest_steps(n_rows), int(np.ceil(STEPS_OF_THE_LEVEL / self.nu)))

    def fit(self, X: Rows, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors of the losses, used as they are: a mean below 1 acts like a larger `nu`, so divide them by their
            mean. Rows of weight 0 are left out.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For invalid parameters or data; the message says what to change.
        KeyboardInterrupt
            After Ctrl-C; the model of the last step is kept.
        """
        self._check_parameters()
        X = check_rows(self, X, reset=True)
        weights = None if sample_weight is None else check_weights(sample_weight, X)
        self._fit_arrays(X, self._source_of(X, None, weights), weights=weights, key=(weights,))
        return self

    @one_at_a_time
    def partial_fit(self, X: Rows, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from the next rows of a stream, in batches of ``batch_size``; may follow `fit`.

        Starts anew where the kernel or `block_size` has changed since the last call.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            If the kernel is given by name, the first call determines the bandwidth, so it should have many rows.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        self._check_parameters()
        X = check_rows(self, X, reset=not hasattr(self, "block_coef_"))
        weights = None if sample_weight is None else check_weights(sample_weight, X)
        self._fit_batch(X, self._source_of(X, None, weights), weights=weights)
        return self

    def fit_chunks(self, chunks: Any) -> Self:
        """Fit to chunks of data, which may be larger than memory, in one pass.

        Parameters
        ----------
        chunks : iterable of X, (X, None) or (X, None, sample_weight)
            A list is shuffled as a whole: rows are drawn from all its chunks. An iterator is read chunk by chunk.

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
        reader, X, _, weights, _, fault = open_stream(self, chunks, labelled=False, n_classes=0)

        def take(count):
            X, _, weights = reader.take(count)
            return X, None, weights

        self._fit_stream(X, weights, take, fault=fault)
        return self

    def _set_function(self, solution, solver):
        super()._set_function(solution, solver)
        self.offset_ = -float(solution.intercept)

    def _intercept(self):
        return -self.offset_

    def score_samples(self, X: Rows) -> np.ndarray:
        """Return f of rows: the larger, the more like the training rows.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._outputs(X)[:, 0]

    def decision_function(self, X: Rows) -> np.ndarray:
        """Return f minus the level, negative for rows that are novel.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self.score_samples(X) - self.offset_

    def predict(self, X: Rows) -> np.ndarray:
        """Return -1 for rows that are novel, +1 for the others.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,), int
        """
        return np.where(self.decision_function(X) >= 0, 1, -1)

    def _check_fitted_state(self):
        super()._check_fitted_state()
        require(np.isfinite(self.offset_), "offset_ is not finite")
