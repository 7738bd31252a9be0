"""scikit-learn faces of the solvers: ``fit``, ``predict``, and what people know from there.

::

    kernel_svc.py         KernelSVC, the public class
      _parameters.py        are the parameters sensible?
      _training_data.py     are y and the weights? Which kernel is it?
      multiclass.py         two-class problems out of many classes, and back (one against one)
      _fitting.py           the fit of all of them, within one time budget
        _binary.py            one of them: kernel rows, solver, callbacks
        _warm_start.py        where it starts
      _expansion.py         prediction from support vectors
      _outcome.py           what the runs say to the user: attributes and warnings
      _fitted_state.py      is a loaded model whole?
"""

from kernbench.estimators.kernel_svc import KernelSVC

__all__ = ["KernelSVC"]
