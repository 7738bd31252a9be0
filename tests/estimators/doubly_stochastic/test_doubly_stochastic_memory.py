"""The memory of a fit to a stream: that of coefficients, cache and a few batches, however many rows there are."""

import subprocess
import sys

import pytest

CODE = """
import resource, sys
import numpy as np
from kernbench import DoublyStochasticClassifier

n, cache, unit = int(sys.argv[1]), 10, 1 if sys.platform == "darwin" else 1024

def chunks():
    rng = np.random.default_rng(0)
    for start in range(0, n, 8192):
        X = rng.standard_normal((min(8192, n - start), 5), dtype=np.float32)
        yield X, X[:, 0] * X[:, 1] > 0

model = DoublyStochasticClassifier(batch_size=8192, block_size=64, max_blocks=4, cache_size=cache, random_state=0)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
model.fit_chunks(chunks())
more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * unit
print(more, model.block_coef_.nbytes + cache * 2**20 + 60 * 2**20, model.n_iter_[0])
"""


@pytest.mark.parametrize(
    "n", [10**5, pytest.param(10**6, marks=pytest.mark.slow), pytest.param(10**7, marks=pytest.mark.slow)]
)
def test_memory_does_not_grow_with_the_rows(n):
    found = subprocess.run([sys.executable, "-P", "-c", CODE, str(n)], check=True, capture_output=True, text=True)
    more, bound, n_iter = map(int, found.stdout.split())
    assert more <= bound and n_iter == -(-n // 8192)
