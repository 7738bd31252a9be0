"""Rows of a finished fit, which a later `partial_fit` of few rows is learned from together with."""

from dataclasses import replace

import numpy as np

from kernbench._warnings import warn
from kernbench.estimators.doubly_stochastic.model import as_dtype
from kernbench.estimators.doubly_stochastic.parameters import BATCH


class KeptRows:
    """The part of a Gaussian process that keeps rows between calls, where its solver has no window on them."""

    def _keep_rows(self, X, y):
        """Keep as many of the rows just learned from as a window holds, where the solver had none.

        Without them a `partial_fit` of few rows would replace the posterior by that of these rows.
        """
        last = self._progress
        if not self.precondition or "window" in (self.solver_options or {}) or "recent_X" in last.solution.state:
            return
        size = max(BATCH, self._rows_per_feature * self.block_coef_.shape[1])
        if X.shape[0] > size:
            kept = np.sort(np.random.default_rng(last.seeds[1]).choice(X.shape[0], size, replace=False))
            X, y = X[kept], y[kept]
        self._progress = replace(last, rows=(as_dtype(X, self.dtype_).copy(), y.copy()))

    def _warn_of_rows_alone(self, n_rows):
        """Warn where `partial_fit` continues a model by few rows, and rows before them are not known."""
        last = getattr(self, "_progress", None)
        has_window = last is not None and (last.rows is not None or "recent_X" in last.solution.state)
        is_alone = hasattr(self, "block_coef_") and (self.std == "operator" or not has_window)
        if self.precondition and is_alone and n_rows < BATCH:
            what = "standard deviations" if has_window else "the model"
            warn(
                f"DoublyStochasticGPRegressor: partial_fit learns {what} from these {n_rows} rows without those before "
                f"them, which moves the posterior towards that of the {n_rows} rows alone. Pass {BATCH} rows at a "
                "time, or set precondition=False."
            )

    def _progress_so_far(self):
        last = super()._progress_so_far()
        if last is None or last.rows is None:
            return last
        X, y = last.rows
        state = {**last.solution.state, "recent_X": X, "recent_y": self._targets(X, y)}
        return replace(last, solution=replace(last.solution, state=state))
