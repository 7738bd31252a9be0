"""
Drawn pairs against all pairs
=============================

By default ``ROCSVC`` uses all pairs of a positive and a negative row. A sample of the pairs is an approximation. With
as many pairs as rows it is no faster, since the loss over all pairs needs only a sort of the scores.
"""

# %%
# About 6 % of the rows are positive.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split

from kernbench import ROCSVC
from kernbench.metrics import roc_auc

X, y = make_classification(8000, 12, n_informative=6, weights=[0.95], class_sep=0.7, flip_y=0.02, random_state=0)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)

# %%
# Ten samples for each number of pairs, and the AUC of the model fitted to all pairs.

numbers = [30, 100, 300, 1000, 3000, 10_000]
found = np.array(
    [
        [
            roc_auc(y_test, ROCSVC(pairs=n, random_state=seed).fit(X_train, y_train).decision_function(X_test))
            for seed in range(10)
        ]
        for n in numbers
    ]
)
exact = roc_auc(y_test, ROCSVC().fit(X_train, y_train).decision_function(X_test))

figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.plot(numbers, found, ".", color="tab:blue", alpha=0.5)
ax.plot(numbers, np.median(found, axis=1), color="tab:blue", label="drawn pairs, median of ten draws")
n_pairs = (y_train == 1).sum() * (y_train == 0).sum()
ax.axhline(exact, color="tab:orange", label=f"all {n_pairs:,} pairs")
ax.set(xscale="log", xlabel="drawn pairs", ylabel="AUC of new rows")
ax.legend()
plt.show()
