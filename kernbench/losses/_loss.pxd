# The losses of margins and residuals in C (_loss.h); `loss` is the code of losses.margin or losses.regression.
cdef extern from "_loss.h" nogil:
    int KB_HINGE, KB_LOG_LOSS, KB_SQUARED_ERROR
    double loss_value "kb_loss_value"(int loss, double p, double z)
    double loss_slope "kb_loss_slope"(int loss, double p, double z)
    double loss_room "kb_loss_room"(int loss, double p, double z)
    double loss_dual_coordinate "kb_loss_dual_coordinate"(int loss, double p, double a, double z, double curvature)
    double loss_dual_value "kb_loss_dual_value"(int loss, double p, double a)
    double envelope_slope "kb_envelope_slope"(int loss, double p, double z, double mu)
    double envelope_curvature "kb_envelope_curvature"(int loss, double p, double a, double mu)
