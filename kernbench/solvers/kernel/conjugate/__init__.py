"""Conjugate subgradient methods: Wolfe's on all examples, the stochastic one on a growing sample."""
