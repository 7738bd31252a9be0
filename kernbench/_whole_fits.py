"""Fits that fail leave an object as it was."""

from functools import wraps
from types import FunctionType
from typing import Any

LEARNING = ("fit", "fit_chunks")  # methods that start from scratch
KEPT = {"_kept_cells"}  # of a search with a warm start: cells that were finished hold, whatever failed later


def whole_or_not(learn):
    """Return the method, changed so that the object stays as it was if it fails before its run has an outcome.

    Labels, kernel and precision are set before the run. Together with the coefficients of an earlier fit they would
    form a model of neither fit.
    """

    @wraps(learn)
    def learn_or_restore(self, *args, **kwargs):
        before = dict(vars(self))
        try:
            return learn(self, *args, **kwargs)
        except BaseException:
            if vars(self).get("n_iter_") is before.get("n_iter_"):  # else it is fitted as far as the run got
                for name in vars(self).keys() - before.keys() - KEPT:
                    delattr(self, name)
                vars(self).update((name, value) for name, value in before.items() if name not in KEPT)
            raise

    return learn_or_restore


class WholeFits:
    """Mix-in of estimators and transformers: the methods of a subclass that start from scratch are `whole_or_not`."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name in LEARNING:
            if isinstance(vars(cls).get(name), FunctionType):
                setattr(cls, name, whole_or_not(vars(cls)[name]))
