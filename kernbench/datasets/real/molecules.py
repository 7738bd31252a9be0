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
    return upper_triangles(matrices), energies


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
    return _permuted(matrices, np.argsort(-norms, axis=1, kind="stable"))


def _permuted(matrices, order):
    rows = np.take_along_axis(matrices, order[:, :, None], axis=1)
    return np.take_along_axis(rows, order[:, None], axis=2)


def randomly_sorted(matrices, rng, noise=1.0):
    """Sort rows and columns by decreasing norm of the rows plus normal noise: a random Coulomb matrix of each molecule.

    Several draws of a molecule teach a model that the order of its atoms means nothing (Montavon et al., "Learning
    invariant representations of molecules for atomization energy prediction", NIPS 2012).

    Parameters
    ----------
    matrices : ndarray of shape (n_molecules, n_atoms, n_atoms)
    rng : numpy.random.Generator
    noise : float, default=1.0
        Standard deviation of the noise.
    """
    norms = np.linalg.norm(matrices, axis=-1)
    return _permuted(matrices, np.argsort(-(norms + noise * rng.standard_normal(norms.shape)), axis=1))


def upper_triangles(matrices):
    """Return the upper triangles of symmetric matrices, a row for each; `full_matrices` is the inverse."""
    return matrices[:, *np.triu_indices(matrices.shape[1])]


def binary_predicates(X, largest, step=10.0):
    """Return smoothed answers to "is entry j above θ?", tanh((x_j - θ) / step), for θ = 0, step, 2 step, … (ibid.).

    Parameters
    ----------
    X : ndarray of shape (n, n_features)
    largest : ndarray of shape (n_features,)
        Largest value of each entry: thresholds go up to it.
    step : float, default=10.0
        The step between thresholds; by default QM7 has some 660 predicates.

    Returns
    -------
    ndarray of shape (n, n_predicates), float32
    """
    columns, thresholds = zip(*((j, t) for j, most in enumerate(largest) for t in np.arange(0.0, most + step, step)))
    return np.tanh((X[:, columns] - np.array(thresholds)) / step).astype(np.float32)


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
