"""The latest rows of a run of batches, with the outputs of the model at them."""

from dataclasses import replace

import numpy as np

from kernbench.problems.streaming.batches import Batch, stacked

NAMES = ("X", "y", "weights")


class RecentRows:
    """A window on the latest rows: those of a batch replace the oldest ones.

    Parameters
    ----------
    size : int
        Rows that are kept, or those of the last batch where it has more.

    Attributes
    ----------
    batch : Batch or None
        The rows, the oldest first; None before the first batch.
    f : ndarray of shape (n, n_outputs), or None
        Outputs at these rows, which whoever changes the model keeps up to date.
    """

    def __init__(self, size):
        self.size = size
        self.forget()

    def forget(self):
        """Drop all rows."""
        self.batch = self.f = None

    def add(self, batch, f):
        """Add a batch and the outputs at its rows."""
        parts = [part for part in (self.batch, batch) if part is not None]
        if any(part.weights is not None for part in parts):
            parts = [part if part.weights is not None else replace(part, weights=np.ones(len(part))) for part in parts]
        kept = -max(self.size, len(batch))
        columns = [[getattr(part, name) for part in parts] for name in NAMES]
        self.batch = Batch(*(None if column[0] is None else stacked(column)[kept:] for column in columns))
        self.f = (f if self.f is None else np.concatenate([self.f, f]))[kept:]

    def state(self):
        """Return what resuming needs, as new arrays; empty before the first batch."""
        if self.batch is None:
            return {}
        values = {f"recent_{name}": getattr(self.batch, name) for name in NAMES}
        return {name: value.copy() for name, value in values.items() if value is not None} | {"recent_f": self.f.copy()}

    def resume(self, state):
        """Continue from a state."""
        if "recent_f" in state:
            self.batch = Batch(*(state.get(f"recent_{name}") for name in NAMES))
            self.f = np.array(state["recent_f"])
