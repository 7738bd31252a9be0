"""What ``fit`` and ``path`` of a `KernelSVC` do: rows in, fitted attributes out."""

import numpy as np

from kernbench.estimators._fitting import PairRuns, Task
from kernbench.estimators._outcome import set_outcome, warn_unless_converged
from kernbench.estimators._parameters import check_kernel_svc, precision
from kernbench.estimators._training_data import check_training_data, kernel_of, wide_enough
from kernbench.estimators._warm_start import cold_start, digest
from kernbench.estimators.multiclass import Pair, pairs_of


def _digests(X, codes, weights):
    """Digests of the rows, and of the labels of those that take part."""
    taking_part = codes if weights is None else np.where(weights > 0, codes, -1)
    return digest(X), digest(taking_part)


class TrainingMixin:
    """One fit for one C or several."""

    def _fit_path(self, X, y, Cs, models, sample_weight):
        """Fit `models`, which differ in C only and of which self is the first."""
        entry = check_kernel_svc(self)
        X, codes, sample_weight, weights = check_training_data(self, X, y, sample_weight)
        pairs = pairs_of(codes, len(self.classes_), weights, self.multi_class)
        start = getattr(self, "_continuation", None) if self.warm_start else None
        settings = (self.solver,)
        if start is None or not start.matches(settings, self.classes_, len(pairs)):
            draws_kernel = isinstance(self.gamma, str) and self.gamma == "median"
            start = cold_start(
                settings,
                self.classes_,
                self.random_state,
                len(pairs),
                draws_kernel=draws_kernel,
                draws=entry.draws,
            )
        self.dtype_ = precision(self.dtype, len(codes))
        self.kernel_ = kernel_of(self, X, sample_weight, start.kernel_seed)
        if self.dtype == "auto":
            self.dtype_ = wide_enough(self.dtype_, self.kernel_, X)
        data = ()
        if self.warm_start:
            data = (self.kernel_, *_digests(X, codes, weights), self.dtype_, self.loss)

        def snapshot(pair, solver):
            return self._snapshot(X, codes, pair, solver)

        runs = PairRuns(self, entry, Task(X, pairs, weights, Cs, start, data), snapshot)
        results = runs.run()
        for model, own in zip(models, results, strict=True):
            model._share(self, self.classes_, self.class_weight_)
            model._set_expansion(X, codes, pairs, [result.solution for result in own])
            set_outcome(model, own)
            model._continuation = start.after(own, data) if self.warm_start else None
        if runs.interrupted:
            raise KeyboardInterrupt
        for model, own in zip(models, results, strict=True):
            warn_unless_converged(model, own, stacklevel=4)

    def _share(self, other, classes, class_weight):
        """Take over what a model knows of the training rows."""
        for name in ("n_features_in_", "feature_names_in_", "kernel_", "dtype_"):
            if hasattr(other, name):
                setattr(self, name, getattr(other, name))
        self.classes_, self.class_weight_ = classes, class_weight

    def _snapshot(self, X, codes, pair, solver):
        """The fitted two-class model of `pair` as of now, for callbacks."""
        model = type(self)(**self.get_params(deep=False))
        if pair.negative is None:
            classes, class_weight = np.array([False, True]), np.ones(2)
        else:
            two = [pair.negative, pair.positive]
            classes, class_weight = self.classes_[two], self.class_weight_[two]
        model._share(self, classes, class_weight)
        own = Pair(0, 1, pair.rows, pair.y)
        model._set_expansion(X, (codes == pair.positive).astype(np.intp), [own], [solver.solution()])
        model.n_iter_ = np.array([solver.n_iter])
        model.n_kernel_evaluations_ = solver.n_kernel_evaluations
        model.converged_ = bool(solver.converged)
        return model
