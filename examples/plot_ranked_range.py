"""
Ranked range against outliers
=============================

A regression that leaves out the largest losses is hardly affected by outliers, which have the largest losses.
"""

# %%
# Points near a line; one value in ten is wrong.

import matplotlib.pyplot as plt
import numpy as np

from kernbench import LinearRegressor, RankedRangeRegressor

rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, size=(300, 1))
y = 2.0 * X[:, 0] + 0.2 * rng.normal(size=300)
wrong = rng.random(300) < 0.1
y[wrong] = 6.0 - 6.0 * X[wrong, 0]

# %%
# One fit minimises the mean of all losses, the other the mean without the largest 15 %.

figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.scatter(X[:, 0], y, s=8, color="0.6")
grid = np.linspace(-1, 1, 50)[:, None]
models = {"all losses": LinearRegressor(), "without the largest 15 %": RankedRangeRegressor((0.15, 1.0))}
for name, model in models.items():
    ax.plot(grid[:, 0], model.fit(X, y).predict(grid), label=name)
ax.legend()
plt.show()
