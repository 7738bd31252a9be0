"""
Decision lines with support vectors
===================================

The decision function of a kernel SVM is a weighted sum of kernel functions at its support vectors, the rows on the
margin or on its wrong side. The smaller C is, the more support vectors there are, and the smoother is the decision
boundary.
"""

# %%
# Two half moons with noise; any data with two columns would do.

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons
from sklearn.inspection import DecisionBoundaryDisplay

from kernbench import KernelSVC

X, y = make_moons(300, noise=0.25, random_state=0)

# %%
# One panel for each C. The colours show the decision function, the lines are its level sets at -1, 0 and 1, and circles
# mark the support vectors.

figure, axes = plt.subplots(1, 3, figsize=(10, 3.4), layout="constrained", sharey=True)
for ax, C in zip(axes, [0.1, 1.0, 100.0]):
    model = KernelSVC(C=C, gamma=1.0).fit(X, y)
    drawing = {"response_method": "decision_function", "ax": ax}
    DecisionBoundaryDisplay.from_estimator(model, X, cmap="RdBu", vmin=-3, vmax=3, alpha=0.4, **drawing)
    DecisionBoundaryDisplay.from_estimator(
        model, X, plot_method="contour", levels=[-1, 0, 1], colors="k", linestyles=["--", "-", "--"], **drawing
    )
    ax.scatter(*X.T, c=y, cmap="RdBu", s=12, edgecolors="none")
    ax.scatter(*model.support_vectors_.T, s=36, facecolors="none", edgecolors="k", linewidths=0.6)
    ax.set_title(f"C = {C:g}: {len(model.support_)} support vectors")
plt.show()
