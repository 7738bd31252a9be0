"""What the transformers of this package share: checks of rows, the kernel's name, chunks of rows, files."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from kernbench._callbacks import CallbackSupport
from kernbench._typing import Rows
from kernbench._whole_fits import WholeFits
from kernbench.kernels.domain import check_range, is_precomputed, takes_no_negative
from kernbench.kernels.functions import Linear
from kernbench.kernels.names import resolve_kernel
from kernbench.kernels.nested import NestedKernel
from kernbench.saving.model_file import Saved
from kernbench.validation.rows import NO_LABELS, check_rows

CHUNK_BYTES = 32_000_000  # intermediate values held at one time, and rows turned into another precision
MIN_CHUNK_ROWS = 256
WIDER = "give X as float64"


class KernelTransformer(
    WholeFits, CallbackSupport, Saved, NestedKernel, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator
):
    """Base of the explicit feature maps of a kernel.

    A subclass has the parameter ``kernel``, may have ``gamma``, ``degree`` and ``coef0``, and defines

    * ``fit(X, y=None)``, which begins with ``X = self._checked(X, reset=True)``, sets
      ``self.kernel_ = self._resolved_kernel(X, random_state)`` and whatever else it needs; names of fitted
      attributes end in ``_``, and those are what a file holds: arrays, CSR matrices, plain data, kernels;
    * ``_n_features_out``, the number of columns, as a property (a file does not hold it);
    * ``_write(X, out)``, which fills ``out`` (n, n_features_out), C-ordered and of X's precision, with the
      features of a few checked rows (or ``_write_all``, of all of them);
    * optionally ``_row_values``, the number of values that ``_write`` holds for each row beside ``out``, and
      ``_check_fitted_state()``, which raises ValueError unless the fitted attributes belong together (they
      may come from a damaged file).

    Precision: float32 rows give float32 features, everything else float64. A ``fit`` that raises leaves the object as
    it was.
    """

    n_features_in_: int
    feature_names_in_: np.ndarray

    def transform(self, X: Rows) -> np.ndarray:
        """Return the features of each row.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_features_out)
            float32 if X is, else float64.

        Raises
        ------
        ValueError
            For rows that ``fit`` would reject.

        Notes
        -----
        Rows are processed in chunks, so that some tens of megabytes suffice besides the result, for any number of rows.
        """
        return self._features_of(X)

    def _features_of(self, X):
        """Return what `transform` does, but an array whatever output ``set_output`` or ``set_config`` ask for."""
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        out = np.empty((X.shape[0], self._n_features_out), dtype=X.dtype)
        self._write_all(X, out)
        return out

    def _write_all(self, X, out):
        for rows in self._chunks(X):
            self._write(X[rows], out[rows])

    def _checked(self, X, y=NO_LABELS, *, reset):
        """Return X (and y), checked: a C-ordered array or canonical CSR matrix of float32 or float64.

        A subclass that overrides ``fit`` calls it first; for ``transform`` (reset=False) the domain and the range of
        ``kernel_`` are checked too, for ``fit`` by `_resolved_kernel`.
        """
        kernel = self.kernel if reset else self.kernel_
        checked = check_rows(self, X, y, reset=reset, accept_sparse=not is_precomputed(kernel))
        if not reset:
            self._check_values(checked, self.kernel_)
        return checked

    def _resolved_kernel(self, X, random_state=None):
        """Return the kernel object that the parameters stand for, after checking the training rows X against its
        domain.

        `random_state` (int, Generator or None) draws the subset of ``gamma="median"``.
        """
        settings = {name: getattr(self, name) for name in ("gamma", "degree", "coef0") if hasattr(self, name)}
        if isinstance(self.kernel, str) and not is_precomputed(self.kernel):
            self._check_values(X, Linear())  # first: the variance of "scale" may overflow
        kernel = resolve_kernel(self.kernel, X, random_state=random_state, **settings)
        self._check_values(X, kernel)
        return kernel

    def _check_values(self, X, kernel):
        check_range(X, kernel, X.dtype.name, wider=WIDER, feature_names=getattr(self, "feature_names_in_", None))

    _row_values = 0

    def _chunks(self, X):
        """Yield slices of rows such that temporary arrays stay within `CHUNK_BYTES`.

        Their bounds depend on neither the number of threads nor the number of rows.
        """
        width = max(1, X.shape[1] + self._row_values)
        height = max(MIN_CHUNK_ROWS, CHUNK_BYTES // (8 * width))
        for start in range(0, X.shape[0], height):
            yield slice(start, min(X.shape[0], start + height))

    def _check_fitted_state(self):
        """Raise ValueError unless the fitted attributes belong together."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = is_precomputed(self.kernel)
        tags.input_tags.sparse = not tags.input_tags.pairwise
        tags.input_tags.positive_only = takes_no_negative(self.kernel)
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
