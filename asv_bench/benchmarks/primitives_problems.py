"""The kernels and rows that the benchmarks of blocks and features share.

Kernels are named, not imported: a commit that lacks one skips its benchmarks. Like those of `problems`, the
numbers must not change; a new problem gets a new name.
"""

import numpy as np

from kernbench import kernels

# name: (class, parameters for rows of d columns, kind of rows, form of its random features)
CATALOGUE = {
    "gaussian": ("Gaussian", lambda d: (d**0.5,), "points", "pair"),
    "laplacian": ("Laplacian", lambda d: (float(d),), "points", "pair"),
    "cauchy": ("Cauchy", lambda d: (d**0.5,), "points", "pair"),
    "matern": ("Matern", lambda d: (1.5, d**0.5), "points", "pair"),
    "linear": ("Linear", lambda d: (), "ball", None),
    "polynomial": ("Polynomial", lambda d: (3, 0.5, 0.5), "ball", "tensor-sketch"),
    "dot-product": ("DotProduct", lambda d: ((0.4, 0.3, 0.2, 0.1),), "ball", "random-degree"),
    "arc-cosine": ("ArcCosine", lambda d: (1,), "ball", "random"),
    "hellinger": ("Hellinger", lambda d: (), "histograms", "random"),
    "chi-squared": ("ChiSquared", lambda d: (), "histograms", "scalar"),
    "exponential-chi-squared": ("ExponentialChiSquared", lambda d: (2.0,), "histograms", None),
    "intersection": ("Intersection", lambda d: (), "histograms", "scalar"),
    "jensen-shannon": ("JensenShannon", lambda d: (), "histograms", "scalar"),
    "skewed-chi-squared": ("SkewedChiSquared", lambda d: (0.2 / d,), "histograms", "pair"),
    "skewed-intersection": ("SkewedIntersection", lambda d: (0.2 / d,), "histograms", "pair"),
    "exponential-semigroup": ("ExponentialSemigroup", lambda d: (d**-0.5,), "histograms", "random"),
    "reciprocal-semigroup": ("ReciprocalSemigroup", lambda d: (1.0,), "histograms", "random"),
}
WITH_FEATURES = tuple(name for name, (_, _, _, form) in CATALOGUE.items() if form is not None)


def kernel(name, d):
    """The kernel for rows of `d` columns; skips the benchmark on a commit without it."""
    class_name, parameters, _, _ = CATALOGUE[name]
    if not hasattr(kernels, class_name):
        raise NotImplementedError(class_name)
    return getattr(kernels, class_name)(*parameters(d))


def form(name):
    """The form of the kernel's random features."""
    return CATALOGUE[name][3]


def rows(name, n, d, seed, dtype="float64"):
    """Rows of the kernel's kind: normal points, points in the unit ball, histograms that sum to 1."""
    kind, rng = CATALOGUE[name][2], np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    if kind == "ball":
        X *= rng.random((n, 1)) ** (1.0 / d) / np.linalg.norm(X, axis=1, keepdims=True)
    elif kind == "histograms":
        X = rng.gamma(0.5, size=(n, d)) + 1e-9
        X /= X.sum(axis=1, keepdims=True)
    return np.ascontiguousarray(X, dtype=dtype)


def clusters(n, d, seed):
    """30 clusters, the k-th with a share of the rows that falls like 1/k; the ten rarest are labelled 1."""
    rng = np.random.default_rng(seed)
    shares = 1.0 / np.arange(1, 31)
    member = rng.choice(30, size=n, p=shares / shares.sum())
    X = 2.0 * rng.standard_normal((30, d))[member] + 0.35 * rng.standard_normal((n, d))
    return X, (member >= 20).astype(int)


def log10_error(K, features):
    """log10 of the root mean square over `features` of ‖K − Φ Φᵀ‖ / ‖K‖; never less than -16."""
    squares = [np.linalg.norm(K - F @ F.T) ** 2 for F in features]
    return float(max(-16.0, np.log10(np.mean(squares) ** 0.5 / np.linalg.norm(K))))
