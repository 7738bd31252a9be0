"""Random features: explicit maps whose inner products equal a kernel in expectation."""

from numbers import Integral
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from kernbench._random import generator_of
from kernbench._typing import RandomState, Rows
from kernbench.features._transformer import CHUNK_BYTES, KernelTransformer
from kernbench.features.draws.spans import MAX_BLOCK, MAX_SEED
from kernbench.features.maps.forms import ALL_DRAWS, ALL_FORMS
from kernbench.features.maps.plan import n_columns_of, plan
from kernbench.features.maps.rows import prefers_sparse
from kernbench.kernels.functions import Kernel
from kernbench.validation.numbers import check_flag, check_name, check_number

SETTINGS = ("n_features", "form", "draws", "block_size")  # parameters on which the columns depend


class RandomFeatures(KernelTransformer):
    r"""Random features of a kernel: real, and unbiased, :math:`E\langle\phi(x), \phi(z)\rangle = k(x, z)`.

    The error falls like :math:`1/\sqrt{m}` with the number m of features, whatever the number of rows. `fit` needs only
    the shape of X (and, for a kernel that is given by name, determines its width); `transform` costs :math:`O(n d m)`
    for n rows with d columns.

    Parameters
    ----------
    kernel : {"rbf", "laplacian", "additive_chi2", "poly", "linear"} or Kernel, default="rbf"
        A name as in `kernbench.KernelSVC`, or an object of `kernbench.kernels`: ``Gaussian Laplacian Cauchy
        Matern Polynomial DotProduct Linear Hellinger ChiSquared Intersection JensenShannon SkewedChiSquared
        SkewedIntersection ExponentialSemigroup ReciprocalSemigroup ArcCosine``, or sums and products of
        these.
    n_features : int, default=256
        Columns of the result (scikit-learn's ``n_components``). An exact map has d columns instead, which may be fewer
        or, if it was asked for by ``form="exact"``, more. The terms of a sum share them.
    gamma : {"scale", "auto", "median"} or float, default="scale"
        Parameter of a kernel that is given by name, as are `degree` and `coef0`.
    degree : int, default=3
    coef0 : float, default=0.0
    form : str, default="auto"
        How features are computed from the random numbers; ``"auto"`` is the first form of the kernel, in the following
        list, that fits `n_features`.

        * Gaussian, Laplacian, Cauchy, Matern and the skewed kernels: ``"pair"`` (cosine and sine:
          `n_features` must be even), ``"phase"`` (:math:`\sqrt{2}\cos(\langle w, x\rangle + b)`).
        * ChiSquared, Intersection, JensenShannon: ``"vector"`` (a pair for each column of X, with a much smaller
          variance: `n_features` must be a multiple of 2 d), ``"scalar"`` (one column, a sum over the columns of X).
        * Linear, Hellinger: ``"exact"`` (d columns, nothing random), ``"random"`` (signs).
        * Polynomial: ``"tensor-sketch"`` [2]_, ``"random-degree"`` [3]_; DotProduct: ``"random-degree"``.
        * The semigroup kernels and ArcCosine: ``"random"``.
        * Products: ``"pair"`` and ``"phase"`` if a factor has them, else ``"random"``.
    draws : {"iid", "orthogonal", "qmc", "fastfood"}, default="iid"
        How the random frequencies are drawn: independently (``iid``), in orthogonal groups [4]_ (``orthogonal``;
        Gaussian, Matern, ArcCosine), from a scrambled Sobol sequence [5]_ (``qmc``, quasi-Monte Carlo; all kernels with
        frequencies), or as products of structured matrices [6]_ (``fastfood``; the same kernels as ``orthogonal``).
        ``orthogonal`` and ``qmc`` have smaller errors; ``fastfood`` has a somewhat larger error but costs only
        :math:`O(n m \log d)`.
    block_size : int, default=256
        Number of columns that are drawn together: block b depends only on the seed and b. With another size the
        features are different.
    keep_frequencies : bool, default=True
        Whether to keep the frequencies after they were drawn; False draws them again in every call of ``transform``, a
        few blocks at a time.
    random_state : int, RandomState, Generator or None, default=None
        An int is the seed itself; None draws one from NumPy's global state (``np.random.seed``).

    Attributes
    ----------
    kernel_ : Kernel
        The kernel with its numbers, for instance ``Gaussian(sigma=1.2)``.
    seed_ : int
        The seed that determines the features; files and pickles contain it instead of the frequencies.
    settings_ : dict
        ``n_features``, ``form``, ``draws`` and ``block_size`` of ``fit``, which ``transform`` uses even if the
        parameters have been changed since.
    forms_ : list of str
        The form of each term of the kernel.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, if X had any.

    See Also
    --------
    feature_block : One block of them, by seed and number.
    Nystroem : Features from landmarks, rows of the data.

    Notes
    -----
    Random numbers come from a counter-based generator, Philox4x32-10 [7]_, whose output is the same on every machine;
    features do not depend on the number of threads or on what was drawn before. (The points of ``qmc`` come from
    SciPy.) float32 rows give float32 features, but features with heavy-tailed frequencies (Laplacian, Intersection,
    SkewedIntersection, Matern with nu <= 1), and those of rows far from the origin, are computed in float64.

    Features of inner-product and ArcCosine kernels grow with the norm of the rows: scale rows to a norm of about 1.

    References
    ----------
    .. [1] A. Rahimi, B. Recht, "Random features for large-scale kernel machines", NIPS 2007.
    .. [2] N. Pham, R. Pagh, "Fast and scalable polynomial kernels via explicit feature maps", KDD 2013.
    .. [3] P. Kar, H. Karnick, "Random feature maps for dot product kernels", AISTATS 2012.
    .. [4] F. Yu et al., "Orthogonal random features", NIPS 2016.
    .. [5] J. Yang et al., "Quasi-Monte Carlo feature maps for shift-invariant kernels", ICML 2014.
    .. [6] Q. Le, T. Sarlós, A. Smola, "Fastfood", ICML 2013.
    .. [7] J. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
    .. [8] B. Dai et al., "Scalable kernel methods via doubly stochastic gradients", NIPS 2014, Table 1.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.svm import LinearSVC
    >>> from kernbench.features import RandomFeatures
    >>> from kernbench.kernels import Gaussian
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> features = RandomFeatures(Gaussian(5.0), 200, random_state=0)
    >>> model = make_pipeline(StandardScaler(), features, LinearSVC())
    >>> model.fit(X, y).score(X, y) > 0.97
    True
    """

    def __init__(
        self,
        kernel: str | Kernel = "rbf",
        n_features: int = 256,
        *,
        gamma: str | float = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        form: str = "auto",
        draws: str = "iid",
        block_size: int = 256,
        keep_frequencies: bool = True,
        random_state: RandomState = None,
    ) -> None:
        self.kernel = kernel
        self.n_features = n_features
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.form = form
        self.draws = draws
        self.block_size = block_size
        self.keep_frequencies = keep_frequencies
        self.random_state = random_state

    def fit(self, X: Rows, y: Any = None) -> Self:
        """Determine the kernel and the seed.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features_in)
            Only its shape matters and, for a kernel given by name, its scale. Rows are checked against the kernel's
            domain.
        y : None
            Ignored.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For a kernel without random features, a form or draws that it does not have, a number of columns that does
            not fit, and rows outside its domain; the message says what to change.
        """
        self._check_parameters()
        rng = generator_of(self.random_state)
        X = self._checked(X, reset=True)
        self.kernel_: Any = self._resolved_kernel(X, rng)
        self.seed_: int = _seed_of(self.random_state, rng)
        self.settings_: dict[str, Any] = self._given_settings()
        self.forms_: list[Any] = [term.form for term in self._plan()]
        self._drawn = {}
        return self

    def partial_fit(self, X: Rows, y: Any = None) -> Self:
        """Fit to the first batch, and check later batches.

        The features must not change during a stream, so the bandwidth of a kernel that is given by name is determined
        from the first batch.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features_in)
        y : None
            Ignored.

        Returns
        -------
        self
        """
        if not hasattr(self, "seed_"):
            return self.fit(X)
        self._checked(X, reset=False)
        return self

    def drop_frequencies(self) -> Self:
        """Discard the frequencies that were drawn; the next ``transform`` draws the same again.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        self._drawn = {}
        return self

    def _check_parameters(self):
        check_number("n_features", self.n_features, at_least=1, at_most=MAX_BLOCK, whole=True)
        check_number("block_size", self.block_size, at_least=1, at_most=MAX_BLOCK, whole=True)
        check_name("form", self.form, ALL_FORMS)
        check_name("draws", self.draws, ALL_DRAWS)
        check_flag("keep_frequencies", self.keep_frequencies)

    def _given_settings(self):
        given = {name: getattr(self, name) for name in SETTINGS}
        return {name: value if isinstance(value, str) else int(value) for name, value in given.items()}

    def _plan(self):
        n_features, form, draws, _ = (self.settings_[name] for name in SETTINGS)
        return plan(self.kernel_, n_features, self.n_features_in_, form, draws)

    @property
    def _n_features_out(self):
        return n_columns_of(self._plan())

    @property
    def _row_values(self):
        return max(term.map.row_values for term in self._plan())

    def _write_all(self, X, out):
        """Write one span of columns after another: its frequencies are drawn once for all chunks of rows."""
        by_entries = prefers_sparse(X)
        for term, span, columns, drawn in self._stretches(X.dtype, by_entries):
            for rows in self._chunks(X):
                chunk = X[rows]
                if sparse.issparse(chunk) and not by_entries:
                    chunk = chunk.toarray()
                term.write(chunk, drawn, span, out[rows, columns])

    def _stretches(self, dtype, by_entries):
        """Yield terms, spans, columns and their random numbers: spans of a whole term, or of a few blocks."""
        block_size = self.settings_["block_size"]
        if self.keep_frequencies:
            kept = vars(self).setdefault("_drawn", {})  # left out of pickles and files
            key = dtype.name, by_entries
            if key not in kept:
                kept[key] = [
                    (term, span, columns, term.map.draw(span, dtype, by_entries))
                    for term in self._plan()
                    for span, columns in term.spans(self.seed_, block_size)
                ]
            yield from kept[key]
            return
        at_once = max(1, CHUNK_BYTES // (32 * self.n_features_in_ * block_size))
        for term in self._plan():
            for span, columns in term.spans(self.seed_, block_size, at_once):
                yield term, span, columns, term.map.draw(span, dtype, by_entries)

    def __getstate__(self) -> Any:
        state = dict(super().__getstate__())
        state.pop("_drawn", None)
        return state

    def __setstate__(self, state: Any) -> None:
        super().__setstate__(state)
        self._complete_settings()

    def _complete_settings(self):
        """Take the settings of a map of an earlier version, in a file or a pickle, from its parameters."""
        if hasattr(self, "seed_") and not hasattr(self, "settings_"):
            self.settings_ = self._given_settings()

    def _check_fitted_state(self):
        self._check_parameters()
        self._complete_settings()
        if set(self.settings_) != set(SETTINGS):
            raise ValueError(f"settings_ are not {', '.join(SETTINGS)}")
        type(self)(**self.settings_)._check_parameters()
        if not isinstance(self.kernel_, Kernel):
            raise ValueError("kernel_ is not a kernel")
        check_number("seed_", self.seed_, at_least=0, at_most=MAX_SEED, whole=True)
        check_number("n_features_in_", self.n_features_in_, at_least=1, at_most=np.iinfo(np.intp).max, whole=True)
        names = getattr(self, "feature_names_in_", None)
        if names is not None and len(names) != self.n_features_in_:
            raise ValueError("feature_names_in_ has another length")
        if self.forms_ != [term.form for term in self._plan()]:
            raise ValueError("forms_ are not those of the kernel")


def _seed_of(random_state, rng):
    if isinstance(random_state, Integral) and 0 <= random_state <= MAX_SEED:
        return int(random_state)
    return int(rng.integers(MAX_SEED, dtype=np.uint64, endpoint=True))
