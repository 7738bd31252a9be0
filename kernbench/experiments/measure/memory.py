"""Resident and peak memory of a process.

psutil reads the resident memory of another process on every system. It has no peak, which comes from ``getrusage``: a
cell is forked (or spawned, outside Linux), and has its own counter.
"""

import resource
import sys

import psutil

MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024  # bytes


def resident_memory(pid=None):
    """Bytes that a process (by default this one) has resident now; None once it has ended."""
    try:
        return psutil.Process(pid).memory_info().rss
    except psutil.Error:
        return None


def peak_memory():
    """The most memory this process has had resident so far, in bytes.

    In a fork this includes the memory copied from the fork server: Python and the loaded libraries.
    """
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * MAXRSS_UNIT
