"""Sums and products of kernels, which are kernels again."""

from dataclasses import dataclass
from math import prod
from typing import ClassVar

import numpy as np

from kernbench.kernels.base import Kernel, require_positive


def _checked_parts(owner, kernels):
    kernels = tuple(kernels)
    name = type(owner).__name__
    if not kernels:
        raise ValueError(f"{name}: at least one kernel is needed")
    for kernel in kernels:
        if not isinstance(kernel, Kernel):
            raise ValueError(f"{name}: every component must be a kernel object, got {kernel!r}")
    if any(kernel.routine == "precomputed" for kernel in kernels):
        raise ValueError(f"{name}: a precomputed kernel cannot be a component; combine the matrices instead")
    return kernels


@dataclass(frozen=True)
class Sum(Kernel):
    """k(x, z) = sum_i weights[i] kernels[i](x, z); also written ``k1 + k2`` and ``0.5 * k1 + k2``.

    Parameters
    ----------
    kernels : sequence of Kernel
    weights : sequence of float, optional
        Positive, one per kernel; 1 each by default.
    """

    kernels: tuple
    weights: tuple = None
    routine: ClassVar[str] = "sum"

    def __post_init__(self):
        kernels = _checked_parts(self, self.kernels)
        weights = (1.0,) * len(kernels) if self.weights is None else tuple(self.weights)
        if len(weights) != len(kernels):
            raise ValueError(f"Sum: {len(kernels)} kernels need as many weights, got {len(weights)}")
        for i, weight in enumerate(weights):
            require_positive(self, **{f"weights[{i}]": weight})
        # A sum of sums is one sum, so that how it was written does not matter.
        flat = [
            (part, weight * inner)
            for kernel, weight in zip(kernels, weights)
            for part, inner in (
                zip(kernel.kernels, kernel.weights) if isinstance(kernel, Sum) else ((kernel, 1.0),)
            )
        ]
        object.__setattr__(self, "kernels", tuple(part for part, _ in flat))
        object.__setattr__(self, "weights", tuple(float(weight) for _, weight in flat))

    @property
    def components(self):
        return self.kernels

    @property
    def constants(self):
        return self.weights

    @property
    def calls_python(self):
        return any(kernel.calls_python for kernel in self.kernels)

    def diag(self, X):
        return sum(weight * kernel.diag(X) for kernel, weight in zip(self.kernels, self.weights))

    def check_domain(self, X, feature_names=None):
        for kernel in self.kernels:
            kernel.check_domain(X, feature_names)


@dataclass(frozen=True)
class Product(Kernel):
    """k(x, z) = prod_i kernels[i](x, z); also written ``k1 * k2``.

    Parameters
    ----------
    kernels : sequence of Kernel
    """

    kernels: tuple
    routine: ClassVar[str] = "product"

    def __post_init__(self):
        kernels = _checked_parts(self, self.kernels)
        flat = [
            part
            for kernel in kernels
            for part in (kernel.kernels if isinstance(kernel, Product) else (kernel,))
        ]
        object.__setattr__(self, "kernels", tuple(flat))

    @property
    def components(self):
        return self.kernels

    @property
    def calls_python(self):
        return any(kernel.calls_python for kernel in self.kernels)

    def diag(self, X):
        return prod(np.asarray(kernel.diag(X)) for kernel in self.kernels)

    def check_domain(self, X, feature_names=None):
        for kernel in self.kernels:
            kernel.check_domain(X, feature_names)
