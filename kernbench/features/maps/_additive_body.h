/* The loops of _additive.h for one pair of types, KB_T for arguments and KB_OUT for features. Included three times, so
 * no guard. An entry x > 0 of a row is given by its amplitude sqrt(x) and its logarithm. */

/* SCALAR: out_k = scale sum_e a_e cos(w_ek l_e + b_ek) for n draws; w and b lie entry by entry, `stride` apart.
 * `t` and `sum` hold n numbers each. */
KB_CLONES KB_UNUSED static void KB_NAME(kb_additive_scalar)(const KB_T *amplitudes, const KB_T *logs,
                                                            const int32_t *columns, ptrdiff_t n_entries,
                                                            const KB_T *w, const KB_T *b, ptrdiff_t stride,
                                                            ptrdiff_t n, KB_T scale, KB_T *KB_RESTRICT t,
                                                            KB_T *KB_RESTRICT sum, KB_OUT *KB_RESTRICT out)
{
    for (ptrdiff_t k = 0; k < n; k++)
        sum[k] = 0;
    for (ptrdiff_t e = 0; e < n_entries; e++) {
        const KB_T *KB_RESTRICT we = w + (ptrdiff_t)columns[e] * stride;
        const KB_T *KB_RESTRICT be = b + (ptrdiff_t)columns[e] * stride;
        const KB_T amplitude = amplitudes[e], log_x = logs[e];
        for (ptrdiff_t k = 0; k < n; k++)
            t[k] = we[k] * log_x + be[k];
        if (!KB_TYPED(kb_all_below)(t, n, KB_TYPED(KB_TRIG_LIMIT)))
            for (ptrdiff_t k = 0; k < n; k++)
                if (!(fabs((double)t[k]) <= KB_TYPED(KB_TRIG_LIMIT)))
                    t[k] = (KB_T)remainder((double)t[k], 6.283185307179586);
        for (ptrdiff_t k = 0; k < n; k++)
            sum[k] += amplitude * KB_TYPED(kb_cos)(t[k]);
    }
    for (ptrdiff_t k = 0; k < n; k++)
        out[k] = (KB_OUT)(scale * sum[k]);
}

/* VECTOR: cosines[k d + c] = scale a_e cos(w_k l_e), c the column of entry e, and sines alike, for n draws; the rest is
 * zero. `buffer` holds 3 n_draws n_entries numbers for as many draws as are processed together. */
KB_CLONES KB_UNUSED static void KB_NAME(kb_additive_vector)(const KB_T *KB_RESTRICT amplitudes,
                                                            const KB_T *KB_RESTRICT logs,
                                                            const int32_t *KB_RESTRICT columns, ptrdiff_t n_entries,
                                                            ptrdiff_t d, const KB_T *KB_RESTRICT w, ptrdiff_t n,
                                                            KB_T scale, KB_T *buffer, ptrdiff_t together,
                                                            KB_OUT *KB_RESTRICT cosines, KB_OUT *KB_RESTRICT sines)
{
    if (n_entries < d)
        for (ptrdiff_t i = 0; i < n * d; i++) {
            cosines[i] = 0;
            sines[i] = 0;
        }
    for (ptrdiff_t first = 0; first < n; first += together) {
        const ptrdiff_t count = n - first < together ? n - first : together, size = count * n_entries;
        KB_T *KB_RESTRICT t = buffer, *KB_RESTRICT sine = buffer + size, *KB_RESTRICT cosine = buffer + 2 * size;
        for (ptrdiff_t k = 0; k < count; k++)
            for (ptrdiff_t e = 0; e < n_entries; e++)
                t[k * n_entries + e] = w[first + k] * logs[e];
        KB_TYPED(kb_sincos_array)(t, size, sine, cosine);
        for (ptrdiff_t k = 0; k < count; k++) {
            KB_OUT *KB_RESTRICT c = cosines + (first + k) * d, *KB_RESTRICT s = sines + (first + k) * d;
            for (ptrdiff_t e = 0; e < n_entries; e++) {
                c[columns[e]] = (KB_OUT)(scale * amplitudes[e] * cosine[k * n_entries + e]);
                s[columns[e]] = (KB_OUT)(scale * amplitudes[e] * sine[k * n_entries + e]);
            }
        }
    }
}
