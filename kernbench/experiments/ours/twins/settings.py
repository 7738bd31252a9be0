"""What solvers are given besides data: one declaration for the experiment ``twins`` and the runs of the asv suite.

The suite reads this file for the commits it measures, older ones too, so it imports nothing of kernbench.
"""

BATCH_SIZE = 64  # rows of a batch
FPR_RANGE = (0.05, 0.5)


def settings_of(kind, n):
    """Keywords without which a solver of this kind of problem, on `n` rows, would have nothing to choose."""
    return {"partial-auc": {"fpr_range": FPR_RANGE}, "ranked-range": {"ranked_range": (n // 20, n)}}.get(kind, {})
