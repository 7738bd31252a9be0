"""The cells of a `KernelSVC` with one kernel: those of `OneKernel`, which is made when the first is not stored."""

from functools import cached_property

from kernbench.estimators.search.one_kernel import OneKernel
from kernbench.estimators.svm.kernel_task import KernelTask

FITS = ("class_weight", "fit_intercept", "loss", "max_iter", "tol")  # parameters on which a cell depends


class SVCCells:
    """The cells along C; parameters as of `FoldPaths`, less those that it does not need."""

    def __init__(self, model, examples, folds, deadline):
        self.model, self.examples, self.folds, self.deadline = model, examples, folds, deadline
        self._kernel = None

    @cached_property
    def task(self):
        """The task of all rows."""
        return KernelTask(self.model, self.examples.X, self.examples.y, self.examples.sample_weight)

    @property
    def identity(self):
        """What the numbers of a cell depend on, besides C."""
        task, model = self.task, self.model
        parameters = {name: getattr(model, name) for name in FITS}
        parts = [(fold.train, fold.test) for fold in self.folds]
        data = (task.X, task.codes, model.classes_.tolist(), self.examples.sample_weight, parts)
        return (data, repr(model.kernel_), str(task.dtype), parameters)

    @property
    def shape(self):
        """Shape of the values of a cell, one column for each pair of classes."""
        n_classes = len(self.examples.classes)
        return len(self.examples.y), n_classes * (n_classes - 1) // 2

    @property
    def n_kernel_evaluations(self):
        return 0 if self._kernel is None else self._kernel.n_kernel_evaluations

    def cells(self, Cs):
        """Yield the `Cell` of each C, from small to large; raise `SearchEnded` where it is cut short."""
        self._kernel = OneKernel(self.task, self.examples.sample_weight, self.folds, self.deadline)
        return self._kernel.cells(Cs)
