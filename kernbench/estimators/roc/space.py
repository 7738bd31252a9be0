"""The space of the scores of a ranking: the columns of X, features of a kernel, or the kernel itself."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kernbench.estimators.arguments.kernel import kernel_of
from kernbench.estimators.arguments.parameters import precision
from kernbench.estimators.fit.centring import moved_to_centre
from kernbench.estimators.fit.solver_data import design_maker, make_rows, with_constant
from kernbench.estimators.roc.parameters import is_linear
from kernbench.features import Nystroem, RandomFeatures
from kernbench.features.nystroem.landmarks import check_columns, choice_of
from kernbench.kernels.domain import is_precomputed
from kernbench.kernels.functions import Kernel

KINDS = ("linear", "nystroem", "random", "exact")
AUTO_EXACT_ROWS = 2000  # features="auto": up to this size the kernel matrix is cheaper than its approximation
DEFAULT_LANDMARKS = 300  # the paper's
DEFAULT_FEATURES = 512
CHUNK_ROWS = 8192  # rows whose features are held in two precisions at a time


@dataclass(frozen=True)
class Space:
    """The function space of f.

    Attributes
    ----------
    kind : {"linear", "nystroem", "random", "exact"}
    kernel : Kernel
    dtype : {"float32", "float64"}
        Precision in which kernel values or features of training rows are held.
    map : Nystroem, RandomFeatures or None
    """

    kind: str
    kernel: Kernel
    dtype: str
    map: object = None

    @property
    def is_exact(self):
        """Whether f is a sum over training rows, not a vector of weights."""
        return self.kind == "exact"

    def features(self, X):
        """Return the features of rows: X itself, or the map's, in `dtype`."""
        if self.map is None:
            return X
        if X.dtype == self.dtype:
            return self.map._features_of(X)
        out = np.empty((X.shape[0], self.map._features_of(X[:1]).shape[1]), dtype=self.dtype)
        for start in range(0, len(out), CHUNK_ROWS):
            out[start : start + CHUNK_ROWS] = self.map._features_of(X[start : start + CHUNK_ROWS])
        return out

    def design(self, X, *, cache_size, twin, constant=None):
        """Return the design of training rows, with a last column of `constant` if there are columns, and how many
        kernel values its features took."""
        if self.is_exact:
            rows = make_rows(X, self.kernel, self.dtype, cache_size=cache_size, twin=twin)
            return design_maker(twin)(rows), 0
        V = self.features(X)
        is_nystroem = self.kind == "nystroem" and not is_precomputed(self.kernel)
        n_landmarks = len(self.map.normalization_) if is_nystroem else 0
        n_of_the_map = (V.shape[0] + n_landmarks) * n_landmarks
        if constant is not None:
            V = with_constant(V, constant, V.dtype)
        return design_maker(twin)(V), n_of_the_map

    def largest(self, X):
        """Return the largest k(x, x) of rows."""
        return float(np.abs(X).max() if is_precomputed(self.kernel) else self.kernel.diagonal(X).max())

    def rounding(self, largest, coef):
        """Return an estimate of how much rounding may change a score from one batch of rows to another.

        A score is an inner product with a row of norm √k(x, x), or a sum of values k(x, z) <= k(x, x).
        """
        double_sums = self.kind == "linear" or is_precomputed(self.kernel)
        eps = np.finfo(np.float64 if double_sums else self.dtype).eps
        return 4 * eps * np.linalg.norm(coef) * (largest if self.is_exact else np.sqrt(largest))


class Prepared(NamedTuple):
    """What a fit needs of its training rows.

    Attributes
    ----------
    space : Space
    centre : ndarray of shape (n_features,), or None
        What was subtracted from the columns.
    constant : float, or None
        The last column of the design.
    design : Design
    n_of_the_map : int
        Number of kernel values that the features of the design took.
    """

    space: Space
    centre: object
    constant: float | None
    design: object
    n_of_the_map: int


def prepare(model, X, y, sample_weight, seeds, *, space=None, needs_features=False, centres=False, constant=None):
    """Fit the space of f and make the design of the training rows.

    Parameters
    ----------
    model, X, y, sample_weight, seeds, needs_features
        As for `fit_space`.
    space : Space, optional
        One that is fitted to the same rows.
    centres : bool, default=False
        Whether to subtract the medians of columns, if f is a function of columns.
    constant : float, optional
        A last column, unless f is a sum over training rows.

    Returns
    -------
    Prepared
    """
    if space is None:
        space = fit_space(model, X, y, sample_weight, seeds, needs_features=needs_features)
    model.dtype_ = space.dtype
    if space.is_exact:
        constant = None
    centre = None
    if centres and space.kind == "linear":
        X, centre = moved_to_centre(X)
    design, n_of_the_map = space.design(X, cache_size=model.cache_size, twin=model._twin, constant=constant)
    return Prepared(space, centre, constant, design, n_of_the_map)


def fit_space(model, X, y, sample_weight, seeds, *, needs_features=False):
    """Determine the kernel's parameters and fit the feature map.

    Parameters
    ----------
    model : estimator
        Gets ``dtype_``.
    X : ndarray or CSR matrix of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
    sample_weight : ndarray of shape (n_samples,), or None
    seeds : sequence of two int
        For ``gamma="median"`` and for the map.
    needs_features : bool, default=False
        Whether ``features="auto"`` must not choose the kernel itself: more rows will come, or the loss is solved by
        moments of features.

    Returns
    -------
    Space
    """
    kind = _kind_of(model, X.shape[0], needs_features)
    model.dtype_ = X.dtype.name if kind == "linear" else precision(model.dtype, X.shape[0])
    kernel = kernel_of(model, X, sample_weight, int(seeds[0]))
    own = "precomputed" if is_precomputed(kernel) else kernel
    feature_map = None
    if kind == "nystroem":
        check_columns(model.landmarks, getattr(model, "feature_names_in_", None))
        feature_map = _fit_nystroem(model, own, X, y, sample_weight, int(seeds[1]))
    elif kind == "random":
        n_features = model.n_features or DEFAULT_FEATURES
        feature_map = RandomFeatures(own, n_features, random_state=int(seeds[1])).fit(X)
    return Space(kind, kernel, model.dtype_, feature_map)


def _fit_nystroem(model, kernel, X, y, sample_weight, seed):
    """Return the Nyström map of rows. None of weight 0 is a landmark; a kernel matrix still holds these rows."""
    n_columns, used = X.shape[1], None
    if is_precomputed(kernel) and sample_weight is not None and not np.all(sample_weight > 0):
        used = np.flatnonzero(sample_weight > 0)
        X, y = X[np.ix_(used, used)], None if y is None else y[used]
    n_landmarks = model.n_landmarks or min(DEFAULT_LANDMARKS, X.shape[0])
    feature_map = Nystroem(kernel, n_landmarks, landmarks=model.landmarks, random_state=seed).fit(X, y)
    if used is not None:  # as if fitted to the whole matrix
        feature_map.landmark_indices_ = used[feature_map.landmark_indices_]
        feature_map.n_features_in_ = n_columns
    return feature_map


def _kind_of(model, n_rows, needs_features):
    """Return the kind that ``features=`` stands for with the model's kernel and `n_rows` training rows."""
    if model.features != "auto":
        return model.features
    if is_linear(model.kernel):
        return "linear"
    small = n_rows <= AUTO_EXACT_ROWS or is_precomputed(model.kernel)
    asked_for = model.n_landmarks is not None or choice_of(model.landmarks) != model._default_landmarks
    return "exact" if small and not needs_features and not asked_for else "nystroem"
