"""No cache cliff: the number of kernel values grows slowly, and never back, as ``cache_size`` shrinks."""

import numpy as np
import pytest

from kernbench import KernelNoveltyDetector, KernelSVC, KernelSVR
from kernbench.kernels import Laplacian

MEGABYTES = (1, 2, 4, 8, 16, 32, 64)
SETTINGS = {"float32": {"dtype": "float32"}, "float64": {"dtype": "float64"}, "Laplacian": {"kernel": Laplacian(3.0)}}


def evaluations(n, sizes, **settings):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 6))
    y = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=n) > 0
    fits = (KernelSVC(cache_size=size, random_state=0, **settings).fit(X, y) for size in sizes)
    return np.array([model.n_kernel_evaluations_ for model in fits])


@pytest.mark.parametrize("n", [1000, 1900, 2600])
@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_no_size_computes_three_times_the_kernel_values_of_another(settings, n):
    found = evaluations(n, MEGABYTES, **settings)
    assert np.all(np.diff(found) <= 0.01 * found[:-1])
    assert found[0] <= (3 if n > 2500 else 1) * found[-1]


def test_rows_just_above_the_limit_cost_little_more_than_below():
    """Epochs in random order find what is kept; in a fixed order the oldest row would always be the next one."""
    whole = 2600**2 * 4 / 2**20
    above, below = evaluations(2600, (0.98 * whole, whole), solver="sdca", dtype="float32")
    assert below <= above <= 1.1 * below


@pytest.mark.parametrize("model", [KernelSVR(C=100.0), KernelNoveltyDetector()], ids=["svr", "one class"])
def test_few_rows_are_one_working_set_whatever_the_cache(model):
    X = np.random.default_rng(0).normal(size=(1800, 4))
    sizes = [model.set_params(cache_size=size).fit(X, X[:, 0]).n_kernel_evaluations_ for size in (1, 500)]
    assert sizes[0] == sizes[1] <= 1800**2
