"""Regression by the solvers of the support vector machines: KernelRegressor and LinearRegressor."""
