"""Base class of the methods that compute scores by a design."""

from kernbench.solvers.method import Method


class DesignMethod(Method):
    """A method with a `design`, whose products with the data are counted."""

    is_interruptible = True

    @property
    def n_kernel_evaluations(self):
        """Kernel values computed so far."""
        return self.design.n_kernel_evaluations

    @property
    def n_passes(self):
        """Products with the data, or with the kernel matrix, so far."""
        return self.design.n_passes

    @property
    def n_inner_products(self):
        """d-dimensional inner products so far."""
        return self.design.n_passes * self.design.n_samples
