"""
A stream with partial_fit
=========================

Batches arrive one after the other, and none is kept. Each is first predicted, then learned from: an honest curve of the
error, of rows that the model has not seen.
"""

# %%
# A stream of batches; a file read in chunks, or a queue, would do as well.

import matplotlib.pyplot as plt
import numpy as np

from kernbench import DoublyStochasticClassifier, datasets

batches = []
for seed in range(40):
    part = datasets.load("checkerboard", 1000, 2, seed=seed)
    batches.append((part.X_train, part.y_train))

# %%
# Error of each batch before it is learned from.

model, errors = DoublyStochasticClassifier(gamma=2.0, random_state=0), []
for k, (X, y) in enumerate(batches):
    if k:
        errors.append(np.mean(model.predict(X) != y))
    model.partial_fit(X, y, classes=[-1, 1])

figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.plot(1000 * np.arange(1, len(batches)), errors, ".-")
ax.set(xlabel="rows seen", ylabel="error of the next batch", ylim=(0, None))
plt.show()
