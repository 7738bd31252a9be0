"""Every kernel of the experiment, once. A new kernel is a new line here."""

from collections.abc import Callable
from dataclasses import dataclass
from math import exp

import kernbench as kb
from kernbench._names import unknown_name


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
    kernel : callable
        ``kernel(d)``: the kernel for rows of `d` columns. Its scale grows with `d` as distances do, so that
        typical values are neither 0 nor 1.
    forms : tuple of str
        Forms of its random features that are compared; none for a kernel without.
    product : bool
        A block is a matrix product and a pass over it; others cost a loop over all columns for each value,
        and are measured on fewer rows.
    """

    name: str
    label: str
    rows: str
    view: str
    kernel: Callable
    forms: tuple = ()
    product: bool = False


def _products(*row):
    return Entry(*row, product=True)


def _exponential(d):
    """The power series of exp(x - 1), eight terms."""
    return kb.kernels.DotProduct(
        tuple(exp(-1) * a for a in kb.kernels.DotProduct.exponential(8).coefficients)
    )


# `kb.kernels` is imported when a kernel is made: declarations import nothing that computes.
FOURIER = ("pair", "phase")
ADDITIVE = ("vector", "scalar")
POINTS, BALL = ("points", "points"), ("ball", "ball")
SUMS, RATIOS, CORNER = ("histograms", "sums"), ("histograms", "ratios"), ("histograms", "corner")

CATALOGUE = (
    _products("gaussian", "Gaussian", *POINTS, lambda d: kb.kernels.Gaussian(d**0.5), FOURIER),
    Entry("laplacian", "Laplacian", *POINTS, lambda d: kb.kernels.Laplacian(float(d)), FOURIER),
    Entry("cauchy", "Cauchy", *POINTS, lambda d: kb.kernels.Cauchy(d**0.5), FOURIER),
    _products("matern", "Matérn 3/2", *POINTS, lambda d: kb.kernels.Matern(1.5, d**0.5), FOURIER),
    _products("linear", "Linear", *BALL, lambda d: kb.kernels.Linear()),
    _products(
        "polynomial",
        "Polynomial, degree 3",
        *BALL,
        lambda d: kb.kernels.Polynomial(3, 0.5, 0.5),
        ("tensor-sketch", "random-degree"),
    ),
    _products("dot-product", "Power series of exp", *BALL, _exponential, ("random-degree",)),
    _products("arc-cosine", "Arc-cosine 1", *BALL, lambda d: kb.kernels.ArcCosine(1), ("random",)),
    _products("hellinger", "Hellinger", *SUMS, lambda d: kb.kernels.Hellinger(), ("random",)),
    Entry("chi-squared", "Chi-squared", *SUMS, lambda d: kb.kernels.ChiSquared(), ADDITIVE),
    Entry(
        "exponential-chi-squared",
        "Exp. chi-squared",
        *RATIOS,
        lambda d: kb.kernels.ExponentialChiSquared(2.0),
    ),
    Entry("intersection", "Intersection", *SUMS, lambda d: kb.kernels.Intersection(), ADDITIVE),
    Entry("jensen-shannon", "Jensen–Shannon", *SUMS, lambda d: kb.kernels.JensenShannon(), ADDITIVE),
    Entry(
        "skewed-chi-squared",
        "Skewed chi-squared",
        *RATIOS,
        lambda d: kb.kernels.SkewedChiSquared(0.2 / d),
        FOURIER,
    ),
    Entry(
        "skewed-intersection",
        "Skewed intersection",
        *RATIOS,
        lambda d: kb.kernels.SkewedIntersection(0.2 / d),
        FOURIER,
    ),
    Entry(
        "exponential-semigroup",
        "Exp. semigroup",
        *CORNER,
        lambda d: kb.kernels.ExponentialSemigroup(d**-0.5),
        ("random",),
    ),
    Entry(
        "reciprocal-semigroup",
        "Reciprocal semigroup",
        *CORNER,
        lambda d: kb.kernels.ReciprocalSemigroup(1.0),
        ("random",),
    ),
)


def get(name):
    """The entry called `name`; ValueError with the nearest name when there is none."""
    for entry in CATALOGUE:
        if entry.name == name:
            return entry
    raise ValueError(unknown_name("kernel", name, [entry.name for entry in CATALOGUE]))
