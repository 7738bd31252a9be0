"""The support vector classifier on explicit features with C chosen by cross-validation: `LinearSVCCV`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from numpy.typing import ArrayLike

from kernbench._typing import Callback, RandomState, Rows
from kernbench.estimators.arguments.training_data import check_training_data
from kernbench.estimators.search.folds import Examples
from kernbench.estimators.search.frame import Search
from kernbench.estimators.search.held_out import HeldOut
from kernbench.estimators.svm.linear_classifier import LinearClassifier, labels_of
from kernbench.estimators.svm.linear_svc import LinearSVC
from kernbench.estimators.svm.linear_task import LinearTask


class LinearSVCCV(Search, LinearClassifier):
    """`LinearSVC` with ``C`` chosen by cross-validation, each fold along a path of warm starts.

    Every value of C is solved to `tol` in every fold, as in ``GridSearchCV(LinearSVC(), {"C": Cs})``, starting from the
    solution of the fold for the previous C.

    Parameters
    ----------
    Cs : array-like of shape (n_Cs,), default=(0.01, 0.1, 1.0, 10.0, 100.0)
        Each > 0, without repetitions; solved from small to large.
    loss : {"auto", "squared_hinge", "hinge", "log_loss"}, default="auto"
        As in `LinearSVC`, like all parameters that are not explained here.
    cv : int, splitter or iterable, default=5
        As in `KernelSVCCV`.
    scoring : str, callable, list, tuple, set or dict, default=None
        As in ``GridSearchCV``; None means accuracy. Scores of probabilities are not available. Sample weights are
        passed to scores that accept them, as in ``GridSearchCV`` of scikit-learn 1.9. Unlike that of ``GridSearchCV``,
        the method ``score`` returns the accuracy, whatever `scoring` is.
    refit : bool, str or callable, default=True
        As in `KernelSVCCV`.
    n_jobs : int, default=None
        Number of folds that are solved at the same time, in the workers of joblib's backend.
    memory : str or Path, default=None
        Folder for finished cells, which another search does not solve again; see `KernelSVCCV`.
    warm_start : bool, default=False
        Keep the finished cells for the next ``fit``, which solves only the new cells of an extended grid, if rows,
        labels, weights, folds and other parameters are the same. Otherwise all cells are solved again.
    max_seconds : float, default=None
        Time budget of the search in seconds. If it ends early, the best of the finished cells is taken, with a warning;
        Ctrl-C during the search has the same effect.
    callback : callable or list of callables, default=None
        Called during the last fit, the one to all rows; see `KernelSVC`.
    verbose : int, default=0
        Whether to show a progress bar over the cells.
    solver, tol, max_iter, fit_intercept, intercept_scaling, class_weight : see `LinearSVC`
        The class weight ``"balanced"`` is that of the training part of each fold.
    dtype, random_state, solver_options : see `LinearSVC`

    Attributes
    ----------
    best_params_ : dict
        ``C`` of the best mean score; of equal ones the first in ``cv_results_``.
    best_score_ : float
    best_index_ : int
    cv_results_ : dict of arrays
        As in ``GridSearchCV``.
    oof_decision_ : ndarray of shape (n_samples,) or (n_samples, n_classes)
        Out-of-fold decision values of the best cell: each row's from the fold that held it out; NaN for rows that no
        fold held out.
    n_splits_ : int
    multimetric_ : bool
    refit_time_ : float
        Seconds of the last fit.
    estimator_ : LinearSVC
        The best cell fitted to all rows; shares its arrays with this model.

    All other attributes are those of `LinearSVC`, fitted to all rows with ``best_params_``.

    See Also
    --------
    LinearSVC : For a given C.
    KernelSVCCV : The same with a kernel.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from kernbench import LinearSVCCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LinearSVCCV(Cs=[0.001, 0.01, 0.1], random_state=0).fit(scale(X), y)
    >>> print(model.best_score_ > 0.95)
    True
    """

    _estimator, _grid, _make_task = LinearSVC, {"Cs": "C"}, LinearTask

    def __init__(
        self,
        Cs: ArrayLike = (0.01, 0.1, 1.0, 10.0, 100.0),
        *,
        loss: str = "auto",
        cv: Any = 5,
        scoring: Any = None,
        refit: bool | str | Callable[..., Any] = True,
        n_jobs: int | None = None,
        memory: str | Path | None = None,
        warm_start: bool = False,
        solver: str = "auto",
        tol: float = 1e-4,
        max_iter: int = -1,
        max_seconds: float | None = None,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        class_weight: dict[Any, Any] | str | None = None,
        dtype: str = "auto",
        random_state: RandomState = None,
        callback: Callback = None,
        verbose: int = 0,
        solver_options: dict[str, Any] | None = None,
    ) -> None:
        self.Cs = Cs
        self.loss = loss
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.n_jobs = n_jobs
        self.memory = memory
        self.warm_start = warm_start
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.dtype = dtype
        self.random_state = random_state
        self.callback = callback
        self.verbose = verbose
        self.solver_options = solver_options

    def fit(
        self, X: Rows, y: ArrayLike, sample_weight: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> Self:
        """Choose C by cross-validation and fit the model to all rows.

        Parameters
        ----------
        X, y, sample_weight
            As for `LinearSVC.fit`, but a class whose examples all have weight 0 is refused, not left out.
        groups : array-like of shape (n_samples,), default=None
            Groups of the rows, for splitters such as ``GroupKFold``.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            As `LinearSVC.fit`; for a class without weight; for folds without a class or that hold rows out twice; for a
            score that needs probabilities; where `max_seconds` ends before the first cell.
        KeyboardInterrupt
            After Ctrl-C before the first cell is finished, or during the last fit; the model is then fitted as far as
            that got.

        Warns
        -----
        sklearn.exceptions.ConvergenceWarning
            If the search ended early, or fits did not reach `tol`.
        """
        return self._search(X, y, sample_weight, groups)

    def _read(self, X, y, sample_weight):
        model = self._model({"C": self._first_strength()})
        X, codes, sample_weight, weights = check_training_data(model, X, y, sample_weight, all_classes=True)
        return Examples(X, model.classes_[codes], sample_weight, model.classes_, codes, weights)

    def _held_out(self, values, examples):
        decisions = values[:, 0] if values.shape[1] == 1 else values
        return HeldOut.of_classes(decisions, examples.classes, labels_of(decisions, examples.classes))
