"""
Gaussian process with a confidence band
=======================================

The posterior mean of a Gaussian process with a band of two standard deviations, both learned from random features.
"""

# %%
# Noisy values of a function, without any points between 0.5 and 2.5.

import matplotlib.pyplot as plt
import numpy as np

from kernbench import DoublyStochasticGPRegressor

rng = np.random.default_rng(0)
X = np.concatenate([rng.uniform(-3, 0.5, size=200), rng.uniform(2.5, 4, size=100)])[:, None]
y = np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=300)

# %%
# The band is wide where there are no data.

model = DoublyStochasticGPRegressor(gamma=0.5, noise_variance=0.01, std="operator", random_state=0).fit(X, y)
grid = np.linspace(-4, 5, 200)[:, None]
mean, std = model.predict(grid, return_std=True)

figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.scatter(X[:, 0], y, s=6, color="0.6")
ax.plot(grid[:, 0], mean)
ax.fill_between(grid[:, 0], mean - 2 * std, mean + 2 * std, alpha=0.2)
plt.show()
