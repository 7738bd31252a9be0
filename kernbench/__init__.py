"""Large-scale kernel machines and AUC optimisation: fast solvers, each beside its reference, honestly benchmarked.

>>> from kernbench import KernelSVC
>>> from sklearn.datasets import load_breast_cancer
>>> X, y = load_breast_cancer(return_X_y=True)
>>> KernelSVC(C=10).fit(X, y).score(X, y) > 0.9
True
"""

from importlib import import_module

from kernbench._version import __version__

_HOMES = {
    "KernelSVC": "kernbench.estimators",
    "LinearSVC": "kernbench.estimators",
    "ROCSVC": "kernbench.estimators",
    "ROCSVCCV": "kernbench.estimators",
    "closed_form_limit": "kernbench.estimators",
    "load": "kernbench.saving",
}
_PACKAGES = (
    "datasets", "estimators", "experiments", "features", "kernels", "losses", "metrics", "ranking", "reference",
    "report", "saving", "solvers",
)  # fmt: skip

__all__ = ["KernelSVC", "LinearSVC", "ROCSVC", "ROCSVCCV", "closed_form_limit", "load", "__version__"]


def __getattr__(name):
    # Loaded on first use, so that the command line answers --help without importing scikit-learn.
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in _PACKAGES:
        return import_module(f"kernbench.{name}")
    raise AttributeError(f"module 'kernbench' has no attribute {name!r}")


def __dir__():
    return sorted({*__all__, *_PACKAGES})
