"""The stochastic batch perceptron against other solvers, by kernel evaluations, inner products and time.

Cotter, Shalev-Shwartz and Srebro, "The Kernelized Stochastic Batch Perceptron", ICML 2012.

::

    kernel_evaluations.py  ``sbp-kernel-evaluations``: Figure 2, and Table 1 beside measured slopes
    inner_products.py      ``sbp-inner-products``: Figure 3, with random Fourier features
    rates.py               ``sbp-rates``: the rate of Lemma 3.2, and SIMBA
    libsvm.py              ``sbp-libsvm``: a quarter of LIBSVM's time

    parts.py               Table 2, metrics and methods they share
    displays.py            tables and figures they share
    runs.py                a solver advanced from one count of kernel evaluations to the next
    curves.py              a cell: test error along such a run
    fourier.py             a cell: linear SVMs on more and more Fourier features
    lemma.py               a cell: distance to the best level over the steps
    complexity.py          a cell: evaluations needed against accuracy, beside the bounds
"""
