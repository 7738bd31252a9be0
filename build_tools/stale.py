"""What earlier builds left: files whose sources are no longer there, and modules compiled with other options."""

from importlib.machinery import EXTENSION_SUFFIXES


def remove_stale_files(built, package, generated=()):
    """Delete what was built from files of a package that were moved or deleted; return the paths.

    Parameters
    ----------
    built : Path
        The package itself, after a build in place, or the folder where setuptools collects the files of a wheel: it
        copies new ones there and takes all that it finds.
    package : Path
        The sources.
    generated : iterable of str, default=()
        Names of modules without a ``.pyx``.
    """
    stale = []
    for path in [path for path in built.rglob("*") if path.is_file()]:
        name, _, tag = path.name.removesuffix(EXTENSION_SUFFIXES[-1]).partition(".")
        is_compiled = path.suffix == EXTENSION_SUFFIXES[-1] and tag  # for this Python, or for another one
        source = f"{name}.pyx" if is_compiled else path.name
        if name not in generated and not (package / path.relative_to(built)).with_name(source).exists():
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
