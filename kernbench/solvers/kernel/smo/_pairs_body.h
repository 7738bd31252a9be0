/* One precision of the pair steps; see _pairs.h. Included twice, so no guard. */

/* e -= step * (row_i - row_j); then return argmax of e + up, its value in *top, and the minimum of e + low in *bottom.
 * With step = 0 the rows are not used but must be readable. */
KB_CLONES KB_UNUSED static ptrdiff_t KB_NAME(move_and_scan)(double *KB_RESTRICT e, const KB_T *KB_RESTRICT row_i,
                                                  const KB_T *KB_RESTRICT row_j, double step,
                                                  const double *KB_RESTRICT up, const double *KB_RESTRICT low,
                                                  ptrdiff_t n, double *top, double *bottom)
{
    kb_d4 best[2] = {kb_spread(-INFINITY), kb_spread(-INFINITY)}, where[2] = {kb_spread(0), kb_spread(0)};
    kb_d4 least[2] = {kb_spread(INFINITY), kb_spread(INFINITY)};
    kb_d4 position[2] = {{0, 1, 2, 3}, {4, 5, 6, 7}};
    const kb_d4 steps = kb_spread(step), eight = kb_spread(8);
    for (ptrdiff_t k = 0; k < n; k += KB_PAD) {
        for (int h = 0; h < 2; h++) {
            const ptrdiff_t l = k + 4 * h;
            const kb_d4 moved = kb_load_double(e + l) - steps * (KB_NAME(kb_load)(row_i + l) - KB_NAME(kb_load)(row_j + l));
            const kb_d4 can_grow = moved + kb_load_double(up + l), can_shrink = moved + kb_load_double(low + l);
            const kb_m4 better = can_grow > best[h];
            kb_store(e + l, moved);
            best[h] = kb_select(better, can_grow, best[h]);
            where[h] = kb_select(better, position[h], where[h]);
            least[h] = kb_select(can_shrink < least[h], can_shrink, least[h]);
            position[h] += eight;
        }
    }
    *bottom = INFINITY;
    for (int l = 0; l < 8; l++)
        if (least[l / 4][l % 4] < *bottom)
            *bottom = least[l / 4][l % 4];
    return kb_best_lane(best[0], where[0], best[1], where[1], top);
}

/* Second-order partner of i (Fan, Chen, Lin 2005): argmax over low coordinates with e_j < top of
 * (top - e_j)^2 / (k_ii + k_jj - 2 k_ij); its value in *gain, zero when there is none. */
KB_CLONES KB_UNUSED static ptrdiff_t KB_NAME(best_partner)(const double *KB_RESTRICT e, const double *KB_RESTRICT low,
                                                 const KB_T *KB_RESTRICT row_i, const double *KB_RESTRICT diagonal,
                                                 double k_ii, double top, ptrdiff_t n, double *gain)
{
    kb_d4 best[2] = {kb_spread(0), kb_spread(0)}, where[2] = {kb_spread(0), kb_spread(0)};
    kb_d4 position[2] = {{0, 1, 2, 3}, {4, 5, 6, 7}};
    const kb_d4 tops = kb_spread(top), own = kb_spread(k_ii), tiny = kb_spread(1e-12), eight = kb_spread(8);
    const kb_d4 zero = kb_spread(0), two = kb_spread(2);
    for (ptrdiff_t k = 0; k < n; k += KB_PAD) {
        for (int h = 0; h < 2; h++) {
            const ptrdiff_t l = k + 4 * h;
            kb_d4 difference = tops - (kb_load_double(e + l) + kb_load_double(low + l));
            kb_d4 curvature = own + kb_load_double(diagonal + l) - two * KB_NAME(kb_load)(row_i + l);
            difference = kb_select(difference > zero, difference, zero);
            curvature = kb_select(curvature > tiny, curvature, tiny);
            const kb_d4 value = difference * difference / curvature;
            const kb_m4 better = value > best[h];
            best[h] = kb_select(better, value, best[h]);
            where[h] = kb_select(better, position[h], where[h]);
            position[h] += eight;
        }
    }
    return kb_best_lane(best[0], where[0], best[1], where[1], gain);
}

/* Without bias: e -= step * row_i; then return the coordinate whose own step gains most, its gain in *gain, and the
 * largest projected gradient in *violation. Bounds are on the step: low <= 0 <= high. */
KB_CLONES KB_UNUSED static ptrdiff_t KB_NAME(move_and_choose)(double *KB_RESTRICT e, const KB_T *KB_RESTRICT row_i, double step,
                                                    const double *KB_RESTRICT diagonal,
                                                    const double *KB_RESTRICT low, const double *KB_RESTRICT high,
                                                    ptrdiff_t n, double *gain, double *violation)
{
    kb_d4 best[2] = {kb_spread(0), kb_spread(0)}, where[2] = {kb_spread(0), kb_spread(0)};
    kb_d4 worst = kb_spread(0), position[2] = {{0, 1, 2, 3}, {4, 5, 6, 7}};
    const kb_d4 steps = kb_spread(step), eight = kb_spread(8), zero = kb_spread(0), half = kb_spread(0.5);
    const kb_d4 tiny = kb_spread(1e-12);
    for (ptrdiff_t k = 0; k < n; k += KB_PAD) {
        for (int h = 0; h < 2; h++) {
            const ptrdiff_t l = k + 4 * h;
            const kb_d4 moved = kb_load_double(e + l) - steps * KB_NAME(kb_load)(row_i + l);
            const kb_d4 highest = kb_load_double(high + l), lowest = kb_load_double(low + l);
            kb_d4 curvature = kb_load_double(diagonal + l);
            curvature = kb_select(curvature > tiny, curvature, tiny);
            kb_d4 own = moved / curvature;
            own = kb_select(own < highest, own, highest);
            own = kb_select(own > lowest, own, lowest);
            const kb_d4 value = own * (moved - half * own * curvature);
            const kb_m4 better = value > best[h];
            kb_d4 magnitude = kb_select(moved > zero, moved, -moved);
            magnitude = kb_select(own == zero, zero, magnitude);
            kb_store(e + l, moved);
            worst = kb_select(magnitude > worst, magnitude, worst);
            best[h] = kb_select(better, value, best[h]);
            where[h] = kb_select(better, position[h], where[h]);
            position[h] += eight;
        }
    }
    *violation = 0;
    for (int l = 0; l < 4; l++)
        if (worst[l] > *violation)
            *violation = worst[l];
    return kb_best_lane(best[0], where[0], best[1], where[1], gain);
}

/* The same for a dual objective with -zone |beta| in it: a step may end at, or pass, the kink at beta = 0. */
KB_CLONES KB_UNUSED static ptrdiff_t KB_NAME(move_and_choose_kinked)(
    double *KB_RESTRICT e, const KB_T *KB_RESTRICT row_i, double step, const double *KB_RESTRICT diagonal,
    const double *KB_RESTRICT low, const double *KB_RESTRICT high, const double *KB_RESTRICT beta, double zone, ptrdiff_t n,
    double *gain, double *violation)
{
    kb_d4 best[2] = {kb_spread(0), kb_spread(0)}, where[2] = {kb_spread(0), kb_spread(0)};
    kb_d4 worst = kb_spread(0), position[2] = {{0, 1, 2, 3}, {4, 5, 6, 7}};
    const kb_d4 steps = kb_spread(step), eight = kb_spread(8), zero = kb_spread(0), half = kb_spread(0.5);
    const kb_d4 tiny = kb_spread(1e-12), zones = kb_spread(zone);
    for (ptrdiff_t k = 0; k < n; k += KB_PAD) {
        for (int h = 0; h < 2; h++) {
            const ptrdiff_t l = k + 4 * h;
            const kb_d4 moved = kb_load_double(e + l) - steps * KB_NAME(kb_load)(row_i + l), now = kb_load_double(beta + l);
            const kb_d4 highest = kb_load_double(high + l), lowest = kb_load_double(low + l);
            kb_d4 curvature = kb_load_double(diagonal + l);
            curvature = kb_select(curvature > tiny, curvature, tiny);
            kb_d4 own = now + moved / curvature;
            kb_d4 size = kb_select(own > zero, own, -own) - zones / curvature;
            size = kb_select(size > zero, size, zero);
            own = kb_select(own > zero, size, -size) - now;
            own = kb_select(own < highest, own, highest);
            own = kb_select(own > lowest, own, lowest);
            const kb_d4 after = now + own;
            const kb_d4 kink = kb_select(after > zero, after, -after) - kb_select(now > zero, now, -now);
            const kb_d4 value = own * (moved - half * own * curvature) - zones * kink;
            const kb_m4 better = value > best[h];
            const kb_d4 up = moved - kb_select(now >= zero, zones, -zones);
            const kb_d4 down = kb_select(now > zero, zones, -zones) - moved;
            kb_d4 magnitude = kb_select(up > down, up, down);
            magnitude = kb_select(own == zero, zero, magnitude);
            kb_store(e + l, moved);
            worst = kb_select(magnitude > worst, magnitude, worst);
            best[h] = kb_select(better, value, best[h]);
            where[h] = kb_select(better, position[h], where[h]);
            position[h] += eight;
        }
    }
    *violation = 0;
    for (int l = 0; l < 4; l++)
        if (worst[l] > *violation)
            *violation = worst[l];
    return kb_best_lane(best[0], where[0], best[1], where[1], gain);
}
