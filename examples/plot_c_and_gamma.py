"""
C and gamma by cross-validation
===============================

All folds, and all values of C for one gamma, share their kernel rows, so that a whole grid takes less time than a fit
for each cell and fold.
"""

# %%
# Measurements of tumours. The columns are scaled once, before the search; this uses no labels.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from kernbench import KernelSVCCV
from kernbench.plot import SearchDisplay

X, y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X)

# %%
# Seven values of C and six of gamma on five folds are 210 models. The star marks the best pair; along the ridge of good
# scores, a smaller gamma goes with a larger C.

search = KernelSVCCV(Cs=np.logspace(-2, 4, 7), gammas=[0.0003, 0.001, 0.003, 0.01, 0.03, 0.1], cv=5).fit(X, y)

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
SearchDisplay.from_estimator(search, ax=left)
SearchDisplay.from_estimator(search, kind="surface", ax=right)
plt.show()

# %%
# After the search, the model with the best pair is already fitted to all rows.

print(search.best_params_, round(search.best_score_, 3), search.n_support_)
