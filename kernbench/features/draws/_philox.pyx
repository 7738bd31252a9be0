"""Matrices of counter-based random numbers: the same bits for a block in any order and on any thread.

The layout is part of the file format: the key is the seed, and number j of a draw comes from word j % 4 of the counter
(j // 4, draw within the block, block, tag).
"""

from cython.parallel cimport prange
from libc.stdint cimport uint32_t, uint64_t

import numpy as np

cdef extern from "_philox.h" nogil:
    enum: KB_COUNTERS

    ctypedef struct kb_stream:
        uint32_t seed_low, seed_high, tag

    enum kb_distribution:
        KB_WORD, KB_UNIFORM, KB_NORMAL, KB_CAUCHY, KB_LAPLACE, KB_SECH
        KB_EXPONENTIAL, KB_LEVY, KB_SIGN

    void kb_fill(kb_distribution distribution, kb_stream stream, const uint32_t *draws, const uint32_t *blocks,
    ptrdiff_t n_scalars,
                 uint32_t first_quad, double scale, ptrdiff_t first, ptrdiff_t last, int item, char *out)

DISTRIBUTIONS = {
    "word": KB_WORD, "uniform": KB_UNIFORM, "normal": KB_NORMAL, "cauchy": KB_CAUCHY,
    "laplace": KB_LAPLACE, "sech": KB_SECH, "exponential": KB_EXPONENTIAL, "levy": KB_LEVY,
    "sign": KB_SIGN,
}

cdef enum:
    SERIAL_COUNTERS = 16384     # below this, threads cost more than they save


def fill(distribution, seed, tag, const uint32_t[::1] draws, const uint32_t[::1] blocks, Py_ssize_t n_scalars, *,
         first_quad=0, scale=1.0, dtype=np.float64):
    """Return `n_scalars` numbers of each draw.

    Parameters
    ----------
    distribution : str
        One of `DISTRIBUTIONS`; "word" gives the 32 random bits themselves.
    seed : int
        Between 0 and 2^64 - 1.
    tag : int
        Purpose of the numbers; numbers of different tags are independent.
    draws, blocks : uint32 arrays of shape (n,)
        For each row of the result, the number of the draw within its block, and the number of the block.
    n_scalars : int
    first_quad : int, default=0
        Number of counters (of four numbers each) skipped at the start of every draw.
    scale : float, default=1.0
        The numbers are multiplied by it, in float64.
    dtype : {float32, float64}, default=float64
        Numbers are computed in float64 and rounded once.

    Returns
    -------
    ndarray of shape (n, n_scalars)
        Numbers of precision `dtype`; uint32 for words.
    """
    cdef:
        kb_distribution which = <kb_distribution> <int> DISTRIBUTIONS[distribution]
        kb_stream stream
        uint64_t key = seed
        uint32_t quad = first_quad
        double factor = scale
        Py_ssize_t n_counters, n_chunks, t
        const uint32_t *draw
        const uint32_t *block
        char *first
        int item
    if draws.shape[0] != blocks.shape[0]:
        raise ValueError(f"{draws.shape[0]} draws need as many blocks, got {blocks.shape[0]}")
    stream.seed_low, stream.seed_high, stream.tag = <uint32_t> key, <uint32_t> (key >> 32), tag
    out = np.empty((draws.shape[0], n_scalars), dtype=np.uint32 if distribution == "word" else dtype)
    if out.size == 0:
        return out
    item = out.itemsize
    first = <char *> <size_t> out.ctypes.data
    draw, block = &draws[0], &blocks[0]
    n_counters = out.shape[0] * ((n_scalars + 3) // 4)
    n_chunks = (n_counters + KB_COUNTERS - 1) // KB_COUNTERS
    for t in prange(n_chunks, nogil=True, schedule="static", use_threads_if=n_counters > SERIAL_COUNTERS):
        kb_fill(which, stream, draw, block, n_scalars, quad, factor, t * KB_COUNTERS, n_counters, item, first)
    return out
