"""The catalogue of kernels: every kernel by name, whichever module defines it."""

from kernbench.kernels.base import Kernel, Product, Sum
from kernbench.kernels.families.custom import Callable, Precomputed
from kernbench.kernels.families.histogram import (
    ChiSquared,
    ExponentialChiSquared,
    Hellinger,
    Intersection,
    JensenShannon,
)
from kernbench.kernels.families.inner_product import (
    ArcCosine,
    CentredLinear,  # noqa: F401
    Cosine,
    DotProduct,
    Linear,
    Polynomial,
    Sigmoid,
)
from kernbench.kernels.families.semigroup import ExponentialSemigroup, ReciprocalSemigroup
from kernbench.kernels.families.shift_invariant import Cauchy, Gaussian, Laplacian, Matern
from kernbench.kernels.families.skewed import SkewedChiSquared, SkewedIntersection

KERNELS = {
    kernel.__name__: kernel
    for kernel in (
        *(Gaussian, Laplacian, Cauchy, Matern),
        *(Linear, Cosine, Polynomial, DotProduct, Sigmoid, ArcCosine),
        *(Hellinger, ChiSquared, ExponentialChiSquared, Intersection, JensenShannon),
        *(SkewedChiSquared, SkewedIntersection),
        *(ExponentialSemigroup, ReciprocalSemigroup),
        *(Sum, Product),
        *(Precomputed, Callable),
    )
}

__all__ = ["KERNELS", "Kernel", *KERNELS]
