# The losses of a margin in C (_margin.h); `loss` is the code of losses.margin.
cdef extern from "_margin.h" nogil:
    int KB_HINGE, KB_SQUARED_HINGE, KB_LOG_LOSS
    double margin_value "kb_margin_value"(int loss, double margin)
    double margin_slope "kb_margin_slope"(int loss, double margin)
    double dual_value "kb_dual_value"(int loss, double a)
    double dual_coordinate "kb_dual_coordinate"(int loss, double a, double margin, double curvature)
