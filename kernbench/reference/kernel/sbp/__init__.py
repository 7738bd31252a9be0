"""The stochastic batch perceptron in plain NumPy."""
