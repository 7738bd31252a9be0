/* Sweeps over sorted records: the integrals (P1) and (P2) of _pairs.pyx over one stretch of them.
 *
 * A sweep enters a stretch knowing what lies outside it: the weight of thresholds below, of negative scores above, and so
 * on. Stretches have a fixed length, so sums do not depend on the threads that share them out. Where `w` (or
 * `gradient`) is NULL the compiler makes a variant without it: the functions that branch on it are inlined.
 */
#ifndef KB_SWEEPS_H
#define KB_SWEEPS_H

#include "_order.h"

enum { KB_STRETCH = 2048 };

/* What a stretch holds, and what lies outside it. */
typedef struct {
    double below, above;             /* weight of thresholds before the stretch, of negatives after it */
    double area_below, area_above;   /* integral of T up to the stretch, of B from its end on */
    double v_below, v_above;         /* sum of w v over the thresholds before, over the negatives after */
} kb_outside;

KB_INLINE double kb_weight(const double *w, kb_record x)
{
    return w ? w[x.tag & KB_INDEX_BITS] : 1.0;
}

KB_INLINE double kb_if_positive(kb_record x, double value, double otherwise)
{
    return x.tag >> KB_CLASS_SHIFT ? value : otherwise;
}

/* Fill above[k] with the weight of the negatives after record k. */
KB_INLINE double kb_fill_above(const kb_record *a, ptrdiff_t n, const double *w, double total, double *above)
{
    for (ptrdiff_t k = n - 1; k >= 0; k--) {
        above[k] = total;
        total += kb_if_positive(a[k], 0.0, kb_weight(w, a[k]));
    }
    return total;
}

KB_INLINE void kb_masses_of(const kb_record *a, ptrdiff_t n, const double *w, kb_outside *mass)
{
    double below = 0.0, above = 0.0;
    for (ptrdiff_t k = 0; k < n; k++) {
        double weight = kb_weight(w, a[k]);
        below += kb_if_positive(a[k], weight, 0.0);
        above += kb_if_positive(a[k], 0.0, weight);
    }
    mass->below = below;
    mass->above = above;
}

KB_INLINE double kb_hinge_of(const kb_record *a, ptrdiff_t n, const double *w, const kb_outside *outside, double scale,
                             double *gradient)
{
    double above[KB_STRETCH], below = outside->below, value = 0.0;
    kb_fill_above(a, n, w, outside->above, above);
    for (ptrdiff_t k = 0; k < n; k++) {
        double weight = kb_weight(w, a[k]), beyond = above[k] * scale;
        if (gradient)
            gradient[a[k].tag & KB_INDEX_BITS] = weight * kb_if_positive(a[k], -beyond, below * scale);
        below += kb_if_positive(a[k], weight, 0.0);
        value += beyond * below * (a[k + 1].z - a[k].z);
    }
    return value;
}

/* The integrals of T and B over the stretch. */
KB_INLINE void kb_areas_of(const kb_record *a, ptrdiff_t n, const double *w, const kb_outside *outside,
                           kb_outside *area)
{
    double above[KB_STRETCH], below = outside->below, area_below = 0.0, area_above = 0.0;
    kb_fill_above(a, n, w, outside->above, above);
    for (ptrdiff_t k = 0; k < n; k++) {
        double gap = a[k + 1].z - a[k].z;
        below += kb_if_positive(a[k], kb_weight(w, a[k]), 0.0);
        area_below += below * gap;
        area_above += above[k] * gap;
    }
    area->area_below = area_below;
    area->area_above = area_above;
}

KB_INLINE double kb_squared_hinge_of(const kb_record *a, ptrdiff_t n, const double *w, const kb_outside *outside,
                                     double scale, double *gradient)
{
    double above[KB_STRETCH], area_above[KB_STRETCH];
    double below = outside->below, area = outside->area_above, value = 0.0;
    kb_fill_above(a, n, w, outside->above, above);
    for (ptrdiff_t k = n - 1; k >= 0; k--) {
        area += above[k] * (a[k + 1].z - a[k].z);
        area_above[k] = area;
    }
    area = outside->area_below;
    for (ptrdiff_t k = 0; k < n; k++) {
        double weight = kb_weight(w, a[k]), gap = a[k + 1].z - a[k].z;
        if (gradient)
            gradient[a[k].tag & KB_INDEX_BITS] =
                2.0 * scale * weight * kb_if_positive(a[k], -area_above[k], area);
        below += kb_if_positive(a[k], weight, 0.0);
        value += above[k] * scale * gap * (2.0 * area + below * gap);
        area += below * gap;
    }
    return value;
}

/* Bring v into the order of the records and add it up by class. */
KB_INLINE void kb_gather_of(const kb_record *a, ptrdiff_t n, const double *w, const double *v, double *sorted,
                            kb_outside *sums)
{
    double v_below = 0.0, v_above = 0.0;
    for (ptrdiff_t k = 0; k < n; k++) {
        sorted[k] = v[a[k].tag & KB_INDEX_BITS];
        double weighted = kb_weight(w, a[k]) * sorted[k];
        v_below += kb_if_positive(a[k], weighted, 0.0);
        v_above += kb_if_positive(a[k], 0.0, weighted);
    }
    sums->v_below = v_below;
    sums->v_above = v_above;
}

KB_INLINE void kb_hessian_of(const kb_record *a, ptrdiff_t n, const double *w, const kb_outside *outside,
                             const double *sorted, double scale, double *product)
{
    double of_positive[KB_STRETCH], mass = outside->above, total = outside->v_above;
    for (ptrdiff_t k = n - 1; k >= 0; k--) {
        double weight = kb_if_positive(a[k], 0.0, kb_weight(w, a[k]));
        of_positive[k] = mass * sorted[k] - total;
        mass += weight;
        total += weight * sorted[k];
    }
    mass = outside->below;
    total = outside->v_below;
    for (ptrdiff_t k = 0; k < n; k++) {
        double weight = kb_weight(w, a[k]), of_negative = mass * sorted[k] - total;
        product[a[k].tag & KB_INDEX_BITS] =
            2.0 * scale * weight * kb_if_positive(a[k], of_positive[k], of_negative);
        weight = kb_if_positive(a[k], weight, 0.0);
        mass += weight;
        total += weight * sorted[k];
    }
}

/* --- the variants --------------------------------------------------------------------------------------------- */

KB_UNUSED static void kb_masses(const kb_record *a, ptrdiff_t n, const double *w, kb_outside *mass)
{
    if (w)
        kb_masses_of(a, n, w, mass);
    else
        kb_masses_of(a, n, NULL, mass);
}

KB_UNUSED static double kb_hinge(const kb_record *a, ptrdiff_t n, const double *w, const kb_outside *outside,
                                 double scale, double *gradient)
{
    if (w)
        return kb_hinge_of(a, n, w, outside, scale, gradient);
    if (gradient)
        return kb_hinge_of(a, n, NULL, outside, scale, gradient);
    return kb_hinge_of(a, n, NULL, outside, scale, NULL);
}

KB_UNUSED static void kb_areas(const kb_record *a, ptrdiff_t n, const double *w, const kb_outside *outside,
                               kb_outside *area)
{
    if (w)
        kb_areas_of(a, n, w, outside, area);
    else
        kb_areas_of(a, n, NULL, outside, area);
}

KB_UNUSED static double kb_squared_hinge(const kb_record *a, ptrdiff_t n, const double *w, const kb_outside *outside,
                                         double scale, double *gradient)
{
    if (w)
        return kb_squared_hinge_of(a, n, w, outside, scale, gradient);
    return kb_squared_hinge_of(a, n, NULL, outside, scale, gradient);
}

KB_UNUSED static void kb_gather(const kb_record *a, ptrdiff_t n, const double *w, const double *v, double *sorted,
                                kb_outside *sums)
{
    if (w)
        kb_gather_of(a, n, w, v, sorted, sums);
    else
        kb_gather_of(a, n, NULL, v, sorted, sums);
}

KB_UNUSED static void kb_hessian(const kb_record *a, ptrdiff_t n, const double *w, const kb_outside *outside,
                                 const double *sorted, double scale, double *product)
{
    if (w)
        kb_hessian_of(a, n, w, outside, sorted, scale, product);
    else
        kb_hessian_of(a, n, NULL, outside, sorted, scale, product);
}

/* Turn what stretches hold, stride numbers apart, into what lies before each of them (or after, going back), by
 * compensated summation: the error does not grow with their number. */
KB_UNUSED static void kb_accumulate(double *sums, ptrdiff_t n, ptrdiff_t stride, int back)
{
    double total = 0.0, lost = 0.0;
    for (ptrdiff_t k = 0; k < n; k++) {
        double *place = sums + (back ? n - 1 - k : k) * stride, term = *place;
        double next = total + term, shift = next - total;
        *place = total + lost;
        lost += (total - (next - shift)) + (term - shift);
        total = next;
    }
}

#endif
