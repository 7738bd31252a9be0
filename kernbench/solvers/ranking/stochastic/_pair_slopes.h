/* Sums over a batch of pairs of -l'(a_i - b_j), for the pairs whose b_j lies above a threshold of i.
 *
 * The negatives come in arrays padded to a multiple of KB_LANES by entries with b = -inf and u = 0, which no threshold
 * is below. Eight partial sums let the loops vectorise without re-association.
 */
#ifndef KB_PAIR_SLOPES_H
#define KB_PAIR_SLOPES_H

#include <math.h>
#include <stddef.h>
#include "_margin.h"
#include "_simd.h"

#define KB_LANES 8
#define KB_FAR 600.0 /* difference of scores beyond which exp(a - c) exp(c - b) may overflow */

/* For i: row_i = sum_j u_j s_ij, count_i = sum_j u_j over the pairs that count; col_j += u_i s_ij. */
#define KB_PAIR_SUMS(NAME, SLOPE)                                                                                     \
    KB_CLONES KB_UNUSED static void NAME(ptrdiff_t n_i, ptrdiff_t n_j, const double *KB_RESTRICT a,                   \
                                         const double *KB_RESTRICT b, const double *KB_RESTRICT q,                    \
                                         const double *KB_RESTRICT p, const double *KB_RESTRICT tau,                  \
                                         const double *KB_RESTRICT u_i, const double *KB_RESTRICT u_j,                \
                                         double *KB_RESTRICT row, double *KB_RESTRICT count, double *KB_RESTRICT col) \
    {                                                                                                                 \
        for (ptrdiff_t i = 0; i < n_i; i++) {                                                                         \
            const double ai = a[i], pi = p[i], ti = tau[i], ui = u_i[i];                                              \
            double sums[KB_LANES] = {0}, counts[KB_LANES] = {0}, sum = 0, total = 0;                                  \
            (void)ai;                                                                                                 \
            (void)pi;                                                                                                 \
            for (ptrdiff_t j = 0; j < n_j; j += KB_LANES)                                                             \
                for (int l = 0; l < KB_LANES; l++) {                                                                  \
                    const double bj = b[j + l], qj = q[j + l], uj = u_j[j + l];                                       \
                    const double s = bj > ti ? (SLOPE) : 0.0;                                                         \
                    (void)qj;                                                                                         \
                    sums[l] += uj * s;                                                                                \
                    counts[l] += bj > ti ? uj : 0.0;                                                                  \
                    col[j + l] += ui * s;                                                                             \
                }                                                                                                     \
            for (int l = 0; l < KB_LANES; l++) {                                                                      \
                sum += sums[l];                                                                                       \
                total += counts[l];                                                                                   \
            }                                                                                                         \
            row[i] = sum;                                                                                             \
            count[i] = total;                                                                                         \
        }                                                                                                             \
    }

KB_PAIR_SUMS(kb_sums_hinge, ai - bj < 1.0 ? 1.0 : 0.0)
KB_PAIR_SUMS(kb_sums_squared_hinge, 1.0 - (ai - bj) > 0.0 ? 2.0 * (1.0 - (ai - bj)) : 0.0)
KB_PAIR_SUMS(kb_sums_log_loss, 1.0 / (1.0 + pi * qj))
KB_PAIR_SUMS(kb_sums_far_log_loss, kb_expit(bj - ai))

/* The same for a loss by its code; p (n_i) and q (n_j) are scratch. */
KB_UNUSED static void kb_pair_sums(int loss, ptrdiff_t n_i, ptrdiff_t n_j, const double *a, const double *b, double *p,
                                   double *q, const double *tau, const double *u_i, const double *u_j, double *row,
                                   double *count, double *col)
{
    double low = INFINITY, high = -INFINITY, centre;
    for (ptrdiff_t j = 0; j < n_j; j++)
        col[j] = 0.0;
    if (loss == KB_HINGE) {
        kb_sums_hinge(n_i, n_j, a, b, b, a, tau, u_i, u_j, row, count, col);
        return;
    }
    if (loss == KB_SQUARED_HINGE) {
        kb_sums_squared_hinge(n_i, n_j, a, b, b, a, tau, u_i, u_j, row, count, col);
        return;
    }
    /* exp(a_i - b_j) = exp(a_i - c) exp(c - b_j): n_i + n_j exponentials in place of n_i n_j */
    for (ptrdiff_t i = 0; i < n_i; i++) {
        low = a[i] < low ? a[i] : low;
        high = a[i] > high ? a[i] : high;
    }
    for (ptrdiff_t j = 0; j < n_j; j++)
        if (b[j] > -INFINITY) {
            low = b[j] < low ? b[j] : low;
            high = b[j] > high ? b[j] : high;
        }
    if (high - low > KB_FAR) {
        kb_sums_far_log_loss(n_i, n_j, a, b, b, a, tau, u_i, u_j, row, count, col);
        return;
    }
    centre = low + 0.5 * (high - low);
    for (ptrdiff_t i = 0; i < n_i; i++)
        p[i] = exp(a[i] - centre);
    for (ptrdiff_t j = 0; j < n_j; j++)
        q[j] = b[j] > -INFINITY ? exp(centre - b[j]) : 1.0;
    kb_sums_log_loss(n_i, n_j, a, b, q, p, tau, u_i, u_j, row, count, col);
}

/* The score above which a negative's loss exceeds lambda: l(a - b) > lambda where b > threshold. */
KB_UNUSED static double kb_score_threshold(int loss, double a, double lambda)
{
    if (loss == KB_LOG_LOSS)
        return lambda <= 0.0 ? -INFINITY : a + (lambda > 30.0 ? lambda : log(expm1(lambda)));
    if (lambda < 0.0)
        return -INFINITY;
    return a - 1.0 + (loss == KB_HINGE ? lambda : sqrt(lambda));
}

#endif
