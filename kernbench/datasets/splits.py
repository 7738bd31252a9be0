"""Seeded splits and subsets of rows, stratified if the labels are classes."""

import numpy as np


def stratified_indices(y, size, rng, left=0):
    """Draw `size` distinct rows; each class keeps its share, to the nearest whole number.

    Parameters
    ----------
    y : ndarray of shape (n,)
    size : int
        At most n. If it is at least the number of classes, each class gets a row.
    rng : numpy.random.Generator
    left : int, default=0
        Rows of each class that are not drawn, at least. Fewer than `size` are drawn where a share would leave fewer.

    Returns
    -------
    ndarray of shape (size,), intp
        In increasing order, which is that of the file.
    """
    classes, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    wanted = np.minimum(_allot(counts, size), counts - left)
    rows = [rng.choice(np.flatnonzero(codes == c), wanted[c], replace=False) for c in range(len(classes))]
    return np.sort(np.concatenate(rows))


def random_indices(y, size, rng):
    """Draw `size` distinct rows, in increasing order; of `y` only the length is used."""
    return np.sort(rng.choice(len(y), size, replace=False))


def _allot(counts, size):
    """Allot rows to classes by largest remainders; an empty class takes one row from the largest class."""
    exact = counts * (size / counts.sum())
    sizes = np.floor(exact).astype(np.intp)
    order = np.argsort(sizes - exact, kind="stable")
    sizes[order[: size - sizes.sum()]] += 1
    if size >= len(counts):
        for c in np.flatnonzero(sizes == 0):
            sizes[np.argmax(sizes)] -= 1
            sizes[c] = 1
    return sizes


def split_indices(y, n_train, seed, draw=stratified_indices):
    """Split all rows into a training part of `n_train` and the rest, each in increasing order.

    Parameters
    ----------
    y : ndarray of shape (n,)
    n_train : int
    seed : int
    draw : callable
        `stratified_indices`, or `random_indices` for the targets of a regression.
    """
    train = draw(y, n_train, np.random.default_rng(seed))
    test = np.ones(len(y), dtype=bool)
    test[train] = False
    return train, np.flatnonzero(test)
