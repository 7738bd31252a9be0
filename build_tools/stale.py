"""Compiled modules that an earlier in-place build left where their sources no longer are."""

from importlib.machinery import EXTENSION_SUFFIXES


def remove_stale_modules(package, generated=()):
    """Delete the compiled modules below a folder whose ``.pyx`` was moved or deleted; return their paths.

    Parameters
    ----------
    package : Path
    generated : iterable of str, default=()
        Names of modules without a ``.pyx``.
    """
    stale = []
    for path in package.rglob(f"*{EXTENSION_SUFFIXES[0]}"):
        name = path.name.removesuffix(EXTENSION_SUFFIXES[0])
        if name not in generated and not path.with_name(f"{name}.pyx").exists():
            path.unlink()
            stale.append(path)
    return stale
