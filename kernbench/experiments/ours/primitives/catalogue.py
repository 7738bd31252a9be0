"""The kernels of the experiment. A new kernel is a new line here."""

from collections.abc import Callable
from dataclasses import dataclass
from math import exp

from kernbench._lazy import load
from kernbench._names import find


@dataclass(frozen=True)
class Entry:
    """A kernel, and how it is measured.

    Attributes
    ----------
    name, label : str
        What users type for ``--dataset``, and what figures print.
    rows : {"points", "ball", "histograms"}
        The kind of its rows, see :mod:`~kernbench.experiments.ours.primitives.inputs`.
    view : {"points", "ball", "sums", "ratios", "corner"}
        Where its values are shown, see :mod:`~kernbench.experiments.ours.primitives.blocks`.
    arguments : callable
        ``arguments(d)``: the name of the kernel's class and its parameters, for rows of `d` columns. Its scale
        grows with `d` as distances do, so that typical values are neither 0 nor 1.
    forms : tuple of str
        Forms of its random features that are compared; none for a kernel without.
    product : bool
        Whether a block is a matrix product and a pass over it; others take a loop over all columns for each value, and
        are measured on fewer rows.
    """

    name: str
    label: str
    rows: str
    view: str
    arguments: Callable
    forms: tuple = ()
    product: bool = False

    def kernel(self, d):
        """The kernel for rows of `d` columns."""
        name, *parameters = self.arguments(d)
        return load(f"kernbench.kernels:{name}")(*parameters)


def _products(*row):
    return Entry(*row, product=True)


def _exponential(d):
    """The power series of exp(x - 1), eight terms."""
    exponential = load("kernbench.kernels:DotProduct").exponential(8)
    return "DotProduct", tuple(exp(-1) * a for a in exponential.coefficients)


FOURIER = ("pair", "phase")
ADDITIVE = ("vector", "scalar")
POINTS, BALL = ("points", "points"), ("ball", "ball")
SUMS, RATIOS, CORNER = ("histograms", "sums"), ("histograms", "ratios"), ("histograms", "corner")

CATALOGUE = (
    _products("gaussian", "Gaussian", *POINTS, lambda d: ("Gaussian", d**0.5), FOURIER),
    Entry("laplacian", "Laplacian", *POINTS, lambda d: ("Laplacian", float(d)), FOURIER),
    Entry("cauchy", "Cauchy", *POINTS, lambda d: ("Cauchy", d**0.5), FOURIER),
    _products("matern", "Matérn 3/2", *POINTS, lambda d: ("Matern", 1.5, d**0.5), FOURIER),
    _products("linear", "Linear", *BALL, lambda d: ("Linear",)),
    _products(
        "polynomial",
        "Polynomial, degree 3",
        *BALL,
        lambda d: ("Polynomial", 3, 0.5, 0.5),
        ("tensor-sketch", "random-degree"),
    ),
    _products("dot-product", "Power series of exp", *BALL, _exponential, ("random-degree",)),
    _products("arc-cosine", "Arc-cosine 1", *BALL, lambda d: ("ArcCosine", 1), ("random",)),
    _products("hellinger", "Hellinger", *SUMS, lambda d: ("Hellinger",), ("random",)),
    Entry("chi-squared", "Chi-squared", *SUMS, lambda d: ("ChiSquared",), ADDITIVE),
    Entry("exponential-chi-squared", "Exp. chi-squared", *RATIOS, lambda d: ("ExponentialChiSquared", 2.0)),
    Entry("intersection", "Intersection", *SUMS, lambda d: ("Intersection",), ADDITIVE),
    Entry("jensen-shannon", "Jensen–Shannon", *SUMS, lambda d: ("JensenShannon",), ADDITIVE),
    Entry("skewed-chi-squared", "Skewed chi-squared", *RATIOS, lambda d: ("SkewedChiSquared", 0.2 / d), FOURIER),
    Entry("skewed-intersection", "Skewed intersection", *RATIOS, lambda d: ("SkewedIntersection", 0.2 / d), FOURIER),
    Entry("exponential-semigroup", "Exp. semigroup", *CORNER, lambda d: ("ExponentialSemigroup", d**-0.5), ("random",)),
    Entry("reciprocal-semigroup", "Reciprocal semigroup", *CORNER, lambda d: ("ReciprocalSemigroup", 1.0), ("random",)),
)


def get(name):
    """The entry called `name`; ValueError with the nearest name when there is none."""
    return find("kernel", name, CATALOGUE)
