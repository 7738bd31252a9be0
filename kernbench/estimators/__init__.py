"""scikit-learn estimators on top of the solvers.

::

    base.py        what all classifiers have in common: files, tags
    fit/           one fit, for every estimator
      problem.py       the protocol: a task and its problems
      path.py          from a task to fitted attributes, along one C or alpha or many
      runs.py          the runs of all problems within one time budget, in threads
      solver_data.py   kernel rows and designs;  solver.py  solvers on them
      continuation.py  warm starts from one fit to the next
      outcome.py       how the runs ended: attributes and warnings
      parameters.py  training_data.py  targets.py  kernel.py    checks of the arguments; the kernel object
      fitted_state.py  checks of models read from files
      chunks.py        the reader of streams
    svm/           KernelSVC, LinearSVC, closed_form_limit
      kernel_task.py   the problems of a KernelSVC, on pairs of multiclass.py
      expansion.py     prediction from support vectors
      linear_task.py   the problems of a LinearSVC
      scs_stream.py    KernelSVC.partial_fit and fit_chunks; scs_chunks.py
    regression/    KernelRegressor, LinearRegressor
      tasks.py  parameters.py    their problems; checks of the arguments
    doubly_stochastic/  DoublyStochasticClassifier, Regressor, GPRegressor, NoveltyDetector, DensityRatio
      model.py         the fit to arrays, batches and streams, and outputs of rows
      parameters.py  stream.py    checks of the arguments; the first rows of a stream
    ranking/       ROCSVC, ROCSVCCV
      task.py          the problem of a ranking: rows.py, space.py; roc_task.py that of a ROCSVC
      scores.py        prediction, threshold.py
      stream.py        ROCSVC.partial_fit

An estimator consists of its parameters and docstring, a task, and prediction: ``fit`` makes a task of its arguments and
passes it to `fit.path.fit_task`.
"""

from kernbench.estimators.doubly_stochastic.classifier import DoublyStochasticClassifier
from kernbench.estimators.doubly_stochastic.density_ratio import DoublyStochasticDensityRatio
from kernbench.estimators.doubly_stochastic.gp import DoublyStochasticGPRegressor
from kernbench.estimators.doubly_stochastic.novelty import DoublyStochasticNoveltyDetector
from kernbench.estimators.doubly_stochastic.regressor import DoublyStochasticRegressor
from kernbench.estimators.ranking.roc_svc import ROCSVC
from kernbench.estimators.ranking.roc_svc_cv import ROCSVCCV
from kernbench.estimators.regression.kernel_regressor import KernelRegressor
from kernbench.estimators.regression.linear_regressor import LinearRegressor
from kernbench.estimators.svm.closed_form import closed_form_limit
from kernbench.estimators.svm.kernel_svc import KernelSVC
from kernbench.estimators.svm.linear_svc import LinearSVC

__all__ = [
    "DoublyStochasticClassifier",
    "DoublyStochasticDensityRatio",
    "DoublyStochasticGPRegressor",
    "DoublyStochasticNoveltyDetector",
    "DoublyStochasticRegressor",
    "KernelRegressor",
    "KernelSVC",
    "LinearRegressor",
    "LinearSVC",
    "ROCSVC",
    "ROCSVCCV",
    "closed_form_limit",
]
