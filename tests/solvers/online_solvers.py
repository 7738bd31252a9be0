"""Online solvers built on either twin's kernel rows."""

import numpy as np
import pytest

from kernbench.kernels import Gaussian
from kernbench.kernels.rows import KernelRows
from kernbench.reference.kernels.rows import KernelRows as ReferenceRows
from kernbench.solvers.registry import get

SIX = np.array([[-2.0], [-1.0], [-0.5], [0.5], [1.0], [2.0]])  # the points of the fixture `six_points`
either_twin = pytest.mark.parametrize("twin", ["compiled", "reference"])


def solver_of(name, twin, p, *, X=None, alpha=None, **options):
    rows = {"compiled": KernelRows, "reference": ReferenceRows}[twin]
    X = getattr(p, "X", SIX) if X is None else X
    rows = rows(X, getattr(p, "kernel", Gaussian(1.0)), dtype=np.float64)
    return get(name).load(twin)(rows, p.y, alpha=alpha or 1 / len(p.y), **options)
