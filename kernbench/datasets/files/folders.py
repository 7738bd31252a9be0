"""The folders in which files of published sets are looked for."""

import os
from pathlib import Path
from typing import Any

from kernbench.datasets.readers.compressed import SUFFIXES


def cache_folder() -> Any:
    """Return the folder for downloads: ``$KERNBENCH_CACHE``, or else the user's cache folder of this platform."""
    chosen = os.environ.get("KERNBENCH_CACHE")
    if chosen:
        return _folder(chosen)
    import pooch

    return Path(pooch.os_cache("kernbench"))


def search_folders():
    """Return the folders to search, in this order: ``$KERNBENCH_DATA`` if it is set, the cache folder."""
    chosen = os.environ.get("KERNBENCH_DATA")
    return ([_folder(chosen)] if chosen else []) + [cache_folder()]


def _folder(text):
    return Path(os.path.expanduser(text))  # Path.expanduser raises RuntimeError for the home of an unknown user


def find_file(*names):
    """Return the first file with one of `names`, plain or with ``.gz``, ``.bz2`` or ``.xz``, or None."""
    candidates = (f / (n + suffix) for f in search_folders() for n in names for suffix in ("", *SUFFIXES))
    return next(filter(Path.is_file, candidates), None)
