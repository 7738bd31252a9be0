"""All rows equal: the data determine no length scale, and classifiers predict the majority."""

import numpy as np
import pytest
from scipy import sparse

from kernbench import KernelSVC
from kernbench.features import Nystroem, RandomFeatures

ROWS = {
    "ones": np.ones((60, 3)),
    "0.1": np.full((61, 3), 0.1),
    "float32": np.full((60, 3), 0.1, dtype=np.float32),
    "large": np.full((61, 7), 1e8 / 3),
    "equal rows of different columns": np.tile([0.1, 0.2, 0.7], (61, 1)),
    "csr": sparse.csr_matrix(np.full((60, 3), 0.1)),
}


@pytest.mark.parametrize("X", ROWS.values(), ids=ROWS)
@pytest.mark.parametrize("gamma", ["scale", "median", "auto"])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly", "sigmoid", "linear", "chi2"])
def test_kernel_svc_predicts_the_majority(kernel, gamma, X):
    y = np.where(np.arange(X.shape[0]) % 3 == 0, "few", "many")
    model = KernelSVC(kernel, gamma=gamma).fit(X, y)
    # Kernel values of 1e23 and more, all equal but for rounding: no certificate can be given.
    is_coarse = kernel == "poly" and X.max() > 1e6
    assert is_coarse or (model.converged_ and np.all(model.predict(X) == "many"))
    if kernel in ("rbf", "laplacian"):
        length = model.kernel_.sigma
        assert 0.1 < length < 10.0  # neither flat nor the identity on rows near by
        np.testing.assert_allclose(model.decision_function(X), 1.0, atol=1e-6)


@pytest.mark.parametrize("X", ROWS.values(), ids=ROWS)
@pytest.mark.parametrize("gamma", ["scale", "median"])
def test_features_of_equal_rows_are_equal(gamma, X):
    for features in (
        RandomFeatures(gamma=gamma, random_state=0),
        Nystroem(n_landmarks=20, gamma=gamma, random_state=0),
    ):
        Z = features.fit(X).transform(X)
        np.testing.assert_allclose(Z @ Z.T, 1.0, rtol=1e-5)
