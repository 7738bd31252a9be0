"""Claims of cells by runs that share a results folder, so that each cell is measured once."""

import fcntl
import os
from pathlib import Path

from kernbench.experiments.run.storing.store import same_file


class Claims:
    """The cells that this run is measuring, each marked by a locked file in the results folder.

    The system releases the locks of a process that ends, however it ends: a killed run leaves behind an empty file
    without a lock.

    Parameters
    ----------
    folder : str or Path
        The results folder; it exists.
    """

    def __init__(self, folder):
        self._folder, self._held = Path(folder), {}

    def take(self, key):
        """Claim a measurement; return whether it is this run's now."""
        path = self._path(key)
        while key not in self._held:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(descriptor)
                return False
            if same_file(descriptor, path):
                self._held[key] = descriptor
            else:  # its holder has just deleted it
                os.close(descriptor)
        return True

    def release(self, key):
        """Release a claim after its record is stored; without a claim, do nothing."""
        descriptor = self._held.pop(key, None)
        if descriptor is not None:
            self._path(key).unlink(missing_ok=True)  # before the lock is given up
            os.close(descriptor)

    def release_all(self):
        """Give all claims up."""
        for key in list(self._held):
            self.release(key)

    def _path(self, key):
        return self._folder / f".{key}.claim"


class Others:
    """The records that other runs append while this one runs.

    Parameters
    ----------
    store : Store
    positions : dict of str to tuple
        Where the file of each experiment ended before this run read it.
    known : iterable of dict
        The records that it read: a file that `Store.clean` has replaced since is read from its beginning.
    """

    def __init__(self, store, positions, known=()):
        self._store, self._positions = store, positions
        self._known = {(record["key"], record["started"]) for record in known}
        self._found, self._own = {}, set()

    def ignore(self, record):
        """Take note that a record is this run's own."""
        self._own.add(record["key"])

    def record(self, task):
        """The record of a task's measurement by another run, or None. A failure counts: it is not tried at once."""
        name = task.cell.experiment
        added, self._positions[name] = self._store.since(name, self._positions[name])
        self._found |= {record["key"]: record for record in added if self._is_of_another(record)}
        return self._found.get(task.key)

    def _is_of_another(self, record):
        return record["key"] not in self._own and (record["key"], record["started"]) not in self._known
