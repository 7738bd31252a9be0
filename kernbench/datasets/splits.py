"""Seeded parts of a set of examples, stratified where examples have classes."""

import numpy as np


def stratified_indices(y, size, rng):
    """Draw `size` different rows so that classes keep their shares, to the nearest whole number.

    Parameters
    ----------
    y : ndarray of shape (n,)
    size : int
        At most n. When it is at least the number of classes, each class gets a row.
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of shape (size,), intp
        In increasing order, so that the rows keep the order of the file.
    """
    classes, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    wanted = _allot(counts, size)
    rows = [rng.choice(np.flatnonzero(codes == c), wanted[c], replace=False) for c in range(len(classes))]
    return np.sort(np.concatenate(rows))


def random_indices(y, size, rng):
    """Draw `size` different rows, whatever their `y`; in increasing order."""
    return np.sort(rng.choice(len(y), size, replace=False))


def _allot(counts, size):
    """Seats for classes by largest remainder; a class left without takes one from the largest."""
    exact = counts * (size / counts.sum())
    seats = np.floor(exact).astype(np.intp)
    order = np.argsort(seats - exact, kind="stable")
    seats[order[: size - seats.sum()]] += 1
    if size >= len(counts):
        for c in np.flatnonzero(seats == 0):
            seats[np.argmax(seats)] -= 1
            seats[c] = 1
    return seats


def split_indices(y, n_train, seed, draw=stratified_indices):
    """Split all rows into a training part of `n_train` and the rest, each in increasing order.

    Parameters
    ----------
    y : ndarray of shape (n,)
    n_train : int
    seed : int
    draw : callable
        `stratified_indices`, or `random_indices` for targets that are no classes.
    """
    train = draw(y, n_train, np.random.default_rng(seed))
    test = np.ones(len(y), dtype=bool)
    test[train] = False
    return train, np.flatnonzero(test)
