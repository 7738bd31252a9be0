# The routines that compute kernel values, and their compiled loops (_routines.h, _maps.h, _coordinates.h).

cdef extern from "_routines.h" nogil:
    enum kb_routine:
        KB_GAUSSIAN
        KB_MATERN
        KB_POLYNOMIAL
        KB_CENTRED
        KB_POWER_SERIES
        KB_ARC_COSINE
        KB_SIGMOID
        KB_GAUSSIAN_OF_DIFFERENCES
        KB_LAPLACIAN
        KB_CAUCHY
        KB_SECH
        KB_RECIPROCAL_SEMIGROUP
        KB_EXPONENTIAL_SEMIGROUP
        KB_CHI_SQUARED
        KB_EXPONENTIAL_CHI_SQUARED
        KB_INTERSECTION
        KB_JENSEN_SHANNON
        KB_PYTHON
        KB_PRECOMPUTED
        KB_SUM
        KB_PRODUCT
