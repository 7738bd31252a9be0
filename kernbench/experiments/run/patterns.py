"""Patterns over ``experiment/dataset/method``: which cells of a run are wanted, and which are not."""

from difflib import get_close_matches
from fnmatch import fnmatchcase


def matches(path, pattern):
    """Whether a pattern, which may leave out what follows, matches ``experiment/dataset/method``."""
    return fnmatchcase(path, pattern) or fnmatchcase(path, f"{pattern}/*")


class Patterns:
    """Patterns of the shell (``*``, ``?``, ``[…]``) that choose cells.

    A pattern may leave out what follows: ``peers-svm`` means ``peers-svm/*/*``. A ``*`` matches slashes too.

    Parameters
    ----------
    only : collection of str, optional
        A cell is chosen if one of these matches; all are by default.
    skip : collection of str, optional
        … and none of these does.
    """

    def __init__(self, only=None, skip=None):
        self.only, self.skip = tuple(only or ()), tuple(skip or ())
        self._matched, self._seen = set(), {}

    def names(self, experiment, dataset):
        """Whether a pattern of `only` names this data set of this experiment, without a wildcard for the data set."""
        parts = (pattern.split("/") for pattern in self.only)
        return any(len(p) > 1 and p[1] == dataset and fnmatchcase(experiment, p[0]) for p in parts)

    def skips(self, experiment, dataset, method):
        """Whether a pattern of `skip` matches this place, which need not run otherwise."""
        path = f"{experiment}/{dataset}/{method}"
        return any([self._matches(path, pattern) for pattern in self.skip])

    def choose(self, experiment, dataset, method):
        """Whether the cells of this place are wanted."""
        path = f"{experiment}/{dataset}/{method}"
        self._seen[path] = None
        # Each list is searched whole, so that every pattern that matches something is known to.
        wanted, unwanted = ([p for p in listed if self._matches(path, p)] for listed in (self.only, self.skip))
        return bool(wanted or not self.only) and not unwanted

    def filter(self, cells):
        """Return the chosen cells, with those they depend on, in their order.

        Parameters
        ----------
        cells : list of Cell
        """
        if not (self.only or self.skip):
            return cells
        chosen = {c.place: self.choose(c.experiment, c.dataset, c.method) for c in cells}
        skipped = {c.place for c in cells if self.skips(c.experiment, c.dataset, c.method)}
        for cell in reversed(cells):  # each comes after the one it depends on
            if chosen[cell.place] and cell.needs is not None:
                chosen[cell.needs] = cell.needs not in skipped
        for cell in cells:
            if cell.needs is not None and not chosen[cell.needs]:
                chosen[cell.place] = False
        return [cell for cell in cells if chosen[cell.place]]

    def refuse_unmatched(self):
        """Raise ValueError, with the nearest places, for a pattern that matched none of those asked about."""
        for pattern in (*self.only, *self.skip):
            if pattern not in self._matched:
                near = get_close_matches(pattern, self._nearby(pattern), n=3, cutoff=0.4)
                hint = f"; the nearest: {', '.join(near)}" if near else ""
                raise ValueError(f"the pattern {pattern!r} matches nothing{hint} (experiment/dataset/method)")

    def _matches(self, path, pattern):
        found = matches(path, pattern)
        if found:
            self._matched.add(pattern)
        return found

    def _nearby(self, pattern):
        """All places, cut to as many parts as the pattern has."""
        n_parts = pattern.count("/") + 1
        return list(dict.fromkeys("/".join(path.split("/")[:n_parts]) for path in self._seen))
