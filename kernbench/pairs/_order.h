/* Sorting of records (value, tag) by value, then by tag.
 *
 * A tag is the index of a sample with its class in the highest bit: 0 negative, 1 positive. So on ties negatives come
 * before positives, and within a class samples come by index: the order is total and does not depend on the method.
 *
 * The method is a distribution sort. The range of the values is cut into cells of equal width, the records are
 * brought to their cells in one pass, and each cell is sorted in the same way, in cache. Cells with few records are left
 * to insertion. Where the values are far from equally spread, rounds that cut the logarithm of the values (nearly: the
 * floating-point numbers between two values) into cells alternate with the others, and after KB_ROUNDS a merge sort
 * takes over, so that no input costs more than O(n log n).
 */
#ifndef KB_ORDER_H
#define KB_ORDER_H

#include <float.h>
#include <stddef.h>
#include "_simd.h"

#define KB_CLASS_SHIFT 63
#define KB_CLASS_BIT ((uint64_t)1 << KB_CLASS_SHIFT)
#define KB_INDEX_BITS (KB_CLASS_BIT - 1)

enum {
    KB_FEW = 16,      /* records that insertion sorts best */
    KB_CELLS = 2048,  /* at most, within a cell: their counters live on the stack */
    KB_ROUNDS = 6
};

typedef struct {
    double z;
    uint64_t tag;
} kb_record;

/* Cell of z: (x - low) * per_unit, x being z or its place among the floating-point numbers. Rounding keeps this
 * monotone, which is all that sorting needs. */
typedef struct {
    double low, per_unit;
    int by_place;
} kb_grid;

KB_INLINE double kb_place(double z)
{
    int64_t bits;
    memcpy(&bits, &z, sizeof bits);
    bits ^= (bits >> 63) & INT64_MAX; /* negative numbers count downwards */
    return z == 0.0 ? 0.0 : (double)bits; /* both zeros have one place */
}

KB_INLINE int32_t kb_cell(kb_grid grid, double z)
{
    return (int32_t)(((grid.by_place ? kb_place(z) : z) - grid.low) * grid.per_unit);
}

/* Cells of equal width; of equal numbers of floating-point numbers on request, or if the width is out of range. */
KB_INLINE kb_grid kb_make_grid(double low, double high, ptrdiff_t n_cells, int by_place)
{
    kb_grid grid;
    double width;
    grid.by_place = by_place || !(high - low > 1e-280 && high - low <= DBL_MAX);
    grid.low = grid.by_place ? kb_place(low) : low;
    width = (grid.by_place ? kb_place(high) : high) - grid.low;
    /* One half less than there are cells, so that `high` stays inside when the product is rounded. */
    grid.per_unit = width > 0.0 ? ((double)n_cells - 0.5) / width : 0.0;
    return grid;
}

KB_INLINE int kb_precedes(kb_record x, kb_record y)
{
    return x.z < y.z || (x.z == y.z && x.tag < y.tag);
}

/* Insertion sort that gives up after `budget` moves; returns whether it came to the end. */
KB_INLINE int kb_insert(kb_record *a, ptrdiff_t n, ptrdiff_t budget)
{
    for (ptrdiff_t k = 1; k < n; k++) {
        kb_record x = a[k];
        ptrdiff_t j = k;
        if (!kb_precedes(x, a[k - 1]))
            continue;
        do {
            a[j] = a[j - 1];
            j--;
        } while (j > 0 && kb_precedes(x, a[j - 1]));
        a[j] = x;
        budget -= k - j;
        if (budget < 0)
            return 0;
    }
    return 1;
}

static void kb_merge_sort(kb_record *a, kb_record *scratch, ptrdiff_t n)
{
    kb_record *from = a, *to = scratch;
    for (ptrdiff_t low = 0; low < n; low += KB_FEW)
        kb_insert(a + low, n - low < KB_FEW ? n - low : KB_FEW, KB_FEW * KB_FEW);
    for (ptrdiff_t width = KB_FEW; width < n; width *= 2) {
        for (ptrdiff_t low = 0; low < n; low += 2 * width) {
            ptrdiff_t middle = low + width < n ? low + width : n;
            ptrdiff_t high = low + 2 * width < n ? low + 2 * width : n;
            ptrdiff_t i = low, j = middle, k = low;
            while (i < middle && j < high) {
                int right = kb_precedes(from[j], from[i]);
                to[k++] = from[right ? j : i];
                i += !right;
                j += right;
            }
            memcpy(to + k, from + i, (size_t)(middle - i) * sizeof *to);
            k += middle - i;
            memcpy(to + k, from + j, (size_t)(high - j) * sizeof *to);
        }
        kb_record *swap = from;
        from = to;
        to = swap;
    }
    if (from != a)
        memcpy(a, from, (size_t)n * sizeof *a);
}

/* Records of one value: by class, and within a class as they came if that was by index, as it mostly is. */
static void kb_sort_ties(kb_record *from, kb_record *to, ptrdiff_t n)
{
    ptrdiff_t next[2] = {0, n};
    int ascending = 1;
    for (ptrdiff_t k = 0; k < n; k++)
        next[1] -= from[k].tag >> KB_CLASS_SHIFT;
    for (ptrdiff_t k = 0; k < n; k++)
        to[next[from[k].tag >> KB_CLASS_SHIFT]++] = from[k];
    for (ptrdiff_t k = 1; k < n; k++)
        ascending &= to[k - 1].tag < to[k].tag;
    if (!ascending)
        kb_merge_sort(to, from, n);
}

/* Sort n records from `from` into `to`; what is left in `from` does not matter. */
KB_UNUSED static void kb_sort_into(kb_record *from, kb_record *to, ptrdiff_t n, int round)
{
    uint32_t start[KB_CELLS + 1];
    ptrdiff_t n_cells = n < KB_CELLS ? n : KB_CELLS;
    double low, high;
    kb_grid grid;
    uint32_t sum = 0, most = 0;

    if (n <= KB_FEW) {
        memcpy(to, from, (size_t)n * sizeof *to);
        kb_insert(to, n, KB_FEW * KB_FEW);
        return;
    }
    low = high = from[0].z;
    for (ptrdiff_t k = 1; k < n; k++) {
        double z = from[k].z;
        low = z < low ? z : low;
        high = z > high ? z : high;
    }
    if (low == high) {
        kb_sort_ties(from, to, n);
        return;
    }
    if (round == KB_ROUNDS) {
        memcpy(to, from, (size_t)n * sizeof *to);
        kb_merge_sort(to, from, n);
        return;
    }
    grid = kb_make_grid(low, high, n_cells, round % 2);
    memset(start, 0, (size_t)n_cells * sizeof *start);
    for (ptrdiff_t k = 0; k < n; k++)
        start[kb_cell(grid, from[k].z)]++;
    for (ptrdiff_t c = 0; c < n_cells; c++) {
        uint32_t count = start[c];
        start[c] = sum;
        sum += count;
        most = count > most ? count : most;
    }
    for (ptrdiff_t k = 0; k < n; k++)
        to[start[kb_cell(grid, from[k].z)]++] = from[k];
    if (most <= KB_FEW) { /* no record is far from its place: one pass over all cells */
        kb_insert(to, n, n * KB_FEW);
        return;
    }
    for (ptrdiff_t c = 0, begin = 0; c < n_cells; c++) { /* start[c] is now the end of cell c */
        ptrdiff_t count = start[c] - begin;
        if (count <= KB_FEW) {
            kb_insert(to + begin, count, KB_FEW * KB_FEW);
        } else {
            kb_sort_into(to + begin, from + begin, count, round + 1);
            memcpy(to + begin, from + begin, (size_t)count * sizeof *to);
        }
        begin = start[c];
    }
}

/* --- the first round, from scores: pieces that threads share out ------------------------------------------------- */

/* Smallest and largest of scores[i] - margin * positive[i]; returns whether all are finite. */
KB_CLONES KB_UNUSED static int kb_range(const double *scores, const uint8_t *positive, double margin,
                                        ptrdiff_t begin, ptrdiff_t end, double *low, double *high)
{
    enum { LANES = 8 };
    double least[LANES], most[LANES];
    int64_t wrong[LANES] = {0};
    for (int l = 0; l < LANES; l++) {
        least[l] = DBL_MAX;
        most[l] = -DBL_MAX;
    }
    for (; begin + LANES <= end; begin += LANES) {
        for (int l = 0; l < LANES; l++) {
            double z = scores[begin + l] - margin * positive[begin + l];
            least[l] = z < least[l] ? z : least[l];
            most[l] = z > most[l] ? z : most[l];
            wrong[l] |= !(z - z == 0.0);
        }
    }
    for (; begin < end; begin++) {
        double z = scores[begin] - margin * positive[begin];
        least[0] = z < least[0] ? z : least[0];
        most[0] = z > most[0] ? z : most[0];
        wrong[0] |= !(z - z == 0.0);
    }
    *low = least[0];
    *high = most[0];
    for (int l = 1; l < LANES; l++) {
        *low = least[l] < *low ? least[l] : *low;
        *high = most[l] > *high ? most[l] : *high;
        wrong[0] |= wrong[l];
    }
    return !wrong[0];
}

KB_CLONES KB_UNUSED static int kb_all_finite(const double *x, ptrdiff_t n)
{
    int64_t wrong = 0;
    for (ptrdiff_t k = 0; k < n; k++)
        wrong |= !(x[k] - x[k] == 0.0);
    return !wrong;
}

KB_UNUSED static void kb_count(const double *scores, const uint8_t *positive, double margin, ptrdiff_t begin,
                               ptrdiff_t end, kb_grid grid, uint32_t *counts)
{
    for (ptrdiff_t i = begin; i < end; i++)
        counts[kb_cell(grid, scores[i] - margin * positive[i])]++;
}

/* `next` holds the place of the next record of every cell. */
KB_UNUSED static void kb_scatter(const double *scores, const uint8_t *positive, double margin, ptrdiff_t begin,
                                 ptrdiff_t end, kb_grid grid, uint32_t *next, kb_record *records)
{
    for (ptrdiff_t i = begin; i < end; i++) {
        double z = scores[i] - margin * positive[i];
        kb_record record = {z, (uint64_t)i | (uint64_t)positive[i] << KB_CLASS_SHIFT};
        records[next[kb_cell(grid, z)]++] = record;
    }
}

/* --- scores that are nearly in the order of the last call ---------------------------------------------------------- */

/* Put new scores into the records, in the order they are in. */
KB_UNUSED static void kb_refresh(const double *scores, double margin, kb_record *records, ptrdiff_t begin,
                                 ptrdiff_t end)
{
    for (ptrdiff_t k = begin; k < end; k++) {
        uint64_t tag = records[k].tag;
        records[k].z = scores[tag & KB_INDEX_BITS] - margin * (double)(int64_t)(tag >> KB_CLASS_SHIFT);
    }
}

#endif
