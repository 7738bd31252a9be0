"""Sparse matrices in model files and in memory whose arrays were changed: a ValueError or a result, never a crash.

A write past the end of an array kills the interpreter, often later: hypothesis mutates the arrays in a process of its
own, the script below, which has to get to its end.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from scipy import sparse

from kernbench import KernelSVC, LinearSVC, load
from kernbench.datasets import write_npz, write_svmlight
from kernbench.distributed.cluster.held_rows import describe
from kernbench.features import Nystroem
from kernbench.kernels import Gaussian
from kernbench.validation.arrays import check_indices

N, D = 6, 3
Y = np.arange(N) % 2
PARTS = ("data", "indices", "indptr")
EXTREMES = (-1, 0, 1, D, N, 2**20, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63))
DTYPES = ("i4", "i8", "i4", "i8", "u4", "u8", "u1", "i2", "f8", "?")


def valid():
    return sparse.csr_matrix(np.arange(N * D).reshape(N, D) % 5 * 1.0)


@st.composite
def mutated(draw, array, dtypes=DTYPES):
    """`array` with up to three faults: entries replaced, the end cut off or extended, another dtype or shape."""
    values = [int(value) for value in array]
    for _ in range(draw(st.integers(0, 3))):
        fault = draw(st.sampled_from(["entry", "entry", "entry", "cut", "extend", "zeros"]))
        if fault == "entry" and values:
            place = draw(st.integers(0, len(values) - 1))
            values[place] = draw(st.one_of(st.sampled_from(EXTREMES), st.integers(-3, 20)))
        elif fault == "cut":
            values = values[: draw(st.integers(0, len(values)))]
        elif fault == "extend":
            values += draw(st.lists(st.integers(-1, 20), max_size=4))
        elif fault == "zeros":
            values[draw(st.integers(0, len(values))) :] = [0]
    made = np.array(values, dtype=object).astype("i8").astype(draw(st.sampled_from(dtypes)))
    return made.reshape(draw(st.sampled_from([(-1,), (-1,), (-1,), (-1,), (1, -1)])))


def refused(function, *arguments):
    """What the function returns, None after a ValueError; other exceptions are errors."""
    try:
        return function(*arguments)
    except ValueError:
        return None


def in_models(folder):
    KernelSVC().fit(valid(), Y).save(folder / "right.npz")
    with np.load(folder / "right.npz") as archive:
        right = dict(archive)
    part_names = [name for name in right if name.startswith("support_vectors_.")]
    assert len(part_names) == 3

    @given(st.data())
    def law(data):
        name = data.draw(st.sampled_from([name for name in right if right[name].ndim == 1]))
        arrays = {**right, name: data.draw(mutated(right[name]))}
        np.savez(folder / "model.npz", **arrays)
        model = refused(load, folder / "model.npz")
        if model is not None:
            refused(model.decision_function, valid())

    return law


def in_memory(folder):
    takers = {
        "fit": lambda X: KernelSVC(max_iter=20).fit(X, Y),
        "linear": lambda X: LinearSVC(max_iter=10).fit(X, Y),
        "transform": lambda X: Nystroem(Gaussian(1.0), 2, random_state=0).fit_transform(X),
        "kernel": lambda X: Gaussian(1.0)(X),
        "write": lambda X: write_npz(folder / "written.npz", X, Y),
        "svmlight": lambda X: write_svmlight(folder / "written.svm", X, Y),
        "dask": describe,
    }

    @given(st.data())
    def law(data):
        layout = data.draw(st.sampled_from(["csr", "csr", "csc", "bsr", "coo", "lil", "dia"]))
        X = valid().asformat(layout)
        names = {"coo": ("row", "col", "data")}.get(layout, PARTS)
        if layout == "lil":
            row = data.draw(st.integers(0, N - 1))
            X.rows[row] = data.draw(mutated(np.array(X.rows[row]), ("i8",))).ravel().tolist()
        elif layout == "dia":
            X.offsets = data.draw(mutated(X.offsets, ("i4",))).ravel()
        else:
            name = data.draw(st.sampled_from(names[:3] if layout == "coo" else names[1:]))
            changed = data.draw(mutated(getattr(X, name), ("i4", "i8", "u4", "f8")))
            setattr(X, name, changed)
        refused(takers[data.draw(st.sampled_from(sorted(takers)))], X)
        refused(check_indices, X)

    return law


def main(number, n_cases):
    quietly = settings(max_examples=int(n_cases), deadline=None, database=None, suppress_health_check=list(HealthCheck))
    with tempfile.TemporaryDirectory() as folder:
        for law in (in_models, in_memory):
            quietly(seed(int(number))(law(Path(folder))))()
            print(law.__name__, "survived")


def test_hostile_indices_are_refused():
    """A crash is a negative return code."""
    script = [sys.executable, "-W", "ignore", "-X", "faulthandler", __file__, "0", "150"]
    ended = subprocess.run(script, capture_output=True, text=True)
    assert ended.returncode == 0 and ended.stdout.count("survived") == 2, ended.stderr[-3000:]


if __name__ == "__main__":
    main(*sys.argv[1:])
