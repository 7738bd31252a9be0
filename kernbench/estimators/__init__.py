"""scikit-learn estimators on top of the solvers.

::

    base.py        what all classifiers have in common: files, tags;  locks.py  one partial_fit at a time
    arguments/     what every fit is given
      parameters.py  training_data.py  targets.py  kernel.py    checks of the arguments; the kernel object
      chunks.py        the reader of streams
    fit/           one fit, for every estimator
      problem.py       the protocol: a task and its problems
      path.py          from a task to fitted attributes, along one C or alpha or many
      runs.py          the runs of all problems within one time budget, in threads
      small.py  small_problem.py    few rows, no driver
      solver_data.py   kernel rows and designs;  solver.py  solvers on them;  choice.py  which, for ``"auto"``
      centring.py      columns far from the origin;  folding.py  what storing intercepts costs
      certificate.py   objective and gap of the returned model;  smaller_strength.py  a better one for a smaller C
      widening.py      float64 rows where float32 does not reach the tolerance
      continuation.py  warm starts from one fit to the next
      outcome.py       how the runs ended: attributes and warnings
      fitted_state.py  checks of models read from files
    svm/           KernelSVC, KernelNuSVC, LinearSVC, LinearSVCCV, closed_form_limit
      kernel_task.py   the problems of a KernelSVC, on pairs of multiclass.py; nu_task.py  of a KernelNuSVC
      small_pairs.py   those of few rows, without driver
      expansion.py     prediction from support vectors
      linear_task.py   the problems of a LinearSVC;  linear_classifier.py  its prediction
      scs_stream.py    KernelSVC.partial_fit and fit_chunks; scs_chunks.py
    search/        what all searches share, and KernelSVCCV
      frame.py         the fit of a search;  parameters.py  checks
      cells.py  store.py    the cells of a grid, and those finished before
      results.py       the table of the cells, and what the estimator keeps
      fold_paths.py    a path of fits to each fold
      svc_search.py  one_kernel.py    all folds, Cs and pairs of classes on the same kernel rows; starts.py
      left_out.py  bands.py           leave-one-out from the fit to all rows; bounds of decision values
      race.py  halving.py  subsamples.py    cells left out, on subsamples of the rows first
      small_folds.py   few rows, many classes;  certificate.py  exact minimisers;  calibration.py  probabilities
      folds.py  held_out.py  scoring.py    checks of the folds; scores of held-out rows
    regression/    KernelRegressor, KernelRegressorCV, KernelSVR, KernelNuSVR, LinearRegressor
      expansion.py     prediction
      tasks.py  nu_svr_task.py  parameters.py    their problems; checks of the arguments
      shared_rows.py  ridge_folds.py    all folds of a search, on the same kernel rows or eigenvectors
    novelty/       KernelNoveltyDetector
      task.py          its problem, that of a regressor without targets
    doubly_stochastic/  DoublyStochasticClassifier, Regressor, GPRegressor, NoveltyDetector, DensityRatio
      model.py         the fit to arrays, batches and streams, and outputs of rows
      parameters.py  stream.py    checks of the arguments; the first rows of a stream
      kept_rows.py     rows that a Gaussian process keeps between calls
    roc/           ROCSVC, ROCSVCCV
      space_task.py    the problem of a model in a space (space.py), of its rows.py; roc_task.py  that of a ROCSVC
      validation.py    rows held out to choose the iterate
      scores.py        prediction;  threshold.py  the intercept
      stream.py        ROCSVC.partial_fit;  ranking_search.py  what ROCSVCCV and PartialAUCClassifierCV share
    windows/       PartialAUCClassifier, PartialAUCClassifierCV, AUCMarginClassifier, RankedRangeClassifier, …Regressor
      partial_auc_task.py  ranked_range_task.py    their problems;  window_classifier.py  the threshold of a range
      parameters.py    checks of the arguments

An estimator consists of its parameters and docstring, a task, and prediction: ``fit`` makes a task of its arguments and
passes it to `fit.path.fit_task`.
"""

from kernbench._lazy import lazy_names
from kernbench._models import ESTIMATORS

_ADDRESSES = {model.name: model.address for model in ESTIMATORS} | {
    "closed_form_limit": "kernbench.estimators.svm.closed_form:closed_form_limit"
}

__all__ = sorted(_ADDRESSES)

# Imported on first use: a model needs no other model's module.
__getattr__, __dir__ = lazy_names(__name__, _ADDRESSES)
