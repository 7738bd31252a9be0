"""What the estimators of a search keep: the table, the cell chosen, out-of-fold scores, and probabilities from them."""

from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if

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
    "calibration_",
)  # attributes that KernelSVC does not have


class SearchResult:
    """Mixin of estimators that choose C and gamma of a `KernelSVC` and are the chosen one after fitting."""

    def _take(self, model, search):
        """Set the fitted attributes; `model` is None without a refit."""
        for name in _fitted_attributes(self):
            delattr(self, name)
        for name in () if model is None else _fitted_attributes(model):
            setattr(self, name, getattr(model, name))
        if model is not None:
            if search.best[2]:
                self.n_iter_ = np.maximum(self.n_iter_, [solution.n_iter for solution in search.best[2]])
            self.n_kernel_evaluations_ += search.n_kernel_evaluations
        if self.store_oof_decisions:
            self.oof_decisions_ = search.all_decisions()
        if search.best is None:  # several scores, none of which decides
            return
        own, held_out = search.cells[search.best_index], search.best[3]
        self.best_index_, self.best_params_ = search.best_index, dict(own["params"])
        if search.scoring.decides is not None:
            self.best_score_ = float(own["scores"][search.scoring.decides].mean())
        self.oof_decision_ = held_out.decisions
        if self.calibration is not None:
            self.calibration_ = search.calibration()

    @property
    def estimator_(self) -> Any:
        """The best cell fitted to all rows, a `KernelSVC`."""
        self._check_is_fitted()
        model = self._model(self.best_params_["C"], self.best_params_["gamma"])
        for name in _fitted_attributes(self):
            if name not in OF_SEARCH:
                setattr(model, name, getattr(self, name))
        return model

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

    def _check_is_fitted(self):
        if not self.refit and hasattr(self, "cv_results_"):
            raise NotFittedError(
                "this search has refit=False, so that there is no model: choose refit=True, or fit "
                "KernelSVC(**search.best_params_)"
            )
        super()._check_is_fitted()


def _fitted_attributes(model):
    return [name for name in vars(model) if name.endswith("_") and not name.startswith("_")]
