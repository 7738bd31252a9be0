"""``--set name=value``: values as Python writes them, names that exist."""

import ast

from kernbench._names import unknown_name

_WORDS = {"true": True, "false": False, "none": None, "null": None}
_PRIVATE = ("callback", "verbose")  # the command line has its own


def parse_value(text):
    """A Python literal (number, True, None, list, …); anything else is text.

    >>> parse_value("1e-3"), parse_value("rbf"), parse_value("none")
    (0.001, 'rbf', None)
    """
    text = text.strip()
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
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
        For a setting without ``=``, a name given twice, or a parameter that does not exist (the message says
        the nearest).
    """
    known = [name for name in estimator().get_params(deep=False) if name not in _PRIVATE]
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
