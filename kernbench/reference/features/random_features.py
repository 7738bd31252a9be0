"""Blocks of random features, a formula for each kind of kernel: twin of ``kernbench.features.blocks``."""

from math import comb

import numpy as np

from kernbench.kernels import functions as kernels
from kernbench.reference.features.frequencies import frequencies, from_points, sobol
from kernbench.reference.features.philox import DEGREES, FREQUENCIES, PHASES, Numbers

LOGARITHMIC = (kernels.SkewedChiSquared, kernels.SkewedIntersection)
FOURIER = (kernels.Gaussian, kernels.Laplacian, kernels.Cauchy, kernels.Matern, *LOGARITHMIC)
ADDITIVE = (kernels.ChiSquared, kernels.Intersection, kernels.JensenShannon)


def feature_block(seed, block, m, X, kernel, *, form, draws="iid", first_factor=0, second_stream=False):
    """Return Z (n, m) with E[Z Z^T] = k(X, X).

    Parameters
    ----------
    seed, block, m : int
    X : ndarray of shape (n, d)
    kernel : Kernel
        Not a sum; if a product, of kernels that are neither.
    form : {"pair", "phase", "vector", "scalar", "random", "tensor-sketch", "random-degree"}
    draws : {"iid", "orthogonal", "qmc", "fastfood"}
    first_factor : int, default=0
        The number of the first factor: that of the factors of all previous terms of a sum.
    second_stream : bool, default=False
    """
    X = np.asarray(X, dtype=np.float64)
    if form == "tensor-sketch":
        return tensor_sketches(kernel, X, Numbers(seed, block, first_factor, second_stream), m)
    q = m // {"pair": 2, "vector": 2 * X.shape[1]}.get(form, 1)  # independent draws

    def source(index):
        return Numbers(seed, block, index, second_stream), q, draws

    if form == "vector":
        return vector_features(kernel, X, source(first_factor)) / np.sqrt(q)
    factors = kernel.kernels if isinstance(kernel, kernels.Product) else (kernel,)
    t, b, others = 0.0, None, 1.0
    for index, factor in enumerate(factors, start=first_factor):
        if isinstance(factor, FOURIER):  # cosines of one phase for all: arguments add up
            W, phases = drawn(factor, source(index), X.shape[1], n_phases=int(form == "phase" and b is None))
            t = t + lifted(factor, X) @ W.T
            b = phases[:, 0] if phases.size else b
        else:
            others = others * scalar_features(factor, X, source(index))
    if form == "pair":
        return np.hstack([np.cos(t) * others, np.sin(t) * others]) / np.sqrt(q)
    if form == "phase":
        return np.sqrt(2) * np.cos(t + b) * others / np.sqrt(q)
    return others / np.sqrt(q)


def lifted(kernel, X):
    """Return the entries as transformed by a kernel."""
    if isinstance(kernel, LOGARITHMIC):
        return np.log(X + kernel.c)
    return np.sqrt(X) if isinstance(kernel, kernels.Hellinger) else X


def drawn(kernel, source, d, n_phases=0):
    """Return frequencies (q, d) and phases (q, n_phases), uniform on (0, 2 pi)."""
    numbers, q, draws = source
    if draws == "qmc":
        with_scale = d + isinstance(kernel, kernels.Matern)
        points = sobol(numbers, q, with_scale + n_phases)
        return from_points(kernel, points, d), 2 * np.pi * points[:, with_scale:]
    phases = [numbers.uniforms(k, n_phases, PHASES) if n_phases else [] for k in range(q)]
    return frequencies(kernel, numbers, q, d, draws), 2 * np.pi * np.array(phases).reshape(q, n_phases)


def scalar_features(kernel, X, source):
    """One number a draw, (n, q), not divided by sqrt(q)."""
    numbers, q, _ = source
    n, d = X.shape
    if isinstance(kernel, ADDITIVE):
        W, B = drawn(kernel, source, d, n_phases=d)
        waves = np.sqrt(X)[:, None] * np.cos(W * logarithms(X)[:, None] + B)  # (n, q, d)
        return np.sqrt(2) * waves.sum(axis=2)
    if isinstance(kernel, kernels.Polynomial | kernels.DotProduct):
        return random_degrees(kernel, X, numbers, q)
    if isinstance(kernel, kernels.Linear | kernels.Hellinger):
        return lifted(kernel, X) @ np.array([numbers.signs(k, d, FREQUENCIES) for k in range(q)]).T
    t = X @ drawn(kernel, source, d)[0].T
    if isinstance(kernel, kernels.ArcCosine):
        if kernel.order == 0:
            return np.sqrt(2) * np.heaviside(t, 0.5)  # 1/2 for a row of zeros, as the kernel's values are
        return np.sqrt(2) * np.where(t > 0, t ** int(kernel.order), 0.0)
    return np.exp(-t)  # the semigroup kernels


def vector_features(kernel, X, source):
    """A pair for each column, (n, 2 q d), not over sqrt(q): cosines of draw 0, of draw 1, ..., then sines."""
    w, _ = drawn(kernel, source, 1)
    t = w * logarithms(X)[:, None]  # (n, q, d)
    amplitudes = np.sqrt(X)[:, None]
    return np.hstack([(amplitudes * wave(t)).reshape(len(X), -1) for wave in (np.cos, np.sin)])


def logarithms(X):
    """log X, and 0 where x = 0: such entries add nothing."""
    return np.log(np.where(X > 0, X, 1.0))


def random_degrees(kernel, X, numbers, q):
    """sqrt(a_N / P[N]) prod_{i < N} <w_i, x>, P[N] = a_N / sum a (Kar and Karnick, AISTATS 2012)."""
    a = power_series(kernel)
    Z = np.empty((len(X), q))
    n_quads = (X.shape[1] + 3) // 4
    for k in range(q):
        u = numbers.uniforms(k, 1, DEGREES)[0]
        N = next(n for n in range(len(a)) if u < a[: n + 1].sum() / a.sum())
        signs = [numbers.signs(k, X.shape[1], FREQUENCIES, first_quad=factor * n_quads) for factor in range(N)]
        Z[:, k] = np.sqrt(a.sum()) * np.prod([X @ w for w in signs], axis=0)
    return Z


def power_series(kernel):
    """a_0, a_1, ... of k = sum_n a_n <x, z>^n."""
    if isinstance(kernel, kernels.DotProduct):
        return np.array(kernel.coefficients)
    p = int(kernel.degree)
    return np.array([comb(p, n) * kernel.c ** (p - n) * kernel.scale**n for n in range(p + 1)])


def tensor_sketches(kernel, X, numbers, m):
    """TensorSketch (Pham and Pagh, KDD 2013): one sketch for each power of two in m, the largest first."""
    rows = np.hstack([np.sqrt(kernel.scale) * X, np.full((len(X), 1), np.sqrt(kernel.c))])
    widths = [1 << bit for bit in reversed(range(m.bit_length())) if m >> bit & 1]
    sketches = [
        np.sqrt(width / m) * tensor_sketch(rows, numbers, k, width, int(kernel.degree))
        for k, width in enumerate(widths)
    ]
    return np.hstack(sketches)


def tensor_sketch(rows, numbers, k, width, degree):
    """The circular convolution of `degree` count sketches."""
    n, d = rows.shape
    n_quads = (d + 3) // 4
    phi = np.zeros((n, width))
    phi[:, 0] = 1.0
    for factor in range(degree):
        words = numbers.words(k, d, DEGREES, first_quad=factor * n_quads)
        counts = np.zeros((n, width))
        for i, word in enumerate(words):
            counts[:, word % width] += (1.0 if word < 2**31 else -1.0) * rows[:, i]
        phi = sum(counts[:, [shift]] * np.roll(phi, shift, axis=1) for shift in range(width))
    return phi
