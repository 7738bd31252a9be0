"""A classifier that ranks within a range of false positive rates: its threshold may be the range's upper end."""

from kernbench.estimators.roc.parameters import check_threshold
from kernbench.estimators.roc.scores import RankingClassifier
from kernbench.estimators.windows.parameters import THRESHOLDS, WINDOW, threshold_of_window
from kernbench.pairs.window import checked_fpr_range


class WindowClassifier(RankingClassifier):
    """A classifier that ranks and, when fitted, has ``fpr_range_``."""

    fpr_range_: tuple[float, float]

    def _threshold(self, threshold):
        check_threshold(threshold, THRESHOLDS)
        if threshold != WINDOW:
            return threshold
        return threshold_of_window(self.fpr_range_)

    def _check_fitted_state(self):
        super()._check_fitted_state()
        self.fpr_range_ = checked_fpr_range(self.fpr_range_)  # a list in a file
