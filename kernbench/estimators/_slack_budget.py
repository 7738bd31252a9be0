"""From a fitted support vector machine to the C and the slack budget nu whose problems it solves."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kernbench.estimators._training_data import check_examples, check_square
from kernbench.problems.slack_budget import C_of_solution, nu_of_solution


class SlackBudgetMixin:
    """The method `slack_budget` of an expansion of two classes."""

    def slack_budget(self, X, y, sample_weight=None):
        """Return the slack budget nu and the C whose problems the fitted function solves.

        A support vector machine u is the optimum of the slack-constrained problem of the batch perceptron at
        nu = mean hinge loss of u / ‖u‖ [4]_, and of that for C where primal and dual objective meet. So this
        turns C into nu (of a model fitted with ``C``), and nu into C (of a model fitted with
        ``solver_options={"nu": ...}``). Both numbers are as good as the fit.

        Parameters
        ----------
        X, y, sample_weight
            The training set, as given to ``fit``.

        Returns
        -------
        nu : float
            Slack per example (per unit of weight) that functions of norm 1 may have.
        C : float
            Infinite for a function without slack, which any large C has.

        Raises
        ------
        ValueError
            For more than two classes, another loss than the hinge, or rows that are not those of ``fit``.
        """
        check_is_fitted(self)
        if len(self.classes_) != 2 or self.loss != "hinge":
            raise ValueError("slack_budget is for two classes and loss='hinge'")
        X, y, classes, codes, sample_weight = check_examples(self, X, y, sample_weight, reset=False)
        check_square(self, X)
        if not np.array_equal(classes, self.classes_) or self.support_.max(initial=-1) >= len(y):
            raise ValueError("X and y must be the training set of this model")
        weights = self.class_weight_[codes] * (1.0 if sample_weight is None else sample_weight)
        values = self.decision_function(X)
        coef = self.dual_coef_[0]
        squared_norm = coef @ (values[self.support_] - self.intercept_[0])
        margins = np.where(codes == 1, values, -values)
        nu = nu_of_solution(margins, squared_norm, weights)
        return nu, C_of_solution(np.abs(coef).sum(), margins, squared_norm, weights)
