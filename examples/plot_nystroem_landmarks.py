"""
Nyström landmarks
=================

Nyström features project the kernel onto the span of some rows, the landmarks. With 200 landmarks, about a seventh of
the rows, a linear model on these features is nearly as accurate as the kernel machine.
"""

# %%
# Handwritten digits: odd or even.

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from kernbench import KernelSVC, LinearSVC
from kernbench.features import Nystroem
from kernbench.kernels import Gaussian

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16.0, y % 2, random_state=0)

# %%
# Test errors with landmarks drawn at random or chosen by k-means, and that of the exact kernel machine.

kernel, numbers = Gaussian(2.0), [10, 20, 50, 100, 200, 500]
figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
for landmarks in ("uniform", "kmeans"):
    errors = []
    for m in numbers:
        features = Nystroem(kernel, m, landmarks=landmarks, random_state=0)
        model = make_pipeline(features, LinearSVC(C=10.0)).fit(X_train, y_train)
        errors.append(1 - model.score(X_test, y_test))
    ax.plot(numbers, errors, ".-", label=f"landmarks: {landmarks}")
exact = KernelSVC(kernel=kernel, C=10.0).fit(X_train, y_train)
ax.axhline(1 - exact.score(X_test, y_test), color="k", linestyle="--", label="KernelSVC")
ax.set(xscale="log", xlabel="landmarks", ylabel="error on new rows", ylim=(0, None))
ax.legend()
plt.show()
