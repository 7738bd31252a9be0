"""scikit-learn faces of the solvers: ``fit``, ``predict``, and what people know from there.

::

    kernel_svc.py         KernelSVC, the public class
      _parameters.py        are the parameters sensible?
      _training_data.py     are X, y and the weights? (NaN by column name, text, one class, …)
      multiclass.py         two-class problems out of many classes, and back (one against one)
      _fitting.py           the fit of all of them, within one time budget
        _binary.py            one of them: kernel rows, solver, callbacks
        _warm_start.py        where it starts
      _expansion.py         prediction from support vectors
      _outcome.py           what the runs say to the user: attributes and warnings
    model_file.py         save and load, data only
      _plain_data.py        what may stand in a model file
      _fitted_state.py      is a loaded model whole?
"""

from kernbench.estimators.kernel_svc import KernelSVC
from kernbench.estimators.model_file import load

__all__ = ["KernelSVC", "load"]
