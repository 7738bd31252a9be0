"""Names that change: the old one works for two releases, with a warning that says the new one.

A class or function that goes away takes ``sklearn.utils.deprecated``, a parameter with another name this decorator.
"""

import functools
import warnings


def renamed_parameters(removed_in, **new_names):
    """Let a function take parameters by their old names, too.

    Parameters
    ----------
    removed_in : str
        The release that takes only the new names.
    **new_names : str
        The new name of each old one.

    Returns
    -------
    callable
        A decorator. The old name warns (`FutureWarning`); both names at once are a `TypeError`.

    Examples
    --------
    >>> from kernbench._deprecation import renamed_parameters
    >>> @renamed_parameters("0.3", step="step_size")
    ... def descend(step_size):
    ...     return step_size
    >>> descend(step_size=2)
    2
    """

    def decorate(function):
        @functools.wraps(function)
        def renamed(*args, **kwargs):
            for old in new_names.keys() & kwargs.keys():
                new = new_names[old]
                if new in kwargs:
                    raise TypeError(
                        f"{function.__name__} got {old!r} and {new!r}, which are one parameter: leave out {old!r}"
                    )
                warnings.warn(
                    f"{old!r} of {function.__name__} is now called {new!r}; kernbench {removed_in} forgets {old!r}",
                    FutureWarning,
                    stacklevel=2,
                )
                kwargs[new] = kwargs.pop(old)
            return function(*args, **kwargs)

        return renamed

    return decorate
