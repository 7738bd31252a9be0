"""Density ratios by doubly stochastic gradients: `DoublyStochasticDensityRatio`."""

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from sklearn.utils.metadata_routing import UNUSED

from kernbench._random import generator_of
from kernbench._typing import Callback, RandomState, Rows
from kernbench.estimators.doubly_stochastic.model import DoublyStochasticModel, as_dtype
from kernbench.estimators.doubly_stochastic.stream import open_stream
from kernbench.estimators.locks import one_at_a_time
from kernbench.kernels.base import Kernel
from kernbench.problems.streaming.batches import PairBatches, stacked
from kernbench.validation.numbers import check_name, check_number
from kernbench.validation.rows import check_rows, check_same_columns

TARGETS = {"log_ratio": "density_ratio", "ratio": "truncated_ratio"}  # the loss of each


class DoublyStochasticDensityRatio(DoublyStochasticModel):
    r"""The logarithm of a ratio of densities, :math:`\log(p/q)`, or the ratio itself, from a sample of each.

    Minimises over functions :math:`f` of the kernel's space

    .. math::

        \frac{\alpha}{2} \|f\|^2 + \mathbf{E}_q\, e^{f(x)} - \mathbf{E}_p\, f(x),

    whose minimiser without the regulariser is :math:`\log(p/q)`: the variational form of the Kullback-Leibler
    divergence. With ``target="ratio"`` it minimises

    .. math::

        \frac{\alpha}{2} \|f\|^2 + \mathbf{E}_q \max(0, f(x)) - \mathbf{E}_p\, \phi(f(x)),

    where :math:`\phi` is the logarithm, and below `floor` its tangent there. Its minimiser without the regulariser is
    :math:`p/q` where this is above `floor`, and 0 elsewhere: with a small `floor` the ratio itself [2]_, with a larger
    one relative novelty detection [3]_, which finds the rows of p that are rare compared with q. The steps are those
    of `DoublyStochasticClassifier`, half of each batch from either sample [1]_.

    Parameters
    ----------
    kernel : {"rbf", "laplacian", "additive_chi2", "poly", "linear"} or Kernel, default="rbf"
        A name as in `kernbench.KernelSVC`, or an object of ``kernbench.kernels`` that has random features, see
        `kernbench.features.RandomFeatures`.
    gamma : {"median", "scale", "auto"} or float, default="median"
        Parameter of a kernel that is given by name, as are `degree` and `coef0`; in a stream it is determined by the
        first rows.
    degree : int, default=3
    coef0 : float, default=0.0
    alpha : float, default=1e-3
        Strength of the regularisation, at least 0. With `precondition` it adds to `damping`.
    target : {"log_ratio", "ratio"}, default="log_ratio"
        What f estimates.
    floor : float, default=0.1
        For ``target="ratio"``: ratios below `floor` are not distinguished from 0; in relative novelty detection it is
        :math:`e^{-\rho}`. Slopes of the loss are as large as 1 / `floor`, so that values below 0.05 need smaller steps,
        such as ``step_size=0.03`` for 0.01.
    batch_size : int, default=1024
        Number of new rows in a step, half from each sample. With `precondition` and ``target="ratio"``, a step on a
        smaller batch also uses a window on the batches before it, 1,024 rows or more in all, see
        `DoublyStochasticRegressor`; ``target="log_ratio"`` has no window, and needs 1,024 rows.
    block_size : int or "auto", default="auto"
        Number of features in a step; ``"auto"`` is a quarter of the rows of a batch, at most 256.
    precondition : bool, default=True
        Multiply the gradient of a block by the inverse covariance of its features on the batch, as the authors' program
        does: this needs almost no tuning if a batch has four rows per feature. False is Algorithm 1 of the paper.
    damping : float, default=1e-2
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
        Number of batches. With -1, a fit to arrays takes one pass, but at least 100 batches. With ``target="ratio"``,
        `precondition` and a `batch_size` below 1,024, with or without a window, the minimum rises to as many batches as
        visit the rows of 100 batches of 1,024, or all rows 100 times if they are fewer, but to 1,600 at most. A stream
        is read to its end.
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
        Columns ``n_iter``, ``seconds``, ``n_kernel_evaluations`` (0), ``objective`` and those of the callbacks.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, if X had any.

    Notes
    -----
    Both samples must be in the same units. The steps of a scikit-learn pipeline transform P and pass Q on as it is, so
    transform the samples before: with ``scaler = StandardScaler().fit(Q)``, for example, fit the model to
    ``scaler.transform(P)`` and ``scaler.transform(Q)``.

    References
    ----------
    .. [1] B. Dai, B. Xie, N. He, Y. Liang, A. Raj, M.-F. Balcan, L. Song, "Scalable kernel methods via doubly
       stochastic gradients", NIPS 2014.
    .. [2] X. Nguyen, M. J. Wainwright, M. I. Jordan, "Estimating divergence functionals and the likelihood ratio by
       convex risk minimization", IEEE Transactions on Information Theory 56, 2010.
    .. [3] A. J. Smola, L. Song, C. H. Teo, "Relative novelty detection", AISTATS 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from kernbench import DoublyStochasticDensityRatio
    >>> rng = np.random.default_rng(0)
    >>> P, Q = rng.normal(0.0, 1.0, size=(4000, 1)), rng.normal(0.5, 1.0, size=(4000, 1))
    >>> model = DoublyStochasticDensityRatio(random_state=0).fit(P, Q)
    >>> bool(abs(model.log_ratio([[0.25]])[0]) < 0.2)  # log(p/q) = 1/8 - x/2
    True
    """

    def __init__(
        self,
        kernel: str | Kernel = "rbf",
        *,
        gamma: str | float = "median",
        degree: int = 3,
        coef0: float = 0.0,
        alpha: float = 1e-3,
        target: str = "log_ratio",
        floor: float = 0.1,
        batch_size: int = 1024,
        block_size: int | str = "auto",
        precondition: bool = True,
        damping: float = 1e-2,
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
        self.target = target
        self.floor = floor
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

    # Both are data: pipelines pass them as X and y, and no caller has to request them.
    __metadata_request__fit = __metadata_request__partial_fit = {"P": UNUSED, "Q": UNUSED}

    @property
    def _has_window(self):
        # The exponential's slopes at the rows of earlier batches are so large that a window makes log_ratio worse.
        return self.target == "ratio"

    def _check_parameters(self):
        super()._check_parameters()
        check_name("target", self.target, TARGETS)
        check_number("floor", self.floor, above=0)

    def _problem(self, n_rows):
        loss = TARGETS[self.target]
        own = {"floor": self.floor} if loss == "truncated_ratio" else {}
        return {"loss": loss, "n_outputs": 1, "alpha": self.alpha, **own}

    def fit(self, P: Rows, Q: Rows) -> Self:
        """Fit the model to two samples.

        Parameters
        ----------
        P, Q : {array-likes, CSR matrices} of shapes (n_samples, n_features)

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
        P, Q = check_rows(self, P, reset=True), check_rows(self, Q, reset=False)
        X = stacked([P, Q])
        self._fit_arrays(X, self._pairs_of(P, Q), key=(np.array([P.shape[0]]),))
        return self

    @one_at_a_time
    def partial_fit(self, P: Rows, Q: Rows) -> Self:
        """Learn from the next rows of two streams, in batches of ``batch_size``; may follow `fit`.

        Starts anew where the kernel, `target` or `block_size` has changed since the last call.

        Parameters
        ----------
        P, Q : {array-likes, CSR matrices} of shapes (n_samples, n_features)
            If the kernel is given by name, the first call determines the bandwidth, so it should have many rows. The
            shorter sample is repeated.

        Returns
        -------
        self
        """
        self._check_parameters()
        P = check_rows(self, P, reset=not hasattr(self, "block_coef_"))
        Q = check_rows(self, Q, reset=False)
        self._fit_batch(stacked([P, Q]), self._pairs_of(P, Q))
        return self

    def fit_chunks(self, P: Iterable[Any], Q: Iterable[Any]) -> Self:
        """Fit to chunks of two samples, which may be larger than memory, until one of them ends.

        Parameters
        ----------
        P, Q : iterables of rows
            Lists are shuffled as a whole: rows are drawn from all their chunks. Iterators are read chunk by chunk.

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
        rng = generator_of(self.random_state)  # of both: from the same seed each, their orders would be the same
        firsts = [open_stream(self, chunks, labelled=False, n_classes=0, rng=rng) for chunks in (P, Q)]
        readers, faults = [first[0] for first in firsts], [first[-1] for first in firsts]
        if readers[0].n_features != readers[1].n_features:
            raise ValueError(
                f"P has {readers[0].n_features} features, Q has {readers[1].n_features}: they must be the same"
            )
        check_same_columns("Q", readers[1].names, "P", readers[0].names)
        if readers[0].names is not None:  # else they are those of Q, which was opened last
            readers[0].set_columns(self)

        def take(count):
            """Return rows of both samples in equal number; no rows once a sample has ended."""
            parts = [reader.take(max(1, count // 2))[0] for reader in readers]
            sizes = np.array([part.shape[0] for part in parts])
            if not sizes.all():
                return parts[0][:0], np.empty(0), np.empty(0)
            return stacked(parts), np.repeat([1.0, -1.0], sizes), np.repeat(sizes.sum() / sizes, sizes)

        fault = next((fault for fault in faults if fault is not None), None)
        self._fit_stream(stacked([first[1] for first in firsts]), None, take, fault=fault)
        return self

    def _pairs_of(self, P, Q):
        """Return a function of precision, batch size and seed that makes the batches of two samples."""

        def source_of(dtype, batch_size, seed):
            rows = as_dtype(P, dtype), as_dtype(Q, dtype)
            return PairBatches(*rows, batch_size=batch_size, seed=seed, shuffle=self.shuffle)

        return source_of

    def log_ratio(self, X: Rows) -> np.ndarray:
        """Return the estimate of log(p/q) at rows; with ``target="ratio"`` at least log(floor).

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        f = self._outputs(X)[:, 0]
        return f if self._is_of_log_ratio else np.log(np.maximum(f, self.floor))

    def ratio(self, X: Rows) -> np.ndarray:
        """Return the estimate of p/q at rows.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
            At least 0. With ``target="ratio"``, rows below `floor` are the novel ones.
        """
        f = self._outputs(X)[:, 0]
        return np.exp(f) if self._is_of_log_ratio else np.maximum(f, 0.0)

    @property
    def _is_of_log_ratio(self):
        """Whether f is log(p/q), judged by the loss of the fit, since parameters may change after it."""
        return self.loss_ == TARGETS["log_ratio"]

    def divergence(self, P: Rows, Q: Rows) -> float:
        """Return an estimate of the Kullback-Leibler divergence of p from q, from samples of both.

        Parameters
        ----------
        P, Q : {array-likes, CSR matrices} of shapes (n_samples, n_features)
            Preferably not the rows of the fit.

        Returns
        -------
        float
            The mean of the logarithm over P, minus that of the ratio over Q, plus 1.
        """
        return float(np.mean(self.log_ratio(P)) - np.mean(self.ratio(Q)) + 1.0)
