"""Functions named in text, so that a declaration stays plain data and imports nothing."""

from importlib import import_module


def resolve(address):
    """Import what ``"module:name"`` names.

    Raises
    ------
    ImportError, AttributeError
        If there is no such module, or nothing of that name in it.
    """
    module, _, name = address.partition(":")
    return getattr(import_module(module), name)
