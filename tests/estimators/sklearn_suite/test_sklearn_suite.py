"""scikit-learn's own tests, of the installed package, with `KernelSVC` and `LinearSVC` in the place of `SVC` and
`LinearSVC`. Run by hand: ``pytest -n 0 -m slow tests/estimators/sklearn_suite``."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import sklearn

HERE = Path(__file__).parent
# Those of the classes, and those that use the classes as tools.
OF_CLASSES = ("svm.tests.test_svm", "svm.tests.test_sparse", "svm.tests.test_bounds")
OF_USERS = (
    "ensemble.tests.test_bagging",
    "ensemble.tests.test_stacking",
    "ensemble.tests.test_voting",
    "ensemble.tests.test_weight_boosting",
    "feature_selection.tests.test_from_model",
    "feature_selection.tests.test_rfe",
    "inspection.tests.test_permutation_importance",
    "metrics._plot.tests.test_confusion_matrix_display",
    "metrics.tests.test_classification",
    "metrics.tests.test_score_objects",
    "model_selection.tests.test_classification_threshold",
    "model_selection.tests.test_search",
    "model_selection.tests.test_split",
    "model_selection.tests.test_successive_halving",
    "model_selection.tests.test_validation",
    "semi_supervised.tests.test_self_training",
    "tests.test_base",
    "tests.test_calibration",
    "tests.test_multiclass",
    "tests.test_multioutput",
    "tests.test_pipeline",
    "utils.tests.test_multiclass",
)


def run(folder, modules, *options):
    """Run modules of the package ``sklearn`` with the shim, in `folder`; return the finished process."""
    path = os.pathsep.join([str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-m", "pytest", "-q", "-rfE", "--tb=short", "-W", "ignore", *options]
    command += ["-p", "sklearn_shim", "-p", "no:cacheprovider", "-p", "no:randomly", "-c", os.devnull]
    command += ["--rootdir", str(Path(sklearn.__file__).parents[1])]
    command += ["--pyargs", *(f"sklearn.{module}" for module in modules)]
    return subprocess.run(command, cwd=folder, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True)


@pytest.mark.slow
@pytest.mark.parametrize("modules", [OF_CLASSES, OF_USERS], ids=["of the classes", "of their users"])
def test_tests_of_scikit_learn_pass_but_for_the_expected_ones(modules, tmp_path):
    """New failures fail this test, and so do expected ones that pass."""
    done = run(tmp_path, modules)
    print(done.stdout.splitlines()[-1])
    assert done.returncode == 0, "\n".join(done.stdout.splitlines()[-100:])


@pytest.mark.slow
def test_our_classes_stand_in_for_those_of_scikit_learn(tmp_path):
    """The shim is in effect: one test passes, one with a parameter of theirs is skipped, one fails as expected."""
    names = "test_libsvm_iris or test_probability or test_unfitted or test_gamma_scale"
    done = run(tmp_path, OF_CLASSES[:1], "-k", names, "-rsx")
    assert done.returncode == 0, done.stdout
    assert "SVC has no probability=True" in done.stdout and "not in a private attribute _gamma" in done.stdout
