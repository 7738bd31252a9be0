"""Doubly stochastic gradients on rows in blocks: gradients are computed where the rows lie."""
