/* The routines that compute kernel values; `ROUTINES` in _engine.pyx maps the names that kernels use to them. */
#ifndef KB_ROUTINES_H
#define KB_ROUTINES_H

enum kb_routine {
    /* Functions of the inner product: one gemm, then a map. */
    KB_GAUSSIAN,
    KB_MATERN,
    KB_POLYNOMIAL,
    KB_CENTRED,
    KB_POWER_SERIES,
    KB_ARC_COSINE,
    KB_SIGMOID,
    /* Sums and products over the features of a term for each pair of entries. */
    KB_GAUSSIAN_OF_DIFFERENCES,
    KB_LAPLACIAN,
    KB_CAUCHY,
    KB_SECH,
    KB_RECIPROCAL_SEMIGROUP,
    KB_EXPONENTIAL_SEMIGROUP,
    KB_CHI_SQUARED,
    KB_EXPONENTIAL_CHI_SQUARED,
    KB_INTERSECTION,
    KB_JENSEN_SHANNON,
    /* Not computed by the engine itself. */
    KB_PYTHON,
    KB_PRECOMPUTED,
    KB_SUM,
    KB_PRODUCT
};

#endif
