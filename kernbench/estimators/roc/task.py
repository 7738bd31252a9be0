"""The problem of a ranking: one, on a design of features or of a kernel, with a threshold set afterwards."""

from kernbench.estimators.roc.rows import check_ranked_rows, split_for_threshold
from kernbench.estimators.roc.scores import scores_of, set_intercept
from kernbench.estimators.roc.space_task import SpaceTask


class RankingTask(SpaceTask):
    """The task of one ranking, or of a path over alpha. A subclass defines `make_solver`.

    Parameters
    ----------
    model : RankingClassifier
        Gets what is known before the first run: ``classes_``, ``dtype_`` and ``loss_``.
    entry : SolverEntry
    X, y, sample_weight
        As given to ``fit``.
    loss : str
    needs_features : bool, default=False
        Whether the solver does not take the kernel itself.
    """

    def __init__(self, model, entry, X, y, sample_weight, *, loss, needs_features=False):
        super().__init__(model, entry)
        rows = check_ranked_rows(model, X, y, sample_weight)
        model.loss_ = loss
        self.begin(model.classes_)
        rows, self.held = self.split(rows)
        self.fit_space(rows, landmark_labels=rows.positive, needs_features=needs_features)
        self.largest = self.space.largest(rows.X)

    def split(self, rows):
        """Return the rows to fit to, and those to set the threshold on (None: the same)."""
        return split_for_threshold(self.model, rows, self.last.draws.split)

    def describe(self, model, solution):
        super().describe(model, solution)
        if self.held is None:
            rows = self.rows
            # Scores of rows as they are, if the design has centred ones.
            is_given = self.centre is None
            scores = self.design.scores(solution.coef) if is_given else scores_of(model, rows.X)
        else:
            rows, scores = self.held, scores_of(model, self.held.X)
        threshold = model._threshold(model.threshold)
        set_intercept(model, threshold, self.largest, scores, rows.positive, rows.weights)
