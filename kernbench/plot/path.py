"""Coefficients or scores along C or alpha."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from kernbench._typing import Rows
from kernbench.plot._drawing import axes_for, last_step

STRENGTHS = ("C", "alpha")
NOT_OF_THE_PROBLEM = ("callback", "n_jobs", "random_state", "verbose")  # parameters that may differ along a path
QUANTITIES = {
    "coef": ("coefficients", lambda model: last_step(model).coef_),
    "objective": ("objective", lambda model: last_step(model).objective_),
    "n_support": ("support vectors", lambda model: len(last_step(model).support_)),
}


class PathDisplay:
    """Plot of coefficients, scores or other quantities along a regularisation path.

    Make one with :meth:`from_models` or :meth:`from_estimator`.

    Parameters
    ----------
    strengths : array-like of shape (n_models,)
        Values of C or alpha.
    values : array-like of shape (n_models, n_lines)
        What is drawn against them.
    errors : array-like of shape (n_models, n_lines), optional
        Half the width of a band around each line.
    chosen : float, optional
        Strength that is marked.
    strength_name, value_name : str
        Labels of the axes.
    names : list of str, optional
        Names of the lines.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : list of matplotlib Line2D

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from kernbench import LinearSVC
    >>> from kernbench.plot import PathDisplay
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> display = PathDisplay.from_models(LinearSVC().path(X, y, [0.01, 0.1, 1.0]))
    >>> display.strength_name, display.values.shape
    ('C', (3, 30))
    """

    strengths: np.ndarray
    values: np.ndarray
    errors: np.ndarray | None
    chosen: float | None
    strength_name: str
    value_name: str
    names: list[Any]
    figure_: Any
    lines_: list[Any]

    def __init__(
        self,
        strengths: ArrayLike,
        values: ArrayLike,
        *,
        errors: ArrayLike | None = None,
        chosen: float | None = None,
        strength_name: str = "C",
        value_name: str = "",
        names: list[str] | None = None,
    ) -> None:
        self.strengths, self.values = np.asarray(strengths, dtype=np.float64), np.asarray(values, dtype=np.float64)
        self.errors = None if errors is None else np.asarray(errors, dtype=np.float64)
        self.chosen, self.strength_name, self.value_name, self.names = chosen, strength_name, value_name, names

    @classmethod
    def from_models(
        cls,
        models: list[Any],
        values: str | Callable[..., Any] = "coef",
        *,
        X: Rows | None = None,
        y: ArrayLike | None = None,
        ax: Any = None,
        **line_kw: Any,
    ) -> Self:
        """Draw what ``path`` of an estimator returned.

        Parameters
        ----------
        models : list of estimators
            Fitted, with different C or different alpha.
        values : {"coef", "objective", "n_support", "score"} or callable, default="coef"
            What to draw: coefficients of a linear model, the objective, the number of support vectors, the score on
            `X` and `y`, or what ``values(model)`` returns, a number or an array. The first three are those of the last
            step of a pipeline.
        X, y : array-like, optional
            Rows, which may be sparse, and labels or targets of the score.
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.
        **line_kw : dict
            Passed to ``Axes.plot``.

        Returns
        -------
        PathDisplay

        Raises
        ------
        ValueError
            Fewer than two models, or models that do not differ in C or alpha alone (`callback`, `n_jobs`,
            `random_state` and `verbose` do not count); values that these models do not have.
        """
        whole = list(models)
        models = [last_step(model) for model in whole]
        for model in models:
            check_is_fitted(model)
        name = _strength_of(models)
        label, compute = _quantity(values, X, y)
        try:
            found = [np.ravel(compute(model)) for model in whole]
        except AttributeError as error:
            raise ValueError(f"values={values!r} does not exist for these models: {error}") from None
        if len({len(row) for row in found}) > 1:
            raise ValueError(f"values={values!r} has different lengths along the path")
        strengths = np.array([getattr(model, name) for model in models], dtype=np.float64)
        order = np.argsort(strengths)
        feature_names = getattr(models[0], "feature_names_in_", None) if values == "coef" else None
        fits = feature_names is not None and len(feature_names) == len(found[0])
        names = list(feature_names) if fits else None
        return cls(strengths[order], np.array(found)[order], strength_name=name, value_name=label, names=names).plot(
            ax, **line_kw
        )

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **line_kw: Any) -> Self:
        """Draw the validation scores of a fitted :class:`~kernbench.ROCSVCCV` with a band of one standard error.

        Parameters
        ----------
        estimator : ROCSVCCV
            Fitted.
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.
        **line_kw : dict
            Passed to ``Axes.plot``.

        Returns
        -------
        PathDisplay

        Raises
        ------
        ValueError
            An estimator that is not fitted, or has no validation scores along alpha.
        """
        estimator = last_step(estimator)
        check_is_fitted(estimator)
        if not hasattr(estimator, "mean_auc_"):
            raise ValueError(
                f"{type(estimator).__name__} has no validation scores along alpha: take ROCSVCCV, or draw the models "
                "of `path` by PathDisplay.from_models"
            )
        order = np.argsort(estimator.alphas_)
        return cls(
            np.asarray(estimator.alphas_)[order],
            estimator.mean_auc_[order, None],
            errors=estimator.standard_error_[order, None],
            chosen=float(estimator.alpha_),
            strength_name="alpha",
            value_name="validation AUC",
        ).plot(ax, **line_kw)

    def plot(self, ax: Any = None, **line_kw: Any) -> Self:
        """Draw the lines.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.
        **line_kw : dict
            Passed to ``Axes.plot``.

        Returns
        -------
        PathDisplay
            This one, with `ax_`, `figure_` and `lines_`.
        """
        self.ax_: Any = axes_for(ax)
        self.figure_, self.lines_ = self.ax_.figure, []
        for k in range(self.values.shape[1]):
            label = "_nolegend_" if self.names is None else self.names[k]
            line = self.ax_.plot(self.strengths, self.values[:, k], **{"label": label, **line_kw})[0]
            self.lines_.append(line)
            if self.errors is not None:
                ends = (self.values[:, k] + sign * self.errors[:, k] for sign in (-1, 1))
                self.ax_.fill_between(self.strengths, *ends, color=line.get_color(), alpha=0.2, linewidth=0)
        if self.chosen is not None:
            self.ax_.axvline(
                self.chosen, color="0.5", linestyle="--", label=f"{self.strength_name} = {self.chosen:.3g}"
            )
        self.ax_.set(xscale="log", xlabel=self.strength_name, ylabel=self.value_name)
        if self.ax_.get_legend_handles_labels()[0]:
            self.ax_.legend()
        return self


def _strength_of(models):
    """Return the name of the parameter that changes along a path."""
    if len(models) < 2:
        raise ValueError(f"a path needs at least two models, got {len(models)}")
    for name in STRENGTHS:
        found = {getattr(model, name, None) for model in models}
        if len(found) > 1 and None not in found:
            _check_alike(models, name)
            return name
    raise ValueError("these models do not differ in C or alpha: take what `path` returns, or fits for several values")


def _check_alike(models, strength):
    """Raise ValueError unless the models differ in their strength alone."""
    first = models[0]
    for model in models[1:]:
        if type(model) is not type(first):
            raise ValueError(f"a path is of one estimator, got {type(first).__name__} and {type(model).__name__}")
        known = first.get_params(deep=False)
        for name, value in model.get_params(deep=False).items():
            if name not in (strength, *NOT_OF_THE_PROBLEM) and not _is_same(value, known[name]):
                raise ValueError(
                    f"these models differ in {name}, too, and a path is along {strength} alone: got "
                    f"{name}={known[name]!r} and {name}={value!r}"
                )


def _is_same(value, other):
    """Return whether two values of a parameter are equal."""
    if value is other:
        return True
    if isinstance(value, dict) and isinstance(other, dict):
        return value.keys() == other.keys() and all(_is_same(value[key], other[key]) for key in value)
    if isinstance(value, list | tuple) and isinstance(other, list | tuple):
        return len(value) == len(other) and all(map(_is_same, value, other))
    if hasattr(value, "shape") or hasattr(other, "shape"):
        if np.shape(value) != np.shape(other):
            return False
        return (value != other).nnz == 0 if issparse(value) and issparse(other) else np.array_equal(value, other)
    return bool(value == other)


def _quantity(values, X, y):
    """Return the label of an axis, and a function that computes values of a model."""
    if callable(values):
        return getattr(values, "__name__", "").strip("<>").replace("_", " "), values
    if values == "score":
        if X is None or y is None:
            raise ValueError("values='score' needs X= and y=")
        return "score", lambda model: model.score(X, y)
    if not isinstance(values, str) or values not in QUANTITIES:
        raise ValueError(f"values must be one of {[*QUANTITIES, 'score']} or callable, got {values!r}")
    return QUANTITIES[values]
