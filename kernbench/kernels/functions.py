"""The catalogue of kernels: every kernel by name, whatever module it lives in."""

from kernbench.kernels.base import Kernel
from kernbench.kernels.combined import Product, Sum
from kernbench.kernels.custom import Callable, Precomputed
from kernbench.kernels.histogram import (
    ChiSquared,
    ExponentialChiSquared,
    Hellinger,
    Intersection,
    JensenShannon,
)
from kernbench.kernels.inner_product import ArcCosine, DotProduct, Linear, Polynomial
from kernbench.kernels.semigroup import ExponentialSemigroup, ReciprocalSemigroup
from kernbench.kernels.shift_invariant import Cauchy, Gaussian, Laplacian, Matern
from kernbench.kernels.skewed import SkewedChiSquared, SkewedIntersection

KERNELS = {
    kernel.__name__: kernel
    for kernel in (
        *(Gaussian, Laplacian, Cauchy, Matern),
        *(Linear, Polynomial, DotProduct, ArcCosine),
        *(Hellinger, ChiSquared, ExponentialChiSquared, Intersection, JensenShannon),
        *(SkewedChiSquared, SkewedIntersection),
        *(ExponentialSemigroup, ReciprocalSemigroup),
        *(Sum, Product),
        *(Precomputed, Callable),
    )
}

__all__ = ["KERNELS", "Kernel", *KERNELS]
