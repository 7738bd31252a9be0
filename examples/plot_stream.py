"""
A stream with partial_fit
=========================

Batches arrive one after the other, and the model keeps some of the latest rows only. Each batch is first predicted and
then learned from, so that the error is always measured on rows that the model has not seen.
"""

# %%
# A stream of batches. They could as well come from a file that is read in chunks, or from a queue.

import matplotlib.pyplot as plt
import numpy as np

from kernbench import DoublyStochasticClassifier, datasets

batches = []
for seed in range(40):
    part = datasets.load("checkerboard", 1000, 2, seed=seed)
    batches.append((part.X_train, part.y_train))

# %%
# The error on each batch before the model learns from it.

model, errors = DoublyStochasticClassifier(gamma=2.0, random_state=0), []
for k, (X, y) in enumerate(batches):
    if k:
        errors.append(np.mean(model.predict(X) != y))
    model.partial_fit(X, y, classes=[-1, 1])

figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.plot(1000 * np.arange(1, len(batches)), errors, ".-")
ax.set(xlabel="rows seen", ylabel="error of the next batch", ylim=(0, None))
plt.show()
