"""The searches under test, each with its estimator, a small grid, and data of its task."""

from dataclasses import dataclass, field

import numpy as np
from sklearn.datasets import make_classification

from kernbench import (
    ROCSVC,
    ROCSVCCV,
    KernelRegressor,
    KernelRegressorCV,
    KernelSVC,
    KernelSVCCV,
    LinearSVC,
    LinearSVCCV,
    PartialAUCClassifier,
    PartialAUCClassifierCV,
)
from kernbench.kernels import Gaussian
from kernbench.kernels.blocks import block
from kernbench.metrics import partial_auc, roc_auc

WINDOW = (0.0, 0.3)


def auc(y, scores, sample_weight=None):
    return roc_auc(y, scores, sample_weight=sample_weight)


def window_auc(y, scores, sample_weight=None):
    return partial_auc(y, scores, WINDOW, sample_weight=sample_weight)


@dataclass(frozen=True)
class Face:
    """One search.

    Attributes
    ----------
    search, estimator : type
    grid : dict
        Parameters of the search.
    cells : dict
        The same as parameters of the estimator.
    common : dict
        Parameters of both.
    n_classes : int or None
    metric : callable or None
        What ``scoring=None`` means, of decision values; None for the ``score`` of the estimator.
    tol : float
    """

    search: type
    estimator: type
    grid: dict
    cells: dict
    common: dict = field(default_factory=dict)
    n_classes: int | None = 2
    metric: object = None
    tol: float = 1e-7

    def __str__(self):
        return self.search.__name__

    @property
    def strengths(self):
        """Name of the search's parameter of a path, and its values."""
        return next(iter(self.grid.items()))

    def make(self, **settings):
        return self.search(**{"cv": 3, "tol": self.tol, "random_state": 0, **self.grid, **self.common, **settings})

    def alone(self, **settings):
        return self.estimator(**{"tol": self.tol, "random_state": 0, **self.common, **settings})

    def data(self, n=90, seed=0):
        X, y = make_classification(n, 5, n_informative=4, n_redundant=0, flip_y=0.1,
                                   n_classes=self.n_classes or 2, random_state=seed)  # fmt: skip
        if self.n_classes is None:
            y = X[:, 0] + np.sin(X[:, 1]) + 0.1 * np.random.default_rng(seed).normal(size=n)
        return X, y


FACES = [
    Face(KernelSVCCV, KernelSVC, {"Cs": [0.1, 10.0], "gammas": [0.05, 0.2]}, {"C": [0.1, 10.0], "gamma": [0.05, 0.2]}),
    Face(LinearSVCCV, LinearSVC, {"Cs": [0.01, 1.0]}, {"C": [0.01, 1.0]}, n_classes=3),
    Face(
        KernelRegressorCV,
        KernelRegressor,
        {"alphas": [0.1, 0.001], "gammas": [0.05, 0.2]},
        {"alpha": [0.1, 0.001], "gamma": [0.05, 0.2]},
        n_classes=None,
    ),
    Face(
        ROCSVCCV, ROCSVC, {"alphas": [0.1, 0.001]}, {"alpha": [0.1, 0.001]}, {"kernel": "rbf", "gamma": 0.2}, metric=auc
    ),
    Face(
        PartialAUCClassifierCV,
        PartialAUCClassifier,
        {"alphas": [0.01, 0.001]},
        {"alpha": [0.01, 0.001]},
        {"kernel": "rbf", "gamma": 0.2, "fpr_range": WINDOW},
        metric=window_auc,
        tol=1e-3,  # its fits to the folds are those of GridSearchCV, from the same start
    ),
]
KERNELS = [face for face in FACES if face.search is not LinearSVCCV]


def gaussian_matrix(X, gamma=0.2):
    """Return the kernel matrix of rows."""
    return block(Gaussian(sigma=np.sqrt(0.5 / gamma)), X, X)


def assert_same_cells(search, grid, step):
    """Scores of each fold agree within `step`."""
    assert search.cv_results_["params"] == grid.cv_results_["params"]
    for k in range(grid.n_splits_):
        name = f"split{k}_test_score"
        assert np.abs(search.cv_results_[name] - grid.cv_results_[name]).max() <= step


def step_of(face):
    """Within one row of 30: a label, or the pairs of a row of the smaller class."""
    return {"KernelRegressorCV": 1e-5, "ROCSVCCV": 0.01, "PartialAUCClassifierCV": 0.05}.get(str(face), 1.01 / 30)
