"""Random features of every kernel, form and way to draw, rows of their domains, and exact values."""

from dataclasses import dataclass
from math import prod

import numpy as np
import pytest

from kernbench.features.maps.forms import ALL_DRAWS
from kernbench.kernels.functions import (
    ArcCosine,
    Cauchy,
    ChiSquared,
    DotProduct,
    ExponentialSemigroup,
    Gaussian,
    Hellinger,
    Intersection,
    JensenShannon,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    Product,
    ReciprocalSemigroup,
    SkewedChiSquared,
    SkewedIntersection,
    Sum,
)
from kernbench.reference.kernels.formulas import FORMULAS


@dataclass(frozen=True)
class RandomCase:
    """Random features that exist; `form` is the explicit name of what ``"auto"`` may mean."""

    kernel: Kernel
    form: str
    draws: str = "iid"

    @property
    def histograms(self):
        """Whether rows must not be negative."""
        try:
            self.kernel.check_domain(np.full((1, 1), -0.5))
        except ValueError:
            return True
        return False

    def rows(self, n, d=4, seed=0):
        """Return rows of the kernel's domain, of lengths around 1; histograms have some empty columns."""
        rng = np.random.default_rng(seed)
        if not self.histograms:
            return rng.normal(size=(n, d)) / np.sqrt(d)
        X = rng.dirichlet(np.ones(d), size=n)
        X[rng.random((n, d)) < 0.1] = 0.0
        return X

    def __str__(self):
        return f"{_name(self.kernel)}-{self.form}-{self.draws}"


def _name(kernel):
    if isinstance(kernel, Sum | Product):
        return f"{type(kernel).__name__}({','.join(_name(component) for component in kernel.kernels)})"
    numbers = [f"{value:g}" for value in vars(kernel).values() if isinstance(value, int | float)]
    return type(kernel).__name__ + "".join(numbers[:1])


def _cases():
    for kernel in (Gaussian(1.3), Matern(1.0, 0.9)):
        for form in ("pair", "phase"):
            for draws in ALL_DRAWS:
                yield RandomCase(kernel, form, draws)
    yield from (RandomCase(Matern(nu, 0.9), "pair") for nu in (0.3, 0.5, 2.5))
    for kernel in (Laplacian(0.9), Cauchy(0.8), SkewedChiSquared(3.0), SkewedIntersection(3.0)):
        for form in ("pair", "phase"):
            for draws in ("iid", "qmc"):
                yield RandomCase(kernel, form, draws)
    for form in ("vector", "scalar"):
        for kernel in (ChiSquared(), Intersection()):
            for draws in ("iid", "qmc"):
                yield RandomCase(kernel, form, draws)
        yield RandomCase(JensenShannon(), form)  # the reference's quadrature is slow
    for kernel in (ExponentialSemigroup(0.4), ReciprocalSemigroup(0.6)):
        for draws in ("iid", "qmc"):
            yield RandomCase(kernel, "random", draws)
    yield from (RandomCase(ArcCosine(1), "random", draws) for draws in ALL_DRAWS)
    yield from (RandomCase(ArcCosine(order), "random") for order in (0, 2))
    yield RandomCase(Linear(), "random")
    yield RandomCase(Hellinger(), "random")
    for kernel in (Polynomial(3, 0.5, 0.7), Polynomial(2, 0.0, 1.0)):
        for form in ("tensor-sketch", "random-degree"):
            yield RandomCase(kernel, form)
    yield RandomCase(DotProduct(), "random-degree")
    yield RandomCase(DotProduct((0.0, 1.0, 0.0, 2.0)), "random-degree")
    # Sums and products, alike and mixed.
    yield RandomCase(Gaussian(1.3) + 0.5 * Laplacian(1.0), "pair")
    yield RandomCase(Gaussian(1.3) * Laplacian(1.0), "pair")
    yield RandomCase(Gaussian(1.3) * Matern(0.5), "phase")
    yield RandomCase(Gaussian(1.3) * SkewedChiSquared(3.0), "pair")
    yield RandomCase(Gaussian(1.0) * ChiSquared(), "phase")
    yield RandomCase((Gaussian(1.3) + Polynomial(2)) * ArcCosine(1), "auto")
    yield RandomCase(ExponentialSemigroup(0.5) * ReciprocalSemigroup(1.0), "random")
    yield RandomCase(Hellinger() * JensenShannon(), "random")


CASES = tuple(_cases())
# One for each kind of map, for properties that do not depend on the kernel.
KINDS = (
    *(RandomCase(Gaussian(1.3), form, draws) for form in ("pair", "phase") for draws in ALL_DRAWS),
    RandomCase(Matern(0.5), "phase"),
    RandomCase(SkewedIntersection(3.0), "pair", "qmc"),
    *(RandomCase(ChiSquared(), form, draws) for form in ("vector", "scalar") for draws in ("iid", "qmc")),
    RandomCase(ReciprocalSemigroup(0.6), "random"),
    RandomCase(ArcCosine(2), "random", "orthogonal"),
    RandomCase(Hellinger(), "random"),
    *(RandomCase(Polynomial(3, 0.5, 0.7), form) for form in ("tensor-sketch", "random-degree")),
    RandomCase(Gaussian(1.3) + 0.5 * Laplacian(1.0), "pair"),
    RandomCase(Gaussian(1.0) * ChiSquared() * SkewedChiSquared(2.0), "pair"),
)


@pytest.fixture(params=CASES, ids=str, scope="session")
def case(request):
    return request.param


@pytest.fixture(scope="session")
def all_cases():
    return CASES


@pytest.fixture(params=KINDS, ids=str, scope="session")
def kind(request):
    return request.param


@pytest.fixture(scope="session")
def kernel_values():
    """A function that returns k(x_i, z_j) by the formulas."""

    def values(kernel, X, Z):
        if isinstance(kernel, Sum):
            return sum(weight * values(component, X, Z) for weight, component in zip(kernel.weights, kernel.kernels))
        if isinstance(kernel, Product):
            return prod(values(component, X, Z) for component in kernel.kernels)
        return FORMULAS[type(kernel)](kernel, X, Z)

    return values
