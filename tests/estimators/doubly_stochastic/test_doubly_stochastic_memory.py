"""The memory of a fit to a stream: that of coefficients, cache and a few batches, however many rows there are."""

import pytest

CODE = """
import sys
import numpy as np
from kernbench import DoublyStochasticClassifier

n, d, batch = map(int, sys.argv[1:])
cache = 10

def chunks():
    rng = np.random.default_rng(0)
    for start in range(0, n, batch):
        X = rng.standard_normal((min(batch, n - start), d), dtype=np.float32)
        yield X, X[:, 0] * X[:, 1] > 0

model = DoublyStochasticClassifier(batch_size=batch, block_size=64, max_blocks=4, cache_size=cache, random_state=0)
before = peak()
model.fit_chunks(chunks())
batches = 6 * batch * d * 4
print(peak() - before, model.block_coef_.nbytes + (cache + 45) * 2**20 + batches, model.n_iter_[0])
"""


@pytest.mark.parametrize(
    "n, d, batch",
    [
        (10**5, 200, 1024),
        pytest.param(10**6, 30, 8192, marks=pytest.mark.slow),
        pytest.param(10**7, 5, 8192, marks=pytest.mark.slow),
    ],
)
def test_memory_does_not_grow_with_the_rows(n, d, batch, run_with_peak):
    one_thread = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    more, bound, n_iter = map(int, run_with_peak(CODE, n, d, batch, **one_thread).split())
    assert bound < 4 * n * d  # the bytes of all rows
    assert more <= bound and n_iter == -(-n // batch)
