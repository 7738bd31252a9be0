"""
Random features against the kernel
==================================

The inner product of the random features of two rows is their kernel value up to an error that falls like 1/√m with the
number m of features, whatever the number of rows.
"""

# %%
# scikit-learn's digits, and a Gaussian kernel with the median distance between rows as its width.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import pairwise_distances

from kernbench.features import RandomFeatures
from kernbench.kernels import Gaussian

X = load_digits().data[:500]
kernel = Gaussian(float(np.median(pairwise_distances(X))))
K = kernel(X, X)

# %%
# The root mean squared error over all entries of the kernel matrix, for five draws.

numbers = [16, 64, 256, 1024, 4096]
errors = []
for m in numbers:
    maps = [RandomFeatures(kernel, m, random_state=seed).fit_transform(X) for seed in range(5)]
    errors.append([np.sqrt(np.mean((Z @ Z.T - K) ** 2)) for Z in maps])

figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.plot(numbers, errors, "o", color="tab:blue", alpha=0.6)
ax.plot(numbers, np.mean(errors[0]) * np.sqrt(numbers[0] / np.array(numbers)), "k--", label="1/√m")
ax.set(xscale="log", yscale="log", xlabel="features m", ylabel="error of kernel values")
ax.legend()
plt.show()
