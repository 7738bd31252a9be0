/* The passes of _projection.h for one pair of types: KB_T in which arguments are computed, KB_OUT in which features are
 * stored. Included three times, so no guard. */

/* out_j = scale cos(t_j + b_j): PHASE. Beyond the limit of the vectorised cosine, libm takes over. */
KB_CLONES KB_UNUSED static void KB_NAME(kb_cosine_row)(KB_T *KB_RESTRICT t, const KB_T *KB_RESTRICT offsets,
                                                       ptrdiff_t n, KB_T scale, KB_OUT *KB_RESTRICT out)
{
    if (offsets)
        for (ptrdiff_t j = 0; j < n; j++)
            t[j] += offsets[j];
    for (ptrdiff_t j = 0; j < n; j++)
        out[j] = (KB_OUT)(scale * KB_TYPED(kb_cos)(t[j]));
    if (!KB_TYPED(kb_all_below)(t, n, KB_TYPED(KB_TRIG_LIMIT)))
        for (ptrdiff_t j = 0; j < n; j++)
            if (!(fabs((double)t[j]) <= KB_TYPED(KB_TRIG_LIMIT)))
                out[j] = (KB_OUT)(scale * (KB_T)cos((double)t[j]));
}

/* cosines_j = scale cos(t_j + b_j), sines_j = scale sin(t_j + b_j): PAIR. */
KB_CLONES KB_UNUSED static void KB_NAME(kb_pair_row)(KB_T *KB_RESTRICT t, const KB_T *KB_RESTRICT offsets, ptrdiff_t n,
                                                     KB_T scale, KB_OUT *KB_RESTRICT cosines, KB_OUT *KB_RESTRICT sines)
{
    if (offsets)
        for (ptrdiff_t j = 0; j < n; j++)
            t[j] += offsets[j];
    for (ptrdiff_t j = 0; j < n; j++) {
        KB_T sine, cosine;
        KB_TYPED(kb_sincos)(t[j], &sine, &cosine);
        cosines[j] = (KB_OUT)(scale * cosine);
        sines[j] = (KB_OUT)(scale * sine);
    }
    if (!KB_TYPED(kb_all_below)(t, n, KB_TYPED(KB_TRIG_LIMIT)))
        for (ptrdiff_t j = 0; j < n; j++)
            if (!(fabs((double)t[j]) <= KB_TYPED(KB_TRIG_LIMIT))) {
                cosines[j] = (KB_OUT)(scale * (KB_T)cos((double)t[j]));
                sines[j] = (KB_OUT)(scale * (KB_T)sin((double)t[j]));
            }
}

/* out_j = scale exp(-t_j): semigroup kernels. */
KB_CLONES KB_UNUSED static void KB_NAME(kb_exponential_row)(const KB_T *KB_RESTRICT t, ptrdiff_t n, KB_T scale,
                                                            KB_OUT *KB_RESTRICT out)
{
    for (ptrdiff_t j = 0; j < n; j++)
        out[j] = (KB_OUT)(scale * KB_TYPED(kb_exp_wide)(-t[j]));
}

/* out_j = scale [t_j > 0] t_j^order: arc-cosine kernels. The step is 1/2 at 0, the arguments of a row of zeros: then the
 * mean of the products is the kernel's value there, 1/2. */
KB_CLONES KB_UNUSED static void KB_NAME(kb_step_row)(const KB_T *KB_RESTRICT t, ptrdiff_t n, KB_T scale,
                                                     KB_OUT *KB_RESTRICT out)
{
    const KB_T half = scale / 2;
    for (ptrdiff_t j = 0; j < n; j++)
        out[j] = (KB_OUT)(t[j] > 0 ? scale : t[j] == 0 ? half : 0);
}

KB_CLONES KB_UNUSED static void KB_NAME(kb_ramp_row)(const KB_T *KB_RESTRICT t, ptrdiff_t n, KB_T scale,
                                                     KB_OUT *KB_RESTRICT out)
{
    for (ptrdiff_t j = 0; j < n; j++)
        out[j] = (KB_OUT)(scale * (t[j] > 0 ? t[j] : 0));
}

KB_CLONES KB_UNUSED static void KB_NAME(kb_square_ramp_row)(const KB_T *KB_RESTRICT t, ptrdiff_t n, KB_T scale,
                                                            KB_OUT *KB_RESTRICT out)
{
    for (ptrdiff_t j = 0; j < n; j++) {
        KB_T v = t[j] > 0 ? t[j] : 0;
        out[j] = (KB_OUT)(scale * (v * v));
    }
}

/* out_j = scale t_j: random signs, and arguments that are processed further. */
KB_CLONES KB_UNUSED static void KB_NAME(kb_identity_row)(const KB_T *KB_RESTRICT t, ptrdiff_t n, KB_T scale,
                                                         KB_OUT *KB_RESTRICT out)
{
    for (ptrdiff_t j = 0; j < n; j++)
        out[j] = (KB_OUT)(scale * t[j]);
}

/* One row of arguments to features; `sines` lie `distance` columns after the cosines. */
KB_UNUSED static void KB_NAME(kb_finish_row)(enum kb_finish finish, KB_T *t, const KB_T *offsets, ptrdiff_t n,
                                             double scale, KB_OUT *out, ptrdiff_t distance)
{
    switch (finish) {
    case KB_COSINE:
        KB_NAME(kb_cosine_row)(t, offsets, n, (KB_T)scale, out);
        break;
    case KB_PAIR:
        KB_NAME(kb_pair_row)(t, offsets, n, (KB_T)scale, out, out + distance);
        break;
    case KB_EXPONENTIAL:
        KB_NAME(kb_exponential_row)(t, n, (KB_T)scale, out);
        break;
    case KB_STEP:
        KB_NAME(kb_step_row)(t, n, (KB_T)scale, out);
        break;
    case KB_RAMP:
        KB_NAME(kb_ramp_row)(t, n, (KB_T)scale, out);
        break;
    case KB_SQUARE_RAMP:
        KB_NAME(kb_square_ramp_row)(t, n, (KB_T)scale, out);
        break;
    case KB_IDENTITY:
        KB_NAME(kb_identity_row)(t, n, (KB_T)scale, out);
        break;
    }
}
