"""The course of fits: a column of `trace_` against time or work."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kernbench._names import unknown_name
from kernbench.plot._drawing import axes_for, named

GAPS = ("gap", "relative_gap")  # computed from the objective and the certificate
LABELS = {
    "seconds": "seconds",
    "n_iter": "iterations",
    "n_kernel_evaluations": "kernel values",
    "objective": "objective",
    "gap": "certified distance to the optimum",
    "relative_gap": "certified relative distance to the optimum",
}


class TraceDisplay:
    """Plot of the traces of fits: objective, gap or other columns against time or work.

    Make one with :meth:`from_estimator`. A fit records a point about every 50 ms at most; for a finer trace, fit with a
    callback whose attribute ``pace`` is 0.

    Parameters
    ----------
    curves : dict of str to list of (ndarray, ndarray)
        By the name of a fit, x and y of each of its problems (a pair of classes, for example).
    x, y : str
        The quantities on the axes: columns of `trace_`, ``"gap"`` or ``"relative_gap"``.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : list of matplotlib Line2D
        In the order of the curves.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from kernbench import KernelSVC
    >>> from kernbench.plot import TraceDisplay
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> fits = {solver: KernelSVC(solver=solver).fit(X, y) for solver in ("smo", "sdca")}
    >>> display = TraceDisplay.from_estimator(fits, x="n_kernel_evaluations", y="relative_gap")
    >>> [line.get_label() for line in display.lines_]
    ['smo', 'sdca']
    """

    curves: dict[str, Any]
    x: str
    y: str
    figure_: Any
    lines_: list[Any]

    def __init__(self, curves: dict[str, Any], *, x: str = "seconds", y: str = "objective") -> None:
        self.curves, self.x, self.y = curves, x, y

    @classmethod
    def from_estimator(
        cls,
        estimators: Any,
        *,
        x: str = "seconds",
        y: str = "objective",
        same_problem: bool = False,
        ax: Any = None,
        **line_kw: Any,
    ) -> Self:
        """Draw the traces of fitted estimators.

        Parameters
        ----------
        estimators : estimator, list of estimators, or dict of str to estimator
            Fitted, with a `trace_`; of a pipeline its last step. The keys of a dict are the names of the curves.
        x : str, default="seconds"
            A column of the traces: ``"seconds"``, ``"n_kernel_evaluations"``, ``"n_iter"`` or one of a callback.
        y : str, default="objective"
            A column of the traces: ``"objective"`` or what a callback or `validation` added; or ``"gap"``, a bound on
            the distance of each recorded objective to the optimum, by the certificate of the fitted model: the
            optimum is at least ``objective_ - duality_gap_``, and at most ``objective_`` but for the rounding error of
            that sum, which is part of `duality_gap_`; or ``"relative_gap"``, that over ``objective_``.
        same_problem : bool, default=False
            Whether all estimators minimise one objective on the same rows. The optimum then lies between the best of
            their certified bounds, so that gaps are not coarser than those of the best fit.
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.
        **line_kw : dict
            Passed to ``Axes.plot``.

        Returns
        -------
        TraceDisplay

        Raises
        ------
        ValueError
            An estimator that is not fitted or keeps no trace, a column that a trace does not have, a gap without a
            certificate.
        """
        fits = named(estimators)
        for name, estimator in fits.items():
            check_is_fitted(estimator)
            if not hasattr(estimator, "trace_"):
                raise ValueError(f"{name} keeps no trace_ as models of kernbench do; of a search take best_estimator_")
        bounds = {name: _bounds(name, estimator) for name, estimator in fits.items()} if y in GAPS else {}
        if same_problem and bounds:
            bounds = dict.fromkeys(bounds, _tightest(bounds))
        curves = {}
        for name, estimator in fits.items():
            curves[name] = [
                (_column(trace, x, name), _values(trace, y, name, bounds[name][k] if bounds else None))
                for k, trace in enumerate(_traces(estimator))
            ]
        return cls(curves, x=x, y=y).plot(ax, **line_kw)

    def plot(self, ax: Any = None, **line_kw: Any) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.
        **line_kw : dict
            Passed to ``Axes.plot``.

        Returns
        -------
        TraceDisplay
            This one, with `ax_`, `figure_` and `lines_`.
        """
        self.ax_: Any = axes_for(ax)
        self.figure_, self.lines_ = self.ax_.figure, []
        for name, problems in self.curves.items():
            style = {"label": name, **line_kw}
            for x, y in problems:
                self.lines_ += self.ax_.plot(x, y, **style)
                style |= {"label": "_nolegend_", "color": self.lines_[-1].get_color()}
        self.ax_.set(xlabel=LABELS.get(self.x, self.x), ylabel=LABELS.get(self.y, self.y.replace("_", " ")))
        if self.y in GAPS:
            self.ax_.set_yscale("log")
        self.ax_.legend()
        return self


def _traces(estimator):
    return [estimator.trace_] if isinstance(estimator.trace_, Mapping) else estimator.trace_


def _column(trace, column, name, others=()):
    """Return a column as floats, NaN where a callback had not begun to record it; `others` are known, too."""
    if column not in trace:
        raise ValueError(f"the trace of {name}: {unknown_name('column', column, [*trace, *others])}")
    try:
        return np.array(trace[column], dtype=np.float64)  # None becomes NaN
    except (TypeError, ValueError):
        raise ValueError(f"the trace of {name}: column {column!r} does not hold numbers") from None


def _bounds(name, estimator):
    """Return the least value that the optimum of each problem can have, its objective, and that plus its gap.

    The optimum is at most the objective of the model. `objective_` may be less than that by its rounding error, which
    is included in the gap.
    """
    gap = getattr(estimator, "duality_gap_", None)
    gaps = np.full(1, np.nan) if gap is None else np.atleast_1d(np.asarray(gap, dtype=np.float64))
    if not np.all(np.isfinite(gaps)):
        raise ValueError(
            f"{name} has no certificate (duality_gap_ is {gap}): draw y='objective', or take a solver with a gap"
        )
    objective = np.atleast_1d(np.asarray(estimator.objective_, dtype=np.float64))
    return np.stack([objective - gaps, objective, objective + gaps], axis=1)


def _tightest(bounds):
    """Return the common bounds of fits of one problem each, or of the same problems."""
    if len({len(found) for found in bounds.values()}) > 1:
        raise ValueError("same_problem=True needs fits of the same problems; these have different numbers of them")
    low, objective, limit = np.moveaxis(np.array(list(bounds.values())), 2, 0)
    low, high, limit = low.max(axis=0), objective.min(axis=0), limit.min(axis=0)
    high = np.where(low > high, limit, high)  # the least objective is rounded to below the optimum
    if np.any(low > high + 1e-6 * np.abs(high)):
        raise ValueError(
            "same_problem=True, but the certified ranges of the optimum do not overlap: these fits minimise different "
            "objectives"
        )
    return np.stack([np.minimum(low, high), high, limit], axis=1)


def _values(trace, y, name, bounds):
    if y not in GAPS:
        return _column(trace, y, name, GAPS)
    low, high, _ = bounds
    objective = _column(trace, "objective", name)
    gap = np.maximum(objective - low, high - objective)  # primal objectives are above, dual ones below the optimum
    if y != "relative_gap":
        return gap
    if high == 0:
        raise ValueError(f"the relative gap of {name} is not defined: its optimum is 0; choose y='gap'")
    return gap / abs(high)
