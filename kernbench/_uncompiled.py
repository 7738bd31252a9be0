"""What to say where a compiled module is imported from a source tree that was not compiled."""

import importlib.machinery
import sys
from pathlib import Path


class UncompiledFinder:
    """A finder of modules that only explains: it is asked last, for modules that no other one has found.

    An installed kernbench holds no ``.pyx`` files, so where there is one, but no module, this is the source tree. As
    part of the import system it answers wherever such a module is imported first, in workers and subprocesses too.
    """

    @staticmethod
    def find_spec(name, path=None, target=None):
        """Raise ImportError for a Cython module without its binary; else return None, as for any unknown module."""
        package, _, module = name.rpartition(".")
        for folder in path or () if package.partition(".")[0] == "kernbench" else ():
            if (source := Path(folder, f"{module}.pyx")).is_file():
                raise ImportError(_message(name, source), name=name, path=str(source))


def _message(name, source):
    tree, python = source.parents[name.count(".")], ".".join(map(str, sys.version_info[:2]))
    others = source.parent.glob(f"{source.stem}.*{importlib.machinery.EXTENSION_SUFFIXES[-1]}")
    missing = f"not compiled for Python {python}" if any(others) else "not compiled"
    return (
        f"{tree} is the source tree of kernbench, {missing} ({name} is missing): leave this folder to use an installed "
        "kernbench, or compile the tree by running there: python -m pip install -e ."
    )


def install():
    """Append the finder to `sys.meta_path`, once."""
    if UncompiledFinder not in sys.meta_path:
        sys.meta_path.append(UncompiledFinder)
