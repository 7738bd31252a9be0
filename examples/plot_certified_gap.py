"""
Certified gap against time, for six solvers
===========================================

All solvers of ``KernelSVC`` minimise the same objective. Their certificates bound its minimum from below, so the curves
are upper bounds on the distance of each solver to the minimum, and not only to the best of the six.
"""

# %%
# Generated data that resemble a census. A callback with the attribute ``pace = 0`` is called often, which gives a fine
# trace.

import warnings

import matplotlib.pyplot as plt
from sklearn.exceptions import ConvergenceWarning

from kernbench import KernelSVC, datasets
from kernbench.plot import TraceDisplay

data = datasets.load("adult-like", n_train=3000, n_test=100, seed=0)


def often(model):
    """Do nothing: being called records a point of the trace."""


often.pace = 0

# %%
# One second for each solver: ``max_iter`` is too large to be reached. Those that do not converge in this time give a
# warning, which is ignored here.

fits = {}
for solver in ("smo", "sdca", "pegasos", "norm-ball-sgd", "norma", "sbp"):
    model = KernelSVC(
        gamma=0.05, solver=solver, tol=1e-6, max_iter=10**9, max_seconds=1, callback=often, random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fits[solver] = model.fit(data.X_train, data.y_train)

figure, ax = plt.subplots(figsize=(6.5, 4.2), layout="constrained")
TraceDisplay.from_estimator(fits, y="relative_gap", same_problem=True, ax=ax, marker=".")
ax.set_xscale("symlog", linthresh=0.01)
ax.set_xlim(left=0)
plt.show()
