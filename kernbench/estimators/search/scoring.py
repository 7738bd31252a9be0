"""The scores of a search: any of scikit-learn's scorers, on held-out rows."""

from dataclasses import dataclass
from functools import update_wrapper
from inspect import signature
from numbers import Real
from warnings import catch_warnings, simplefilter

import numpy as np
from sklearn import config_context

from kernbench._warnings import warn

# Searches pass weights to all scores that take them: scorers need not have requested them.
WITHOUT_ROUTING = {"enable_metadata_routing": False}


@dataclass(frozen=True)
class Scoring:
    """The scores of a search.

    Attributes
    ----------
    scorer : callable
        Returns a number, or a dict of numbers by name.
    names : tuple of str
        Names of the scores; ``("score",)`` of a single one.
    decides : str or None
        The score of which the best cell has the largest mean; None where a function decides, or none of several.
    needs_probabilities : bool
    takes_weights : bool
        Whether weights of rows enter them, as in ``GridSearchCV``.
    of_rows : callable, optional
        Of a single score that is a mean over rows, ``of_rows(held_out, y)`` returns its terms. The means are then taken
        here: scikit-learn's checks of the rows of a fold take a millisecond, more than the fold of a single row.
    least_rows : int, default=1
        Smallest number of held-out rows for which a score is defined; below, it is NaN, and the search warns once.
    takes_rows : bool, default=False
        Whether the scorer is called with rows as they were passed, not with their indices: a function of one's own.
    """

    scorer: object
    names: tuple
    decides: str
    needs_probabilities: bool
    takes_weights: bool
    of_rows: object = None
    least_rows: int = 1
    takes_rows: bool = False

    def of(self, held_out, folds, examples):
        """Return a dict of the scores of each fold."""
        y, weights = examples.y, examples.sample_weight if self.takes_weights else None
        if self.of_rows is not None:
            terms, tests = self.of_rows(held_out, y), [fold.test for fold in folds]
            found = [np.average(terms[own], weights=None if weights is None else weights[own]) for own in tests]
            return {self.names[0]: np.array(found)}
        own = [{} if weights is None else {"sample_weight": weights[fold.test]} for fold in folds]
        with config_context(**WITHOUT_ROUTING):
            found = [self._of_fold(held_out, fold, examples, given) for fold, given in zip(folds, own, strict=True)]
        return {name: np.array([values[name] for values in found], dtype=np.float64) for name in self.names}

    def _of_fold(self, held_out, fold, examples, given):
        """Return a dict of the scores of a fold; as in ``GridSearchCV`` each is NaN where its scorer fails."""
        if len(fold.test) < self.least_rows:
            return dict.fromkeys(self.names, np.nan)
        try:
            value = self.scorer(*_scored(held_out, fold, examples, self.takes_rows), examples.y[fold.test], **given)
        except Exception as error:  # a deviance, for example, is not defined for every prediction
            warn(f"a score of a fold is NaN, as scoring it raised {type(error).__name__}: {error}")
            return dict.fromkeys(self.names, np.nan)
        if not isinstance(value, dict):
            value = {"score": value}
        if set(value) != set(self.names):
            raise ValueError(
                f"scoring returned the scores {', '.join(map(str, value))} for a fold, and {', '.join(self.names)} for "
                "a model that predicts a constant: it must return the same names for any model"
            )
        for name in (name for name, one in value.items() if isinstance(one, str)):
            warn(f"the score {name!r} of a fold is NaN, as scoring it raised {_last_line(value[name])}")
            value[name] = np.nan
        return value


def _last_line(traceback):
    """Return the type and the message of the error of a traceback, which stands for a score that failed."""
    return traceback.rstrip().rpartition("\n")[2]


def _scored(held_out, fold, examples, with_rows):
    """Return the model and the rows that a scorer is called with."""
    if not with_rows:
        return held_out, fold.test[:, None]
    rows = examples.given_to_scorer(fold)
    return held_out.on(rows, fold.test), rows


def checked_scoring(search, folds, examples):
    """Return the `Scoring` of a search; raise ValueError where decision values, labels and `refit` do not suffice."""
    from sklearn.metrics import check_scoring

    scoring, refit = search.scoring, search.refit
    nothing = search._nothing(examples)
    if isinstance(scoring, list | tuple | set | dict) and len(scoring) == 0:
        raise ValueError(f"scoring is empty: name at least one score, or pass None for {search._score_name}")
    several = scoring.values() if isinstance(scoring, dict) else scoring
    for score in several if isinstance(scoring, list | tuple | set | dict) else ():
        if not (score is None or isinstance(score, str) or callable(score)):
            raise ValueError(f"scoring must hold names of scores and functions, got {score!r}")
    scorer = search._default_scorer(examples) if scoring is None else None
    of_rows = _of_rows(scoring, hasattr(nothing, "labels")) if scorer is None else None
    is_r2 = scorer is None and not hasattr(nothing, "labels") and (scoring is None or str(scoring) == "r2")
    scorer = scorer or check_scoring(nothing, _with_functions(scoring), raise_exc=False)
    takes_weights, is_own = _takes_weights(scorer), takes_rows(scoring)
    # R², a number, is not defined for the one row of a fold that leaves one out.
    value, asked, failures = np.nan, False, []
    if not is_r2:
        value, asked, failures = _tried(scorer, nothing, folds, examples, is_own, takes_weights)
    if any("predict_proba" in failure for failure in failures):
        raise ValueError(f"scoring={scoring!r} needs probabilities, which {search._without_probabilities}")
    if isinstance(value, dict):
        names = tuple(value)
        if (isinstance(refit, bool | np.bool_) and refit) or (isinstance(refit, str) and refit not in names):
            raise ValueError(
                f"with several scores refit must be the name of the one that decides, a function or False, got "
                f"{refit!r}: the scores are {', '.join(names)}"
            )
        decides = refit if isinstance(refit, str) else None
        return Scoring(scorer, names, decides, asked, takes_weights, takes_rows=is_own)
    if not isinstance(value, Real):
        raise ValueError(f"scoring={scoring!r} must return a number or a dict of numbers, got {type(value).__name__}")
    if isinstance(refit, str) and refit not in ("score", scoring):
        raise ValueError(f"with a single score refit must be True, False, a function or 'score', got {refit!r}")
    decides = None if callable(refit) else "score"
    least_rows = 2 if is_r2 else 1
    return Scoring(scorer, ("score",), decides, asked, takes_weights, of_rows, least_rows, is_own)


def _tried(scorer, nothing, folds, examples, with_rows, takes_weights):
    """Return what a scorer says of the first fold for which it does not fail, by a model that has not seen the rows.

    Returns
    -------
    value : float or dict
        NaN where it divides by zero on all folds, as a precision of one's own where nothing is found.
    asked : bool
        Whether it asked for probabilities.
    failures : list of str
        Messages of the scores, or of the one score, that failed.

    Raises
    ------
    Exception
        Any other error of the first fold where it fails on all of them, unless it is for want of probabilities.
    """
    first, model = None, nothing
    for fold in folds:
        model, rows = _scored(nothing, fold, examples, with_rows)
        given = {}
        if takes_weights and examples.sample_weight is not None:
            given = {"sample_weight": examples.sample_weight[fold.test]}
        try:
            with catch_warnings(), config_context(**WITHOUT_ROUTING):
                simplefilter("ignore")  # of predictions that are not those of a fit
                value = scorer(model, rows, examples.y[fold.test], **given)
        except Exception as error:
            first = first or error
            continue
        found = value.values() if isinstance(value, dict) else ()
        return value, model.asked, [_last_line(one) for one in found if isinstance(one, str)]
    if isinstance(first, AttributeError | ValueError) and "predict_proba" in str(first):
        return np.nan, model.asked, [str(first)]
    if isinstance(first, ArithmeticError):
        return np.nan, model.asked, []
    raise first


def takes_rows(scoring):
    """Return whether a score is a function of one's own, which may look at rows: scikit-learn's do not."""
    return any(map(_is_function, scoring.values() if isinstance(scoring, dict) else [scoring]))


def _is_function(score):
    return callable(score) and not hasattr(score, "_score_func")


class _Function:
    """A function among several scores, each of which scikit-learn asks whether it takes weights."""

    def __init__(self, function):
        update_wrapper(self, function)  # first: it copies the attributes of the function, of any name
        self.function = function

    def __call__(self, model, X, y, **given):
        return self.function(model, X, y, **given)

    def _accept_sample_weight(self):
        return "sample_weight" in signature(self.function).parameters


def _with_functions(scoring):
    if not isinstance(scoring, dict):
        return scoring
    return {name: _Function(score) if _is_function(score) else score for name, score in scoring.items()}


def _of_rows(scoring, has_labels):
    """Return `Scoring.of_rows` of a score of scikit-learn; None where it is no mean over rows."""
    if has_labels:
        return _is_right if scoring is None or str(scoring) == "accuracy" else None
    return {"neg_mean_squared_error": _square, "neg_mean_absolute_error": _distance}.get(str(scoring))


def _is_right(held_out, y):
    return held_out.labels == y


def _square(held_out, y):
    return -_over_outputs(np.square(held_out.decisions - y))


def _distance(held_out, y):
    return -_over_outputs(np.abs(held_out.decisions - y))


def _over_outputs(losses):
    return losses if losses.ndim == 1 else losses.mean(axis=1)


def _takes_weights(scorer):
    """Return whether a scorer has the parameter ``sample_weight``."""
    says = getattr(scorer, "_accept_sample_weight", None)
    return bool(says()) if says is not None else "sample_weight" in signature(scorer).parameters
