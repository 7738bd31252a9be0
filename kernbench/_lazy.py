"""Things named in text, ``"module:name"``, and imported when they are first used."""

from functools import cache
from importlib import import_module


@cache
def load(address):
    """Import and return what ``"module:name"`` means.

    Raises
    ------
    ImportError, AttributeError
        If there is no such module, or nothing of that name in it.
    """
    module, _, name = address.partition(":")
    return getattr(import_module(module), name)
