"""Kernel blocks, products and rows; the bare matrix product of the same shape is their yardstick."""

from statistics import median
from time import perf_counter

import numpy as np
from scipy.linalg import blas

from kernbench.kernels.blocks import block, matmul
from kernbench.kernels.rows import KernelRows

from . import problems

N_PAIRS = 15  # block and product timed in turn, so that both see the same machine


def bare_product(X, Z):
    """X @ Z.T by the BLAS that the compiled engine calls, without a copy."""
    gemm = blas.sgemm if X.dtype == np.float32 else blas.dgemm
    return gemm(1.0, X.T, Z.T, trans_a=True)


class _Calls:
    """Calls that take milliseconds, so there are many."""

    number = 1
    repeat = (5, 50, 0.25)
    timeout = 60


class Block(_Calls):
    """K(X, Z) stored, and K(X, Z) @ a without storing it."""

    param_names = ("kernel", "layout", "dtype")
    params = (tuple(problems.KERNELS), problems.LAYOUTS, problems.DTYPES)

    def setup(self, kernel, layout, dtype):
        problems.prepare_process()
        self.kernel = problems.KERNELS[kernel]
        self.X = problems.points(layout, dtype, problems.N_POINTS, seed=1)
        self.Z = problems.points(layout, dtype, problems.N_POINTS, seed=2)
        self.a = np.random.default_rng(3).standard_normal(problems.N_POINTS)

    def time_block(self, kernel, layout, dtype):
        block(self.kernel, self.X, self.Z)

    def time_product(self, kernel, layout, dtype):
        matmul(self.kernel, self.X, self.Z, self.a)


class Yardstick(_Calls):
    """The bare sgemm or dgemm: no block of an inner-product kernel can be faster."""

    param_names = ("layout", "dtype")
    params = (tuple(name for name in problems.LAYOUTS if name.startswith("dense")), problems.DTYPES)

    def setup(self, layout, dtype):
        problems.prepare_process()
        self.X = problems.points(layout, dtype, problems.N_POINTS, seed=1)
        self.Z = problems.points(layout, dtype, problems.N_POINTS, seed=2)

    def time_gemm(self, layout, dtype):
        bare_product(self.X, self.Z)

    def track_block_over_gemm(self, layout, dtype):
        """How many times the bare product a Gaussian block takes; lower is better, 1 is the bound."""
        kernel = problems.KERNELS["gaussian"]
        ours, bare = [], []
        for _ in range(N_PAIRS):
            ours.append(_seconds(block, kernel, self.X, self.Z))
            bare.append(_seconds(bare_product, self.X, self.Z))
        return median(ours) / median(bare)

    track_block_over_gemm.unit = "times gemm (timing)"


def _seconds(function, *arguments):
    start = perf_counter()
    function(*arguments)
    return perf_counter() - start


class Rows(_Calls):
    """256 rows of a Gaussian training kernel, none in the cache, asked for together and one by one."""

    param_names = ("layout", "dtype")
    params = (problems.LAYOUTS, problems.DTYPES)

    def setup(self, layout, dtype):
        problems.prepare_process()
        # A fresh cache for each call; `number = 1` keeps asv from calling twice without a new setup.
        X = problems.points(layout, dtype, problems.N_POINTS, seed=1)
        self.rows = KernelRows(X, problems.KERNELS["gaussian"], dtype=np.dtype(dtype))
        self.indices = np.random.default_rng(2).permutation(problems.N_POINTS)[: problems.N_FETCHED]

    def time_batch(self, layout, dtype):
        self.rows.batch(self.indices)

    def time_row_by_row(self, layout, dtype):
        for index in self.indices:
            self.rows.row(index)


class Memory:
    """Peak memory for four times the points: a stored block shows (64 or 128 MB), a product must not."""

    param_names = ("layout", "dtype")
    params = (problems.LAYOUTS, problems.DTYPES)
    timeout = 60

    def setup(self, layout, dtype):
        n = 4 * problems.N_POINTS
        self.X = problems.points(layout, dtype, n, seed=1)
        self.Z = problems.points(layout, dtype, n, seed=2)
        self.a = np.random.default_rng(3).standard_normal(n)

    def peakmem_block(self, layout, dtype):
        block(problems.KERNELS["gaussian"], self.X, self.Z)

    def peakmem_product(self, layout, dtype):
        matmul(problems.KERNELS["gaussian"], self.X, self.Z, self.a)
