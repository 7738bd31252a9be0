"""scikit-learn faces of the solvers: ``fit``, ``predict``, and what people know from there.

::

    kernel_svc.py         KernelSVC, the public class
      _parameters.py        are the parameters sensible?
      _training_data.py     are y and the weights? Which kernel is it?
      _svc_training.py      the fit, along one C or many
        multiclass.py         two-class problems out of many classes, and back
        _fitting.py           one of them for one C, on kernel rows
          _many_runs.py         the runs of all of them, within one time budget
          _binary.py            kernel rows, solver, callbacks
          _warm_start.py        where it starts
      _expansion.py         prediction from support vectors
      _slack_budget.py      which C and which slack budget a fitted model is the optimum of
      _outcome.py           what the runs say to the user: attributes and warnings
      _fitted_state.py      is a loaded model whole?
    linear_svc.py         LinearSVC, the public class
      _linear_parameters.py are the parameters sensible? Which loss is it?
      _linear_rows.py       the rows with their constant column
      _linear_fitting.py    each class against the rest for one C; the rest is _many_runs.py and _warm_start.py
      _linear_scores.py     prediction; is a loaded model whole?
    roc_svc.py            ROCSVC, the public class
      _roc_parameters.py    are the parameters sensible?
      _roc_rows.py          which rows it is fitted to, and which set the threshold
      _roc_features.py      what scores are made of: columns, features of a kernel, or the kernel
      _roc_training.py      the fit, along one alpha or many
        _roc_fitting.py       its runs of a solver
        _roc_start.py         where it starts
      _roc_threshold.py     from a wished sensitivity to an intercept
      _roc_scores.py        prediction, and what a file holds
      _roc_stream.py        partial_fit
    roc_svc_cv.py         ROCSVCCV: alpha by cross-validation
    closed_form.py        closed_form_limit: for which C the kernel SVM has a closed form
"""

from kernbench.estimators.closed_form import closed_form_limit
from kernbench.estimators.kernel_svc import KernelSVC
from kernbench.estimators.linear_svc import LinearSVC
from kernbench.estimators.roc_svc import ROCSVC
from kernbench.estimators.roc_svc_cv import ROCSVCCV

__all__ = ["KernelSVC", "LinearSVC", "ROCSVC", "ROCSVCCV", "closed_form_limit"]
