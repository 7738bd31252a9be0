"""The kernels and rows that the benchmarks of blocks and features share with the experiment ``primitives``.

Both are read from the files of the experiment beside this suite, not from the commit that is measured: every commit is
measured on the same numbers. A commit that lacks a kernel skips its benchmarks.
"""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np

from kernbench import kernels

FOLDER = Path(__file__).parents[2] / "kernbench" / "experiments" / "ours" / "primitives"


def _beside(name):
    """A module of the experiment, from the file beside this suite."""
    spec = spec_from_file_location(f"kernbench_asv_primitives_{name}", FOLDER / f"{name}.py")
    module = sys.modules[spec.name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


inputs = _beside("inputs")
CATALOGUE = {entry.name: entry for entry in _beside("catalogue").CATALOGUE}
WITH_FEATURES = tuple(name for name, entry in CATALOGUE.items() if entry.forms)


def kernel(name, d):
    """The kernel for rows of `d` columns; skips the benchmark on a commit without it."""
    class_name = CATALOGUE[name].arguments(d)[0]
    if not hasattr(kernels, class_name):
        raise NotImplementedError(class_name)
    return CATALOGUE[name].kernel(d)


def form(name):
    """The first form of the kernel's random features."""
    return CATALOGUE[name].forms[0]


def rows(name, n, d, seed, dtype="float64"):
    """Rows of the kernel's kind."""
    return inputs.rows(CATALOGUE[name].rows, n, d, seed, dtype)


def clusters(n, d, seed):
    """Rows of uneven clusters, and labels: +1 for the ten rarest."""
    data = inputs.load("clusters", n, d, seed)
    return data.X_train, data.y_train


def log10_error(K, features):
    """log10 of the root mean square over `features` of ‖K − Φ Φᵀ‖ / ‖K‖; never less than -16."""
    squares = [np.linalg.norm(K - F @ F.T) ** 2 for F in features]
    return float(max(-16.0, np.log10(np.mean(squares) ** 0.5 / np.linalg.norm(K))))
