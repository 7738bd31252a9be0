"""Energies of molecules from the positions of their atoms."""

import numpy as np

from kernbench.datasets.entry import DatasetEntry
from kernbench.datasets.files.remote import RemoteFile
from kernbench.datasets.readers.npz import read_arrays
from kernbench.datasets.real.preparation import split_by_seed
from kernbench.datasets.splits import random_indices

BOHRS_PER_ANGSTROM = 1.8897261


@split_by_seed(test_fraction=0.2, scaled=False, draw=random_indices)
def qm7(paths):
    """Atomisation energies in kcal/mol of organic molecules from their Coulomb matrices: dense, float64.

    A row is the upper triangle, 276 numbers, of the 23 x 23 Coulomb matrix with atoms sorted by decreasing norm of
    their rows; :func:`full_matrices` restores the matrices. 7,101 of the 7,165 molecules of Rupp, Tkatchenko, Müller
    and von Lilienfeld (2012), as distributed by the QML project, without their five folds.
    """
    names = ("Z", "R_angstrom", "hof_pbe0_kcal_mol")
    charges, positions, energies = read_arrays(paths["qm7_geometries_7101.npz"], names)
    matrices = sorted_by_norm(coulomb_matrices(charges, positions * BOHRS_PER_ANGSTROM))
    X = matrices[:, *np.triu_indices(matrices.shape[1])]
    return X, energies


def coulomb_matrices(charges, positions):
    """Return Coulomb matrices: ``0.5 Z_i^2.4`` on the diagonal, ``Z_i Z_j / |R_i - R_j|`` elsewhere.

    Parameters
    ----------
    charges : ndarray of shape (n_molecules, n_atoms)
        Z; 0 for absent atoms.
    positions : ndarray of shape (n_molecules, n_atoms, 3)
        R, in bohr.

    Returns
    -------
    ndarray of shape (n_molecules, n_atoms, n_atoms), float64
    """
    charges = charges.astype(np.float64)
    distances = np.linalg.norm(positions[:, :, None] - positions[:, None], axis=-1)
    matrices = charges[:, :, None] * charges[:, None]
    np.divide(matrices, distances, out=matrices, where=distances > 0)
    diagonal = np.arange(charges.shape[1])
    matrices[:, diagonal, diagonal] = 0.5 * charges**2.4
    # Absent atoms have positions too.
    matrices[(charges[:, :, None] == 0) | (charges[:, None] == 0)] = 0.0
    return matrices


def sorted_by_norm(matrices):
    """Sort rows and columns of each matrix by decreasing norm of the rows."""
    # Rounded, so that the order of equivalent atoms does not depend on rounding errors.
    norms = np.linalg.norm(matrices, axis=-1).round(9)
    order = np.argsort(-norms, axis=1, kind="stable")
    rows = np.take_along_axis(matrices, order[:, :, None], axis=1)
    return np.take_along_axis(rows, order[:, None], axis=2)


def full_matrices(X):
    """Return the symmetric matrices whose upper triangles are the rows of `X`."""
    n_atoms = int(np.sqrt(2 * X.shape[1]))  # n (n + 1) / 2 numbers
    row, column = np.triu_indices(n_atoms)
    matrices = np.empty((len(X), n_atoms, n_atoms), dtype=X.dtype)
    matrices[:, row, column] = X
    matrices[:, column, row] = X
    return matrices


ENTRIES = (
    DatasetEntry(
        name="qm7",
        kind="subset",
        summary="QM7, energies of organic molecules in kcal/mol from sorted Coulomb matrices; seeded split.",
        source="https://github.com/qmlcode/qml (tests/qm7/*.xyz, tests/data/hof_qm7.txt)",
        n_train=5_681,
        n_test=1_420,
        n_published=7_165,
        n_features=276,
        task="regression",
        build=qm7,
        files=(
            RemoteFile(
                "qm7_geometries_7101.npz",
                "af539bf8d9cb27b9883826286ed0074fe6c4c6dec22716232bf5bd0efb392ba2",
                (),
                recipe="Z, R_angstrom, hof_pbe0_kcal_mol, hof_third_column and name of the molecules in the "
                "order of hof_qm7.txt, up to 23 atoms each, 0 where there are fewer",
            ),
        ),
    ),
)
