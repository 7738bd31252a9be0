"""Compiled modules of earlier builds: whose sources are no longer there, or that were compiled with other options."""

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


def options_file(path, options):
    """Write the options of a build into a file that is left alone while they are the same; return it, in a list.

    A module that depends on the file is compiled again if the options have changed since it was compiled: setuptools
    compares the times of files alone.

    Parameters
    ----------
    path : Path
    options : iterable of str
        Those that differ from the default. While there have never been any, no file is written.

    Returns
    -------
    list of Path
        The file, if it exists.
    """
    text = "".join(f"{option}\n" for option in options)
    if text != (path.read_text(encoding="utf-8") if path.exists() else ""):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return [path] if path.exists() else []
