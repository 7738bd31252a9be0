"""Coulomb matrices: formula, order of atoms, energies."""

import numpy as np
import pytest

from kernbench.datasets.real.molecules import BOHRS_PER_ANGSTROM, coulomb_matrices, full_matrices, qm7, sorted_by_norm

WATER = np.array([1, 8, 1, 0]), np.array([[0.0, 0.8, 0.6], [0, 0, 0], [0, -0.8, 0.6], [0, 0, 0]])


def _molecules(n, n_atoms=23, seed=0):
    rng = np.random.default_rng(seed)
    charges = rng.choice([1, 6, 7, 8], (n, n_atoms)).astype(np.uint8)
    positions = rng.normal(scale=3.0, size=(n, n_atoms, 3))
    for i, size in enumerate(rng.integers(3, n_atoms + 1, n)):
        charges[i, size:] = 0
        positions[i, size:] = 0
    return charges, positions


def test_water_by_hand():
    charges, positions = WATER
    (matrix,) = coulomb_matrices(charges[None], positions[None])
    # O and H are 1 apart, H and H 1.6.
    expected = [[0.5, 8, 1 / 1.6, 0], [8, 0.5 * 8**2.4, 8, 0], [1 / 1.6, 8, 0.5, 0], [0, 0, 0, 0]]
    np.testing.assert_allclose(matrix, expected, rtol=1e-14)
    (ordered,) = sorted_by_norm(matrix[None])
    np.testing.assert_allclose(ordered[:3, :3], matrix[np.ix_([1, 0, 2], [1, 0, 2])])


def test_the_matrix_agrees_with_its_definition_term_by_term():
    charges, positions = _molecules(4)
    matrices = coulomb_matrices(charges, positions)
    for matrix, Z, R in zip(matrices, charges.astype(float), positions, strict=True):
        for i in range(23):
            for j in range(23):
                term = 0.5 * Z[i] ** 2.4 if i == j else Z[i] * Z[j]
                if i != j and Z[i] * Z[j] > 0:
                    term /= np.sqrt(np.sum((R[i] - R[j]) ** 2))
                assert matrix[i, j] == pytest.approx(term, rel=1e-12)


def test_permutations_translations_and_rotations_leave_the_matrix():
    charges, positions = _molecules(5)
    rng = np.random.default_rng(1)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    order = rng.permutation(23)
    moved = (positions @ turn + rng.normal(size=3))[:, order]
    first = sorted_by_norm(coulomb_matrices(charges, positions))
    again = sorted_by_norm(coulomb_matrices(charges[:, order], moved))
    np.testing.assert_allclose(first, again, atol=1e-8)
    norms = np.linalg.norm(first, axis=2)
    assert np.all(np.diff(norms, axis=1) <= 1e-8)


def test_rows_are_upper_triangles_paired_with_their_energies(tmp_path):
    charges, positions = _molecules(10)
    energies = -np.arange(10.0)
    path = tmp_path / "qm7_geometries_7101.npz"
    np.savez(path, Z=charges, R_angstrom=positions, hof_pbe0_kcal_mol=energies)
    X_train, y_train, X_test, y_test = qm7({path.name: path}, test_fraction=0.3, split_seed=1)
    assert X_train.shape == (7, 276) and X_test.shape == (3, 276)
    assert sorted([*y_train, *y_test]) == sorted(energies)
    matrices = sorted_by_norm(coulomb_matrices(charges, positions * BOHRS_PER_ANGSTROM))
    for X, y in ((X_train, y_train), (X_test, y_test)):
        np.testing.assert_array_equal(full_matrices(X), matrices[(-y).astype(int)])
    assert not np.array_equal(y_test, qm7({path.name: path}, test_fraction=0.3, split_seed=2)[3])
