# Arguments of projection features in tiles, and what finishes them.

cdef extern from "_projection.h" nogil:
    enum kb_finish:
        KB_COSINE, KB_PAIR, KB_EXPONENTIAL, KB_STEP, KB_RAMP, KB_SQUARE_RAMP, KB_IDENTITY

    void kb_finish_row_float_float(kb_finish finish, float *t, const float *offsets, ptrdiff_t n, double scale,
                                   float *out, ptrdiff_t distance)
    void kb_finish_row_double_float(kb_finish finish, double *t, const double *offsets, ptrdiff_t n, double scale,
                                    float *out, ptrdiff_t distance)
    void kb_finish_row_double_double(kb_finish finish, double *t, const double *offsets, ptrdiff_t n, double scale,
                                     double *out, ptrdiff_t distance)

ctypedef fused real:
    float
    double


# Where features go and how they are made; `offsets` (or NULL) has one number for each draw.
cdef struct Target:
    char *out
    Py_ssize_t row_bytes
    int item
    kb_finish finish
    double scale
    const void *offsets


# Columns that are made together: draws first, first + 1, ...; cosines (or all there is) from `column`, sines `distance`
# columns further on.
cdef struct Segment:
    Py_ssize_t first, count, column, distance


cdef Segment *segments_of(const Py_ssize_t[:, ::1] table) except NULL
cdef Target target_of(object out, object finish, double scale, object offsets, object dtype) except *
cdef void finish_tile(real *arguments, Py_ssize_t leading, Py_ssize_t first_row, Py_ssize_t n_rows, Segment segment,
                      Target target) noexcept nogil
