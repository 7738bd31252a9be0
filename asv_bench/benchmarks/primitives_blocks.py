"""Blocks of every kernel, and what float32 costs them in digits. Lower is better."""

from kernbench.kernels.blocks import block

from . import primitives_problems as primitives
from . import problems

N_ROWS, N_COLUMNS = 512, 64


class KernelBlock:
    """K(X, Z) of 512 by 512 rows of 64 columns; `problems.KERNELS` has larger ones of three kernels."""

    param_names = ("kernel", "dtype")
    params = (tuple(primitives.CATALOGUE), problems.DTYPES)
    number = 1
    repeat = (5, 50, 0.2)
    timeout = 60
    version = "2"  # the kernels and rows of the experiment

    def setup(self, kernel, dtype):
        problems.prepare_process()
        self.kernel = primitives.kernel(kernel, N_COLUMNS)
        self.X, self.Z = (primitives.rows(kernel, N_ROWS, N_COLUMNS, seed, dtype) for seed in (1, 2))

    def time_block(self, kernel, dtype):
        block(self.kernel, self.X, self.Z)


class Float32Error:
    """How far blocks in float32 are from those in float64."""

    param_names = ("kernel",)
    params = (tuple(primitives.CATALOGUE),)
    timeout = 60
    version = "2"  # the kernels and rows of the experiment

    def setup(self, kernel):
        self.kernel = primitives.kernel(kernel, N_COLUMNS)
        self.X, self.Z = (primitives.rows(kernel, N_ROWS, N_COLUMNS, seed) for seed in (1, 2))

    def track_log10_error(self, kernel):
        """log10 of the largest difference over the largest value; lower is better, -16 at the least."""
        return primitives.log10(primitives.errors.float32_error(block, self.kernel, self.X, self.Z))

    track_log10_error.unit = "log10 relative error"
