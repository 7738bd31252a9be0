"""Objects named in text, ``"module:name"``, and imported when they are first used."""

import sys
from functools import cache
from importlib import import_module


@cache
def load(address):
    """Import and return the object at ``"module:name"``.

    Raises
    ------
    ImportError, AttributeError
        If there is no such module, or nothing of that name in it.
    """
    module, _, name = address.partition(":")
    return getattr(import_module(module), name)


def lazy_names(package, addresses, submodules=()):
    """Return the functions ``__getattr__`` and ``__dir__`` of a package that imports its names on first use.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    addresses : dict of str to str
        Public name to ``"module:name"``.
    submodules : iterable of str, default=()
        Modules of the package that are its attributes too.
    """

    def __getattr__(name):
        if name in addresses:
            return load(addresses[name])
        if name in submodules:
            return import_module(f"{package}.{name}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    def __dir__():
        return sorted({*sys.modules[package].__all__, *submodules})

    return __getattr__, __dir__
