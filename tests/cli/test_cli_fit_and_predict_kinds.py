"""What ``kernbench fit`` and ``predict`` print and write, by the kind of model, file and labels."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from fit_lines import outcome
from sklearn.base import BaseEstimator, RegressorMixin

from kernbench._models import BY_NAME, Model
from kernbench.cli.models import estimators
from kernbench.cli.models.scores import summary
from kernbench.estimators import KernelSVC, LinearRegressor
from kernbench.features import Nystroem


class LeastSquares(RegressorMixin, BaseEstimator):
    """A regressor as the command line recognises it: it has no classes."""

    objective_, duality_gap_, status_, n_iter_, n_kernel_evaluations_ = 1.0, None, "converged", 1, 0

    def __init__(self, random_state=None, verbose=0):
        self.random_state, self.verbose = random_state, verbose

    def fit(self, X, y):
        self.coef_, self.n_features_in_ = np.linalg.lstsq(X, y)[0], X.shape[1]
        return self

    def predict(self, X):
        return X @ self.coef_


def test_a_regressor_is_judged_by_its_squared_error(kernbench, refused, tmp_path, monkeypatch):
    entry = Model("LeastSquares", f"{__name__}:LeastSquares", "regress")
    monkeypatch.setitem(estimators.NAMES, "leastsquares", entry)
    monkeypatch.setitem(BY_NAME, "LeastSquares", entry)
    monkeypatch.setattr("kernbench.cli.models.fitting.check_parameters", lambda model: None)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    y = X @ [1.5, -2.25] + 0.5 * np.resize([1, -1], 30)
    np.savetxt(tmp_path / "numbers.csv", np.column_stack([X, y]), delimiter=",")
    model = LeastSquares().fit(X, y)
    error = f"{np.sqrt(np.mean((model.predict(X) - y) ** 2)):.5g}"

    shown = kernbench("fit", "numbers.csv", "--estimator", "leastsquares").stdout.splitlines()
    assert f"training root mean squared error {error}" in shown
    assert kernbench("fit", "numbers.csv", "--estimator", "leastsquares", "--test-size", "0.5").exit_code == 0

    monkeypatch.setattr("kernbench.saving.load", lambda path: model)
    result = kernbench("predict", "m.npz", "numbers.csv")
    assert f"root mean squared error {error} (30 examples)" in result.stderr
    assert "--decision is for classifiers" in refused("predict", "m.npz", "numbers.csv", "--decision")


def test_a_feature_map_predicts_nothing(refused, moons, tmp_path):
    Nystroem(n_landmarks=5).fit(moons.X_train).save(tmp_path / "map.npz")
    assert "predicts no labels" in refused("predict", "map.npz", "test.svm")


def test_labels_that_are_text_leave_out_the_error_of_a_regressor(kernbench):
    Path("numbers.csv").write_text("a,y\n" + "0.1,1.5\n0.9,2.5\n" * 10)
    Path("words.csv").write_text("a,y\n0.1,no\n0.9,yes\n")
    result = kernbench("fit", "numbers.csv", "--estimator", "kernelregressor", "--test", "words.csv", "--out", "m.npz")
    assert result.exit_code == 0 and "not defined: the labels are text" in result.stdout
    result = kernbench("predict", "m.npz", "words.csv")
    assert result.exit_code == 0 and "2 examples; labels such as 'no' are not numbers" in result.stderr


@pytest.mark.parametrize("value, words", [("", "an empty field"), ("nan", "'nan'"), ("NA", "'NA'")])
def test_a_fault_in_the_last_column_of_a_table_without_labels_is_not_one_of_a_label(
    kernbench, refused, moons, value, words
):
    kernbench("fit", "train.svm", "--out", "m.npz")
    Path("bare.csv").write_text(f"left,right\n1,2\n3,{value}\n")
    line = refused("predict", "m.npz", "bare.csv")
    assert f"bare.csv: line 3, column 2 ('right'): found {words}" in line


def test_an_archive_may_hold_no_labels_and_text_of_libsvm_has_no_label_column(kernbench, refused, moons):
    kernbench("fit", "train.svm", "--out", "m.npz")
    np.savez("bare.npz", X=moons.X_test)
    assert "100 examples, no labels" in kernbench("predict", "m.npz", "bare.npz").stderr
    np.savez("full.npz", X=moons.X_test, y=moons.y_test)
    assert "of 100 examples" in kernbench("predict", "m.npz", "full.npz").stderr
    for file in ("test.svm", "full.npz"):
        assert f"{file}: label='colour' names a column" in refused("predict", "m.npz", file, "--label", "colour")


@pytest.mark.parametrize("label", ["y", "2"])
def test_a_table_without_the_column_of_labels_is_predicted(kernbench, label):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    KernelSVC().fit(X, X[:, 0] > 0).save("m.npz")
    np.savetxt("rows.csv", X, delimiter=",", header="a,b", comments="")
    result = kernbench("predict", "m.npz", "rows.csv", "--label", label, "--out", "p.csv")
    assert result.exit_code == 0, result.output
    assert len(Path("p.csv").read_text().splitlines()) == 41
    np.savetxt("wide.csv", np.column_stack([X, X]), delimiter=",", header="a,b,c,d", comments="")
    result = kernbench("predict", "m.npz", "wide.csv", "--label", "y")
    assert result.exit_code == 2 and "unknown column 'y'" in result.stderr


def test_a_regressor_of_several_outputs_predicts_columns(kernbench):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    for Y, columns in (
        (np.column_stack([X[:, 0], -X[:, 1]]), ["prediction_0", "prediction_1"]),
        (X[:, :1], ["prediction"]),
    ):
        LinearRegressor().fit(X, Y).save("m.npz")
        np.savetxt("rows.csv", np.column_stack([X, X[:, 0]]), delimiter=",")
        result = kernbench("predict", "m.npz", "rows.csv", "--label", "-1", "--out", "p.csv")
        assert result.exit_code == 0, result.output
        header, *rows = Path("p.csv").read_text().splitlines()
        assert header.split(",") == columns and len(rows) == 40
        found = np.array([row.split(",") for row in rows], dtype=float)
        np.testing.assert_allclose(found, Y, atol=1e-2)
        assert ("no error to print" in result.output) == (len(columns) == 2)
        if len(columns) == 1:
            assert float(result.output.split("error ")[1].split()[0]) < 0.01


@pytest.mark.parametrize("labels", [("no", "yes", "maybe"), (0, 1, 1)])
@pytest.mark.parametrize("estimator, names", [("rocsvc", ("error", "AUC")), ("kernelsvc", ("error",))])
def test_test_labels_that_the_model_does_not_know_leave_the_other_figures(kernbench, estimator, names, labels):
    """As in ``predict``, there is no error then: the labels may be other names of the classes."""
    Path("train.csv").write_text("a,y\n" + "0.1,no\n0.9,yes\n" * 10)
    Path("test.csv").write_text("a,y\n" + "".join(f"0.{k},{label}\n" for k, label in enumerate(labels)))
    shown = outcome(kernbench("fit", "train.csv", "--estimator", estimator, "--test", "test.csv"))
    for name in names:
        assert shown[f"test {name}"] == "not defined: there are labels that the model does not know"
    assert shown["training error"] == "0.00 %" and "objective" in shown


def test_some_of_many_unknown_labels_are_named():
    model = SimpleNamespace(classes_=np.array([0, 1]))
    line = summary("classify", model, np.zeros(4), np.array([5, 6, 7, 8]))
    assert line.startswith("4 examples; labels such as 5, 6 and 7 are not among the model's classes")
