"""The stochastic batch perceptron, its rivals, and what each needs.

Cotter, Shalev-Shwartz and Srebro, "The Kernelized Stochastic Batch Perceptron", ICML 2012.

::

    kernel_evaluations.py  ``sbp-kernel-evaluations``: Figure 2, and Table 1 beside measured slopes
    inner_products.py      ``sbp-inner-products``: Figure 3, with random Fourier features
    libsvm.py              ``sbp-libsvm``: a quarter of LIBSVM's time

    parts.py               Table 2, metrics and methods they share
    displays.py            tables and figures they share
    runs.py                a solver advanced from one count of kernel evaluations to the next
    curves.py              a cell: test error along such a run
    fourier.py             a cell: linear SVMs on more and more Fourier features
    complexity.py          a cell: evaluations needed against accuracy, beside the bounds
"""

from kernbench.experiments.papers.sbp import inner_products, kernel_evaluations, libsvm

EXPERIMENTS = (libsvm.EXPERIMENT, kernel_evaluations.EXPERIMENT, inner_products.EXPERIMENT)

__all__ = ["EXPERIMENTS"]
