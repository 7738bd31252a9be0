"""Methods that see a stream of batches once: `doubly_sgd`, doubly stochastic gradients."""

from kernbench.problems.streaming.batches import batches_of

__all__ = ["batches_of"]
