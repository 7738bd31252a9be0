"""The support vector classifier with C and kernel chosen by cross-validation: `KernelSVCCV`."""

from dataclasses import replace

import numpy as np
import psutil

from kernbench.estimators.fit.parameters import check_grid
from kernbench.estimators.fit.path import fit_task
from kernbench.estimators.fit.training_data import check_weights
from kernbench.estimators.search.folds import checked_folds
from kernbench.estimators.search.grid_of_cells import GridOfCells
from kernbench.estimators.search.held_out import checked_scorer
from kernbench.estimators.search.race import Race
from kernbench.estimators.search.results import results_of
from kernbench.estimators.svm.expansion import ExpansionClassifier
from kernbench.estimators.svm.kernel_svc import KernelSVC
from kernbench.estimators.svm.kernel_task import KernelTask
from kernbench.solvers.base import Solution
from kernbench.validation.numbers import check_flag, check_name, check_number, check_positive

OWN = ("Cs", "gammas", "cv", "scoring", "search", "risk")  # parameters that KernelSVC does not have
WITHOUT_GAMMA = ("linear", "cosine", "additive_chi2", "precomputed")
BYTES_PER_FOLD = 112  # of each row and pair of classes: starts and solutions with their products, bounds, changes


class KernelSVCCV(ExpansionClassifier):
    """`KernelSVC` with ``C`` and ``gamma`` chosen by cross-validation, all folds on the same kernel rows.

    Every cell of the grid is solved to `tol`, as in ``GridSearchCV(KernelSVC(), ...)``; the
    problem of a fold is that of all rows with the coefficients of the held-out rows fixed at 0. So all folds and Cs use
    the kernel rows that were computed once (as far as ``cache_size`` holds them), each fold starts from the solution
    for all rows or from its own for the C before, and the gradient holds the scores of held-out rows, so that nothing
    is predicted.

    Parameters
    ----------
    Cs : array-like of shape (n_Cs,), default=(0.1, 1.0, 10.0, 100.0)
        Each > 0, without repetitions; solved from small to large.
    gammas : array-like of shape (n_gammas,), default=("scale",)
        Each as ``gamma`` of `KernelSVC`, resolved on all rows, without repetitions. One for a kernel without gamma.
    kernel : str, Kernel or callable, default="rbf"
        As in `KernelSVC`, like all parameters that are not explained here.
    cv : int, splitter or iterable, default=5
        Number of stratified folds, or anything that scikit-learn's ``check_cv`` accepts, if it holds out each row at
        most once.
    scoring : str or callable, default=None
        As in ``GridSearchCV``, a score of labels or decision values; None means accuracy. Weights of examples do not
        enter it.
    search : {"exact", "race"}, default="exact"
        ``"race"`` drops a cell, with its further folds, once it is worse than the best one in a paired test of the
        losses of held-out rows, and a gamma all of whose cells are worse on a subsample. The others are solved as by
        ``"exact"``. Only for accuracy. ``cv_results_`` then has ``dropped_after``, such as "fold 3",
        ``dropped_p_value`` and ``dropped_against``, the index of the better cell.
    risk : float, default=0.05
        Of a race: largest probability that the cell with the smallest expected error is dropped, if held-out rows are
        independent; > 0 and < 1.
    cache_size : float, default=500
        Megabytes of kernel rows. The search is cheapest if it holds all of them: 4 n² bytes in float32.
    max_seconds : float, default=None
        Budget of the search. Where it ends early, the best of the finished cells is taken, with a warning; Ctrl-C
        during the search does the same. Cells that were not finished have the score NaN.
    callback : callable or list of callables, default=None
        Called during the last fit.
    verbose : int, default=0
        Whether to show a progress bar over the cells.
    degree, coef0, fit_intercept, tol, max_iter, class_weight : see `KernelSVC`
        The class weight ``"balanced"`` is that of the training part of each fold.
    decision_function_shape, break_ties, dtype, random_state : see `KernelSVC`

    Attributes
    ----------
    best_params_ : dict
        ``C`` and ``gamma`` of the best mean score; of equal ones the first in ``cv_results_``.
    best_score_ : float
    best_index_ : int
    cv_results_ : dict of arrays
        As in ``GridSearchCV``: ``pandas.DataFrame(model.cv_results_)`` is a table of the cells. ``mean_fit_time`` is
        that of a fold, without the fit to all rows that the folds share.
    oof_decision_ : ndarray of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_pairs)
        Decision values of the best cell, each row's from the fold that held it out; NaN for rows that none held out.
    estimator_ : KernelSVC
        The best cell fitted to all rows; shares its arrays with this model.
    n_iter_ : ndarray of shape (n_pairs,)
        Iterations of the fit to all rows with the best parameters: in the search, or in the last fit, which starts from
        there, if those are more.
    n_kernel_evaluations_ : int
        Values k(x, z) computed in the whole search.

    All other attributes are those of `KernelSVC`, fitted to all rows with ``best_params_``.

    See Also
    --------
    KernelSVC : For given parameters.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from kernbench import KernelSVCCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = KernelSVCCV(Cs=[0.1, 1, 10], gammas=[0.003, 0.03]).fit(scale(X), y)
    >>> len(model.cv_results_["mean_test_score"])
    6
    >>> print(model.best_score_ > 0.95)
    True
    """

    loss, solver, multi_class = "hinge", "smo", "ovo"  # of all fits

    def __init__(
        self,
        Cs=(0.1, 1.0, 10.0, 100.0),
        gammas=("scale",),
        *,
        kernel="rbf",
        degree=3,
        coef0=0.0,
        cv=5,
        scoring=None,
        search="exact",
        risk=0.05,
        fit_intercept=True,
        tol=1e-3,
        max_iter=-1,
        max_seconds=None,
        cache_size=500,
        class_weight=None,
        decision_function_shape="ovr",
        break_ties=False,
        dtype="auto",
        random_state=None,
        callback=None,
        verbose=0,
    ):
        self.Cs = Cs
        self.gammas = gammas
        self.kernel = kernel
        self.degree = degree
        self.coef0 = coef0
        self.cv = cv
        self.scoring = scoring
        self.search = search
        self.risk = risk
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.dtype = dtype
        self.random_state = random_state
        self.callback = callback
        self.verbose = verbose

    def fit(self, X, y, sample_weight=None, groups=None):
        """Choose C and gamma by cross-validation and fit the model to all rows.

        Parameters
        ----------
        X, y, sample_weight
            As for `KernelSVC.fit`.
        groups : array-like of shape (n_samples,), default=None
            Groups of the rows, for splitters such as ``GroupKFold``.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            As `KernelSVC.fit`; for folds without a class or that hold rows out twice; for a score that needs
            probabilities; where the folds do not fit into memory, or `max_seconds` ends before the first cell.
        KeyboardInterrupt
            After Ctrl-C before the first cell is finished, or during the last fit.

        Warns
        -----
        sklearn.exceptions.ConvergenceWarning
            If the search ended early, or fits did not reach `tol`.
        """
        Cs, gammas = self._checked_grid()
        task = KernelTask(self._model(Cs[0], gammas[0]), X, y, sample_weight)
        first, labels = task.model, task.model.classes_[task.codes]
        if sample_weight is not None:
            sample_weight = check_weights(sample_weight, task.given)
        folds = checked_folds(self.cv, task.given, labels, task.codes, first.classes_, task.weights, groups)
        n_pairs = len(first.classes_) * (len(first.classes_) - 1) // 2
        _check_memory(len(labels), len(folds), n_pairs)
        scorer = checked_scorer(
            self.scoring, folds, labels, first.classes_, self.decision_function_shape, self.break_ties
        )
        kind = Race if self.search == "race" else GridOfCells
        search = kind(self, task, sample_weight, folds, scorer, (X, y))
        search.run(Cs, gammas)
        if search.best is None and search.status == "interrupted":
            raise KeyboardInterrupt
        if search.best is None:
            raise ValueError(
                f"max_seconds={self.max_seconds:g} ended the search before its first cell was finished: raise it, or "
                "choose fewer folds"
            )

        C, gamma, solutions, held_out = search.best
        model = self._model(C, gamma)
        task = KernelTask(model, X, y, sample_weight)
        if solutions:  # else a race ended before
            task.last = replace(task.last, solutions=_of_pairs(task, solutions), key=task.key)
        fit_task(task, [model])
        self._take(model, folds, search, held_out)
        search.warn()
        return self

    def _checked_grid(self):
        Cs = check_grid("Cs", self.Cs)
        gammas = list(np.atleast_1d(np.asarray(self.gammas, dtype=object)))
        for name, values in (("Cs", Cs), ("gammas", gammas)):
            if len(values) == 0:
                raise ValueError(f"{name} must hold at least one value")
            if len({*map(str, values)}) < len(values):
                raise ValueError(f"{name} holds a value twice: {list(values)}")
        if len(gammas) > 1 and (not isinstance(self.kernel, str) or self.kernel in WITHOUT_GAMMA):
            raise ValueError(f"kernel={self.kernel!r} does not depend on gamma: pass one value in gammas")
        check_name("search", self.search, ("exact", "race"))
        check_number("risk", self.risk, above=0, below=1)
        if self.search == "race" and self.scoring not in (None, "accuracy"):
            raise ValueError(
                f"search='race' compares whether rows are classified correctly, not scoring={self.scoring!r}: choose "
                "search='exact', or scoring=None"
            )
        if self.max_seconds is not None:  # of the search; its fits have no budgets of their own
            check_positive("max_seconds", self.max_seconds, unit=" of seconds, or None")
        for gamma in gammas:
            self._model(Cs[0], gamma)._check_parameters()
        return [float(C) for C in Cs], gammas

    def _check_parameters(self):
        """Check the parameters that can be checked without data."""
        self._checked_grid()
        check_flag("fit_intercept", self.fit_intercept)

    def _model(self, C, gamma):
        parameters = {name: value for name, value in self.get_params(deep=False).items() if name not in OWN}
        model = KernelSVC(C=C, gamma=gamma, **{**parameters, "max_seconds": None})
        model._twin = self._twin
        return model

    def _take(self, model, folds, search, held_out):
        """Set the fitted attributes."""
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]:
            delattr(self, name)
        for name, value in vars(model).items():
            if name.endswith("_") and not name.startswith("_"):
                setattr(self, name, value)
        if search.best[2]:
            self.n_iter_ = np.maximum(self.n_iter_, [solution.n_iter for solution in search.best[2]])
        self.n_kernel_evaluations_ += search.n_kernel_evaluations
        self.cv_results_ = results_of(search.cells, len(folds), self.search == "race")
        self.best_index_ = search.best_index
        self.best_params_ = dict(self.cv_results_["params"][self.best_index_])
        self.best_score_ = float(self.cv_results_["mean_test_score"][self.best_index_])
        self.oof_decision_ = held_out

    @property
    def estimator_(self):
        """The best cell fitted to all rows, a `KernelSVC`."""
        self._check_is_fitted()
        model = self._model(self.best_params_["C"], self.best_params_["gamma"])
        for name, value in vars(self).items():
            if name.endswith("_") and name not in ("best_params_", "best_score_", "best_index_", "cv_results_"):
                setattr(model, name, value)
        return model


def _of_pairs(task, solutions):
    """Return solutions over all rows as those of the problems of `task`, which have the rows of their classes only."""
    result = []
    for problem, solution in zip(task.problems, solutions, strict=True):
        own = problem.pair.of_rows
        state = {"products": own(solution.state["products"])}
        result.append(Solution(own(solution.coef), solution.intercept, state=state))
    return result


def _check_memory(n_rows, n_folds, n_pairs):
    """Raise ValueError, with the number of folds that would fit, if the starts of all folds exceed the memory."""
    free, size = psutil.virtual_memory().available, BYTES_PER_FOLD * n_rows * n_pairs
    if n_folds * size > free:
        raise ValueError(
            f"{n_folds} folds of {n_rows} rows need {n_folds * size / 1e9:.3g} GB, but {free / 1e9:.3g} GB are free: "
            f"at most {int(free // size)} folds fit"
        )
