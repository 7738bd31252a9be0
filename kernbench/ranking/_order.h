/* Sorting of (value, tag) records by value and, where values are equal, by the class bit of the tag.
 *
 * A tag is the index of a sample with its class in the highest bit: 0 negative, 1 positive. So on ties negatives come
 * before positives, and within a class the order of the samples is kept: the result does not depend on the method.
 */
#ifndef KB_ORDER_H
#define KB_ORDER_H

#include <stddef.h>
#include "_simd.h"

#define KB_CLASS_BIT 0x80000000u
#define KB_INDEX_BITS 0x7fffffffu

KB_INLINE int kb_precedes(double z, uint32_t tag, double other, uint32_t other_tag)
{
    return z < other || (z == other && (tag >> 31) < (other_tag >> 31));
}

/* Merge sort from the bottom up; the scratch arrays hold n records too. */
static void kb_merge_sort(double *z, uint32_t *tag, ptrdiff_t n, double *z_scratch, uint32_t *tag_scratch)
{
    double *from = z, *to = z_scratch;
    uint32_t *tag_from = tag, *tag_to = tag_scratch;
    for (ptrdiff_t width = 1; width < n; width *= 2) {
        for (ptrdiff_t low = 0; low < n; low += 2 * width) {
            ptrdiff_t middle = low + width < n ? low + width : n;
            ptrdiff_t high = low + 2 * width < n ? low + 2 * width : n;
            ptrdiff_t i = low, j = middle;
            for (ptrdiff_t k = low; k < high; k++) {
                int right = j < high && (i >= middle || kb_precedes(from[j], tag_from[j], from[i], tag_from[i]));
                ptrdiff_t source = right ? j++ : i++;
                to[k] = from[source];
                tag_to[k] = tag_from[source];
            }
        }
        double *swap = from; from = to; to = swap;
        uint32_t *tag_swap = tag_from; tag_from = tag_to; tag_to = tag_swap;
    }
    if (from != z) {
        memcpy(z, from, n * sizeof *z);
        memcpy(tag, tag_from, n * sizeof *tag);
    }
}

#endif
