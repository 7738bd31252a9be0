/* The two loops of one routine in one precision; _coordinates_body.h lists what it must define. */

/* rows[q][offset + l] = the terms of query q against column l of the strip, added (or multiplied) up, for l < width.
 * Queries lie `row_length` apart. Long rows are summed in passes, which also keeps rounding small;
 * `first` says that rows[q] is not initialised yet. */
KB_CLONES KB_UNUSED static void KB_NAME(KB_PASTE(KB_ROUTINE, _strip))(const KB_T *KB_RESTRICT x, ptrdiff_t row_length,
                                                                   ptrdiff_t m, const KB_T *KB_RESTRICT strip,
                                                                   ptrdiff_t n_features, int first, ptrdiff_t width,
                                                                   KB_T **rows, ptrdiff_t offset)
{
    for (ptrdiff_t q = 0; q < m; q++) {
        const KB_T *KB_RESTRICT row = x + q * row_length;
        KB_T sums[KB_STRIP], narrow[KB_STRIP];
        KB_T *KB_RESTRICT out = width < KB_STRIP ? narrow : rows[q] + offset;
        for (int l = 0; l < KB_STRIP; l++)
            sums[l] = KB_START;
        for (ptrdiff_t k = 0; k < n_features; k++) {
            KB_NO_JAM;
            const KB_T x_k = row[k * KB_STREAMS];
            const KB_T y_k KB_UNUSED = row[k * KB_STREAMS + KB_STREAMS - 1];
            const KB_T *KB_RESTRICT u = strip + k * KB_STREAMS * KB_STRIP;
            const KB_T *KB_RESTRICT v KB_UNUSED = u + (KB_STREAMS - 1) * KB_STRIP;
            for (int l = 0; l < KB_STRIP; l++)
                KB_STEP(sums[l], x_k, y_k, u[l], v[l]);
        }
        if (!first) {
            if (width < KB_STRIP)
                for (ptrdiff_t l = 0; l < width; l++)
                    narrow[l] = rows[q][offset + l];
            for (int l = 0; l < KB_STRIP; l++)
                sums[l] KB_JOIN out[l];
        }
        for (int l = 0; l < KB_STRIP; l++)
            out[l] = sums[l];
        if (width < KB_STRIP)
            for (ptrdiff_t l = 0; l < width; l++)
                rows[q][offset + l] = narrow[l];
    }
}

#ifdef KB_SWEEP_STEP
/* out[r][q] = the terms of the stored entries of row r against query q of the panel, added up. */
KB_CLONES KB_UNUSED static void KB_NAME(KB_PASTE(KB_ROUTINE, _sweep))(const KB_T *KB_RESTRICT values,
                                                                   const int32_t *KB_RESTRICT columns,
                                                                   const int64_t *KB_RESTRICT starts,
                                                                   ptrdiff_t n_rows, const KB_T *KB_RESTRICT panel,
                                                                   const KB_T *KB_RESTRICT base KB_UNUSED,
                                                                   KB_T *KB_RESTRICT out)
{
    for (ptrdiff_t part = 0; part < KB_PANEL; part += KB_STRIP) {
        for (ptrdiff_t r = 0; r < n_rows; r++) {
            KB_T total[KB_STRIP];
            for (int l = 0; l < KB_STRIP; l++)
                total[l] = 0;
            /* Runs of entries are summed separately: rounding errors grow with the length of a run, not of the row. */
            for (int64_t run = starts[r]; run < starts[r + 1]; run += KB_RUN) {
                const int64_t stop = run + KB_RUN < starts[r + 1] ? run + KB_RUN : starts[r + 1];
                KB_T sums[KB_STRIP];
                for (int l = 0; l < KB_STRIP; l++)
                    sums[l] = 0;
                for (int64_t k = run; k < stop; k++) {
                    KB_NO_JAM;
                    const KB_T x_k = values[k * KB_STREAMS];
                    const KB_T y_k KB_UNUSED = values[k * KB_STREAMS + KB_STREAMS - 1];
                    const KB_T *KB_RESTRICT u = panel + (ptrdiff_t)columns[k] * KB_STREAMS * KB_PANEL + part;
                    const KB_T *KB_RESTRICT v KB_UNUSED = u + (KB_STREAMS - 1) * KB_PANEL;
                    for (int l = 0; l < KB_STRIP; l++)
                        KB_SWEEP_STEP(sums[l], x_k, y_k, u[l], v[l]);
                }
                for (int l = 0; l < KB_STRIP; l++)
                    total[l] += sums[l];
            }
            for (int l = 0; l < KB_STRIP; l++)
                out[r * KB_PANEL + part + l] = KB_SWEEP_BASE(base[part + l]) + total[l];
        }
    }
}
#undef KB_SWEEP_STEP
#undef KB_SWEEP_BASE
#endif

#undef KB_ROUTINE
#undef KB_STREAMS
#undef KB_START
#undef KB_JOIN
#undef KB_STEP
