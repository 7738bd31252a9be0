/* Loops over one tile of a kernel matrix, in both precisions.
 *
 * _tiles_body.h holds what all kernels share: products with sparse rows, and operations on finished rows; _maps.h turns
 * inner products into kernel values, _coordinates.h needs no inner products.
 */
#ifndef KB_TILES_H
#define KB_TILES_H

#include <stddef.h>
#include "_simd.h"

/* Queries of a sparse panel: eight AVX2 registers of floats. */
#define KB_PANEL 64
/* ... and of a narrow panel, for batches that would leave most of a panel empty: one register of floats. */
#define KB_NARROW 8

/* kb_turn: rows[l][offset + r] = tile[r][l] for a square of 8 x 8 floats or 4 x 4 doubles out of a tile of rows of
 * KB_PANEL. Pairs, then pairs of pairs, then halves are exchanged in registers: four times as fast as one by one. */
#if defined(KB_VECTORS) && (defined(__clang__) || __GNUC__ >= 12)
#define KB_TURNS
#define KB_MIX __builtin_shufflevector
#define KB_LOW(a, b) KB_MIX(a, b, 0, 8, 1, 9, 4, 12, 5, 13)
#define KB_HIGH(a, b) KB_MIX(a, b, 2, 10, 3, 11, 6, 14, 7, 15)
#define KB_FIRST(a, b) KB_MIX(a, b, 0, 1, 8, 9, 4, 5, 12, 13)
#define KB_LAST(a, b) KB_MIX(a, b, 2, 3, 10, 11, 6, 7, 14, 15)
#define KB_LEFT(a, b) KB_MIX(a, b, 0, 1, 2, 3, 8, 9, 10, 11)
#define KB_RIGHT(a, b) KB_MIX(a, b, 4, 5, 6, 7, 12, 13, 14, 15)

typedef float kb_eight __attribute__((vector_size(32), aligned(4), may_alias));
typedef double kb_four __attribute__((vector_size(32), aligned(8), may_alias));

enum { KB_SIDE_float = 8, KB_SIDE_double = 4 };

KB_INLINE void kb_turn_float(const float *tile, float *const *rows, ptrdiff_t offset)
{
    enum { NEXT = KB_PANEL / 8 };
    const kb_eight *t = (const kb_eight *)tile;
    const kb_eight a0 = t[0], a1 = t[NEXT], a2 = t[2 * NEXT], a3 = t[3 * NEXT];
    const kb_eight a4 = t[4 * NEXT], a5 = t[5 * NEXT], a6 = t[6 * NEXT], a7 = t[7 * NEXT];
    const kb_eight b0 = KB_LOW(a0, a1), b1 = KB_HIGH(a0, a1), b2 = KB_LOW(a2, a3), b3 = KB_HIGH(a2, a3);
    const kb_eight b4 = KB_LOW(a4, a5), b5 = KB_HIGH(a4, a5), b6 = KB_LOW(a6, a7), b7 = KB_HIGH(a6, a7);
    const kb_eight c0 = KB_FIRST(b0, b2), c1 = KB_LAST(b0, b2), c2 = KB_FIRST(b1, b3), c3 = KB_LAST(b1, b3);
    const kb_eight c4 = KB_FIRST(b4, b6), c5 = KB_LAST(b4, b6), c6 = KB_FIRST(b5, b7), c7 = KB_LAST(b5, b7);
    *(kb_eight *)(rows[0] + offset) = KB_LEFT(c0, c4);
    *(kb_eight *)(rows[1] + offset) = KB_LEFT(c1, c5);
    *(kb_eight *)(rows[2] + offset) = KB_LEFT(c2, c6);
    *(kb_eight *)(rows[3] + offset) = KB_LEFT(c3, c7);
    *(kb_eight *)(rows[4] + offset) = KB_RIGHT(c0, c4);
    *(kb_eight *)(rows[5] + offset) = KB_RIGHT(c1, c5);
    *(kb_eight *)(rows[6] + offset) = KB_RIGHT(c2, c6);
    *(kb_eight *)(rows[7] + offset) = KB_RIGHT(c3, c7);
}

KB_INLINE void kb_turn_double(const double *tile, double *const *rows, ptrdiff_t offset)
{
    enum { NEXT = KB_PANEL / 4 };
    const kb_four *t = (const kb_four *)tile;
    const kb_four a0 = t[0], a1 = t[NEXT], a2 = t[2 * NEXT], a3 = t[3 * NEXT];
    const kb_four b0 = KB_MIX(a0, a1, 0, 4, 2, 6), b1 = KB_MIX(a0, a1, 1, 5, 3, 7);
    const kb_four b2 = KB_MIX(a2, a3, 0, 4, 2, 6), b3 = KB_MIX(a2, a3, 1, 5, 3, 7);
    *(kb_four *)(rows[0] + offset) = KB_MIX(b0, b2, 0, 1, 4, 5);
    *(kb_four *)(rows[1] + offset) = KB_MIX(b1, b3, 0, 1, 4, 5);
    *(kb_four *)(rows[2] + offset) = KB_MIX(b0, b2, 2, 3, 6, 7);
    *(kb_four *)(rows[3] + offset) = KB_MIX(b1, b3, 2, 3, 6, 7);
}
#endif

#define KB_BODY "_tiles_body.h"
#include "_both_precisions.h"

#endif
