"""Large-scale kernel machines and AUC optimisation: fast solvers, each beside its reference, honestly benchmarked.

>>> from kernbench import KernelSVC
>>> from sklearn.datasets import load_breast_cancer
>>> X, y = load_breast_cancer(return_X_y=True)
>>> KernelSVC(C=10).fit(X, y).score(X, y) > 0.9
True
"""

from kernbench._lazy import lazy_names
from kernbench._models import ESTIMATORS
from kernbench._uncompiled import install
from kernbench._version import __version__

install()

_PACKAGES = (
    "datasets", "distributed", "estimators", "experiments", "features", "kernels", "losses", "metrics", "pairs",
    "plot", "reference", "report", "saving", "solvers",
)  # fmt: skip
_ADDRESSES = {
    **{model.name: model.address for model in ESTIMATORS},
    "closed_form_limit": "kernbench.estimators.svm.closed_form:closed_form_limit",
    "load": "kernbench.saving:load",
    "show_versions": "kernbench.experiments.run.environment:show_versions",
}

__all__ = [*_ADDRESSES, "__version__"]

# Imported on first use, so that the command line answers --help without importing scikit-learn.
__getattr__, __dir__ = lazy_names(__name__, _ADDRESSES, _PACKAGES)
