"""Searches of other libraries, as estimators with the parameters and attributes of `KernelSVCCV`.

After fitting, each has ``best_params_``, ``best_score_`` and ``best_std_error_`` of the mean score over folds,
``n_dropped_`` cells that were not solved in all folds, ``n_kernel_evaluations_`` where they are known, and
``search_seconds_``, processor time without the last fit.
"""

from time import process_time

import numpy as np

from kernbench._lazy import load


class Chosen:
    """A search that predicts with ``model_``, the best cell fitted to all rows."""

    n_kernel_evaluations_ = None
    n_dropped_ = 0

    @property
    def classes_(self):
        """Labels."""
        return self.model_.classes_

    def predict(self, X):
        """Labels of rows."""
        return self.model_.predict(X)

    def decision_function(self, X):
        """Scores of rows."""
        return self.model_.decision_function(X)


class GridSearch(Chosen):
    """scikit-learn's search over the cells of a grid, each solved from scratch in each fold.

    Parameters
    ----------
    Cs, gammas : list of float
    cv : splitter or list of (train, test)
    machine : str
        The support vector classifier, ``"module:Class"``.
    halving : bool, default=False
        ``HalvingGridSearchCV``, which solves fewer and fewer cells on more and more rows, in place of ``GridSearchCV``.
    cache_size : float, default=2000
        Megabytes.
    random_state : int, optional
        Seed of the rows of `halving`.
    """

    def __init__(self, Cs, gammas, *, cv, machine, halving=False, cache_size=2000, random_state=None):
        self.Cs, self.gammas, self.cv, self.machine, self.halving = Cs, gammas, cv, machine, halving
        self.cache_size, self.random_state = cache_size, random_state

    def fit(self, X, y):
        """Choose C and gamma, and fit with them to all rows."""
        machine = load(self.machine)(kernel="rbf", cache_size=self.cache_size)
        counts = []

        def accuracy(model, X, y):
            # Values of the fit and of this prediction; a fold's model is not kept.
            counts.append(getattr(model, "n_kernel_evaluations_", np.nan) + X.shape[0] * len(model.support_))
            return model.score(X, y)

        search = self._search(machine, {"C": list(self.Cs), "gamma": list(self.gammas)}, accuracy)
        start = process_time()
        search.fit(X, y)
        self.search_seconds_ = process_time() - start
        table, best = search.cv_results_, search.best_index_
        self.best_params_, self.best_score_ = search.best_params_, float(search.best_score_)
        self.best_std_error_ = standard_error([table[f"split{k}_test_score"][best] for k in range(search.n_splits_)])
        if self.halving:  # cells that were not among the last candidates, on all rows
            self.n_dropped_ = len(self.Cs) * len(self.gammas) - search.n_candidates_[-1]
        self.model_ = machine.set_params(**search.best_params_).fit(X, y)
        total = sum(counts) + getattr(self.model_, "n_kernel_evaluations_", np.nan)
        self.n_kernel_evaluations_ = None if np.isnan(total) else int(total)
        return self

    def _search(self, machine, grid, scoring):
        options = {"cv": self.cv, "scoring": scoring, "refit": False, "error_score": "raise"}
        if not self.halving:
            from sklearn.model_selection import GridSearchCV

            return GridSearchCV(machine, grid, **options)
        from sklearn.experimental import enable_halving_search_cv  # noqa: F401
        from sklearn.model_selection import HalvingGridSearchCV

        return HalvingGridSearchCV(machine, grid, random_state=self.random_state, **options)


class OnNystroemCV(Chosen):
    """For each gamma, scikit-learn's ``Nystroem`` and, on its features, a linear model with its own search over the Cs.

    Landmarks are drawn from all rows, without labels. Subclasses make the linear model, and read the scores of its
    search, of shape (n_folds, n_Cs).

    Parameters
    ----------
    Cs, gammas, cv, random_state
        As for `GridSearch`.
    n_landmarks : int, default=300
        At most one for each row.
    """

    def __init__(self, Cs, gammas, *, cv, n_landmarks=300, random_state=None):
        self.Cs, self.gammas, self.cv, self.n_landmarks = Cs, gammas, cv, n_landmarks
        self.random_state = random_state

    def fit(self, X, y):
        """Choose C and gamma; the linear model fits its best C to all rows."""
        from sklearn.kernel_approximation import Nystroem
        from sklearn.pipeline import make_pipeline

        n, m = X.shape[0], min(self.n_landmarks, X.shape[0])
        self.best_score_, start = -np.inf, process_time()
        for gamma in self.gammas:
            features = Nystroem(gamma=gamma, n_components=m, random_state=self.random_state)
            linear = self._linear().fit(features.fit_transform(X), y)
            scores = self._scores(linear)
            mean = scores.mean(axis=0)
            best = int(mean.argmax())
            if mean[best] > self.best_score_:
                self.best_score_, self.best_std_error_ = float(mean[best]), standard_error(scores[:, best])
                self.best_params_ = {"C": self.Cs[best], "gamma": gamma}
                self.model_ = make_pipeline(features, linear)
        self.search_seconds_ = process_time() - start
        self.n_kernel_evaluations_ = len(self.gammas) * m * (n + m)
        return self


class NystroemLogisticCV(OnNystroemCV):
    """With scikit-learn's ``LogisticRegressionCV``."""

    def _linear(self):
        from sklearn.linear_model import LogisticRegressionCV

        return LogisticRegressionCV(Cs=self.Cs, cv=self.cv, scoring="accuracy", max_iter=1000)

    def _scores(self, linear):
        scores = linear.scores_  # of each class alike, or, from scikit-learn 1.10 on, once
        scores = next(iter(scores.values())) if isinstance(scores, dict) else scores
        return np.reshape(scores, (-1, len(self.Cs)))


class NystroemLinearCV(OnNystroemCV):
    """With `LinearSVCCV`."""

    def _linear(self):
        from kernbench import LinearSVCCV

        return LinearSVCCV(self.Cs, cv=self.cv, random_state=self.random_state)

    def _scores(self, linear):
        table = linear.cv_results_
        return np.array([table[f"split{k}_test_score"] for k in range(linear.n_splits_)])


class TorchKM(Chosen):
    """For each gamma, TorchKM's exact path over the Cs in all folds, on the CPU; two classes.

    Parameters
    ----------
    Cs, gammas, cv
        As for `GridSearch`.
    """

    def __init__(self, Cs, gammas, *, cv):
        self.Cs, self.gammas, self.cv = Cs, gammas, cv

    def fit(self, X, y):
        """Choose C and gamma; TorchKM's model of the best C is that of all rows."""
        from torchkm.estimators import TorchKMSVC

        folds = np.zeros(len(y), dtype=np.int64)
        splits = list(self.cv.split(X, y))
        for k, (_, test) in enumerate(splits):
            folds[test] = k + 1
        self.best_score_, start = -np.inf, process_time()
        for gamma in self.gammas:
            # TorchKM's kernel is exp(-2 sigma |x - z|^2).
            model = TorchKMSVC(rbf_sigma=0.5 * gamma, Cs=self.Cs, nC=len(self.Cs), cv=len(splits), foldid=folds,
                               device="cpu", store_path=True)  # fmt: skip
            model.fit(X, y)
            right = (model.pred_path_[:, model.best_ind_].numpy() > 0) == (y == model.classes_[1])
            scores = [right[test].mean() for _, test in splits]
            if np.mean(scores) > self.best_score_:
                self.best_score_, self.best_std_error_ = float(np.mean(scores)), standard_error(scores)
                self.best_params_ = {"C": self.Cs[model.best_ind_], "gamma": gamma}
                self.model_ = model
        self.search_seconds_ = process_time() - start
        self.n_kernel_evaluations_ = len(self.gammas) * len(y) ** 2
        self.support_ = np.flatnonzero(self.model_.alpha_)
        self.dual_coef_ = self.model_.alpha_[None, self.support_]
        self.intercept_ = np.array([self.model_.intercept_])
        return self


def standard_error(scores):
    """That of the mean of scores over folds; 0 of a single one."""
    return float(np.std(scores, ddof=1) / len(scores) ** 0.5) if len(scores) > 1 else 0.0
