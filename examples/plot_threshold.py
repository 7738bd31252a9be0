"""
Threshold by sensitivity
========================

A test should detect 90 % of the cases. The threshold is set on rows that were not used in the fit, and checked on other
rows.
"""

# %%
# Measurements of tumours. The malignant ones (label 0 of this data set) should be detected.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernbench import KernelSVC
from kernbench.metrics import threshold_for

X, y = load_breast_cancer(return_X_y=True)
malignant = (y == 0).astype(int)
X_train, X_rest, y_train, y_rest = train_test_split(X, malignant, train_size=0.3, stratify=y, random_state=0)
X_set, X_test, y_set, y_test = train_test_split(X_rest, y_rest, train_size=0.5, stratify=y_rest, random_state=0)

# %%
# Sensitivity and specificity on the test rows at every threshold, and the threshold that was chosen.

model = make_pipeline(StandardScaler(), KernelSVC()).fit(X_train, y_train)
threshold = threshold_for(y_set, model.decision_function(X_set), sensitivity=0.9)
score = model.decision_function(X_test)
grid = np.linspace(score.min(), score.max(), 300)

figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.plot(grid, [(score[y_test == 1] >= t).mean() for t in grid], label="sensitivity")
ax.plot(grid, [(score[y_test == 0] < t).mean() for t in grid], label="specificity")
ax.axvline(threshold, color="k", linestyle="--", label=f"sensitivity 0.9 on other rows: {threshold:.2f}")
ax.axhline(0.9, color="0.7", linewidth=0.8)
ax.set(xlabel="threshold", ylabel="rate")
ax.legend()
plt.show()
