"""The fit of every search: checks, cells, table, last fit. An estimator says what differs: grid, data, one path.

::

    KernelSVCCV.fit, LinearSVCCV.fit, …
      '-- Search._search
            |-- checked_grid (parameters), self._read, checked_folds (folds), checked_scoring (scoring)
            |-- GridOfCells (cells)         one path after the other, or side by side; `Race` and `Halving` leave
            |     |                         cells out
            |     |-- self._source          `FoldPaths`: the estimator's fits to each fold, or `SVCCells`: all folds
            |     |                         on the same kernel rows, or `RidgeFolds`: from one eigendecomposition
            |     '-- StoredCells (store)   cells that were finished before
            |-- results_of (results)        cv_results_
            '-- the last fit, and SearchResult._take (results)
"""

from dataclasses import replace
from time import perf_counter
from typing import Any, Self

import numpy as np
from sklearn.utils import indexable

from kernbench._callbacks import current_report
from kernbench._random import generator_of
from kernbench.estimators.fit.path import fit_task
from kernbench.estimators.search.cells import GridOfCells
from kernbench.estimators.search.fold_paths import FoldPaths
from kernbench.estimators.search.folds import checked_folds
from kernbench.estimators.search.parameters import checked_grid, kernels_of
from kernbench.estimators.search.results import SearchResult, index_chosen, results_of
from kernbench.estimators.search.scoring import checked_scoring, takes_rows
from kernbench.kernels.domain import takes_no_negative
from kernbench.validation.numbers import is_integer

NOT_SENT = ("callback", "cv", "scoring", "refit")  # parameters that workers do not need, and that may not be picklable


class Search(SearchResult):
    """Mixin of estimators that choose parameters of another one by cross-validation, and are the chosen one afterwards.

    Attributes
    ----------
    _estimator : type
        The class of the chosen model. The search has its parameters, except those of the grid and those given by
        `_fixed`.
    _grid : dict
        The search's parameters of values, each with the parameter of the estimator; first that of a path, C or alpha.
    _ascending : bool
        Whether a path goes from small to large.
    _fixed : dict
        Parameters of the estimator that the search sets.
    _score_name : str
        What ``scoring=None`` means.
    _scores_pairs : bool
        Whether that score needs both classes in held-out parts.
    _continues : bool
        Whether a fit to a fold starts from the solution for the strength before, as for convex problems.
    """

    _estimator: type
    _grid: dict[str, str]
    _ascending = True
    _fixed: dict[str, Any] = {"max_seconds": None, "warm_start": False, "n_jobs": None}
    _score_name = "accuracy"
    _scores_pairs = False
    _continues = True
    _without_probabilities = (
        "its models do not have: choose a score of labels or decision values, such as 'accuracy' or 'roc_auc'"
    )

    @property
    def _strength(self):
        """The parameter of a path."""
        return next(iter(self._grid.values()))

    def _search(self, X, y, sample_weight, groups) -> Self:
        """Choose the parameters and fit the model to all rows; see the ``fit`` of each estimator."""
        strengths, others = checked_grid(self)
        self._seed = self._drawn_seed()
        examples = self._read(X, y, sample_weight)
        if takes_rows(self.scoring):
            examples = replace(examples, given=indexable(X)[0])
        name, is_default = self._estimator.__name__, self.scoring is None
        folds = checked_folds(self.cv, X, examples, groups, name, both_parts=self._scores_pairs and is_default)
        self._check_size(examples, folds)
        scoring = checked_scoring(self, folds, examples)
        cells = self._cells(examples, folds, scoring)
        n_cells, report = len(strengths) * len(others), current_report()
        report.begin(n_cells + bool(self.refit), in_order=False)
        cells.run(self._ordered(strengths), others)
        try:
            self._finish(cells)
        except KeyboardInterrupt:  # between runs; within one it is their status
            cells.status = "interrupted"
        cells.check_finished()
        self._keep(cells)  # not lost where something below fails, as a callback of the last fit
        table = results_of(cells.cells, len(folds), scoring.names, self._extra_columns())
        choice = self._choice(scoring.decides)
        if choice is not None:
            cells.choose(index_chosen(choice, table))
        model, is_interrupted, begin = None, False, perf_counter()
        if self.refit:
            model = self._model(cells.best.params)
            try:
                with report.part(n_cells, "refit"):
                    self._fit_best(model, cells, X, y, sample_weight)
            except KeyboardInterrupt:
                if not hasattr(model, "n_iter_"):  # before its first run
                    raise
                is_interrupted = True
        self._take(model, cells)
        self.cv_results_, self.n_splits_, self.multimetric_ = table, len(folds), scoring.names != ("score",)
        if model is not None:
            self.refit_time_ = perf_counter() - begin
        if is_interrupted:
            raise KeyboardInterrupt
        cells.warn()
        return self

    def _check_parameters(self):
        """Check the parameters that can be checked without data."""
        checked_grid(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = any(map(takes_no_negative, kernels_of(self)))
        return tags

    # --- what an estimator may say otherwise -------------------------------------------------------------------------

    def _check_own(self):
        """Check the parameters that other searches do not have."""

    def _ordered(self, strengths):
        """Return the strengths in the order of ``cv_results_``, of which the first of equal cells is the best."""
        return strengths

    def _check_size(self, examples, folds):
        """Raise ValueError where the search does not fit into memory."""

    def _default_scorer(self, examples):
        """Return the scorer of ``scoring=None``; None for the ``score`` of the model."""
        return None

    def _cells(self, examples, folds, scoring):
        return GridOfCells(self, examples, folds, scoring)

    def _parts(self, examples, folds):
        """Return the folds that a worker solves at a time."""
        return [[j] for j in range(len(folds))]

    def _source(self, group, examples, folds, deadline, part=None):
        """Return what solves the cells of a group: the other parameters of its cells."""
        model = self._model({self._strength: self._first_strength(), **group})
        return FoldPaths(self, self._on_all_rows(model, examples), examples, folds, deadline, part)

    def _on_all_rows(self, model, examples):
        """Return the model of all folds, with what is taken of all rows."""
        return model

    def _finish(self, cells):
        """Do what follows the last cell."""

    def _extra_columns(self):
        """Return the further columns of ``cv_results_``, each with the entry of cells that have none."""
        return {}

    def _nothing(self, examples):
        """Return a held-out model that has not seen the rows, to see what scorers ask for."""
        values = np.zeros(examples.shape)
        if examples.classes is None:
            # Nearly the mean target: deviances, for example, are not defined at 0, nor are correlations of constants.
            others = np.roll(examples.y, 1, axis=0).reshape(examples.shape)
            values += 0.999 * examples.y.mean(axis=0) + 0.001 * others
        return self._held_out(values, examples)

    def _decisions(self, model, X):
        """Return the values of rows that the scores are made of, by the model of a fold."""
        return model.decision_function(X)

    def _choice(self, decides):
        """Return the function that chooses a cell by ``cv_results_``; None for the best mean of the score `decides`."""
        return self.refit if callable(self.refit) else None

    def _fit_best(self, model, cells, X, y, sample_weight):
        """Fit the model of the best cell to all rows."""
        self._fit_all(model, X, y, sample_weight)

    def _fit_all(self, model, X, y, sample_weight):
        fit_task(self._make_task(model, X, y, sample_weight), [model])

    # --- models ------------------------------------------------------------------------------------------------------

    def _drawn_seed(self):
        """Return the seed of all fits: generators, and the global state, are not shared with workers."""
        seed = self.random_state
        if seed is None and self._keeps_cells:
            return 0  # with a newly drawn seed no finished cell would be found again
        return seed if is_integer(seed) else int(generator_of(seed).integers(2**53))

    @property
    def _keeps_cells(self):
        """Whether the next search may find the finished cells of this one."""
        return self.memory is not None or self.warm_start

    def _first_strength(self):
        return float(np.asarray(self._values(next(iter(self._grid))), dtype=np.float64)[0])

    def _values(self, name):
        """Return the values of a parameter of the grid."""
        return getattr(self, name)

    def _model(self, params):
        """Return the model of a cell, not fitted."""
        own = frozenset(self._estimator._get_param_names())
        parameters = {name: value for name, value in self.get_params(deep=False).items() if name in own}
        fixed = {name: value for name, value in self._fixed.items() if name in own}
        model = self._estimator(**{**parameters, "random_state": self._seed_of_fits(), **fixed, **params})
        model._twin = self._twin
        return model

    def _seed_of_fits(self):
        return getattr(self, "_seed", self.random_state)

    def _with(self, model, strength):
        """Return a copy of the model of a path with another strength, for the fit to a fold."""
        return changed(model, **{self._strength: strength, "verbose": 0, "callback": None})

    def _bare(self):
        """Return the search for workers."""
        parameters = self.get_params(deep=False)
        bare = type(self)(**{**parameters, **{name: None for name in NOT_SENT if name in parameters}})
        bare._seed, bare._twin = self._seed, self._twin
        return bare

    def _keep(self, cells):
        """Keep the finished cells for the next fit, if it is to start from them."""
        if self.warm_start:
            self._kept_cells = cells.kept | (self._earlier_cells() if cells.status is not None else {})
        else:
            vars(self).pop("_kept_cells", None)

    def _earlier_cells(self):
        """Return the cells that the last fit kept; None without ``warm_start``."""
        return getattr(self, "_kept_cells", {}) if self.warm_start else None


def changed(model, **changes):
    """Return a copy of a model that is not fitted, with other parameters."""
    copy = type(model)(**{**model.get_params(deep=False), **changes})
    copy._twin = model._twin
    return copy
