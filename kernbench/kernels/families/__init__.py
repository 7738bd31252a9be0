"""The kernels themselves, one module per family."""
