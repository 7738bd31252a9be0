"""KernelSVC as users call it, beside scikit-learn's SVC."""

import warnings

from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from kernbench import KernelSVC

from . import problems

PEER = "sklearn.SVC"
LAYOUTS = ("dense", "sparse")


def new_model(solver):
    """Defaults, but for the seed: what someone gets who sets nothing else."""
    if solver == PEER:
        return SVC()
    # The closed form has no intercept.
    return KernelSVC(solver=solver, fit_intercept=solver != "closed-form", random_state=0)


class Fit:
    """One fit of 3,000 rows; a stochastic solver that ends at its default limit is measured up to there."""

    param_names = ("solver", "layout")
    params = ((*problems.solver_names("kernel-svm"), PEER), LAYOUTS)
    number = 1
    repeat = (2, 10, 3.0)
    timeout = 120

    def setup(self, solver, layout):
        self.X, self.y, self.X_test, self.y_test = problems.training_and_test(layout)
        self.model = new_model(solver)
        problems.prepare_process()

    def fit(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return self.model.fit(self.X, self.y)

    def time_fit(self, solver, layout):
        self.fit()

    def peakmem_fit(self, solver, layout):
        self.fit()

    def track_test_error(self, solver, layout):
        """Share of 3,000 test rows misclassified; lower is better."""
        return 1.0 - self.fit().score(self.X_test, self.y_test)

    def track_support_vectors(self, solver, layout):
        """Rows the model keeps, which set the cost of predicting; lower is better."""
        return len(self.fit().support_)

    track_test_error.unit = "test error"
    track_support_vectors.unit = "support vectors"


class Predict:
    """Labels of 3,000 rows by a model fitted once; the number of its support vectors sets the cost."""

    param_names = ("solver", "layout")
    params = (("smo", PEER), LAYOUTS)
    number = 1
    repeat = (5, 50, 1.0)
    timeout = 60

    def setup_cache(self):
        models = {}
        for layout in LAYOUTS:
            X, y, _, _ = problems.training_and_test(layout)
            for solver in self.params[0]:
                models[solver, layout] = new_model(solver).fit(X, y)
        return models

    def setup(self, models, solver, layout):
        self.X_test = problems.training_and_test(layout)[2]
        problems.prepare_process()

    def time_predict(self, models, solver, layout):
        models[solver, layout].predict(self.X_test)

    def peakmem_predict(self, models, solver, layout):
        models[solver, layout].predict(self.X_test)
