"""Problems of the solvers on explicit features.

* :mod:`~kernbench.problems.linear.block_constants` -- Lipschitz constants of blocks of features;
* :mod:`~kernbench.problems.linear.feature_bounds` -- certified gaps of solvers that keep no dual variables;
* :mod:`~kernbench.problems.linear.empty_columns` -- sparse data without the columns that have no entries;
* :mod:`~kernbench.problems.linear.newton` -- samples, costs and constants of Newton's method.
"""
