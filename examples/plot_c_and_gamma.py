"""
C and gamma by cross-validation
===============================

All folds and all C of a gamma share their kernel rows, so that a whole grid costs a few fits.
"""

# %%
# Measurements of tumours. The pipeline's scaling is done once here: it looks at no label.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from kernbench import KernelSVCCV
from kernbench.plot import SearchDisplay

X, y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X)

# %%
# Seven C and six gammas on five folds, 210 models. The star is the best cell; along the ridge a smaller gamma asks for
# a larger C.

search = KernelSVCCV(Cs=np.logspace(-2, 4, 7), gammas=[0.0003, 0.001, 0.003, 0.01, 0.03, 0.1], cv=5).fit(X, y)

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
SearchDisplay.from_estimator(search, ax=left)
SearchDisplay.from_estimator(search, kind="surface", ax=right)
plt.show()

# %%
# The model of the best cell is already fitted to all rows.

print(search.best_params_, round(search.best_score_, 3), search.n_support_)
