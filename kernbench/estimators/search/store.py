"""Finished cells in a folder, from which a search that was killed continues: arrays, one file a cell, whole or none.

A file is named after a digest of all that its numbers depend on: rows, labels, weights, folds, the kernel, the
parameters of the fits and the version of kernbench. So a folder may serve many searches, and a grid may grow.
"""

import zipfile
from pathlib import Path

import joblib
import numpy as np

from kernbench._files import written_whole
from kernbench._version import __version__
from kernbench.estimators.search.one_kernel import Cell, OneKernel
from kernbench.saving.plain_data import NotPlainData, encode
from kernbench.validation.archives import read_member

FORMAT = 1  # changes with the solution of a cell, where the version of kernbench does not
FITS = ("class_weight", "fit_intercept", "loss", "max_iter", "tol")  # parameters on which a cell depends
DAMAGED = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile)


class StoredCells:
    """The cells of one kernel, read from a folder where they were finished before, and written to it.

    Parameters
    ----------
    task : KernelTask
        Of a `KernelSVC` with this kernel.
    sample_weight : ndarray of shape (n,), or None
        Without class weights.
    folds : list of Fold
    deadline : float
        As for `OneKernel`.
    folder : str, Path or None
        None stores nothing.
    """

    def __init__(self, task, sample_weight, folds, deadline, folder):
        self.task, self.folder, self._kernel = task, None if folder is None else Path(folder), None
        self._arguments = (task, sample_weight, folds, deadline)
        n_classes = len(task.model.classes_)
        self.shape = len(task.codes), n_classes * (n_classes - 1) // 2
        self.n_folds = len(folds)
        if self.folder is not None:
            model = task.model
            parameters = {name: getattr(model, name) for name in FITS}
            parts = [(fold.train, fold.test) for fold in folds]
            data = (task.X, task.codes, model.classes_.tolist(), sample_weight, parts)
            self._digest = joblib.hash(
                (__version__, FORMAT, data, repr(model.kernel_), str(task.dtype), parameters), hash_name="sha1"
            )

    @property
    def n_kernel_evaluations(self):
        return 0 if self._kernel is None else self._kernel.n_kernel_evaluations

    def cells(self, Cs):
        """Yield each C with its `Cell`, first those that were stored, without solutions; raise `SearchEnded`."""
        missing = []
        for C in Cs:
            cell = self._read(C)
            if cell is None:
                missing.append(C)
            else:
                yield C, cell
        if not missing:
            return
        self._kernel = OneKernel(*self._arguments)
        for C, cell in zip(missing, self._kernel.cells(missing), strict=True):
            if self.folder is not None:
                self._write(C, cell)
            yield C, cell

    def _path(self, C):
        return self.folder / f"{joblib.hash((self._digest, float(C)), hash_name='sha1')}.npz"

    def _write(self, C, cell):
        self.folder.mkdir(parents=True, exist_ok=True)
        with written_whole(self._path(C), "wb") as file:
            np.savez(file, values=cell.values, seconds=cell.seconds, n_unconverged=np.array(cell.n_unconverged))

    def _read(self, C):
        """Return a stored cell; None if there is none, or its file is damaged, so that it is solved again."""
        if self.folder is None or not self._path(C).exists():
            return None
        try:
            with np.load(self._path(C), allow_pickle=False) as archive:
                values, seconds, n_unconverged = (
                    read_member(archive, name) for name in ("values", "seconds", "n_unconverged")
                )
        except DAMAGED:
            return None
        if values.shape != self.shape or seconds.shape != (self.n_folds,) or n_unconverged.shape != ():
            return None
        return Cell(values, seconds=seconds, n_unconverged=int(n_unconverged))


def check_memory_folder(memory, kernel):
    """Raise ValueError unless `memory` is None or a folder, and the kernel is data, of which a digest can be taken."""
    if memory is None:
        return
    if not isinstance(memory, str | Path):
        raise ValueError(f"memory must be the path of a folder, or None, got {memory!r}")
    if Path(memory).exists() and not Path(memory).is_dir():
        raise ValueError(f"memory={str(memory)!r} is not a folder: choose another path")
    try:
        encode(kernel, "kernel", {})
    except NotPlainData:
        raise ValueError(
            "memory cannot tell whether a kernel that is a Python function has changed: pass memory=None"
        ) from None
