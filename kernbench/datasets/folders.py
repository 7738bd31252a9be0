"""Where files of real sets are looked for."""

import os
from pathlib import Path

from kernbench.datasets.packed import PACKING_SUFFIXES


def cache_folder():
    """The folder downloads go to: ``$KERNBENCH_CACHE``, or else the user's cache folder of this platform."""
    chosen = os.environ.get("KERNBENCH_CACHE")
    if chosen:
        return Path(chosen).expanduser()
    import pooch

    return Path(pooch.os_cache("kernbench"))


def search_folders():
    """The folders looked in, in this order: ``$KERNBENCH_DATA`` when it is set, the cache folder."""
    chosen = os.environ.get("KERNBENCH_DATA")
    return ([Path(chosen).expanduser()] if chosen else []) + [cache_folder()]


def find_file(*names):
    """The first file called by one of `names`, plain or with ``.gz``, ``.bz2`` or ``.xz``, or None."""
    for folder in search_folders():
        for name in names:
            for suffix in ("", *PACKING_SUFFIXES):
                path = folder / (name + suffix)
                if path.is_file():
                    return path
    return None
