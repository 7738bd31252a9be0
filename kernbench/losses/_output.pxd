# The losses of an output in C (_output.h); `loss` is the code of losses.output.
cdef extern from "_output.h" nogil:
    int KB_OUTPUT_SOFTMAX
    double output_value "kb_output_value"(int loss, double p, double u, double y)
    double output_slope "kb_output_slope"(int loss, double p, double u, double y)
    double softmax_slopes "kb_softmax"(const double *u, ptrdiff_t n_outputs, ptrdiff_t y, double *g)
