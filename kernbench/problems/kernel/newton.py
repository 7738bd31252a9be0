"""Constants that both twins of Newton's method with kernels share."""

RIDGES = (0.0, 1e-14, 1e-12, 1e-10)  # of the mean diagonal entry, tried in turn
SHORTEST = 1e-9  # step below which rounding rules
PROGRESS = 1e-13  # smallest relative decrease that counts
NOT_DEFINITE = "the kernel matrix is not positive semi-definite, so that there is no minimum: choose another kernel"
