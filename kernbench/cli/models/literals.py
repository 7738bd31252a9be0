"""``--set name=value``: values as Python literals, names of existing parameters."""

import ast

from kernbench._names import unknown_name
from kernbench.cli.models.estimators import parameters

_WORDS = {"true": True, "false": False, "none": None, "null": None, "inf": float("inf")}


def parse_value(text):
    """Return `text` as a Python literal (number, True, None, list, …) if it is one, else unchanged.

    >>> from kernbench.cli.models.literals import parse_value
    >>> parse_value("1e-3"), parse_value("rbf"), parse_value("none")
    (0.001, 'rbf', None)
    """
    text = text.strip()
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return text


def parse_settings(settings, estimator):
    """Turn ``("C=10", "gamma=0.05")`` into keyword arguments of `estimator`.

    Parameters
    ----------
    settings : iterable of str
    estimator : class
        A scikit-learn estimator.

    Returns
    -------
    dict

    Raises
    ------
    ValueError
        For a setting without ``=``, a name given twice, or a parameter that does not exist (the message suggests
        the nearest name).
    """
    known = parameters(estimator)
    params = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        name = name.strip()
        if not equals or not name or not value.strip():
            raise ValueError(f"--set takes name=value, such as --set C=10; got {setting!r}")
        if name not in known:
            raise ValueError(unknown_name(f"{estimator.__name__} parameter", name, known))
        if name in params:
            raise ValueError(f"--set {name} is given twice")
        params[name] = parse_value(value)
    return params
