"""Kernels that are sums or products over features, computed pair by pair of entries."""
