"""What users write: type checkers must find nothing wrong in it, and know what comes out."""

from pathlib import Path
from typing import assert_type

import numpy as np
from scipy import sparse

from kernbench import (
    ROCSVC,
    DoublyStochasticClassifier,
    DoublyStochasticGPRegressor,
    KernelSVC,
    KernelSVCCV,
    KernelSVR,
    LinearSVC,
    PartialAUCClassifier,
    RankedRangeRegressor,
)
from kernbench.datasets import read_file, write_npz
from kernbench.distributed import Distributed
from kernbench.features import Nystroem
from kernbench.kernels import DotProduct, Gaussian, Sum
from kernbench.metrics import partial_auc, roc_auc, roc_curve
from kernbench.plot import PartialROCDisplay, SearchDisplay

X = np.random.default_rng(0).standard_normal((40, 3))
y = (X[:, 0] > 0).astype(int)

model = KernelSVC(C=10.0, gamma="scale", random_state=0).fit(X, y, sample_weight=np.ones(40))
assert_type(model, KernelSVC)
rows = sparse.csr_matrix(X)
labels = model.predict(rows)
scores = model.decision_function(X)
model.save(Path("model.npz"))
print(model.duality_gap_ / model.objective_, model.n_iter_.sum(), model.support_vectors_.shape, model.converged_)
assert_type(model.classes_, np.ndarray)

along = KernelSVC(kernel=Gaussian(1.0), callback=print).path(X, y, [0.1, 1.0])
assert_type(along, list[KernelSVC])

ranking = ROCSVC(kernel="linear").fit(X, y)
area = roc_auc(y, ranking.decision_function(X))
assert_type(area, float)
fpr, tpr, thresholds = roc_curve(y, scores)
window = partial_auc(y, scores, fpr_range=(0.0, 0.2))
assert_type(window, float)

LinearSVC(class_weight={0: 1.0, 1: 2.0}).fit(X.tolist(), y)
KernelSVR(epsilon=0.2, max_seconds=None).fit(X, X[:, 0]).predict(X)
process = DoublyStochasticGPRegressor(std="operator").fit(X, X[:, 0])
n_predicted = process.predict(X).shape[0]
mean, deviation = process.predict(X, return_std=True)
PartialAUCClassifier((0.0, 0.5), kernel="rbf", gamma=0.1, landmarks=X[:8]).fit(X, y)
RankedRangeRegressor((0.1, 1.0), kernel=Gaussian(1.0), max_seconds=1.5).fit(X, X[:, 0])
features = Nystroem(n_landmarks=10).fit_transform(X)

KernelSVC(Sum([Gaussian(1.0), DotProduct([0.0, 1.0])], weights=[0.5, 1.0])).fit(X, y)
DoublyStochasticClassifier(max_iter=2).fit(rows, y, X_val=rows, y_val=y)
search = KernelSVCCV([1.0, 10.0], [0.1], cv=3).fit(X, y)
SearchDisplay.from_estimator(search).figure_.set_size_inches(4, 3)
display = PartialROCDisplay.from_estimator(ranking, rows, y)
display.figure_.set_size_inches(4, 3)
print(display.area > 0.5, display.rates[0])

write_npz("rows.npz", X, y)
unlabelled = read_file("rows.npz", label=None)[1] is None
np.save("rows.npy", X)
n_in_file = Distributed(ROCSVC()).fit(Path("rows.npy"), y).decision_function(Path("rows.npy")).shape[0]
