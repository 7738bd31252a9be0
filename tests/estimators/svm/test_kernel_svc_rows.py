"""KernelSVC prepares its training rows for the kernel once, and takes float64 where float32 is too coarse."""

import numpy as np
import pytest
from scipy import sparse

from kernbench.estimators import KernelSVC
from kernbench.kernels.engine.operands import prepared

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def problem(n, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 10))
    return X, np.argmax(X[:, :n_classes] + 0.3 * rng.normal(size=(n, n_classes)), axis=1)


@pytest.fixture
def n_prepared(monkeypatch):
    """The number of rows of each call that prepares some."""
    counts = []
    for name in ("_prepare_dense", "_prepare_csr"):
        prepare = getattr(prepared, name)

        def counted(kernel, X, *rest, prepare=prepare):
            counts.append(X.shape[0])
            return prepare(kernel, X, *rest)

        monkeypatch.setattr(prepared, name, counted)
    return counts


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("n", [300, 2200])
def test_rows_are_prepared_once(n_prepared, n, storage):
    X, y = problem(n)
    X[np.abs(X) < 1.3] = 0
    KernelSVC(max_iter=50).fit(storage(X), y)
    # The certificate of float32 values prepares some rows and the support vectors again, in float64.
    assert n_prepared[0] == n and all(few <= 1024 for few in n_prepared[1:])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_kernel_too_narrow_for_float32_gets_float64(n_classes):
    X, y = problem(2200, n_classes)
    model = KernelSVC(gamma=1e6, max_iter=20).fit(X, y)
    assert model.dtype_ == "float64"
    np.testing.assert_allclose(np.diag(model.kernel_(X[:5])), 1.0)
    assert KernelSVC(max_iter=20).fit(X, y).dtype_ == "float32"
    assert KernelSVC(gamma=1e6, dtype="float32", max_iter=20).fit(X, y).dtype_ == "float32"


def test_callbacks_see_the_precision_of_the_rows():
    X, y = problem(2200)
    seen = []
    KernelSVC(gamma=1e6, max_iter=20, callback=lambda model: seen.append(model.dtype_)).fit(X, y)
    assert set(seen) == {"float64"}
