"""Fastfood: frequencies as products of simple matrices (Le et al., ICML 2013).

V = S H G P H B / sqrt(d), with d a power of two (rows are padded with zeros), B random signs, P a
permutation, G normal, H the Walsh-Hadamard matrix and S_ii = chi_i(d) / |G|: every row of V is a standard
normal vector, and V x costs O(d log d). The rows of a group of d share their factors, and are dependent.
"""

from dataclasses import dataclass

import numpy as np

from kernbench.features.draws.frequencies import student_scales
from kernbench.features.draws.spans import Purpose
from kernbench.features.draws.spectral_densities import chi_lengths, in_precision, length_scale
from kernbench.kernels.functions import Matern


@dataclass(frozen=True)
class Factors:
    """The factors of all groups of a span, one group a row.

    Attributes
    ----------
    signs, normals, lengths : ndarray of shape (n_groups, padded)
        B; G; and S over length scale and sqrt(d).
    permutations : ndarray of shape (n_groups, padded), int32
        Entry i of P z is z[permutations[i]].
    """

    signs: np.ndarray
    normals: np.ndarray
    permutations: np.ndarray
    lengths: np.ndarray


def padded_length(d):
    """Return the smallest power of two that is at least d."""
    return 1 << max(0, d - 1).bit_length()


def draw_factors(kernel, factor, span, columns_per_draw, d, *, dtype):
    """Return the factors of all groups of a span.

    Each block begins with a new group; its last group is drawn in full, and truncated to the number of draws.
    """
    padded = padded_length(d)
    draws, blocks = [], []
    for block, _, n_columns in span.blocks():
        n_groups = -(-(n_columns // columns_per_draw) // padded)
        draws.append(np.arange(n_groups * padded))
        blocks.append(np.full(n_groups * padded, block))
    draws, blocks = np.concatenate(draws), np.concatenate(blocks)
    normals = span.numbers_of("normal", factor, draws, blocks, 1, Purpose.FREQUENCIES)[:, 0]
    words = span.numbers_of("word", factor, draws, blocks, 2, Purpose.FREQUENCIES, first_quad=1)
    uniforms = span.numbers_of("uniform", factor, draws, blocks, 2, Purpose.SCALES)
    lengths = chi_lengths(padded, uniforms[:, 1]) / (length_scale(kernel) * np.sqrt(padded))
    if isinstance(kernel, Matern):
        lengths = lengths * student_scales(kernel, uniforms[:, 0])
    shape = (-1, padded)
    normals = normals.reshape(shape)
    lengths = lengths.reshape(shape) / np.sqrt(np.square(normals).sum(axis=1, keepdims=True))
    signs = np.where(words[:, 0] < 2**31, 1.0, -1.0).reshape(shape)
    permutations = np.argsort(words[:, 1].reshape(shape), axis=1, kind="stable")
    return Factors(
        signs.astype(dtype), normals.astype(dtype), permutations.astype(np.int32), in_precision(lengths, kernel, dtype)
    )
