"""The table of a search, with the columns of ``GridSearchCV.cv_results_``, and what the estimator keeps."""

from typing import Any

import numpy as np
from scipy.stats import rankdata
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


def results_of(cells, n_folds, names=("score",), columns=None):
    """Return the columns of the table.

    Parameters
    ----------
    cells : list of dict
        Each has ``params`` and, if it was finished, ``fit_seconds`` and ``score_seconds`` of shape (n_folds,), and
        ``scores``, a dict of such arrays. Some may have entries of `columns`.
    n_folds : int
    names : sequence of str
        Names of the scores.
    columns : dict of str to object, optional
        Further columns, each with the entry of cells that have none.
    """
    nothing, table = np.full(n_folds, np.nan), {}
    for name in ("fit", "score"):
        values = np.array([cell.get(f"{name}_seconds", nothing) for cell in cells])
        table[f"mean_{name}_time"], table[f"std_{name}_time"] = values.mean(axis=1), values.std(axis=1)
    params = [cell["params"] for cell in cells]
    for name in dict.fromkeys(name for own in params for name in own):
        table[f"param_{name}"] = _column(params, name)
    table["params"] = params
    for name in names:
        scores = np.array([cell.get("scores", {}).get(name, nothing) for cell in cells])
        for k, column in enumerate(scores.T):
            table[f"split{k}_test_{name}"] = column.copy()
        mean = scores.mean(axis=1)
        table[f"mean_test_{name}"], table[f"std_test_{name}"] = mean, scores.std(axis=1)
        ordered = np.nan_to_num(mean, nan=-np.inf)  # which makes infinite means finite: NaN is below all others
        table[f"rank_test_{name}"] = rankdata(-ordered, method="min").astype(np.int32)
    for name, other in (columns or {}).items():
        table[name] = np.array([cell.get(name, other) for cell in cells])
    return table


def _column(params, name):
    """Return a parameter of all cells, masked where they do not have it: numbers, or objects where some are not."""
    given = [own[name] for own in params if name in own]
    dtype = np.asarray(given).dtype if np.asarray(given).dtype.kind in "biuf" else object
    column = np.ma.masked_all(len(params), dtype=dtype)
    for k, own in enumerate(params):
        if name in own:
            column[k] = own[name]
    return column


def index_chosen(refit, table):
    """Return the index of the cell that a function `refit` takes; raise ValueError unless it is a finished one."""
    index, n_cells = refit(table), len(table["params"])
    if isinstance(index, bool) or not isinstance(index, int | np.integer) or not 0 <= index < n_cells:
        raise ValueError(f"refit must return the index of a cell, from 0 to {n_cells - 1}, got {index!r}")
    return int(index)


class SearchResult:
    """Mixin of estimators that choose parameters of another one and are the chosen one after fitting."""

    oof_decision_: np.ndarray
    oof_prediction_: np.ndarray  # of a regressor, in its place

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


def _has_calibration(search):
    if hasattr(search, "dual_coef_"):  # that of the fit, since the parameter may change after it
        return hasattr(search, "calibration_")
    return search.calibration is not None


class CalibratedResult(SearchResult):
    """Mixin of those that have the parameter ``calibration``."""

    @available_if(_has_calibration)
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
