"""Every kernel of the experiment, once. A new kernel is a new line here."""

from collections.abc import Callable
from dataclasses import dataclass
from math import exp

import kernbench as kb
from kernbench._names import unknown_name


@dataclass(frozen=True)
class Entry:
    """A kernel, and what is asked of it.

    Attributes
    ----------
    name, label : str
        What users type for ``--dataset``, and what figures print.
    kernel : callable
        ``kernel(d)``: the kernel for rows of `d` columns. Its scale grows with `d` as distances do, so that
        typical values are neither 0 nor 1.
    rows : {"points", "ball", "histograms"}
        The kind of its rows, see :mod:`~kernbench.experiments.ours.primitives.inputs`.
    view : {"points", "ball", "sums", "ratios", "corner"}
        Where it is looked at, see :mod:`~kernbench.experiments.ours.primitives.blocks`.
    forms : tuple of str
        Forms of its random features that are compared; none for a kernel without.
    product : bool
        A block is a matrix product and a pass over it; others cost a loop over all columns for each value,
        and are measured on fewer rows.
    """

    name: str
    label: str
    kernel: Callable
    rows: str
    view: str
    forms: tuple = ()
    product: bool = False


# `kb.kernels` is imported when an entry's kernel is made: declarations import nothing that computes.
FOURIER = ("pair", "phase")
ADDITIVE = ("vector", "scalar")

CATALOGUE = (
    Entry(
        "gaussian",
        "Gaussian",
        lambda d: kb.kernels.Gaussian(d**0.5),
        "points",
        "points",
        FOURIER,
        product=True,
    ),
    Entry("laplacian", "Laplacian", lambda d: kb.kernels.Laplacian(float(d)), "points", "points", FOURIER),
    Entry("cauchy", "Cauchy", lambda d: kb.kernels.Cauchy(d**0.5), "points", "points", FOURIER),
    Entry(
        "matern",
        "Matérn 3/2",
        lambda d: kb.kernels.Matern(1.5, d**0.5),
        "points",
        "points",
        FOURIER,
        product=True,
    ),
    Entry("linear", "Linear", lambda d: kb.kernels.Linear(), "ball", "ball", product=True),
    Entry(
        "polynomial",
        "Polynomial, degree 3",
        lambda d: kb.kernels.Polynomial(3, 0.5, 0.5),
        "ball",
        "ball",
        ("tensor-sketch", "random-degree"),
        product=True,
    ),
    Entry(
        "dot-product",
        "Power series of exp",
        lambda d: kb.kernels.DotProduct(
            tuple(exp(-1) * a for a in kb.kernels.DotProduct.exponential(8).coefficients)
        ),
        "ball",
        "ball",
        ("random-degree",),
        product=True,
    ),
    Entry(
        "arc-cosine",
        "Arc-cosine 1",
        lambda d: kb.kernels.ArcCosine(1),
        "ball",
        "ball",
        ("random",),
        product=True,
    ),
    Entry(
        "hellinger",
        "Hellinger",
        lambda d: kb.kernels.Hellinger(),
        "histograms",
        "sums",
        ("random",),
        product=True,
    ),
    Entry("chi-squared", "Chi-squared", lambda d: kb.kernels.ChiSquared(), "histograms", "sums", ADDITIVE),
    Entry(
        "exponential-chi-squared",
        "Exp. chi-squared",
        lambda d: kb.kernels.ExponentialChiSquared(2.0),
        "histograms",
        "ratios",
    ),
    Entry(
        "intersection", "Intersection", lambda d: kb.kernels.Intersection(), "histograms", "sums", ADDITIVE
    ),
    Entry(
        "jensen-shannon",
        "Jensen–Shannon",
        lambda d: kb.kernels.JensenShannon(),
        "histograms",
        "sums",
        ADDITIVE,
    ),
    Entry(
        "skewed-chi-squared",
        "Skewed chi-squared",
        lambda d: kb.kernels.SkewedChiSquared(0.2 / d),
        "histograms",
        "ratios",
        FOURIER,
    ),
    Entry(
        "skewed-intersection",
        "Skewed intersection",
        lambda d: kb.kernels.SkewedIntersection(0.2 / d),
        "histograms",
        "ratios",
        FOURIER,
    ),
    Entry(
        "exponential-semigroup",
        "Exp. semigroup",
        lambda d: kb.kernels.ExponentialSemigroup(d**-0.5),
        "histograms",
        "corner",
        ("random",),
    ),
    Entry(
        "reciprocal-semigroup",
        "Reciprocal semigroup",
        lambda d: kb.kernels.ReciprocalSemigroup(1.0),
        "histograms",
        "corner",
        ("random",),
    ),
)


def get(name):
    """The entry called `name`; ValueError with the nearest name when there is none."""
    for entry in CATALOGUE:
        if entry.name == name:
            return entry
    raise ValueError(unknown_name("kernel", name, [entry.name for entry in CATALOGUE]))
