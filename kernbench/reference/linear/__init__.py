"""References of the solvers on explicit features, file for file as in :mod:`kernbench.solvers.linear`."""
