"""Blocks of random features times coefficients, beside the bare matrix products they contain. Lower is better."""

import numpy as np

from kernbench.features.blocks import FeatureBlocks
from kernbench.kernels import Gaussian
from kernbench.kernels.threads import single_threaded_blas

from . import problems

ROWS, COLUMNS, BLOCK, BLOCKS = 1024, 50, 256, 20


class FeatureProducts:
    """20 blocks of 256 features on 1,024 float32 rows of 50 entries."""

    param_names = ("how",)
    params = (("kept", "drawn anew", "bare gemm"),)

    def setup(self, how):
        rng = np.random.default_rng(0)
        self.X = rng.normal(size=(ROWS, COLUMNS)).astype(np.float32)
        self.W = rng.normal(size=(BLOCK // 2, COLUMNS)).astype(np.float32)
        self.A = rng.normal(size=(BLOCKS, BLOCK, 1))
        room = 10**8 if how == "kept" else 0
        self.blocks = FeatureBlocks(Gaussian(5.0), BLOCK, COLUMNS, cache_bytes=room)
        problems.prepare_process()
        self.time_products(how)

    def time_products(self, how):
        if how == "bare gemm":
            with single_threaded_blas():
                for _ in range(BLOCKS):
                    self.X @ self.W.T
        else:
            self.blocks.multiply(self.X, 0, range(BLOCKS), self.A)
