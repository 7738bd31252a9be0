"""Labels, rounding and list entries of generated sets."""

import numpy as np

from kernbench.datasets.entry import DatasetEntry

# Coordinates are rounded, so that last digits that differ between mathematics libraries do not change checksums.
DECIMALS = 9
DECIMALS_FLOAT32 = 6
RULE_SEED = 20120626  # of the fixed rules of the sparse sets


def shuffled_labels(n, rng, positive=0.5):
    """Draw labels in random order, a share `positive` of them +1, the others -1; both occur if n > 1."""
    y = np.full(n, -1, dtype=np.int64)
    y[: np.clip(round(n * positive), min(1, n - 1), max(1, n - 1))] = 1
    rng.shuffle(y)
    return y


def generated_entry(build, summary, **facts):
    """Return the list entry of a generated set; its name and source are those of the function that draws it."""
    name = build.__name__.replace("_", "-")
    source = f"{build.__module__}.{build.__name__}"
    return DatasetEntry(name=name, kind="generated", summary=summary, source=source, build=build, **facts)
