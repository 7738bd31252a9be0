# The pair steps of _pairs.h, as Cython sees them.

cdef extern from "_pairs.h" nogil:
    enum: KB_PAD

    ptrdiff_t move_and_scan_float(double *e, const float *row_i, const float *row_j, double step, const double *up,
                                  const double *low, ptrdiff_t n, double *top, double *bottom)
    ptrdiff_t move_and_scan_double(double *e, const double *row_i, const double *row_j, double step, const double *up,
                                   const double *low, ptrdiff_t n, double *top, double *bottom)
    ptrdiff_t best_partner_float(const double *e, const double *low, const float *row_i, const double *diagonal,
                                 double k_ii, double top, ptrdiff_t n, double *gain)
    ptrdiff_t best_partner_double(const double *e, const double *low, const double *row_i, const double *diagonal,
                                  double k_ii, double top, ptrdiff_t n, double *gain)
    ptrdiff_t move_and_choose_float(double *e, const float *row_i, double step, const double *diagonal,
                                    const double *low, const double *high, ptrdiff_t n, double *gain,
                                    double *violation)
    ptrdiff_t move_and_choose_double(double *e, const double *row_i, double step, const double *diagonal,
                                     const double *low, const double *high, ptrdiff_t n, double *gain,
                                     double *violation)
    ptrdiff_t move_and_choose_kinked_float(double *e, const float *row_i, double step, const double *diagonal,
                                           const double *low, const double *high, const double *beta, double zone,
                                           ptrdiff_t n, double *gain, double *violation)
    ptrdiff_t move_and_choose_kinked_double(double *e, const double *row_i, double step, const double *diagonal,
                                            const double *low, const double *high, const double *beta, double zone,
                                            ptrdiff_t n, double *gain, double *violation)
