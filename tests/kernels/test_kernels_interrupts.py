"""Ctrl-C interrupts long products with the kernel matrix, and pauses between their parts change no bit."""

import signal

import numpy as np
import pytest
from scipy import sparse

from kernbench.kernels import Gaussian, Laplacian, Sum
from kernbench.kernels.engine import _products
from kernbench.kernels.engine.engines import make_engine
from kernbench.kernels.engine.operands._operand import Operand
from kernbench.kernels.threads import openmp_threads, single_threaded_blas

KERNELS = {"gemm": Gaussian(1.0), "coordinates": Laplacian(1.0), "sum": Sum([Gaussian(1.0), Laplacian(2.0)])}


def engine_of(kernel, n, m, storage=np.asarray):
    X = np.random.default_rng(0).normal(size=(n, 12)) * (np.arange(12) < 2)
    rows = Operand(storage(X), kernel, np.float32)
    return make_engine(kernel, rows, rows.take(np.arange(m)))


def fill(engine):
    return _products.fill_block(engine, np.arange(engine.X.n_rows))


def multiply(engine):
    return _products.multiply(engine, np.linspace(-1.0, 1.0, 2 * engine.Z.n_rows).reshape(-1, 2))


def add_weighted(engine):
    out = np.zeros(engine.Z.n_rows)
    _products.add_weighted_rows(engine, np.arange(engine.X.n_rows), np.linspace(-1.0, 1.0, engine.X.n_rows), out)
    return out


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there is no such timer here")
@pytest.mark.parametrize("compute", [fill, multiply, add_weighted])
def test_signals_are_handled_before_the_end(compute, monkeypatch):
    """If they were handled after it only, all those of a call would be one."""
    monkeypatch.setattr(_products, "WORK_AT_ONCE", 0.0)
    engine, handled = engine_of(KERNELS["coordinates"], 60_000, 200), []
    before = signal.signal(signal.SIGALRM, lambda number, frame: handled.append(number))
    try:
        with openmp_threads(1), single_threaded_blas():
            signal.setitimer(signal.ITIMER_REAL, 2e-4, 2e-4)
            compute(engine)
            signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert len(handled) > 3


@pytest.mark.parametrize("compute", [fill, multiply])
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])
@pytest.mark.parametrize("name", KERNELS)
def test_parts_have_the_bits_of_the_whole(compute, name, storage, monkeypatch):
    engine = engine_of(KERNELS[name], 17_000, 70, storage)
    with openmp_threads(1), single_threaded_blas():
        whole = compute(engine)
        monkeypatch.setattr(_products, "WORK_AT_ONCE", 0.0)
        np.testing.assert_array_equal(compute(engine), whole)
