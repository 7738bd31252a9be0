"""
Certified gap against time, for six solvers
===========================================

All solvers of ``KernelSVC`` minimise one objective. The certificates of the models bound its minimum from below, so
the curves show how far each solver is from it, at most, not only from the best of them.
"""

# %%
# Generated rows like those of a census. A callback whose attribute ``pace`` is 0 asks for a fine trace.

import warnings

import matplotlib.pyplot as plt
from sklearn.exceptions import ConvergenceWarning

from kernbench import KernelSVC, datasets
from kernbench.plot import TraceDisplay

data = datasets.load("adult-like", n_train=3000, n_test=100, seed=0)


def often(model):
    """Record a point of the trace whenever one is due."""


often.pace = 0

# %%
# A second for each. Some do not converge in that time, which they say in a warning.

fits = {}
for solver in ("smo", "sdca", "pegasos", "norm-ball-sgd", "norma", "sbp"):
    model = KernelSVC(
        gamma=0.05, solver=solver, tol=1e-6, max_iter=10**6, max_seconds=1, callback=often, random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fits[solver] = model.fit(data.X_train, data.y_train)

figure, ax = plt.subplots(figsize=(6.5, 4.2), layout="constrained")
TraceDisplay.from_estimator(fits, y="relative_gap", same_problem=True, ax=ax, marker=".")
ax.set_xscale("symlog", linthresh=0.01)
plt.show()
