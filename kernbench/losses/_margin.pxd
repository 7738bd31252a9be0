# The losses of a margin in C (_margin.h); `loss` is the code of losses.margin.
cdef extern from "_margin.h" nogil:
    int KB_HINGE, KB_SQUARED_HINGE, KB_LOG_LOSS
    double margin_value "kb_margin_value"(int loss, double margin)
    double margin_slope "kb_margin_slope"(int loss, double margin)
    double dual_slope "kb_dual_slope"(int loss, double a)
    double dual_curvature "kb_dual_curvature"(int loss, double a)
    ctypedef struct DualEnd "kb_dual_end":
        double a, y, w
    double pair_room "kb_pair_room"(DualEnd p, double upper, int up)
    double dual_pair "kb_dual_pair"(int loss, DualEnd p, DualEnd q, double difference, double curvature)
