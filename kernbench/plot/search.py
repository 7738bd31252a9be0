"""Scores of a search over its grid, with bands and the cell chosen."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from kernbench.plot._drawing import axes_for, last_step
from kernbench.validation.numbers import is_number

KINDS = ("lines", "surface")


class SearchDisplay:
    """Plot of cross-validated scores over one or two parameters of a search.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    x : array-like of shape (n_x,)
        Values of the parameter along the axis: ascending numbers, or any others, drawn at equal distances.
    lines : sequence of length n_lines
        Values of the other parameter, or one None.
    means, errors : array-like of shape (n_lines, n_x)
        Mean scores and their standard errors; NaN where a cell was not finished.
    certified : array-like of shape (2, n_lines, n_x), optional
        Bounds of the mean scores of the exact minimisers; NaN where there are none.
    best : (object, object), optional
        x and value of the other parameter of the cell chosen.
    x_name, line_name, score_name : str
        Labels.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : list of matplotlib Line2D
        Empty for a surface.
    surface_ : matplotlib QuadMesh
        Of a surface only.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from kernbench import KernelSVCCV
    >>> from kernbench.plot import SearchDisplay
    >>> from sklearn.datasets import load_iris
    >>> search = KernelSVCCV(Cs=[0.1, 1, 10], gammas=[0.1, 1.0]).fit(*load_iris(return_X_y=True))
    >>> display = SearchDisplay.from_estimator(search)
    >>> display.x_name, display.means.shape
    ('C', (2, 3))
    """

    x: np.ndarray
    lines: list[Any]
    means: np.ndarray
    errors: np.ndarray
    certified: np.ndarray | None
    best: Any
    x_name: str
    line_name: str
    score_name: str
    figure_: Any
    lines_: list[Any]
    surface_: Any

    def __init__(
        self,
        x: ArrayLike,
        lines: Sequence[Any],
        means: ArrayLike,
        errors: ArrayLike,
        *,
        certified: ArrayLike | None = None,
        best: Any = None,
        x_name: str = "C",
        line_name: str = "",
        score_name: str = "score",
    ) -> None:
        values = list(x)
        self.x = np.fromiter(values, np.float64 if all(map(is_number, values)) else object, len(values))
        self.lines = list(lines)
        self.means, self.errors = np.asarray(means, dtype=np.float64), np.asarray(errors, dtype=np.float64)
        self.certified = None if certified is None else np.asarray(certified, dtype=np.float64)
        self.best, self.x_name, self.line_name, self.score_name = best, x_name, line_name, score_name

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, score: str | None = None, kind: str = "lines", ax: Any = None, **line_kw: Any
    ) -> Self:
        """Draw the ``cv_results_`` of a fitted search.

        Parameters
        ----------
        estimator : KernelSVCCV, LinearSVCCV, GridSearchCV, …
            Fitted, with ``cv_results_`` over one or two parameters, or over a strength, kernels and gammas.
        score : str, optional
            Which of several scores; by default the one that decided.
        kind : {"lines", "surface"}, default="lines"
            A line for each value of the second parameter with a band of one standard error of the mean over the folds
            on either side, or colours over the two. Bars on the lines are the intervals of ``certify=``. Where values
            along the axis are not all numbers, points with error bars instead.
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.
        **line_kw : dict
            Passed to ``Axes.plot``, or to ``Axes.pcolormesh``.

        Returns
        -------
        SearchDisplay

        Raises
        ------
        ValueError
            For an estimator without ``cv_results_``, a score that it does not have, or parameters that are not drawn.
        """
        estimator = last_step(estimator)
        table = getattr(estimator, "cv_results_", None)
        if table is None:
            raise ValueError(
                f"{type(estimator).__name__} has no cv_results_: fit it, or take a search, such as KernelSVCCV"
            )
        name = _score_of(estimator, table, score)
        params = table["params"]
        x_name, line_names = _axes_of(params)
        columns = _distinct(own.get(x_name) for own in params)
        rows = _distinct(_line_of(own, line_names) for own in params)
        x, lines = list(columns.values()), list(rows.values())
        means, errors, *certified = np.full((4, len(lines), len(x)), np.nan)
        nothing = np.full(len(params), np.nan)
        for k, own in enumerate(params):
            place = [*rows].index(_key(_line_of(own, line_names))), [*columns].index(_key(own.get(x_name)))
            means[place] = table[f"mean_test_{name}"][k]
            errors[place] = table[f"std_test_{name}"][k] / np.sqrt(max(1, _n_splits(table, name) - 1))
            for bound, own_bounds in zip(("lower", "upper"), certified, strict=True):
                own_bounds[place] = table.get(f"certified_{bound}", nothing)[k]
        found = getattr(estimator, "best_params_", None)
        best = None if found is None else (found.get(x_name), _line_of(found, line_names))
        labels = {"x_name": x_name, "line_name": next(iter(line_names), ""), "score_name": name.replace("_", " ")}
        certified = certified if np.isfinite(certified).any() else None
        return cls(x, lines, means, errors, certified=certified, best=best, **labels).plot(ax, kind=kind, **line_kw)

    def plot(self, ax: Any = None, *, kind: str = "lines", **line_kw: Any) -> Self:
        """Draw the scores.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.
        kind : {"lines", "surface"}, default="lines"
        **line_kw : dict
            Passed to ``Axes.plot``, or to ``Axes.pcolormesh``.

        Returns
        -------
        SearchDisplay
            This one, with `ax_`, `figure_` and `lines_`.
        """
        if kind not in KINDS:
            raise ValueError(f"kind must be one of {list(KINDS)}, got {kind!r}")
        if kind == "surface" and min(self.means.shape) < 2:
            raise ValueError("a surface needs two values of each of two parameters: choose kind='lines'")
        self.ax_: Any = axes_for(ax)
        self.figure_, self.lines_ = self.ax_.figure, []
        (self._draw_lines if kind == "lines" else self._draw_surface)(line_kw)
        self.ax_.set(xlabel=self.x_name)
        return self

    def _draw_lines(self, line_kw):
        is_numeric = self.x.dtype != object
        x, own = (self.x, {}) if is_numeric else (np.arange(len(self.x)), {"linestyle": "none"})
        for k, (value, mean, error) in enumerate(zip(self.lines, self.means, self.errors, strict=True)):
            label = f"{self.line_name} = {_text(value)}" if self.line_name else "_nolegend_"
            line = self.ax_.plot(x, mean, **{"label": label, "marker": ".", **own, **line_kw})[0]
            self.lines_.append(line)
            if is_numeric:
                self.ax_.fill_between(x, mean - error, mean + error, color=line.get_color(), alpha=0.2, linewidth=0)
            else:
                self.ax_.vlines(x, mean - error, mean + error, color=line.get_color(), linewidth=1)
            if self.certified is not None:
                self.ax_.vlines(x, *self.certified[:, k], color=line.get_color(), linewidth=4, alpha=0.6)
            if self.best is not None and self.best[1] == value:
                at = [place for place, own_x in enumerate(self.x) if own_x == self.best[0]]
                self.ax_.plot(x[at], mean[at], "*", color=line.get_color(), markersize=14, label="_nolegend_")
        self.ax_.set(ylabel=f"mean {self.score_name} of held-out rows")
        if not is_numeric:
            self.ax_.set_xticks(x, [_text(value) for value in self.x])
        elif np.all(self.x > 0):
            self.ax_.set_xscale("log")
        if self.line_name:
            self.ax_.legend()

    def _draw_surface(self, line_kw):
        # Columns of equal width: on a logarithmic axis the edges of cells would lie at arithmetic means.
        columns, rows = np.arange(len(self.x)), np.arange(len(self.lines))
        self.surface_ = self.ax_.pcolormesh(columns, rows, self.means, **{"shading": "nearest", **line_kw})
        self.figure_.colorbar(self.surface_, ax=self.ax_, label=f"mean {self.score_name} of held-out rows")
        self.ax_.set(ylabel=self.line_name)
        self.ax_.set_xticks(columns, [_text(value) for value in self.x])
        self.ax_.set_yticks(rows, [_text(value) for value in self.lines])
        if self.best is not None:
            at = [*self.x].index(self.best[0]), self.lines.index(self.best[1])
            self.ax_.plot(*at, "k*", markersize=14)


def _score_of(estimator, table, score):
    """Return the name of a score: the one asked for, else the one that decided, or the only one."""
    names = [column[len("mean_test_") :] for column in table if column.startswith("mean_test_")]
    if score is None:
        refit = getattr(estimator, "refit", None)
        score = refit if isinstance(refit, str) and refit in names else names[0]
        if len(names) > 1 and score != refit:
            raise ValueError(f"several scores, none of which decided: choose score= from {names}")
    if score not in names:
        raise ValueError(f"score must be one of {names}, got {score!r}")
    return score


def _axes_of(params):
    """Return the name of the parameter of the axis, and the names of those of the lines."""
    names = list(dict.fromkeys(name for own in params for name in own))
    partly = {name for own in params for name in names if name not in own}
    if partly and (partly != {"gamma"} or "kernel" not in names):  # which not every kernel has
        raise ValueError("the cells have different parameters: draw a search over one grid")
    counts = {name: len({str(own.get(name)) for own in params}) for name in names}
    varied = [name for name in names if counts[name] > 1] or names[:1]
    if len(varied) > 2 and (len(varied) > 3 or not {"kernel", "gamma"} < {*varied}):
        raise ValueError(f"a search over {', '.join(varied)} has more than two parameters to draw")
    candidates = [name for name in varied if len(varied) < 3 or name not in ("kernel", "gamma")]
    numbers = {name: sum(is_number(own.get(name)) for own in params) for name in candidates}
    axis = max(candidates, key=lambda name: (numbers[name], counts[name]))  # the first of those with most values
    return axis, sorted((name for name in varied if name != axis), key=lambda name: name != "kernel")


def _line_of(params, names):
    """Return the value of the parameter of lines in a cell, None without one; with a second one, text of both."""
    if len(names) < 2:
        return params.get(names[0]) if names else None
    first, *others = names
    return ", ".join([_text(params[first]), *(f"{name} = {_text(params[name])}" for name in others if name in params)])


def _distinct(values):
    """Return each of the values once, by its `_key`: ascending if all are numbers, else in their order."""
    found = {_key(value): value for value in values}
    return dict(sorted(found.items())) if all(map(is_number, found.values())) else found


def _key(value):
    """Return a number, or a text for other values, which need not be hashable."""
    return float(value) if is_number(value) else str(value)


def _n_splits(table, name):
    return sum(column.startswith("split") and column.endswith(f"_test_{name}") for column in table)


def _text(value):
    return f"{value:.3g}" if is_number(value) else str(value)
