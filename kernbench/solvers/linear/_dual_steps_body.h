/* One precision of the loop; see _dual_steps.h. Included twice, so no guard. */

/* |x_i|^2 of rows given by their starts; a dense matrix has starts as well. */
KB_UNUSED static void KB_NAME(squared_norms)(const KB_T *KB_RESTRICT values, const int64_t *KB_RESTRICT starts, ptrdiff_t n,
                                             double *KB_RESTRICT out)
{
    for (ptrdiff_t i = 0; i < n; i++) {
        double even = 0.0, odd = 0.0;
        int64_t k = starts[i];
        for (; k + 2 <= starts[i + 1]; k += 2) {
            even += (double)values[k] * (double)values[k];
            odd += (double)values[k + 1] * (double)values[k + 1];
        }
        if (k < starts[i + 1])
            even += (double)values[k] * (double)values[k];
        out[i] = even + odd;
    }
}

KB_INLINE double KB_NAME(dense_dot)(const KB_T *KB_RESTRICT x, const double *KB_RESTRICT w, ptrdiff_t d)
{
    double sums[16] = {0}, total = 0.0;
    ptrdiff_t k = 0;
    for (; k + 16 <= d; k += 16)
        for (int l = 0; l < 16; l++)
            sums[l] += (double)x[k + l] * w[k + l];
    for (; k < d; k++)
        total += (double)x[k] * w[k];
    for (int l = 0; l < 8; l++)
        sums[l] += sums[l + 8];
    for (int l = 0; l < 4; l++)
        sums[l] += sums[l + 4];
    return total + ((sums[0] + sums[2]) + (sums[1] + sums[3]));
}

KB_INLINE double KB_NAME(sparse_dot)(const KB_T *KB_RESTRICT x, const int32_t *KB_RESTRICT columns,
                                     const double *KB_RESTRICT w, ptrdiff_t length)
{
    double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
    ptrdiff_t k = 0;
    for (; k + 4 <= length; k += 4) {
        s0 += (double)x[k] * w[columns[k]];
        s1 += (double)x[k + 1] * w[columns[k + 1]];
        s2 += (double)x[k + 2] * w[columns[k + 2]];
        s3 += (double)x[k + 3] * w[columns[k + 3]];
    }
    for (; k < length; k++)
        s0 += (double)x[k] * w[columns[k]];
    return (s0 + s1) + (s2 + s3);
}

/* Processes up to `count` rows of the epoch; returns how many. columns is NULL for dense rows. */
KB_INLINE ptrdiff_t KB_NAME(walk)(const KB_T *KB_RESTRICT values, const int32_t *KB_RESTRICT columns, ptrdiff_t d,
                                  kb_sample *KB_RESTRICT samples, int64_t *KB_RESTRICT order, double *KB_RESTRICT w,
                                  kb_epoch *epoch, ptrdiff_t count, const int loss, const int shrinking)
{
    kb_epoch e = *epoch;
    ptrdiff_t done = 0;
    while (done < count && e.position < e.active) {
        const int64_t i = order[e.position];
        kb_sample *s = samples + i;
        const int64_t start = s->start;
        const ptrdiff_t length = columns ? (ptrdiff_t)(s[1].start - start) : d;
        const KB_T *x = values + start;
        double margin, step;
        int shrunk;
        if (e.position + KB_FAR_AHEAD < e.active) {
            const kb_sample *ahead = samples + order[e.position + KB_AHEAD];
            KB_PREFETCH(samples + order[e.position + KB_FAR_AHEAD]);
            if (columns) {
                kb_prefetch((const char *)(columns + ahead->start), (const char *)(columns + ahead[1].start));
                kb_prefetch((const char *)(values + ahead->start), (const char *)(values + ahead[1].start));
            } else
                kb_prefetch((const char *)(values + ahead->start), (const char *)(values + ahead->start + d));
        }
        margin = columns ? KB_NAME(sparse_dot)(x, columns + start, w, length) : KB_NAME(dense_dot)(x, w, d);
        margin = s->push < 0.0 ? -margin : margin;
        if (loss < KB_SQUARED_ERROR)
            step = kb_dual_step(s, margin, loss, shrinking, &e, &shrunk);
        else
            step = kb_residual_step(s, margin - e.targets[i], loss, shrinking, &e, &shrunk);
        done++;
        if (shrunk) {
            e.active--;
            order[e.position] = order[e.active];
            order[e.active] = i;
            continue;
        }
        e.position++;
        if (step != 0.0) {
            const double along = step * s->push;
            e.n_updates++;
            if (columns)
                for (ptrdiff_t k = 0; k < length; k++)
                    w[columns[start + k]] += along * (double)x[k];
            else
                for (ptrdiff_t k = 0; k < d; k++)
                    w[k] += along * (double)x[k];
        }
    }
    *epoch = e;
    return done;
}

/* Losses of residuals, in functions of their own: beside the others they would slow these down by a tenth. */
KB_APART static ptrdiff_t KB_NAME(sparse_residual_walk)(const KB_T *values, const int32_t *columns, kb_sample *samples,
                                                        int64_t *order, double *w, kb_epoch *epoch, ptrdiff_t count,
                                                        int loss, int shrinking)
{
    return KB_NAME(walk)(values, columns, 0, samples, order, w, epoch, count, loss, shrinking);
}

KB_CLONES KB_APART static ptrdiff_t KB_NAME(dense_residual_walk)(const KB_T *values, ptrdiff_t d, kb_sample *samples,
                                                                 int64_t *order, double *w, kb_epoch *epoch,
                                                                 ptrdiff_t count, int loss, int shrinking)
{
    return KB_NAME(walk)(values, NULL, d, samples, order, w, epoch, count, loss, shrinking);
}

KB_UNUSED static ptrdiff_t KB_NAME(sparse_walk)(const KB_T *values, const int32_t *columns, kb_sample *samples,
                                                int64_t *order, double *w, kb_epoch *epoch, ptrdiff_t count, int loss,
                                                int shrinking)
{
    if (loss == KB_HINGE)
        return KB_NAME(walk)(values, columns, 0, samples, order, w, epoch, count, KB_HINGE, shrinking);
    if (loss == KB_SQUARED_HINGE)
        return KB_NAME(walk)(values, columns, 0, samples, order, w, epoch, count, KB_SQUARED_HINGE, shrinking);
    if (loss >= KB_SQUARED_ERROR)
        return KB_NAME(sparse_residual_walk)(values, columns, samples, order, w, epoch, count, loss, shrinking);
    return KB_NAME(walk)(values, columns, 0, samples, order, w, epoch, count, KB_LOG_LOSS, 0);
}

KB_CLONES KB_UNUSED static ptrdiff_t KB_NAME(dense_walk)(const KB_T *values, ptrdiff_t d, kb_sample *samples,
                                                         int64_t *order, double *w, kb_epoch *epoch, ptrdiff_t count,
                                                         int loss, int shrinking)
{
    if (loss == KB_HINGE)
        return KB_NAME(walk)(values, NULL, d, samples, order, w, epoch, count, KB_HINGE, shrinking);
    if (loss == KB_SQUARED_HINGE)
        return KB_NAME(walk)(values, NULL, d, samples, order, w, epoch, count, KB_SQUARED_HINGE, shrinking);
    if (loss >= KB_SQUARED_ERROR)
        return KB_NAME(dense_residual_walk)(values, d, samples, order, w, epoch, count, loss, shrinking);
    return KB_NAME(walk)(values, NULL, d, samples, order, w, epoch, count, KB_LOG_LOSS, 0);
}
