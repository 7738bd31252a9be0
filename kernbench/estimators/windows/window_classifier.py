"""A classifier that ranks within a range of false positive rates: its threshold may be the range's upper end."""

from kernbench.estimators.roc.parameters import check_threshold
from kernbench.estimators.roc.scores import RankingClassifier
from kernbench.estimators.windows.parameters import THRESHOLDS, WINDOW
from kernbench.pairs.window import checked_fpr_range


class WindowClassifier(RankingClassifier):
    """A classifier that ranks and, when fitted, has ``fpr_range_``."""

    fpr_range_: tuple[float, float]

    def _threshold(self, threshold):
        check_threshold(threshold, THRESHOLDS)
        if threshold != WINDOW:
            return threshold
        if self.fpr_range_[1] == 1:
            raise ValueError(
                "threshold='window' would set the specificity to 0, since the range ends at 1: choose another threshold"
            )
        return ("specificity", 1 - self.fpr_range_[1])

    def _check_fitted_state(self):
        super()._check_fitted_state()
        self.fpr_range_ = checked_fpr_range(self.fpr_range_)  # a list in a file
