/* The negatives in a range of ranks, taken from records sorted by value (_order.h).
 *
 * The highest values come first; among equal ones the lowest index, whereas sorted records have that at the front of the
 * tie. An end of the range may cut a record in two.
 */
#ifndef KB_WINDOW_H
#define KB_WINDOW_H

#include "_sweeps.h"

/* Where the negatives of the highest values, of some mass, end: those from `end` on belong to them, and of the tie from
 * `begin` to `end` the first `whole` and a part of the next one. */
typedef struct {
    ptrdiff_t begin, end, whole;
    double part;
} kb_cut;

/* A cut before all records, or behind them. */
KB_INLINE kb_cut kb_no_cut(ptrdiff_t at)
{
    kb_cut cut = {at, at, 0, 0.0};
    return cut;
}

/* Negatives are neighbours where they are tied: positives of the same value come after them. */
KB_INLINE int kb_is_tied(const kb_record *a, ptrdiff_t k, double z)
{
    return a[k].z == z && !(a[k].tag >> KB_CLASS_SHIFT);
}

KB_INLINE kb_cut kb_find_cut_of(const kb_record *a, ptrdiff_t n, const double *w, double mass)
{
    kb_cut cut = kb_no_cut(0);
    double total = 0.0, weight = 0.0;
    ptrdiff_t k = n - 1;
    for (; k >= 0; k--) {
        weight = kb_if_positive(a[k], 0.0, kb_weight(w, a[k]));
        if (total + weight >= mass && weight > 0.0)
            break;
        total += weight;
    }
    if (k < 0)
        return cut;
    cut.begin = k;
    cut.end = k + 1;
    for (; cut.end < n && kb_is_tied(a, cut.end, a[k].z); cut.end++)
        total -= kb_weight(w, a[cut.end]);
    while (cut.begin > 0 && kb_is_tied(a, cut.begin - 1, a[k].z))
        cut.begin--;
    for (k = cut.begin; k < cut.end - 1 && total + kb_weight(w, a[k]) <= mass; k++)
        total += kb_weight(w, a[k]);
    cut.part = mass - total;
    if (!(cut.part > 0.0))
        cut.part = 0.0;
    if (cut.part >= kb_weight(w, a[k])) {
        cut.part = 0.0;
        k++;
    }
    cut.whole = k - cut.begin;
    return cut;
}

KB_UNUSED static kb_cut kb_find_cut(const kb_record *a, ptrdiff_t n, const double *w, double mass)
{
    return w ? kb_find_cut_of(a, n, w, mass) : kb_find_cut_of(a, n, NULL, mass);
}

KB_INLINE ptrdiff_t kb_copy_all(const kb_record *a, ptrdiff_t begin, ptrdiff_t end, kb_record *to, ptrdiff_t count)
{
    if (begin >= end)
        return count;
    memcpy(to + count, a + begin, (size_t)(end - begin) * sizeof *to);
    return count + (end - begin);
}

KB_INLINE ptrdiff_t kb_copy_positives(const kb_record *a, ptrdiff_t begin, ptrdiff_t end, kb_record *to,
                                      ptrdiff_t count)
{
    for (ptrdiff_t k = begin; k < end; k++) {
        to[count] = a[k];
        count += (ptrdiff_t)(a[k].tag >> KB_CLASS_SHIFT);
    }
    return count;
}

/* Copy the positives, and the negatives between two cuts: those above `low` are left out. Returns how many; `to` has room
 * for n + 1, as one more repeats the last. */
KB_UNUSED static ptrdiff_t kb_copy_range(const kb_record *a, ptrdiff_t n, kb_cut low, kb_cut high, kb_record *to)
{
    const ptrdiff_t high_end = high.begin + high.whole + (high.part > 0.0), low_begin = low.begin + low.whole;
    ptrdiff_t count = kb_copy_positives(a, 0, high.begin, to, 0);
    if (low.begin == high.begin && low.end == high.end) {
        count = kb_copy_all(a, low_begin, high_end, to, count);
    } else {
        count = kb_copy_all(a, high.begin, high_end, to, count);
        count = kb_copy_all(a, high.end, low.begin, to, count);
        count = kb_copy_all(a, low_begin, low.end, to, count);
    }
    count = kb_copy_positives(a, low.end, n, to, count);
    to[count] = to[count - 1];
    return count;
}

/* --- the threshold of the largest keys, unsorted -------------------------------------------------------------------- */

/* A key and its sample, by value: the largest t such that the keys of at least t weigh `mass` or more; *above becomes
 * the weight of those beyond t. Rounds of cells, as in kb_sort_into. Both arrays are overwritten. */
KB_UNUSED static double kb_threshold(kb_record *from, kb_record *to, ptrdiff_t n, const double *w, double mass,
                                     double *above)
{
    double masses[KB_CELLS], total = 0.0;
    for (int round = 0;; round++) {
        double low = from[0].z, high = from[0].z;
        const ptrdiff_t n_cells = n < KB_CELLS ? n : KB_CELLS;
        ptrdiff_t cell = n_cells - 1, count = 0;
        kb_grid grid;
        for (ptrdiff_t k = 1; k < n; k++) {
            low = from[k].z < low ? from[k].z : low;
            high = from[k].z > high ? from[k].z : high;
        }
        if (low == high) {
            *above = total;
            return low;
        }
        grid = kb_make_grid(low, high, n_cells, round % 2);
        memset(masses, 0, (size_t)n_cells * sizeof *masses);
        for (ptrdiff_t k = 0; k < n; k++)
            masses[kb_cell(grid, from[k].z)] += kb_weight(w, from[k]);
        while (cell > 0 && total + masses[cell] < mass)
            total += masses[cell--];
        while (masses[cell] == 0.0 && cell < n_cells - 1) /* rounding: the mass is that of all keys */
            total -= masses[++cell];
        for (ptrdiff_t k = 0; k < n; k++) {
            to[count] = from[k];
            count += kb_cell(grid, from[k].z) == cell;
        }
        kb_record *swap = from;
        from = to;
        to = swap;
        n = count;
    }
}

#endif
