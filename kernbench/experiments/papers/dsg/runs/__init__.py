"""How cells of the experiments on doubly stochastic gradients are measured."""
