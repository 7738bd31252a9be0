/* The structural bound of the partial AUC over sorted scores: see _structural.pyx. */
#ifndef KB_STRUCTURAL_H
#define KB_STRUCTURAL_H

#include <stddef.h>

/* A negative of the upper ranks, or the part of it that lies in them. */
typedef struct {
    double b, mass;
    ptrdiff_t sample;
} kb_piece;

/* sum_i w_i max_r of the bracket, over positives with thresholds t_i = a_i - 1, both descending like the pieces; the first
 * n_top pieces lie above m. taken[i] becomes the mass down to r_i, counts[k] the weight of the positives whose r_i lies
 * before piece k; k = 0 .. n. */
static double kb_structural(const kb_piece *piece, ptrdiff_t n_top, ptrdiff_t n, const double *a, const double *t,
                            const double *w, ptrdiff_t n_positive, double *taken, double *counts)
{
    double early = 0.0, early_mass = 0.0; /* over the top pieces with b > a_i, of b - a_i */
    double late = 0.0, late_mass = 0.0;   /* over the other pieces with b > t_i, of b - t_i */
    double top = 0.0, top_mass = 0.0, value = 0.0;
    const double centre = n_top ? piece[n_top - 1].b : 0.0;
    ptrdiff_t k = 0, l = n_top;
    for (ptrdiff_t j = 0; j < n_top; j++) {
        top += piece[j].mass * (piece[j].b - centre);
        top_mass += piece[j].mass;
    }
    for (ptrdiff_t j = 0; j <= n; j++)
        counts[j] = 0.0;
    for (ptrdiff_t i = 0; i < n_positive; i++) {
        double whole;
        if (i > 0) {
            early += early_mass * (a[i - 1] - a[i]);
            late += late_mass * (t[i - 1] - t[i]);
        }
        for (; k < n_top && piece[k].b > a[i]; k++) {
            early += piece[k].mass * (piece[k].b - a[i]);
            early_mass += piece[k].mass;
        }
        for (; l < n && piece[l].b > t[i]; l++) {
            late += piece[l].mass * (piece[l].b - t[i]);
            late_mass += piece[l].mass;
        }
        whole = late + (top + top_mass * (centre - a[i]));
        if (whole > early) {
            value += w[i] * whole;
            taken[i] = top_mass + late_mass;
            counts[l] += w[i];
        } else {
            value += w[i] * early;
            taken[i] = early_mass;
            counts[k] += w[i];
        }
    }
    return value;
}

#endif
