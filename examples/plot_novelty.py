"""
Novelty detection
=================

A one-class support vector machine learns the region of the training rows; at most a share ``nu`` of them lies outside.
"""

# %%
# Training rows that stand for normal operation, and new rows, some of them unusual.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.inspection import DecisionBoundaryDisplay

from kernbench import KernelNoveltyDetector

X = make_moons(400, noise=0.1, random_state=0)[0]
new = np.random.default_rng(0).uniform([-1.5, -1.0], [2.5, 1.5], size=(60, 2))

# %%
# The line is the boundary of the region, where the decision function is 0.

model = KernelNoveltyDetector(nu=0.05, gamma=5.0).fit(X)
usual = model.predict(new) == 1

figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
DecisionBoundaryDisplay.from_estimator(
    model,
    np.vstack([X, new]),
    plot_method="contour",
    response_method="decision_function",
    levels=[0],
    colors="k",
    ax=ax,
)
ax.scatter(*X.T, s=8, color="0.7", label="training rows")
ax.scatter(*new[usual].T, marker="o", color="tab:blue", label="new, usual")
ax.scatter(*new[~usual].T, marker="x", color="tab:red", label="new, unusual")
ax.legend()
plt.show()
