"""Memory for new data: what is free, within the limits of a container (its control group, cgroup) and the process."""

import os
from pathlib import Path
from typing import NamedTuple


class Cgroup(NamedTuple):
    """Files of a cgroup that hold its limit, its usage and, in ``memory.stat``, the pages of files among this."""

    folder: Path
    limit: str
    usage: str
    pages: tuple[str, str]


# Versions 2 and 1: a container sees its own cgroup as the root.
CGROUPS = (
    Cgroup(Path("/sys/fs/cgroup"), "memory.max", "memory.current", ("active_file", "inactive_file")),
    Cgroup(
        Path("/sys/fs/cgroup/memory"),
        "memory.limit_in_bytes",
        "memory.usage_in_bytes",
        ("total_active_file", "total_inactive_file"),
    ),
)


def memory_limit():
    """Return the bytes that the container may use, and those that it has left; a pair of None without a limit.

    Pages of files count as left: the system drops them when memory is short.
    """
    for group in CGROUPS:
        limit, used = _number(group.folder / group.limit), _number(group.folder / group.usage)
        if limit:
            statistics = _statistics(group.folder / "memory.stat")
            used = max(0, (used or 0) - sum(statistics.get(name, 0) for name in group.pages))
            return limit, max(0, limit - used)
    return None, None


def available_bytes():
    """Return the memory that new data may take: what is free, or what limits of the container and the process leave."""
    import psutil

    free = psutil.virtual_memory().available
    _, left = memory_limit()
    free = free if left is None else min(free, left)
    if os.name == "posix":
        import resource

        for limit in (resource.RLIMIT_AS, resource.RLIMIT_DATA):
            most = resource.getrlimit(limit)[0]
            if most != resource.RLIM_INFINITY:
                used = psutil.Process().memory_info()
                free = min(free, most - (used.vms if limit == resource.RLIMIT_AS else used.data))
    return max(0, free)


def _number(path):
    try:
        return int(path.read_text())
    except (OSError, ValueError):  # "max" without a limit
        return None


def _statistics(path):
    """Return the numbers of a file of lines ``name number``, a dict; none of a file that cannot be read."""
    try:
        pairs = [line.split() for line in path.read_text().splitlines()]
        return {name: int(number) for name, number in pairs}
    except (OSError, ValueError):
        return {}
