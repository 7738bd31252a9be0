"""Doubly stochastic gradients on rows in blocks: gradients are computed on the workers that hold the rows."""
