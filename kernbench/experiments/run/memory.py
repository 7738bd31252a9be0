"""Memory of a process: what it has resident, and the most it ever had."""

import os
import platform
import resource
from pathlib import Path


def resident_memory(pid="self"):
    """Bytes a process has resident now, or None where the system does not say (no ``/proc``, or it has ended)."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError, ValueError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


def peak_memory():
    """The most memory this process has had resident so far, in bytes.

    Linux's ``ru_maxrss`` survives ``exec`` and so includes the size of whoever started us; not so ``VmHWM``.
    In a fork it begins with what was copied from its parent, the memory of loaded libraries, and pages of
    files count once they are touched: some 30 MB less than in a process that had loaded them by itself.
    """
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    unit = 1 if platform.system() == "Darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
