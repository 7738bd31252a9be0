"""How well explicit features approximate their kernel: ‖K − Φ Φᵀ‖ over ‖K‖, Frobenius norms."""

from statistics import fmean, median

import numpy as np
from threadpoolctl import threadpool_limits

from kernbench._lazy import load
from kernbench.experiments.measure.record import columns, exponent, result
from kernbench.experiments.ours.primitives import catalogue

# The matrices are too small for a second thread to help.
one_thread = threadpool_limits.wrap(limits=1)

DRAWS = ("iid", "orthogonal", "qmc", "fastfood")
LANDMARKS = ("uniform", "stratified", "kmeans", "leverage")


def relative_error(K, features):
    """‖K − Φ Φᵀ‖ / ‖K‖.

    Parameters
    ----------
    K : ndarray of shape (n, n)
    features : ndarray of shape (n, D)
    """
    features = np.asarray(features, dtype=np.float64)
    return float(np.linalg.norm(K - features @ features.T) / np.linalg.norm(K))


class Errors:
    """A table of errors: kind of approximation, its size, the seed.

    Parameters
    ----------
    column : str
        What the kinds are called.
    """

    def __init__(self, column):
        self.column = column
        self.rows = []

    def add(self, kind, size, seed, error):
        """Add a row."""
        self.rows.append((kind, size, seed, error))

    def of(self, kind):
        """Root mean square error over seeds by size, a dict.

        The mean square is what theory speaks of: for independent draws it is that of one draw over their
        number.
        """
        found = {}
        for name, size, _, error in self.rows:
            if name == kind:
                found.setdefault(size, []).append(error)
        return {size: fmean(error**2 for error in errors) ** 0.5 for size, errors in found.items()}

    def slope(self, kind):
        """The fitted exponent of one kind; None where there are not two sizes."""
        errors = self.of(kind)
        return exponent(list(errors), list(errors.values())) if len(errors) > 1 else None

    def ratio(self, top, bottom):
        """Median over sizes of the errors of `top` over those of `bottom`."""
        above, below = self.of(top), self.of(bottom)
        return median(above[size] / below[size] for size in above if size in below)

    def table(self, size_column):
        """The rows as columns of a trace."""
        return columns((self.column, size_column, "seed", "error"), self.rows)


def _prepared(cell):
    data = load(cell.loader)(**cell.arguments)
    kernel = catalogue.get(cell.params["kernel"]).kernel(data.X_train.shape[1])
    return data, kernel, kernel(data.X_train), [cell.seed + i for i in range(cell.params["n_seeds"])]


@one_thread
def random_features(cell):
    """Error of a kernel's random features against their number, for each of its forms.

    The cell's `params` are ``kernel``, ``n_features`` (a list) and ``n_seeds``.

    Parameters
    ----------
    cell : Cell

    Returns
    -------
    dict
        ``metrics``: ``slope`` and ``error`` (at the largest number) of the first form. ``trace``: ``form``,
        ``n_features``, ``seed``, ``error``.
    """
    from kernbench.features import RandomFeatures

    data, kernel, K, seeds = _prepared(cell)
    X, forms = data.X_train, catalogue.get(cell.params["kernel"]).forms
    errors = Errors("form")
    for form in forms:
        for size in cell.params["n_features"]:
            if form == "vector" and size < 2 * X.shape[1]:
                continue  # one draw is 2 d features wide
            for seed in seeds:
                features = RandomFeatures(kernel, size, form=form, random_state=seed).fit_transform(X)
                errors.add(form, size, seed, relative_error(K, features))
    first = errors.of(forms[0])
    metrics = {"slope": errors.slope(forms[0]), "error": first[max(first)]}
    return result(data, metrics, trace=errors.table("n_features"))


@one_thread
def draws(cell):
    """Error of the Gaussian's random features against their number, for each way to draw frequencies.

    The cell's `params` are those of :func:`random_features`.

    Parameters
    ----------
    cell : Cell

    Returns
    -------
    dict
        ``metrics``: ``over_iid``, the errors of each way over those of independent draws. ``trace``:
        ``draws``, ``n_features``, ``seed``, ``error``.
    """
    from kernbench.features import RandomFeatures

    data, kernel, K, seeds = _prepared(cell)
    errors = Errors("draws")
    for way in DRAWS:
        for size in cell.params["n_features"]:
            for seed in seeds:
                model = RandomFeatures(kernel, size, form="pair", draws=way, random_state=seed)
                errors.add(way, size, seed, relative_error(K, model.fit_transform(data.X_train)))
    over = {way: errors.ratio(way, "iid") for way in DRAWS[1:]}
    return result(data, {"over_iid": over}, trace=errors.table("n_features"))


@one_thread
def nystroem(cell):
    """Error of Nyström features against their number, for each way to choose landmarks.

    The cell's `params` are ``kernel``, ``n_landmarks`` (a list) and ``n_seeds``.

    Parameters
    ----------
    cell : Cell

    Returns
    -------
    dict
        ``metrics``: ``over_uniform``, the errors of each choice over those of uniform landmarks, and
        ``error`` of k-means landmarks at the largest number. ``trace``: ``landmarks``, ``n_landmarks``,
        ``seed``, ``error``.
    """
    from kernbench.features import Nystroem

    data, kernel, K, seeds = _prepared(cell)
    errors = Errors("landmarks")
    for choice in LANDMARKS:
        for size in cell.params["n_landmarks"]:
            for seed in seeds:
                model = Nystroem(kernel, size, landmarks=choice, random_state=seed)
                features = model.fit(data.X_train, data.y_train).transform(data.X_train)
                errors.add(choice, size, seed, relative_error(K, features))
    over = {choice: errors.ratio(choice, "uniform") for choice in LANDMARKS[1:]}
    return result(data, {"over_uniform": over}, trace=errors.table("n_landmarks"))
