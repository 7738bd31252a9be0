"""
Random features against the kernel
==================================

Inner products of m random features are kernel values up to an error that falls like 1/√m, whatever the number of rows.
"""

# %%
# The digits of scikit-learn, with the median distance as bandwidth.

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
