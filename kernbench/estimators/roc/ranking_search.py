"""What searches over classifiers that rank have in common: data of two classes, and scores of pairs."""

import numpy as np

from kernbench.estimators.roc.space_task import read_two_classes
from kernbench.estimators.search.folds import Examples
from kernbench.estimators.search.frame import Search
from kernbench.estimators.search.held_out import HeldOut
from kernbench.features.nystroem.landmarks import check_columns
from kernbench.kernels.domain import is_precomputed


class RankingSearch(Search):
    """A search along alpha, by default for the area under the ROC curve or a part of it, with weights."""

    _grid, _ascending, _scores_pairs = {"alphas": "alpha"}, False, True

    def _read(self, X, y, sample_weight):
        model = self._model({"alpha": self._first_strength()})
        rows = read_two_classes(model, X, y, sample_weight)
        check_columns(self.landmarks, getattr(model, "feature_names_in_", None))  # folds have no names
        codes = rows.positive.astype(np.intp)
        labels = model.classes_[codes]
        return Examples(rows.X, labels, rows.weights, model.classes_, codes, rows.weights, is_precomputed(self.kernel))

    def _held_out(self, values, examples):
        decisions = values[:, 0]
        return HeldOut.of_classes(decisions, examples.classes, examples.classes[(decisions >= 0).astype(np.intp)])

    def _default_scorer(self, examples):
        def scorer(held_out, indices, y, sample_weight=None):
            return float(self._area(y == examples.classes[1], held_out.decision_function(indices), sample_weight))

        return scorer
