/* Sums over pairs of a smooth function f(a_i - b_j) of sorted scores: the logistic loss log(1 + exp(-t)) and its
 * derivatives, in O(n).
 *
 * Scores are cut into cells [c, c + 1). Within a cell f is a polynomial of both scores up to rounding: with the
 * place of a positive x = a - (c + 1/2) and of a negative y = (d + 1/2) - b, mirrored so that the sum is symmetric,
 *
 *     f(a - b) = f(o + x + y) = sum_kl F_o[k][l] T_k(2x) T_l(2y),    o = c - d,
 *
 * T_k being Chebyshev's polynomials. So a cell is known by its moments, sum_i w_i T_k(2 x_i), and what it does to
 * another one is a matrix of KB_TERMS^2 numbers. Beyond KB_NEAR cells the loss is linear to rounding: 0, or b - a. The
 * cost is O(n) and a constant for each cell met, which shows where scores spread over tens of thousands of units.
 *
 * The records come sorted, so cells are met in order, and a queue of the cells within KB_NEAR of the current one is all
 * the memory needed.
 */
#ifndef KB_LOGISTIC_H
#define KB_LOGISTIC_H

#include <math.h>
#include "_sweeps.h"

enum {
    KB_TERMS = 16,   /* the coefficients fall like 12.6^-k: f is analytic up to t = +-i pi */
    KB_NEAR = 40,    /* cells: exp(-40) = 4e-18 */
    KB_QUEUE = 128,  /* a power of two above 2 KB_NEAR + 1 */
    KB_PART = 256,   /* records processed together */
    KB_LANES = 8
};

typedef struct {
    double number;                  /* the cell is [number, number + 1) */
    ptrdiff_t begin, end;           /* its records */
    int has[2];                     /* whether it holds negatives; positives */
    double moments[2][KB_TERMS];    /* of the negatives; of the positives */
    double v_moments[2][KB_TERMS];  /* with weights w v */
} kb_cell_of_scores;

/* Some records of a cell, by class (0 negatives, 1 positives). */
typedef struct {
    ptrdiff_t count[2];
    ptrdiff_t index[2][KB_PART + KB_LANES];
    double place[2][KB_PART + KB_LANES];    /* 2x, 2y */
    double weight[2][KB_PART + KB_LANES];
    double value[2][KB_PART + KB_LANES];
} kb_part;

KB_INLINE void kb_split(const kb_record *a, ptrdiff_t n, double number, const double *w, kb_part *part)
{
    part->count[0] = part->count[1] = 0;
    for (ptrdiff_t k = 0; k < n; k++) {
        const int positive = (int)(a[k].tag >> KB_CLASS_SHIFT);
        const double x = (a[k].z - number) - 0.5;
        const ptrdiff_t at = part->count[positive]++;
        part->index[positive][at] = (ptrdiff_t)(a[k].tag & KB_INDEX_BITS);
        part->place[positive][at] = positive ? 2.0 * x : -2.0 * x;
        part->weight[positive][at] = kb_weight(w, a[k]);
    }
    for (int class = 0; class < 2; class++)
        for (ptrdiff_t k = part->count[class]; k % KB_LANES != 0; k++) /* fill the last lanes */
            part->place[class][k] = part->weight[class][k] = 0.0;
}

/* moments[k] += sum_i w_i T_k(u_i), by T_{k+1} = 2 u T_k - T_{k-1}; arrays filled up to whole lanes. */
KB_INLINE void kb_add_moments(const double *u, const double *w, ptrdiff_t n, double *moments)
{
    double sums[KB_TERMS][KB_LANES] = {{0.0}};
    for (ptrdiff_t i = 0; i < n; i += KB_LANES) {
        double before[KB_LANES], now[KB_LANES];
        for (int l = 0; l < KB_LANES; l++) {
            before[l] = w[i + l];
            now[l] = w[i + l] * u[i + l];
            sums[0][l] += before[l];
            sums[1][l] += now[l];
        }
        for (int k = 2; k < KB_TERMS; k++) {
            for (int l = 0; l < KB_LANES; l++) {
                const double next = 2.0 * u[i + l] * now[l] - before[l];
                before[l] = now[l];
                now[l] = next;
                sums[k][l] += next;
            }
        }
    }
    for (int k = 0; k < KB_TERMS; k++) {
        double total = 0.0;
        for (int l = 0; l < KB_LANES; l++)
            total += sums[k][l];
        moments[k] += total;
    }
}

/* value[i] = sum_k c_k T_k(u_i), by Clenshaw's recurrence. */
KB_INLINE void kb_sum_series(const double *c, const double *u, ptrdiff_t n, double *value)
{
    for (ptrdiff_t i = 0; i < n; i += KB_LANES) {
        double after[KB_LANES] = {0.0}, now[KB_LANES] = {0.0};
        for (int k = KB_TERMS - 1; k > 0; k--) {
            for (int l = 0; l < KB_LANES; l++) {
                const double next = c[k] + 2.0 * u[i + l] * now[l] - after[l];
                after[l] = now[l];
                now[l] = next;
            }
        }
        for (int l = 0; l < KB_LANES; l++)
            value[i + l] = c[0] + u[i + l] * now[l] - after[l];
    }
}

/* out += F m, F symmetric. */
KB_INLINE void kb_couple(const double *F, const double *m, double *out)
{
    for (int k = 0; k < KB_TERMS; k++)
        for (int l = 0; l < KB_TERMS; l++)
            out[l] += F[k * KB_TERMS + l] * m[k];
}

/* Read the cell that begins at record `begin`; v may be NULL. */
KB_INLINE void kb_read_cell(const kb_record *a, ptrdiff_t begin, ptrdiff_t n, const double *w, const double *v,
                            kb_cell_of_scores *cell)
{
    kb_part part;
    ptrdiff_t end = begin;
    memset(cell, 0, sizeof *cell);
    cell->number = floor(a[begin].z);
    while (end < n && floor(a[end].z) == cell->number)
        end++;
    cell->begin = begin;
    cell->end = end;
    for (ptrdiff_t at = begin; at < end; at += KB_PART) {
        kb_split(a + at, end - at < KB_PART ? end - at : KB_PART, cell->number, w, &part);
        for (int class = 0; class < 2; class++) {
            const ptrdiff_t count = part.count[class];
            cell->has[class] |= count > 0;
            kb_add_moments(part.place[class], part.weight[class], count, cell->moments[class]);
            if (v) {
                for (ptrdiff_t k = 0; k < count; k++)
                    part.weight[class][k] *= v[part.index[class][k]];
                kb_add_moments(part.place[class], part.weight[class], count, cell->v_moments[class]);
            }
        }
    }
}

/* The queue of cells: those from `first` to `loaded` are in memory, `current` among them. */
typedef struct {
    kb_cell_of_scores cells[KB_QUEUE];
    ptrdiff_t first, current, loaded;
} kb_queue;

KB_INLINE kb_cell_of_scores *kb_queued(kb_queue *queue, ptrdiff_t k)
{
    return &queue->cells[k & (KB_QUEUE - 1)];
}

/* Load the cells up to KB_NEAR above the current one; returns 0 when no cell is left. */
KB_INLINE int kb_load(kb_queue *queue, const kb_record *a, ptrdiff_t n, const double *w, const double *v)
{
    for (;;) {
        const ptrdiff_t begin = queue->loaded ? kb_queued(queue, queue->loaded - 1)->end : 0;
        if (begin == n)
            return queue->current < queue->loaded;
        if (queue->current < queue->loaded
            && floor(a[begin].z) - kb_queued(queue, queue->current)->number > (double)KB_NEAR)
            return 1;
        kb_read_cell(a, begin, n, w, v, kb_queued(queue, queue->loaded));
        queue->loaded++;
    }
}

/* The potential of one class of the near cells in the current one: sum over cells of F_o times their moments. F holds
 * the matrices of o = -KB_NEAR .. KB_NEAR. */
KB_INLINE void kb_potential(kb_queue *queue, const double *F, int class, int of_v, double *out)
{
    const double here = kb_queued(queue, queue->current)->number;
    memset(out, 0, KB_TERMS * sizeof *out);
    for (ptrdiff_t k = queue->first; k < queue->loaded; k++) {
        kb_cell_of_scores *other = kb_queued(queue, k);
        const int offset = (int)(class ? other->number - here : here - other->number);
        if (other->has[class])
            kb_couple(F + (offset + KB_NEAR) * KB_TERMS * KB_TERMS,
                      of_v ? other->v_moments[class] : other->moments[class], out);
    }
}

/* The sum of the losses, times scale; F of the loss, G of its derivative. Gradient may be NULL. */
KB_CLONES KB_UNUSED static double kb_log_loss(const kb_record *a, ptrdiff_t n, const double *w, kb_queue *queue,
                                              const double *F, const double *G, double scale,
                                              double *gradient)
{
    double value = 0.0, mass = 0.0, distance = 0.0, at = 0.0; /* of positives more than KB_NEAR cells below */
    double terms[KB_TERMS];
    kb_part part;
    queue->first = queue->current = queue->loaded = 0;
    for (; kb_load(queue, a, n, w, NULL); queue->current++) {
        kb_cell_of_scores *here = kb_queued(queue, queue->current);
        if (mass > 0.0)
            distance += mass * (here->number - at);
        at = here->number;
        /* By the difference: at - KB_NEAR would be rounded where scores are beyond 2^53. */
        for (; at - kb_queued(queue, queue->first)->number > (double)KB_NEAR; queue->first++) {
            const kb_cell_of_scores *gone = kb_queued(queue, queue->first);
            mass += gone->moments[1][0];
            distance += gone->moments[1][0] * (at - gone->number) - 0.5 * gone->moments[1][1];
        }
        /* distance = sum_i w_i (at + 1/2 - a_i), and b_j = at + 1/2 - y_j */
        value += scale * (distance * here->moments[0][0] - 0.5 * mass * here->moments[0][1]);
        if (here->has[1]) {
            kb_potential(queue, F, 0, 0, terms);
            for (int k = 0; k < KB_TERMS; k++)
                value += scale * terms[k] * here->moments[1][k];
        }
        if (!gradient)
            continue;
        for (int class = 0; class < 2; class++) {
            if (!here->has[class])
                continue;
            kb_potential(queue, G, 1 - class, 0, terms);
            terms[0] -= class ? 0.0 : mass;
            for (ptrdiff_t begin = here->begin; begin < here->end; begin += KB_PART) {
                kb_split(a + begin, here->end - begin < KB_PART ? here->end - begin : KB_PART, at, w, &part);
                kb_sum_series(terms, part.place[class], part.count[class], part.value[class]);
                for (ptrdiff_t k = 0; k < part.count[class]; k++)
                    gradient[part.index[class][k]] =
                        (class ? scale : -scale) * part.weight[class][k] * part.value[class][k];
            }
        }
    }
    /* The slope of a positive is -1 for each negative more than KB_NEAR cells above it. */
    if (gradient && a[n - 1].z - a[0].z > (double)KB_NEAR) {
        mass = 0.0;
        for (ptrdiff_t i = n - 1, j = n - 1; i >= 0; i--) {
            if (!(a[i].tag >> KB_CLASS_SHIFT))
                continue;
            for (; floor(a[j].z) - floor(a[i].z) > (double)KB_NEAR; j--)
                mass += kb_if_positive(a[j], 0.0, kb_weight(w, a[j]));
            gradient[a[i].tag & KB_INDEX_BITS] -= scale * kb_weight(w, a[i]) * mass;
        }
    }
    return value;
}

/* The Hessian of the mean loss times v; H of the second derivative, which vanishes beyond KB_NEAR cells. */
KB_CLONES KB_UNUSED static void kb_log_loss_product(const kb_record *a, ptrdiff_t n, const double *w, kb_queue *queue,
                                                    const double *H, double scale, const double *v,
                                                    double *product)
{
    double terms[KB_TERMS], of_v[KB_TERMS], curved[KB_PART + KB_LANES];
    kb_part part;
    queue->first = queue->current = queue->loaded = 0;
    for (; kb_load(queue, a, n, w, v); queue->current++) {
        const kb_cell_of_scores *here = kb_queued(queue, queue->current);
        while (here->number - kb_queued(queue, queue->first)->number > (double)KB_NEAR)
            queue->first++;
        for (int class = 0; class < 2; class++) {
            if (!here->has[class])
                continue;
            kb_potential(queue, H, 1 - class, 0, terms);
            kb_potential(queue, H, 1 - class, 1, of_v);
            for (ptrdiff_t begin = here->begin; begin < here->end; begin += KB_PART) {
                kb_split(a + begin, here->end - begin < KB_PART ? here->end - begin : KB_PART, here->number, w, &part);
                kb_sum_series(terms, part.place[class], part.count[class], part.value[class]);
                kb_sum_series(of_v, part.place[class], part.count[class], curved);
                for (ptrdiff_t k = 0; k < part.count[class]; k++) {
                    const ptrdiff_t i = part.index[class][k];
                    product[i] = scale * part.weight[class][k] * (v[i] * part.value[class][k] - curved[k]);
                }
            }
        }
    }
}

#endif
