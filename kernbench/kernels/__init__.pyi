"""Written by tools/types/stubs: the public names of kernbench.kernels."""

from kernbench.kernels.base import Kernel as Kernel
from kernbench.kernels.base import Product as Product
from kernbench.kernels.base import Sum as Sum
from kernbench.kernels.families.custom import Callable as Callable
from kernbench.kernels.families.custom import Precomputed as Precomputed
from kernbench.kernels.families.histogram import ChiSquared as ChiSquared
from kernbench.kernels.families.histogram import ExponentialChiSquared as ExponentialChiSquared
from kernbench.kernels.families.histogram import Hellinger as Hellinger
from kernbench.kernels.families.histogram import Intersection as Intersection
from kernbench.kernels.families.histogram import JensenShannon as JensenShannon
from kernbench.kernels.families.inner_product import ArcCosine as ArcCosine
from kernbench.kernels.families.inner_product import Cosine as Cosine
from kernbench.kernels.families.inner_product import DotProduct as DotProduct
from kernbench.kernels.families.inner_product import Linear as Linear
from kernbench.kernels.families.inner_product import Polynomial as Polynomial
from kernbench.kernels.families.inner_product import Sigmoid as Sigmoid
from kernbench.kernels.families.semigroup import ExponentialSemigroup as ExponentialSemigroup
from kernbench.kernels.families.semigroup import ReciprocalSemigroup as ReciprocalSemigroup
from kernbench.kernels.families.shift_invariant import Cauchy as Cauchy
from kernbench.kernels.families.shift_invariant import Gaussian as Gaussian
from kernbench.kernels.families.shift_invariant import Laplacian as Laplacian
from kernbench.kernels.families.shift_invariant import Matern as Matern
from kernbench.kernels.families.skewed import SkewedChiSquared as SkewedChiSquared
from kernbench.kernels.families.skewed import SkewedIntersection as SkewedIntersection

__all__ = [
    "ArcCosine",
    "Callable",
    "Cauchy",
    "ChiSquared",
    "Cosine",
    "DotProduct",
    "ExponentialChiSquared",
    "ExponentialSemigroup",
    "Gaussian",
    "Hellinger",
    "Intersection",
    "JensenShannon",
    "Kernel",
    "Laplacian",
    "Linear",
    "Matern",
    "Polynomial",
    "Precomputed",
    "Product",
    "ReciprocalSemigroup",
    "Sigmoid",
    "SkewedChiSquared",
    "SkewedIntersection",
    "Sum",
]
