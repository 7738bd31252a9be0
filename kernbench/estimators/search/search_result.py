"""What the estimators of a search keep: the table, the cell chosen, out-of-fold scores, and probabilities from them."""

from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from kernbench._typing import Rows
from kernbench.estimators.search.calibration import probabilities

OF_SEARCH = (
    "best_params_",
    "best_score_",
    "best_index_",
    "cv_results_",
    "n_splits_",
    "multimetric_",
    "refit_time_",
    "oof_decision_",
    "oof_decisions_",
    "oof_prediction_",
    "calibration_",
)  # attributes that the estimator of a cell does not have


class SearchResult:
    """Mixin of estimators that choose parameters of another one and are the chosen one after fitting."""

    _of_search: tuple[str, ...] = OF_SEARCH
    _oof_name = "oof_decision_"

    def _take(self, model, cells):
        """Set the fitted attributes; `model` is None without a refit."""
        for name in _fitted_attributes(self):
            delattr(self, name)
        for name in () if model is None else _fitted_attributes(model):
            setattr(self, name, getattr(model, name))
        if model is not None:
            if cells.best.solutions:
                self.n_iter_ = np.maximum(self.n_iter_, [solution.n_iter for solution in cells.best.solutions])
            self.n_kernel_evaluations_ += cells.n_kernel_evaluations
        if cells.best is None:  # several scores, none of which decides
            return
        own = cells.cells[cells.best_index]
        self.best_index_, self.best_params_ = cells.best_index, dict(own["params"])
        if cells.scoring.decides is not None:
            self.best_score_ = float(own["scores"][cells.scoring.decides].mean())
        setattr(self, self._oof_name, cells.best.held_out.decisions)

    @property
    def estimator_(self) -> Any:
        """The best cell fitted to all rows: the estimator whose parameters were chosen; shares arrays with this one."""
        check_is_fitted(self)
        model = self._model(self.best_params_)
        for name in _fitted_attributes(self):
            if name not in self._of_search:
                setattr(model, name, getattr(self, name))
        return model

    def _check_refit(self):
        if not self.refit and hasattr(self, "cv_results_"):
            raise NotFittedError(
                "this search has refit=False, so that there is no model: choose refit=True, or fit "
                f"{self._estimator.__name__}(**search.best_params_)"
            )

    def __sklearn_is_fitted__(self) -> bool:
        self._check_refit()
        return super().__sklearn_is_fitted__()


class CalibratedResult(SearchResult):
    """Mixin of those that have the parameter ``calibration``."""

    @available_if(lambda self: self.calibration is not None)
    def predict_proba(self, X: Rows) -> np.ndarray:
        """Return the probability of each class, by the calibration of the out-of-fold decision values.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            As for `decision_function`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        self._check_is_fitted()
        scores = self._pair_values(X)[:, 0] if len(self.classes_) == 2 else self._scores(X)
        return probabilities(self.calibration_, scores)


def _fitted_attributes(model):
    return [name for name in vars(model) if name.endswith("_") and not name.startswith("_")]
