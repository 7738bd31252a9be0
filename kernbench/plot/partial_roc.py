"""A ROC curve with a window of false positive rates, a threshold and a band of confidence."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from kernbench._random import generator_of
from kernbench._typing import RandomState, Rows
from kernbench.metrics import auc_interval, partial_auc, roc_curve
from kernbench.pairs.curve import roc_vertices
from kernbench.pairs.intervals import bootstrap_band
from kernbench.pairs.labels import scored_problem
from kernbench.pairs.window import checked_fpr_range
from kernbench.plot._drawing import axes_for, last_step, name_of
from kernbench.validation.foreign import host_array
from kernbench.validation.numbers import check_number

WHOLE = (0.0, 1.0)
N_GRID = 201  # false positive rates at which the band is computed


class PartialROCDisplay:
    """Plot of a ROC curve, with the area under a part of it and the rates at a threshold.

    Make one with :meth:`from_estimator` or :meth:`from_predictions`.

    Parameters
    ----------
    fpr, tpr : ndarray of shape (n_vertices,)
        The curve.
    fpr_range : (float, float), default=(0.0, 1.0)
        The window.
    area : float, optional
        Mean height of the curve over the window: :func:`kernbench.metrics.partial_auc`.
    interval : AUCInterval, optional
        Confidence interval of `area`.
    band : (ndarray, ndarray, ndarray), optional
        False positive rates, and the lower and the upper end of the true positive rate.
    rates : (float, float), optional
        False and true positive rate at the threshold.
    name : str, optional
        Of the curve.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    line_ : matplotlib Line2D

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from kernbench import PartialAUCClassifier
    >>> from kernbench.plot import PartialROCDisplay
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = PartialAUCClassifier((0.0, 0.2)).fit(scale(X), y)
    >>> display = PartialROCDisplay.from_estimator(model, scale(X), y)
    >>> display.fpr_range, display.area > 0.9
    ((0.0, 0.2), True)
    """

    fpr: np.ndarray
    tpr: np.ndarray
    fpr_range: tuple[float, float]
    area: Any  # None only where a curve is given without it
    interval: Any
    band: Any
    rates: Any
    name: str | None
    line_: Any

    def __init__(
        self,
        fpr: np.ndarray,
        tpr: np.ndarray,
        *,
        fpr_range: tuple[float, float] = WHOLE,
        area: float | None = None,
        interval: Any = None,
        band: Any = None,
        rates: tuple[float, float] | None = None,
        name: str | None = None,
    ) -> None:
        self.fpr, self.tpr, self.fpr_range, self.area = fpr, tpr, fpr_range, area
        self.interval, self.band, self.rates, self.name = interval, band, rates, name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Rows,
        y: ArrayLike,
        *,
        fpr_range: tuple[float, float] | None = None,
        threshold: Any = "auto",
        confidence: Any = None,
        n_resamples: int = 1000,
        random_state: Any = None,
        sample_weight: ArrayLike | None = None,
        name: Any = None,
        ax: Any = None,
        **plot_kw: Any,
    ) -> Self:
        """Draw the ROC curve of a fitted classifier of two classes.

        Parameters
        ----------
        estimator : estimator
            Fitted; scores are those of ``decision_function``, or the second column of ``predict_proba``.
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels; ``estimator.classes_[1]`` is positive.
        fpr_range : (float, float), optional
            The window; by default that of the estimator, or of a pipeline's last step (where it was given by `ranks`,
            in rates of the training rows), or the whole curve.
        threshold : float, None or "auto", default="auto"
            Score that is marked on the curve; "auto" marks the rates of ``predict``, which decides ties itself.
        confidence, n_resamples, random_state, sample_weight, name, ax, **plot_kw
            See :meth:`from_predictions`.

        Returns
        -------
        PartialROCDisplay
        """
        check_is_fitted(estimator)
        if not hasattr(estimator, "classes_") or len(estimator.classes_) != 2:
            raise ValueError(f"{type(estimator).__name__} is not a fitted classifier of two classes")
        if hasattr(estimator, "decision_function"):
            score = estimator.decision_function(X)
        else:
            score = estimator.predict_proba(X)[:, 1]
        if fpr_range is None:
            own = last_step(estimator)
            has_ranks = getattr(own, "ranks", None) is not None
            fpr_range = own.fpr_range_ if has_ranks else getattr(own, "fpr_range", WHOLE)
        positive = estimator.classes_[1]
        display = cls._of_scores(
            y,
            score,
            fpr_range=fpr_range,
            confidence=confidence,
            n_resamples=n_resamples,
            random_state=random_state,
            sample_weight=sample_weight,
            pos_label=positive,
            name=name_of(estimator) if name is None else name,
        )
        if isinstance(threshold, str) and threshold == "auto":
            # Not a score of 0 or 0.5: at this score some classifiers predict the negative class.
            predicted = np.asarray(host_array(estimator.predict(X), "predictions")) == positive
            display.rates = _rates_at(1.0, *scored_problem(y, predicted, sample_weight, positive))
        elif threshold is not None:
            display.rates = _rates_at(threshold, *scored_problem(y, score, sample_weight, positive))
        return display.plot(ax, **plot_kw)

    @classmethod
    def from_predictions(
        cls,
        y: ArrayLike,
        score: ArrayLike,
        *,
        fpr_range: tuple[float, float] = WHOLE,
        threshold: float | None = None,
        confidence: float | None = None,
        n_resamples: int = 1000,
        random_state: RandomState = None,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        name: str | None = None,
        ax: Any = None,
        **plot_kw: Any,
    ) -> Self:
        """Draw the ROC curve of scores.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Two different labels.
        score : array-like of shape (n_samples,)
            Decision values or probabilities of the positive class.
        fpr_range : (float, float), default=(0.0, 1.0)
            The window, 0 <= a < b <= 1: it is shaded, and the area is that over it.
        threshold : float, optional
            Score whose rates are marked.
        confidence : float, optional
            Level of a pointwise band of the curve, by a bootstrap of each class, and of an interval of the area:
            DeLong's for the whole curve, by the bootstrap for a part (:func:`kernbench.metrics.auc_interval`). None
            draws neither.
        n_resamples : int, default=1000
            Number of bootstrap samples.
        random_state : None, int, RandomState or Generator
            Source of the bootstrap samples.
        sample_weight : array-like of shape (n_samples,), optional
            At least 0; not together with `confidence`.
        pos_label : label, optional
            The positive class; by default the larger label.
        name : str, optional
            Of the curve.
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.
        **plot_kw : dict
            Passed to :meth:`plot`.

        Returns
        -------
        PartialROCDisplay

        Raises
        ------
        ValueError
            As for :func:`kernbench.metrics.partial_auc`; `confidence` with weights.
        """
        labels = {"sample_weight": sample_weight, "pos_label": pos_label}
        options = {"confidence": confidence, "n_resamples": n_resamples, "random_state": random_state}
        display = cls._of_scores(y, score, fpr_range=fpr_range, name=name, **options, **labels)
        if threshold is not None:
            display.rates = _rates_at(threshold, *scored_problem(y, score, **labels))
        return display.plot(ax, **plot_kw)

    @classmethod
    def _of_scores(cls, y, score, *, fpr_range, confidence, n_resamples, random_state, sample_weight, pos_label, name):
        """Return a display of the curve that is not drawn yet, without rates at a threshold."""
        fpr_range, band, interval = checked_fpr_range(fpr_range), None, None
        labels = {"pos_label": pos_label}
        fpr, tpr, _ = roc_curve(y, score, sample_weight=sample_weight, **labels)
        area = partial_auc(y, score, fpr_range, sample_weight=sample_weight, **labels)
        if confidence is not None:
            if sample_weight is not None:
                raise ValueError("confidence needs samples of equal weight: leave out sample_weight, or confidence")
            rng = generator_of(random_state)
            options = {"confidence": confidence, "n_resamples": n_resamples, "random_state": rng}
            interval = auc_interval(y, score, fpr_range, **options, **labels)
            band = _band(y, score, pos_label, confidence, n_resamples, rng)
        return cls(fpr, tpr, fpr_range=fpr_range, area=area, interval=interval, band=band, name=name)

    def plot(self, ax: Any = None, *, name: str | None = None, shade_window: bool = True, **line_kw: Any) -> Self:
        """Draw the curve, the window, the threshold and the band.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default those of a new figure.
        name : str, optional
            Of the curve; by default `self.name`.
        shade_window : bool, default=True
            Shade the window, if it is not the whole curve; False for the second of two curves on the same axes.
        **line_kw : dict
            Passed to ``Axes.plot``.

        Returns
        -------
        PartialROCDisplay
            This one, with `ax_`, `figure_` and `line_`.
        """
        self.ax_: Any = axes_for(ax)
        self.figure_: Any = self.ax_.figure
        if shade_window and tuple(self.fpr_range) != WHOLE:
            self.ax_.axvspan(*self.fpr_range, color="0.5", alpha=0.15, linewidth=0)
        label = self._label(self.name if name is None else name)
        (self.line_,) = self.ax_.plot(self.fpr, self.tpr, **{"label": label or "_nolegend_", **line_kw})
        color = self.line_.get_color()
        if self.band is not None:
            self.ax_.fill_between(*self.band, color=color, alpha=0.2, linewidth=0)
        if self.rates is not None:
            self.ax_.plot(*self.rates, "o", color=color, label="_nolegend_")
        self.ax_.set(xlabel="false positive rate", ylabel="true positive rate", xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
        self.ax_.set_aspect("equal")
        if label:
            self.ax_.legend(loc="lower right")
        return self

    def _label(self, name):
        parts = [] if name is None else [name]
        if self.area is not None:
            low, high = self.fpr_range
            what = "AUC" if tuple(self.fpr_range) == WHOLE else f"pAUC({low:g}, {high:g})"
            reach = "" if self.interval is None else f" [{self.interval.low:.3f}, {self.interval.high:.3f}]"
            parts.append(f"{what} {self.area:.3f}{reach}")
        return ": ".join(parts)


def _band(y, score, pos_label, confidence, n_resamples, rng):
    """Return false positive rates and the ends of the band of the true positive rate there."""
    score, positive, _ = scored_problem(y, score, None, pos_label)
    order = np.argsort(-score, kind="stable")
    descending, positive = score[order], positive[order]
    last = np.append(np.flatnonzero(descending[:-1] != descending[1:]), len(order) - 1)  # of each distinct score
    grid = np.linspace(0.0, 1.0, N_GRID)

    def heights(weights):
        x, y = (np.append(0.0, np.cumsum(np.where(who, weights, 0.0))[last]) for who in (~positive, positive))
        return np.interp(grid, x / x[-1], y / y[-1])

    return grid, *bootstrap_band(heights, positive, confidence, n_resamples, rng)


def _rates_at(threshold, score, positive, weights):
    """Return false and true positive rate of "positive if score >= threshold"."""
    check_number("threshold", threshold)
    if weights is not None:
        score, positive, weights = (values[weights > 0] for values in (score, positive, weights))
    x, y, distinct = roc_vertices(score, positive, weights)
    reached = np.count_nonzero(distinct >= threshold)
    return tuple(float(rates[reached] / rates[-1]) for rates in (np.append(0.0, x), np.append(0.0, y)))
