"""What ``fit`` and ``path`` of a `ROCSVC` do: rows in, fitted attributes out."""

import warnings

import numpy as np

from kernbench.estimators._outcome import INTERRUPTED, set_outcome, warn_unless_converged
from kernbench.estimators._roc_features import fit_space
from kernbench.estimators._roc_fitting import Task, solve_path
from kernbench.estimators._roc_parameters import check_roc_svc, loss_of
from kernbench.estimators._roc_rows import check_ranked_rows, split_for_threshold
from kernbench.estimators._roc_start import cold_start, digest_of


class TrainingMixin:
    """One fit for one alpha or several."""

    def _fit_path(self, X, y, alphas, models, sample_weight):
        """Fit `models`, which differ in alpha only and of which self is the first."""
        entry = check_roc_svc(self)
        rows = check_ranked_rows(self, X, y, sample_weight)
        start = getattr(self, "_continuation", None) if self.warm_start else None
        if start is None:
            start = cold_start(self.random_state)
        rows, held = split_for_threshold(self, rows, start.split_seed)
        digested = digest_of(self, rows) if self.warm_start else ""
        space = start.known_space(digested)
        if space is None:
            seeds = start.kernel_seed, start.map_seed
            space = fit_space(self, rows.X, rows.positive, rows.weights, seeds)
        design, n_evaluations = space.design(rows.X, cache_size=self.cache_size, twin=self._twin)
        task = Task(
            space, design, rows.signs, rows.weights, n_evaluations, start.solver_seed, space.largest(rows.X)
        )

        def snapshot(solver):
            return self._snapshot(task, rows, held, solver)

        initial = start.initial(self, space, design, self.classes_)
        results = solve_path(self, entry, task, alphas, loss_of(self), initial, snapshot)
        for model, result in zip(models, results, strict=True):
            model._share(self)
            model._set_ranking(task, rows, held, result.solution.coef)
            set_outcome(model, [result])
        self._stream = None
        self._continuation = None
        if self.warm_start:
            self._continuation = start.after(self, space, digested, results[0].solution, self.classes_)
        if any(result.status == INTERRUPTED for result in results):
            raise KeyboardInterrupt
        for model, result in zip(models, results, strict=True):
            warn_unless_converged(model, [result])
        if not np.any(results[-1].solution.coef):
            warnings.warn("all scores are equal: no direction of X tells the classes apart", stacklevel=3)

    def _share(self, other):
        """Take over what a model knows of the shape of its rows."""
        for name in ("n_features_in_", "feature_names_in_", "classes_"):
            if hasattr(other, name):
                setattr(self, name, getattr(other, name))

    def _set_ranking(self, task, rows, held, coef):
        """Set the attributes that say what f is, and the threshold on it."""
        self.loss_ = loss_of(self)
        self._set_space(task.space)
        self._set_function(coef, rows.X, rows.indices)
        if held is None:
            scores = task.design.scores(coef)
        else:
            rows, scores = held, self._scores(held.X)
        self._set_intercept(self.threshold, task.largest, scores, rows.positive, rows.weights)

    def _snapshot(self, task, rows, held, solver):
        """The fitted model as of now, for callbacks."""
        model = type(self)(**self.get_params(deep=False))
        model._share(self)
        model._set_ranking(task, rows, held, solver.solution().coef)
        model.n_iter_ = np.array([solver.n_iter])
        model.n_kernel_evaluations_ = solver.n_kernel_evaluations
        model.converged_ = bool(solver.converged)
        return model
