"""Methods that see a stream of batches once: plain NumPy."""

from kernbench.problems.streaming.batches import batches_of

__all__ = ["batches_of"]
