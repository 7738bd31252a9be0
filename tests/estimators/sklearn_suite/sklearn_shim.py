"""A pytest plugin that puts our classes in the place of scikit-learn's, for scikit-learn's own tests.

``python -m pytest -p sklearn_shim --pyargs sklearn.svm.tests.test_svm``, with this folder on the path. Tests that set a
parameter which ours do not have are skipped, with the parameter as the reason; those of `EXPECTED` must fail.
"""

import inspect

import pytest
import sklearn.svm
from sklearn_expected import EXPECTED

import kernbench

THEIRS = {"SVC": sklearn.svm.SVC, "LinearSVC": sklearn.svm.LinearSVC}
# Parameters of theirs that ours lack, with the values for which ours do the same.
ABSENT = {
    "SVC": {"probability": (False, "deprecated")},
    "LinearSVC": {"penalty": ("l2",), "dual": ("auto", True, False), "multi_class": ("ovr",)},
}


def stand_in(name, ours):
    """Return a subclass of `ours` with the name and the parameters of the class it stands in for."""
    absent, theirs = ABSENT[name], inspect.signature(THEIRS[name])

    def fit(self, X, y, sample_weight=None):
        for parameter, values in absent.items():
            value = getattr(self, parameter)
            if not any(value is known or value == known for known in values):
                pytest.skip(f"{name} has no {parameter}={value!r}")
        return ours.fit(self, X, y, sample_weight)

    def __init__(self, *args, **parameters):
        bound = theirs.bind(*args, **parameters)
        bound.apply_defaults()
        vars(self).update(bound.arguments)

    __init__.__signature__ = inspect.signature(THEIRS[name].__init__)  # which get_params reads
    defaults = {
        parameter.name: parameter.default
        for parameter in inspect.signature(ours).parameters.values()
        if parameter.name not in theirs.parameters
    }
    return type(name, (ours,), {**defaults, "__init__": __init__, "fit": fit, "__module__": __name__})


SVC = sklearn.svm.SVC = stand_in("SVC", kernbench.KernelSVC)  # the module's, for pickles that workers load
LinearSVC = sklearn.svm.LinearSVC = stand_in("LinearSVC", kernbench.LinearSVC)


def pytest_collection_modifyitems(items):
    """Mark the tests that must fail, with the reason."""
    for item in items:
        name = item.nodeid.split("sklearn/", 1)[-1]
        for pattern, reason in EXPECTED.items():
            if name == pattern or name.startswith(f"{pattern}["):
                item.add_marker(pytest.mark.xfail(reason=reason, strict=True))
