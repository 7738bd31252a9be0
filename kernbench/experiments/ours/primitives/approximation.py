"""How well explicit features approximate their kernel: ‖K − Φ Φᵀ‖ over ‖K‖, Frobenius norms."""

from statistics import median

from threadpoolctl import threadpool_limits

from kernbench._lazy import load
from kernbench.experiments.measure.record import columns, exponent, result
from kernbench.experiments.ours.primitives import catalogue
from kernbench.experiments.ours.primitives.errors import DRAWS, LANDMARKS, relative_error, root_mean_square

# The matrices are too small for a second thread to help.
one_thread = threadpool_limits.wrap(limits=1)


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
        """Root mean square error over seeds by size, a dict."""
        found = {}
        for name, size, _, error in self.rows:
            if name == kind:
                found.setdefault(size, []).append(error)
        return {size: root_mean_square(errors) for size, errors in found.items()}

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


def _errors(cell, column, kinds, sizes, make):
    """The data, and the errors of ``make(kernel, kind, size, seed)``, a transformer, for all kinds, sizes and seeds.

    A transformer of None is left out.
    """
    data = load(cell.loader)(**cell.arguments)
    X, y = data.X_train, data.y_train
    kernel = catalogue.get(cell.params["kernel"]).kernel(X.shape[1])
    K, errors = kernel(X), Errors(column)
    for kind in kinds:
        for size in sizes:
            for seed in range(cell.seed, cell.seed + cell.params["n_seeds"]):
                features = make(kernel, kind, size, seed)
                if features is not None:
                    errors.add(kind, size, seed, relative_error(K, features.fit(X, y).transform(X)))
    return data, errors


@one_thread
def random_features(cell):
    """Error of a kernel's random features against their number, for each of its forms.

    The cell's `params` are ``kernel``, ``n_features`` (a list) and ``n_seeds``.

    Returns
    -------
    dict
        ``metrics``: ``slope`` and ``error`` (at the largest number) of the first form. ``trace``: ``form``,
        ``n_features``, ``seed``, ``error``.
    """
    from kernbench.features import RandomFeatures

    def make(kernel, form, size, seed):
        if form == "vector" and size < 2 * cell.arguments["n_columns"]:
            return None  # one draw is 2 d features wide
        return RandomFeatures(kernel, size, form=form, random_state=seed)

    forms = catalogue.get(cell.params["kernel"]).forms
    data, errors = _errors(cell, "form", forms, cell.params["n_features"], make)
    first = errors.of(forms[0])
    metrics = {"slope": errors.slope(forms[0]), "error": first[max(first)]}
    return result(data, metrics, trace=errors.table("n_features"))


@one_thread
def draws(cell):
    """Error of the Gaussian's random features against their number, for each way to draw frequencies.

    The cell's `params` are those of :func:`random_features`.

    Returns
    -------
    dict
        ``metrics``: ``over_iid``, the errors of each way over those of independent draws. ``trace``:
        ``draws``, ``n_features``, ``seed``, ``error``.
    """
    from kernbench.features import RandomFeatures

    def make(kernel, way, size, seed):
        return RandomFeatures(kernel, size, form="pair", draws=way, random_state=seed)

    data, errors = _errors(cell, "draws", DRAWS, cell.params["n_features"], make)
    over = {way: errors.ratio(way, "iid") for way in DRAWS[1:]}
    return result(data, {"over_iid": over}, trace=errors.table("n_features"))


@one_thread
def nystroem(cell):
    """Error of Nyström features against their number, for each way to choose landmarks.

    The cell's `params` are ``kernel``, ``n_landmarks`` (a list) and ``n_seeds``.

    Returns
    -------
    dict
        ``metrics``: ``over_uniform``, the errors of each choice over those of uniform landmarks. ``trace``:
        ``landmarks``, ``n_landmarks``, ``seed``, ``error``.
    """
    from kernbench.features import Nystroem

    def make(kernel, choice, size, seed):
        return Nystroem(kernel, size, landmarks=choice, random_state=seed)

    data, errors = _errors(cell, "landmarks", LANDMARKS, cell.params["n_landmarks"], make)
    over = {choice: errors.ratio(choice, "uniform") for choice in LANDMARKS[1:]}
    return result(data, {"over_uniform": over}, trace=errors.table("n_landmarks"))
