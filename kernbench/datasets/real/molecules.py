"""Energies of molecules from where their atoms are."""

import numpy as np

from kernbench.datasets.entry import DatasetEntry
from kernbench.datasets.npz import read_arrays
from kernbench.datasets.real.parts import split_by_fraction
from kernbench.datasets.splits import random_indices
from kernbench.datasets.storage import RemoteFile

BOHRS_PER_ANGSTROM = 1.8897261


def qm7(paths, *, test_fraction=0.2, split_seed=0):
    """Atomisation energies in kcal/mol of organic molecules from their Coulomb matrices: dense, float64.

    A row holds the upper triangle, 276 numbers, of the 23 x 23 Coulomb matrix with atoms sorted by the norm
    of their row, the largest first; :func:`full_matrices` gives back the matrices, say to draw other orders
    of the atoms. 7,101 of the 7,165 molecules of Rupp, Tkatchenko, Müller and von Lilienfeld (2012), as the
    QML project keeps them; their five folds are not among the data.

    Parameters
    ----------
    paths : dict
    test_fraction : float, default=0.2
        Share of the molecules that tests.
    split_seed : int, default=0
        Draws the test part, at random.
    """
    names = ("Z", "R_angstrom", "hof_pbe0_kcal_mol")
    charges, positions, energies = read_arrays(paths["qm7_geometries_7101.npz"], names)
    matrices = sorted_by_norm(coulomb_matrices(charges, positions * BOHRS_PER_ANGSTROM))
    X = matrices[:, *np.triu_indices(matrices.shape[1])]
    return split_by_fraction(X, energies, test_fraction, split_seed, draw=random_indices)


def coulomb_matrices(charges, positions):
    """Coulomb matrices: ``0.5 Z_i^2.4`` on the diagonal, ``Z_i Z_j / |R_i - R_j|`` beside it.

    Parameters
    ----------
    charges : ndarray of shape (n_molecules, n_atoms)
        Z, 0 where a molecule has fewer atoms.
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
    # The places of atoms that are not there may coincide with those of atoms.
    matrices[(charges[:, :, None] == 0) | (charges[:, None] == 0)] = 0.0
    return matrices


def sorted_by_norm(matrices):
    """Each matrix with rows and columns in decreasing order of the rows' norms."""
    # Rounded, so that equal atoms keep their order whatever the mathematics library.
    norms = np.linalg.norm(matrices, axis=-1).round(9)
    order = np.argsort(-norms, axis=1, kind="stable")
    rows = np.take_along_axis(matrices, order[:, :, None], axis=1)
    return np.take_along_axis(rows, order[:, None], axis=2)


def full_matrices(X):
    """Symmetric matrices from their upper triangles, one a row of `X`."""
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
        layout="dense float64",
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
