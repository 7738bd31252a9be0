"""The long-tailed subset of CIFAR-10 in the order in which networks take pixels: one colour after the other."""

from dataclasses import replace

import numpy as np

from kernbench.datasets.base import array_checksum
from kernbench.experiments.papers.pauc.deep import images


def cifar10_subset(seed=0):
    """The images of `images.cifar10_long_tailed_subset`, all red pixels of a row before the green and the blue ones.

    The file of the subset, unlike the archive, has the three colours of each pixel side by side.

    Parameters
    ----------
    seed : int
        Draws the training images of each class.
    """
    data = images.cifar10_long_tailed_subset(seed)
    X_train, X_test = (
        np.ascontiguousarray(X.reshape(len(X), -1, 3).transpose(0, 2, 1)).reshape(X.shape)
        for X in (data.X_train, data.X_test)
    )
    checksum = array_checksum(X_train, data.y_train, X_test, data.y_test)
    return replace(data, X_train=X_train, X_test=X_test, checksum=checksum)
