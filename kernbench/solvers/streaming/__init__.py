"""Methods that see a stream of batches once: doubly stochastic gradients.

::

    doubly_sgd                 the method: its step
      state                    settings, losses of the batches so far, what resuming needs
      covariance_operator      the variance of a Gaussian process, learned beside f
        _doubly_sgd            the core: sums over a batch, on compiled features and losses
"""

from kernbench.problems.streaming.batches import batches_of

__all__ = ["batches_of"]
