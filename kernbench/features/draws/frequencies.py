"""Frequencies of projection maps: matrices W, one draw a row, from the spectral density of a kernel.

* ``iid``: independent rows;
* ``orthogonal``: the rows of each group of d are orthogonal, with the lengths of independent ones (Yu et al.,
  NIPS 2016);
* ``qmc``: a scrambled Sobol sequence through the inverse distribution functions (Yang et al., ICML 2014).

Fastfood, whose W is never formed, is in `kernbench.features.draws.fastfood`.
"""

import numpy as np

from kernbench.features.draws.spans import Purpose
from kernbench.features.draws.spectral_densities import (
    SPECTRAL_DENSITIES,
    chi_lengths,
    in_precision,
    length_scale,
    matern_scales,
)
from kernbench.kernels.functions import Matern
from kernbench.kernels.threads import single_threaded_blas

LARGEST_SCALE = 1e100  # of the Student t frequencies of Matérn at tiny nu, where the inverse may be infinite


def draw_frequencies(kernel, factor, span, columns_per_draw, d, draws, *, dtype, phases=False):
    """Return the frequencies of every draw of a span.

    Parameters
    ----------
    kernel : Kernel
        A kernel with an entry in `SPECTRAL_DENSITIES`.
    factor : int
        The kernel's index among the factors of a sum or product.
    span : Span
    columns_per_draw : int
    d : int
        Coordinates of a frequency.
    draws : {"iid", "orthogonal", "qmc"}
    dtype : {float32, float64}
        Frequencies are computed in float64 and rounded once.
    phases : bool, default=False
        Also draw a phase, uniform on [0, 2 pi).

    Returns
    -------
    W : ndarray of shape (n_draws, d)
    phase : ndarray of shape (n_draws,), or None
    """
    density = SPECTRAL_DENSITIES[type(kernel)]
    scale = density.factor / length_scale(kernel)
    matern = isinstance(kernel, Matern)
    phase = scales = None
    if draws == "qmc":
        points = span.points(factor, columns_per_draw, d + matern + phases)
        W = density.inverse(points[:, :d])
        W *= scale
        scales = points[:, d].copy() if matern else None
        phase = points[:, -1] * 2 * np.pi if phases else None
        del points  # as large as W
    else:
        if draws == "orthogonal":
            W = orthogonal_normals(factor, span, columns_per_draw, d) * scale
        elif density.generator is None:
            u = span.numbers("uniform", factor, columns_per_draw, d, Purpose.FREQUENCIES)
            W = density.inverse(u) * scale
        else:
            early = np.float64 if matern else dtype
            W = span.numbers(
                density.generator, factor, columns_per_draw, d, Purpose.FREQUENCIES, scale=scale, dtype=early
            )
        if matern:
            scales = span.numbers("uniform", factor, columns_per_draw, 1, Purpose.SCALES)[:, 0]
        if phases:
            phase = span.numbers("uniform", factor, columns_per_draw, 1, Purpose.PHASES, scale=2 * np.pi)[:, 0]
    if matern:
        W = W * student_scales(kernel, scales)[:, None]
    return in_precision(W, kernel, dtype), phase


def student_scales(kernel, u):
    """Return the scales that turn normal vectors into the Student t frequencies of a Matérn kernel."""
    return np.minimum(matern_scales(kernel.nu, u), LARGEST_SCALE)


def orthogonal_normals(factor, span, columns_per_draw, d):
    """Return normal vectors that are orthogonal within each group of d draws of a block."""
    Z = span.numbers("normal", factor, columns_per_draw, d, Purpose.FREQUENCIES)
    lengths = chi_lengths(d, span.numbers("uniform", factor, columns_per_draw, 2, Purpose.SCALES)[:, 1])
    with single_threaded_blas():  # the same bits on any number of threads
        for _, column, n_columns in span.blocks():
            start, stop = column // columns_per_draw, (column + n_columns) // columns_per_draw
            last = start + (stop - start) // d * d
            Z[start:last] = _orthonormal_rows(Z[start:last].reshape(-1, d, d)).reshape(-1, d)
            Z[last:stop] = _orthonormal_rows(Z[None, last:stop])[0]
    return Z * lengths[:, None]


def _orthonormal_rows(groups):
    """Orthonormalise the rows of each matrix: Q^T of the QR decomposition of its transpose, diagonal of R positive."""
    Q, R = np.linalg.qr(groups.swapaxes(1, 2))
    signs = np.where(np.diagonal(R, axis1=1, axis2=2) < 0, -1.0, 1.0)
    return (Q * signs[:, None]).swapaxes(1, 2)
