/* The pass over the heights of one or two basins: sums below a bracket of each, and the members inside the brackets.
 *
 * Both basins in one pass, eight heights at a time. The bracket of an example's basin is found without a branch, from its
 * side, +1 or -1; sums over the first basin and over the second are half the sum and half the difference of two sums.
 * Few heights are inside: their bits are set in one loop, and those that are set are listed in another.
 */
#ifndef KB_HEIGHTS_H
#define KB_HEIGHTS_H

#include <stddef.h>
#include "_simd.h"

#ifndef KB_VECTORS
#error "kernbench needs a compiler with vector extensions (GCC or clang)"
#endif

/* Vectors of four doubles pay where the processor compares them as one; GCC takes them apart elsewhere. */
#if defined(__AVX2__)
#define KB_WIDE 1
#elif defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12 && \
    !defined(KB_NO_CLONES)
#define KB_WIDE __builtin_cpu_supports("avx2")
#else
#define KB_WIDE 0
#endif

#define KB_NO_LIMIT 1e300 /* end of a bracket that holds all heights; both do, or none: other limits are lost beside it */

enum { KB_BLOCK = 1024 }; /* heights of which the bits are held, a multiple of 64 */

typedef double kb_h4 __attribute__((vector_size(32), aligned(8), may_alias));
typedef int64_t kb_w4 __attribute__((vector_size(32), aligned(8), may_alias));

/* A bracket on the heights of a basin, and what a pass finds. */
typedef struct {
    double low, high;
    double mass_below;        /* of the members below the bracket */
    ptrdiff_t n_below, n_inside;
    double *heights, *masses; /* of the members inside, in ascending order of index; room for all members */
    ptrdiff_t *owners;        /* their indices */
} kb_bracket;

/* The bracket of an example is [low + side * low_side, ... + width + side * width_side]. */
typedef struct {
    double low, low_side, width, width_side;
} kb_limits;

/* Lists example k. */
KB_INLINE void kb_take(kb_bracket *bracket, double height, double mass, ptrdiff_t k)
{
    const ptrdiff_t place = bracket->n_inside++;
    bracket->heights[place] = height;
    bracket->masses[place] = mass;
    bracket->owners[place] = k;
}

/* Sets the brackets, and returns the sum of mass times height of all below the bracket of their basin. `sides` is +1 for
 * members of the first basin, -1 for those of the second, NaN for examples of neither; without `masses` all are 1. */
KB_INLINE double kb_scan(const double *KB_RESTRICT heights, const double *KB_RESTRICT sides,
                         const double *KB_RESTRICT masses, ptrdiff_t n, kb_bracket *first, kb_bracket *second)
{
    const double width_1 = first->high - first->low, width_2 = second->high - second->low;
    const kb_limits at = {0.5 * (first->low + second->low), 0.5 * (first->low - second->low),
                          0.5 * (width_1 + width_2), 0.5 * (width_1 - width_2)};
    const kb_h4 zero = {0};
    kb_h4 sums[2] = {zero, zero}, mass[2] = {zero, zero}, mass_side[2] = {zero, zero}, number_side[2] = {zero, zero};
    const kb_w4 first_bits = {1, 2, 4, 8}, last_bits = {16, 32, 64, 128};
    kb_w4 number[2] = {{0}, {0}};
    double total = 0, n_all = 0, n_side = 0, mass_all = 0, mass_difference = 0;
    ptrdiff_t k = 0;
    first->n_inside = second->n_inside = 0;
    while (KB_WIDE && k + 8 <= n) {
        const ptrdiff_t start = k, stop = n - k < KB_BLOCK ? n - (n - k) % 8 : k + KB_BLOCK;
        uint8_t bits[KB_BLOCK / 8] = {0}; /* a bit per height: inside. Branches at each would be mispredicted */
        for (; k < stop; k += 8) {
            kb_w4 inside[2];
            for (int h = 0; h < 2; h++) {
                const kb_h4 height = *(const kb_h4 *)(heights + k + 4 * h), side = *(const kb_h4 *)(sides + k + 4 * h);
                const kb_h4 above = height - (at.low + side * at.low_side);
                const kb_w4 below = above < zero;
                const kb_h4 side_below = (kb_h4)((kb_w4)side & below);
                inside[h] = below ^ (above <= at.width + side * at.width_side);
                number[h] -= below;
                number_side[h] += side_below;
                if (masses) {
                    const kb_h4 covered = (kb_h4)(*(const kb_w4 *)(masses + k + 4 * h) & below);
                    mass[h] += covered;
                    mass_side[h] += covered * side_below;
                    sums[h] += covered * height;
                } else {
                    sums[h] += (kb_h4)((kb_w4)height & below);
                }
            }
            const kb_w4 any = (inside[0] & first_bits) | (inside[1] & last_bits);
            bits[(k - start) / 8] = (uint8_t)(any[0] | any[1] | any[2] | any[3]);
        }
        for (ptrdiff_t base = start; base < stop; base += 64) {
            uint64_t word; /* of a little-endian processor: bit l is of height base + l */
            for (memcpy(&word, bits + (base - start) / 8, 8); word; word &= word - 1) {
                const ptrdiff_t i = base + __builtin_ctzll(word);
                kb_take(sides[i] > 0 ? first : second, heights[i], masses ? masses[i] : 1.0, i);
            }
        }
    }
    for (; k < n; k++) {
        const double m = masses ? masses[k] : 1.0, above = heights[k] - (at.low + sides[k] * at.low_side);
        if (above >= 0 && above <= at.width + sides[k] * at.width_side) {
            kb_take(sides[k] > 0 ? first : second, heights[k], m, k);
        } else if (above < 0) {
            n_all += 1;
            n_side += sides[k];
            mass_all += m;
            mass_difference += m * sides[k];
            total += m * heights[k];
        }
    }
    for (int h = 0; h < 2; h++)
        for (int l = 0; l < 4; l++) {
            n_all += (double)number[h][l];
            n_side += number_side[h][l];
            mass_all += masses ? mass[h][l] : (double)number[h][l];
            mass_difference += masses ? mass_side[h][l] : number_side[h][l];
            total += sums[h][l];
        }
    first->n_below = (ptrdiff_t)(0.5 * (n_all + n_side));
    second->n_below = (ptrdiff_t)(0.5 * (n_all - n_side));
    first->mass_below = 0.5 * (mass_all + mass_difference);
    second->mass_below = 0.5 * (mass_all - mass_difference);
    return total;
}

KB_CLONES KB_UNUSED static double scan_heights(const double *heights, const double *sides, const double *masses,
                                               ptrdiff_t n, kb_bracket *first, kb_bracket *second)
{
    if (masses)
        return kb_scan(heights, sides, masses, n, first, second);
    return kb_scan(heights, sides, NULL, n, first, second);
}

#endif
