"""The stochastic batch perceptron, and the water level it follows."""
