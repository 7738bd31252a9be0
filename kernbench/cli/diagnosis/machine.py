"""The machine: cores, memory, disk, and what a container leaves of them."""

import os
import shutil
from pathlib import Path

from kernbench.cli.diagnosis.finding import BROKEN, LACK, OK, Finding, gigabytes
from kernbench.validation.container import memory_limit

LEAST_ROOM = 50 * 2**20  # bytes that records and a report take
ROOM = 2**30  # … and the data sets


def cores():
    """Cores of the machine, and what affinity and the container leave of them."""
    from kernbench.experiments.run.environment import n_cores

    whole, usable = os.cpu_count() or 1, n_cores()
    found = f"{usable} of {whole} usable" if usable < whole else f"{whole}"
    quota = _container_cores()
    if quota is not None:
        found += f"; the container may use {quota:g}"
    if quota is not None and quota < usable:
        remedy = f"give at most {max(1, int(quota))} threads: kernbench run --threads {max(1, int(quota))}"
        return [Finding("cores", LACK, found, remedy)]
    return [Finding("cores", OK, found)]


def memory():
    """Memory of the machine, and the container's limit."""
    import psutil

    state, (limit, _) = psutil.virtual_memory(), memory_limit()
    found = f"{gigabytes(state.available)} of {gigabytes(state.total)} free"
    if limit is not None and limit < state.total:
        found += f"; the container may use {gigabytes(limit)}"
    free = min(state.available, limit or state.available)
    low = free < 2**30
    remedy = "close other programs: the quick scale takes up to 1 GB" if low else ""
    return [Finding("memory", LACK if low else OK, found, remedy)]


def room(what, folder):
    """Room on the disk of a folder, or of the nearest one above it that exists."""
    try:
        folder = _nearest(Path(os.path.realpath(folder)))
        free = shutil.disk_usage(folder).free
    except OSError as error:  # no permission, a name that is too long, a link to itself
        return [Finding(f"disk: {what}", BROKEN, str(error), "choose another folder")]
    if not os.access(folder, os.W_OK):
        return [Finding(f"disk: {what}", BROKEN, f"{folder} is write-protected", "choose another folder")]
    status = BROKEN if free < LEAST_ROOM else LACK if free < ROOM else OK
    remedy = "" if status == OK else "delete something, or choose another disk"
    return [Finding(f"disk: {what}", status, f"{gigabytes(free)} free at {folder}", remedy)]


def _nearest(path):
    """The path, or the nearest one above it that exists; raise OSError where that cannot be known."""
    try:
        path.stat()  # Path.exists() of Python 3.13 is False for a link to itself
    except FileNotFoundError:
        return _nearest(path.parent)
    return path


def _container_cores():
    """The processor time that cgroups allow, in cores; None without a limit."""
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        return None if quota == "max" else int(quota) / int(period)
    except (OSError, ValueError):
        pass
    quota = _number(Path("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"))
    period = _number(Path("/sys/fs/cgroup/cpu/cpu.cfs_period_us"))
    return quota / period if quota and period and quota > 0 else None


def _number(path):
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None
