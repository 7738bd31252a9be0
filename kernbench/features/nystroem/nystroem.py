"""The Nyström map: explicit features from the kernel values of landmarks."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from kernbench._random import generator_of
from kernbench._typing import RandomState, Rows
from kernbench._warnings import warn
from kernbench.features._transformer import KernelTransformer
from kernbench.features.nystroem import landmarks as choices
from kernbench.features.nystroem._root_products import multiply, multiply_triangular
from kernbench.features.nystroem._roots import ROOTS
from kernbench.kernels import blocks
from kernbench.kernels.domain import is_precomputed
from kernbench.kernels.functions import Kernel
from kernbench.kernels.threads import single_threaded_blas
from kernbench.validation.numbers import check_name, check_number

# A pivot of p times the largest turns rounding errors eps of kernel values into errors eps / sqrt(p) of features.
SINGLE_PIVOT = 0.1 * np.finfo(np.float32).eps


class Nystroem(KernelTransformer):
    r"""Features of the Nyström method: the kernel, projected onto the span of some landmarks.

    With landmarks :math:`L = (z_1, …, z_m)` and :math:`K_{LL} = (k(z_i, z_j))`,

    .. math::

        \phi(x) = k(x, L) \, R, \qquad R R^\top = K_{LL}^{+}, \qquad
        \langle \phi(x), \phi(x') \rangle = k(x, L) \, K_{LL}^{+} \, k(L, x').

    The inner products are exact where one of the two rows is a landmark, and elsewhere the matrix of errors
    is positive semi-definite. `fit` costs :math:`O(m^3)`, `transform` :math:`O(n m^2)`.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        As in `kernbench.KernelSVC`. ``precomputed``: X is the kernel matrix, K(train, train) in ``fit`` and
        K(test, train) afterwards. A function is called as ``kernel(X, L)`` with batches of rows.
    n_landmarks : int, default=100
        Number of landmarks m (scikit-learn's ``n_components``). If it exceeds the number of training rows, all rows are
        taken, with a warning. Ignored if `landmarks` is an array.
    landmarks : {"uniform", "stratified", "kmeans", "leverage"} or array, default="uniform"
        ``uniform`` draws rows without replacement; ``stratified`` does so inside each class, in proportion
        to its size (needs y); ``kmeans`` takes centroids [2]_, often the best for a small m; ``leverage``
        draws rows in proportion to approximate ridge leverage scores [3]_, which finds rare rows at a cost of
        :math:`O(n m^2)`. An array gives the landmarks themselves: rows of shape (m, n_features), dense or CSR, or
        a vector of integers, the indices of rows of X (the only ones for a precomputed kernel).
    gamma : {"scale", "auto", "median"} or float, default="scale"
        Parameter of a kernel that is given by name, as are `degree` and `coef0`: ``"scale"`` is 1 / (n_features ·
        variance of X), ``"median"`` the median heuristic; see `kernbench.KernelSVC`.
    degree : int, default=3
    coef0 : float, default=0.0
    root : {"cholesky", "eigen", "symmetric"}, default="cholesky"
        Which matrix R to take; inner products of features are the same for all. ``cholesky`` is triangular:
        ``transform`` takes half the multiplications, and landmarks that depend linearly on the others are left out.
        ``eigen`` is :math:`U S^{-1/2}` with :math:`K_{LL} = U S U^\top`, largest eigenvalue first: its leading columns
        are a kernel principal component analysis of the landmarks (not centred). ``symmetric`` is
        :math:`K_{LL}^{-1/2} = U S^{-1/2} U^\top`, with one column for each landmark, as in scikit-learn.
    rank_tol : float, default=1e-10
        Directions of K_LL whose eigenvalue (for ``cholesky``: pivot) is below this share of the largest one are left
        out, so that rounding errors are not amplified. Values below the precision of the kernel values (with float32
        rows 1e-8, except for ``eigen``) have no effect.
    random_state : int, RandomState, Generator or None, default=None
        Source of the landmarks and of the subset of ``gamma="median"``. Pass an int for reproducible features; None is
        NumPy's global state (``np.random.seed``).

    Attributes
    ----------
    kernel_ : Kernel
        The kernel with its numbers, for instance ``Gaussian(sigma=1.2)``.
    landmarks_ : ndarray or CSR matrix of shape (n_kept, n_features)
        Sparse if X was; of shape (0, 0) for a precomputed kernel. ``cholesky`` keeps as many as there are
        columns, by decreasing pivot; the other roots keep all.
    landmark_indices_ : ndarray of shape (n_kept,), intp
        Indices of the landmarks in the training set; missing for ``landmarks="kmeans"`` and for an array of rows.
    normalization_ : ndarray of shape (n_kept, n_features_out), float64
        R; upper triangular for ``root="cholesky"``, symmetric for ``root="symmetric"``.
    eigenvalues_ : ndarray of shape (n_features_out,), float64
        The eigenvalues of K_LL that were kept, descending; missing for ``root="cholesky"``. With ``root="symmetric"``
        there may be fewer than columns: as many as the rank of K_LL.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, if X had any.

    See Also
    --------
    RandomFeatures : Features that need no landmarks.
    sklearn.kernel_approximation.Nystroem : The features of ``root="symmetric"``, with small eigenvalues raised.

    Notes
    -----
    The number of columns is the numerical rank of K_LL: at most `n_landmarks`, and fewer where landmarks are
    repeated or the kernel is smooth. ``root="symmetric"`` has as many columns as landmarks, of that rank.
    (scikit-learn raises small eigenvalues to 1e-12.)

    With ``root="cholesky"``, the first j columns are the features of the first j rows of ``landmarks_``: a
    smaller map is a slice of the larger one.

    Landmarks and features do not depend on the number of threads, bit for bit. Features of float32 rows are computed in
    float64, and rounded, by a map that was fitted to float64 rows.

    References
    ----------
    .. [1] C. Williams, M. Seeger, "Using the Nyström method to speed up kernel machines", NIPS 2000.
    .. [2] K. Zhang, J. Kwok, "Clustered Nyström method for large scale manifold learning and dimension
       reduction", IEEE Transactions on Neural Networks 21, 2010.
    .. [3] C. Musco, C. Musco, "Recursive sampling for the Nyström method", NIPS 2017.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.svm import LinearSVC
    >>> from kernbench.features import Nystroem
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), Nystroem(n_landmarks=50, random_state=0), LinearSVC())
    >>> model.fit(X, y).score(X, y) > 0.97
    True
    """

    landmarks_: Any
    landmark_indices_: np.ndarray
    eigenvalues_: np.ndarray

    def __init__(
        self,
        kernel: str | Kernel | Callable[..., Any] = "rbf",
        n_landmarks: int = 100,
        *,
        landmarks: Any = "uniform",
        gamma: str | float = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        root: str = "cholesky",
        rank_tol: float = 1e-10,
        random_state: RandomState = None,
    ) -> None:
        self.kernel = kernel
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.root = root
        self.rank_tol = rank_tol
        self.random_state = random_state

    def fit(self, X: Rows, y: ArrayLike | None = None) -> Self:
        """Choose landmarks and factorise their kernel matrix.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            Training rows; the kernel matrix of shape (n_samples, n_samples) if ``kernel="precomputed"``.
        y : array-like of shape (n_samples,), default=None
            Labels, for ``landmarks="stratified"``; else unused.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For invalid parameters or data, and for a function or a matrix that is not a kernel since its values are not
            symmetric or not finite; the message says what to change.

        Warns
        -----
        UserWarning
            If the kernel matrix of the landmarks is not positive semi-definite, or X has fewer than `n_landmarks` rows.
        """
        self._check_parameters()
        rng = generator_of(self.random_state)
        gamma_seed = rng.integers(2**63)  # always drawn, so that the landmarks do not depend on `gamma`
        if choices.choice_of(self.landmarks) == "stratified":
            X, y = self._checked(X, y, reset=True)
        else:
            X = self._checked(X, reset=True)
        self.kernel_: Any = self._resolved_kernel(X, gamma_seed)
        if is_precomputed(self.kernel) and X.shape[0] != X.shape[1]:
            raise ValueError(f"a precomputed training kernel must be a square matrix, got shape {X.shape}")
        return self._fit_to(X, y, rng)

    def _fit_to(self, X, y, rng):
        """Choose landmarks among checked rows, given `kernel_`; X may be anything with a shape, a dtype and rows."""
        with single_threaded_blas():  # rounding in BLAS depends on the number of threads
            rows, indices = self._chosen(X, y, rng)
            K = self._landmark_kernel(X, rows, indices)
            root = ROOTS[self.root](K, self._cut(X.dtype, len(K)))
        self.landmarks_ = np.empty((0, 0)) if rows is None else rows[root.kept]
        self._set_or_remove("landmark_indices_", None if indices is None else indices[root.kept])
        self.normalization_: np.ndarray = root.matrix
        self._set_or_remove("eigenvalues_", root.eigenvalues)
        return self

    def _check_parameters(self):
        check_number("n_landmarks", self.n_landmarks, at_least=1, whole=True)
        choices.check_landmarks(self.landmarks)
        check_name("root", self.root, ROOTS)
        check_number("rank_tol", self.rank_tol, at_least=0, below=1)
        if is_precomputed(self.kernel) and not self._are_rows_of_X:
            what = "landmarks='kmeans' takes means of rows" if isinstance(self.landmarks, str) else "landmarks are rows"
            advice = "choose 'uniform', 'stratified' or 'leverage', or give indices"
            raise ValueError(f"{what}, but with kernel='precomputed' X holds kernel values: {advice}")

    @property
    def _are_rows_of_X(self):
        return choices.are_indices(self.landmarks) or choices.choice_of(self.landmarks) not in ("kmeans", choices.OWN)

    def _clipped(self, n_rows):
        if self.n_landmarks <= n_rows:
            return int(self.n_landmarks)
        warn(f"n_landmarks={self.n_landmarks} is more than the {n_rows} rows of X: n_landmarks is set to {n_rows}")
        return n_rows

    def _chosen(self, X, y, rng):
        """Return landmarks (None for a precomputed kernel), and their indices (None if they are not rows of X)."""
        choice = choices.choice_of(self.landmarks)
        if choice == choices.OWN:
            if not self._are_rows_of_X:
                choices.check_columns(self.landmarks, getattr(self, "feature_names_in_", None))
                rows = choices.own_rows(self.landmarks, X)
                try:
                    self._check_values(rows, self.kernel_)
                except ValueError as error:
                    raise ValueError(f"invalid landmarks: {error}") from None
                return rows, None
            indices = choices.own_indices(self.landmarks, X.shape[0])
            return None if is_precomputed(self.kernel) else X[indices], indices
        n_landmarks = self._clipped(X.shape[0])
        if choice == "kmeans":
            return choices.kmeans(X, n_landmarks, rng), None
        if choice == "stratified":
            indices = choices.stratified(y, n_landmarks, rng)
        elif choice == "leverage":
            indices = choices.leverage(self.kernel_, X, n_landmarks, rng)
        else:
            indices = choices.uniform(X, n_landmarks, rng)
        return None if is_precomputed(self.kernel) else X[indices], indices

    def _landmark_kernel(self, X, rows, indices):
        """K_LL in float64, checked to be finite and symmetric."""
        if rows is None:
            K = X[np.ix_(indices, indices)].astype(np.float64)
        else:
            K = blocks.block(self.kernel_, rows, rows, dtype=np.float64)
        largest = np.abs(K).max()
        if not np.isfinite(largest):
            raise ValueError("the kernel values of the landmarks are not finite: scale the features")
        if np.abs(K - K.T).max() > 1e-4 * largest:
            raise ValueError(
                "the kernel matrix of the landmarks is not symmetric: the function or matrix given is not a kernel"
            )
        return 0.5 * (K + K.T)

    def _cut(self, dtype, n):
        """The share of the largest eigenvalue or pivot below which the others are rounding errors."""
        foreign = self.kernel_.routine in ("precomputed", "callable")  # their values may be of X's precision
        cut = max(self.rank_tol, n * np.finfo(dtype if foreign else np.float64).eps)
        return max(cut, SINGLE_PIVOT) if dtype == np.float32 and self.root != "eigen" else cut

    def _set_or_remove(self, name, value):
        if value is not None:
            setattr(self, name, value)
        elif hasattr(self, name):
            delattr(self, name)  # of an earlier fit

    @property
    def _is_triangular(self):
        """Whether the map was fitted with ``root="cholesky"``, since parameters may change after a fit."""
        return not hasattr(self, "eigenvalues_")

    @property
    def _n_features_out(self):
        return self.normalization_.shape[1]

    @property
    def _row_values(self):
        return self.normalization_.shape[0]

    def _write(self, X, out):
        is_wider = self.landmarks_.dtype == np.float64 and not is_precomputed(self.kernel_)
        if out.dtype == np.float32 and is_wider:
            # The root of float64 landmarks has directions that would amplify the rounding errors of float32 values.
            wide = np.empty(out.shape)
            self._write(X.astype(np.float64), wide)
            out[:] = wide
            return
        root = np.ascontiguousarray(self.normalization_, dtype=out.dtype)
        if self._is_triangular:
            out[:] = self._block(X)
            multiply_triangular(root, out)
        else:
            multiply(root, self._block(X), out)

    def _block(self, X):
        """k(X, L)."""
        if is_precomputed(self.kernel_):
            return np.take(X, self.landmark_indices_, axis=1)
        return blocks.block(self.kernel_, X, self.landmarks_)

    def _check_fitted_state(self):
        self._check_parameters()
        _require(isinstance(self.kernel_, Kernel), "kernel_ is not a kernel")
        R = self.normalization_
        _require(R.ndim == 2 and R.dtype == np.float64 and min(R.shape) > 0, "normalization_ is not a float64 matrix")
        _require(np.all(np.isfinite(R)), "normalization_ is not finite")
        _require(not self._is_triangular or R.shape[0] == R.shape[1], "normalization_ is not square")
        rows, is_matrix = self.landmarks_, is_precomputed(self.kernel_)
        expected = (0, 0) if is_matrix else (R.shape[0], self.n_features_in_)
        _require(rows.shape == expected, f"landmarks_ has shape {rows.shape}, not {expected}")
        _require(rows.dtype in (np.float32, np.float64), f"landmarks_ has dtype {rows.dtype}")
        values = rows.data if sparse.issparse(rows) else rows
        _require(np.all(np.isfinite(values)), "landmarks_ is not finite")
        if is_matrix or hasattr(self, "landmark_indices_"):
            indices = self.landmark_indices_
            _require(
                indices.shape == (R.shape[0],) and indices.dtype.kind == "i",
                "landmark_indices_ is not one per landmark",
            )
            _require(indices.min() >= 0, "landmark_indices_ has negative indices")
            if is_matrix:
                _require(indices.max() < self.n_features_in_, "landmark_indices_ has indices past the end")
        names = getattr(self, "feature_names_in_", None)
        _require(names is None or len(names) == self.n_features_in_, "feature_names_in_ has another length")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = choices.choice_of(self.landmarks) == "stratified"
        return tags


def _require(condition, what):
    if not condition:
        raise ValueError(what)
