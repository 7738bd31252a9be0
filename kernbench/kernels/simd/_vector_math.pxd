# The array functions of _vector_math.h, as Cython sees them. Its functions of one number are for loops written in C:
# only there, inside KB_CLONES functions, do they become vector code.

ctypedef void (*FloatMap)(const float *, ptrdiff_t, float *) noexcept nogil
ctypedef void (*DoubleMap)(const double *, ptrdiff_t, double *) noexcept nogil

cdef extern from "_vector_math.h" nogil:
    float KB_TRIG_LIMIT_float
    double KB_TRIG_LIMIT_double

    void kb_exp_array_float(const float *x, ptrdiff_t n, float *out) noexcept
    void kb_exp_array_double(const double *x, ptrdiff_t n, double *out) noexcept
    void kb_exp_nonpositive_array_float(const float *x, ptrdiff_t n, float *out) noexcept
    void kb_exp_nonpositive_array_double(const double *x, ptrdiff_t n, double *out) noexcept
    void kb_log_array_float(const float *x, ptrdiff_t n, float *out) noexcept
    void kb_log_array_double(const double *x, ptrdiff_t n, double *out) noexcept
    void kb_cos_array_float(const float *x, ptrdiff_t n, float *out) noexcept
    void kb_cos_array_double(const double *x, ptrdiff_t n, double *out) noexcept
    void kb_sin_array_float(const float *x, ptrdiff_t n, float *out) noexcept
    void kb_sin_array_double(const double *x, ptrdiff_t n, double *out) noexcept
    void kb_sincos_array_float(const float *x, ptrdiff_t n, float *sine, float *cosine) noexcept
    void kb_sincos_array_double(const double *x, ptrdiff_t n, double *sine, double *cosine) noexcept
    void kb_acos_array_float(const float *x, ptrdiff_t n, float *out) noexcept
    void kb_acos_array_double(const double *x, ptrdiff_t n, double *out) noexcept
