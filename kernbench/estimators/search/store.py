"""Finished cells in a folder or in memory, from which a later search continues.

A cell is found again by a digest of all that its numbers depend on: rows, labels, weights, folds, the kernel, the
parameters of the fits and the version of kernbench. So a grid may grow, a folder may serve many searches, and a search
that was killed continues: files are arrays, one a cell, whole or not there.
"""

import zipfile
from dataclasses import replace
from pathlib import Path

import joblib
import numpy as np

from kernbench._files import written_whole
from kernbench._version import __version__
from kernbench.estimators.search.one_kernel import Cell
from kernbench.saving.plain_data import NotPlainData, encode
from kernbench.validation.archives import read_member

FORMAT = 2  # changes with the solution of a cell, where the version of kernbench does not
DAMAGED = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile)


class StoredCells:
    """The cells of one path, read where they were finished before, and kept.

    Parameters
    ----------
    source : FoldPaths or SVCCells
        Solves cells, and says what they depend on.
    folder : str, Path or None
        None stores nothing in files.
    earlier : dict or None
        Cells of an earlier search by their digests. None keeps nothing in memory.

    Attributes
    ----------
    kept : dict
        The cells of this search, without solutions, by their digests.
    """

    def __init__(self, source, folder=None, earlier=None):
        self.source, self.folder, self.earlier = source, None if folder is None else Path(folder), earlier
        self.n_folds, self.kept = len(source.folds), {}
        if not (folder is None and earlier is None):
            self._digest = joblib.hash((__version__, FORMAT, *source.identity), hash_name="sha1")

    def found(self, strengths):
        """Return the cells that are there by their strengths, without solutions."""
        if self.folder is None and not self.earlier:
            return {}
        cells = {strength: self._read(strength) for strength in strengths}
        cells = {strength: cell for strength, cell in cells.items() if cell is not None}
        for strength, cell in cells.items():
            self._keep_in_memory(strength, cell)
        return cells

    def cells(self, strengths):
        """Yield each strength with its `Cell`, first those that are there; raise `SearchEnded`."""
        found = self.found(strengths)
        yield from found.items()
        missing = [strength for strength in strengths if strength not in found]
        if missing:
            for strength, cell in zip(missing, self.source.cells(missing), strict=True):
                self.keep(strength, cell)
                yield strength, cell

    def keep(self, strength, cell):
        """Store a finished cell."""
        self._keep_in_memory(strength, cell)
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
            with written_whole(self._path(strength), "wb") as file:
                np.savez(file, values=cell.values, seconds=cell.seconds, n_unconverged=np.array(cell.n_unconverged))

    def _keep_in_memory(self, strength, cell):
        if self.earlier is not None:
            self.kept[self._name(strength)] = replace(cell, solutions=[], of_folds=[])

    def _name(self, strength):
        return joblib.hash((self._digest, float(strength)), hash_name="sha1")

    def _path(self, strength):
        return self.folder / f"{self._name(strength)}.npz"

    def _read(self, strength):
        """Return a stored cell; None if there is none, or its file is damaged, so that it is solved again."""
        if self.earlier and (cell := self.earlier.get(self._name(strength))) is not None:
            return cell
        if self.folder is None or not self._path(strength).exists():
            return None
        try:
            with np.load(self._path(strength), allow_pickle=False) as archive:
                values, seconds, n_unconverged = (
                    read_member(archive, name) for name in ("values", "seconds", "n_unconverged")
                )
        except DAMAGED:
            return None
        if values.shape != self.source.shape or seconds.shape != (self.n_folds,) or n_unconverged.shape != ():
            return None
        return Cell(values, seconds=seconds, n_unconverged=int(n_unconverged))


def check_memory_folder(memory, kernel, warm_start):
    """Raise ValueError unless `memory` is None or a folder, and the kernel is data, of which a digest can be taken."""
    if memory is not None and not isinstance(memory, str | Path):
        raise ValueError(f"memory must be the path of a folder, or None, got {memory!r}")
    if memory is not None and Path(memory).exists() and not Path(memory).is_dir():
        raise ValueError(f"memory={str(memory)!r} is not a folder: choose another path")
    if memory is None and not warm_start:
        return
    try:
        encode(kernel, "kernel", {})
    except NotPlainData:
        name, remedy = ("warm_start", False) if memory is None else ("memory", None)
        raise ValueError(
            f"{name} cannot tell whether a kernel that is a Python function has changed: pass {name}={remedy}"
        ) from None
