/* Kernels that are not functions of the inner product: a sum or product over the features of a term for each pair of
 * entries.
 *
 *     dense:  a row of queries against a strip of KB_STRIP columns, whose entries of one feature are contiguous
 *     sparse: the stored entries of a column against a panel of KB_PANEL queries, likewise
 *
 * Either way one number is combined with a vector, KB_STRIP sums stay in registers during the loop over features, and
 * nothing is loaded twice. _coordinates_body.h defines the terms of each routine, _coordinates_loop.h the loops.
 */
#ifndef KB_COORDINATES_H
#define KB_COORDINATES_H

#include <math.h>
#include <stddef.h>
#include "_routines.h"
#include "_simd.h"
#include "_tiles.h"

/* Columns of a strip: their sums fill four AVX2 registers of floats, eight of doubles. */
#define KB_STRIP 32
/* Features of one pass over a strip: 16 kB of it, which stay in the first-level cache. */
#define KB_PASS_BYTES 16384

/* Stored entries that are summed together. */
#define KB_RUN 32

/* Keeps GCC from merging two rounds of the loop over features (-floop-unroll-and-jam), after which it no longer
 * vectorises the inner loop: a tenfold loss. */
#ifdef KB_VECTORS
#define KB_NO_JAM __asm__ volatile("")
#else
#define KB_NO_JAM
#endif

#define KB_BODY "_coordinates_body.h"
#include "_both_precisions.h"

#endif
