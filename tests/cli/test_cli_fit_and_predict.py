"""``kernbench fit`` and ``kernbench predict``: from a file to a model and predictions, and errors."""

import csv
import os
import queue
import signal
import threading
from pathlib import Path

import numpy as np
import pytest
from fit_lines import outcome

from kernbench.cli.models import fitting
from kernbench.cli.models.estimators import NAMES, find, parameters
from kernbench.cli.models.literals import parse_value
from kernbench.datasets import write_svmlight
from kernbench.estimators import KernelSVC
from kernbench.metrics import roc_auc
from kernbench.saving import load as load_model


def test_fit_save_predict_agree_with_the_library(kernbench, moons, tmp_path):
    shown = outcome(
        kernbench("fit", "train.svm", "--set", "C=10", "--set", "gamma=2", "--test", "test.svm", "--out", "m.npz")
    )
    model = load_model(tmp_path / "m.npz")
    assert (model.C, model.gamma) == (10, 2)
    error = np.mean(model.predict(moons.X_test) != moons.y_test)
    assert shown["test error"] == f"{100 * error:.2f} %"
    assert shown["support vectors"] == str(len(model.support_)) and shown["ended"] == "converged"
    assert float(shown["duality gap"]) >= 0 and float(shown["objective"]) == pytest.approx(model.objective_, rel=1e-4)

    result = kernbench("predict", "m.npz", "test.svm", "--out", "p.csv", "--decision")
    assert result.exit_code == 0 and f"error {100 * error:.2f} %" in result.stdout
    rows = list(csv.DictReader((tmp_path / "p.csv").open()))
    np.testing.assert_array_equal([int(row["prediction"]) for row in rows], model.predict(moons.X_test))
    np.testing.assert_allclose([float(row["decision"]) for row in rows], model.decision_function(moons.X_test))


@pytest.mark.parametrize("settings", [(), ("--set", "kernel=rbf", "--set", "n_landmarks=20"), ("--set", "kernel=rbf")])
def test_a_ranking_model_is_fitted_with_its_threshold_and_predicts(kernbench, moons, tmp_path, settings):
    wish = ("--set", "threshold=('sensitivity', 0.9)")
    shown = outcome(
        kernbench("fit", "train.svm", "--estimator", "rocsvc", *wish, *settings, "--test", "test.svm", "--out", "m.npz")
    )
    model = load_model(tmp_path / "m.npz")
    assert np.mean(model.predict(moons.X_train)[moons.y_train == 1] == 1) >= 0.9
    assert shown["classes"] == "-1, 1 (positive)"
    assert shown["test AUC"] == f"{roc_auc(moons.y_test, model.decision_function(moons.X_test)):.5f}"
    assert kernbench("predict", "m.npz", "test.svm", "--out", "p.csv").exit_code == 0
    rows = list(csv.DictReader((tmp_path / "p.csv").open()))
    np.testing.assert_array_equal([int(row["prediction"]) for row in rows], model.predict(moons.X_test))


def test_alpha_found_by_cross_validation_is_printed(kernbench, moons, tmp_path):
    shown = outcome(kernbench("fit", "train.svm", "--estimator", "rocsvccv", "--set", "cv=2", "--out", "m.npz"))
    assert float(shown["alpha"]) == pytest.approx(load_model(tmp_path / "m.npz").alpha_, rel=1e-5)


@pytest.mark.parametrize(
    "setting, message",
    [("alpha=-1", "alpha"), ("threshold=('sensitivity', 2)", "sensitivity"), ("solver=bundl", "did you mean 'bundle'")],
)
def test_wrong_parameters_of_a_ranking_model_are_one_line(kernbench, moons, setting, message):
    result = kernbench("fit", "train.svm", "--estimator", "rocsvc", "--set", setting)
    assert result.exit_code == 2 and message in result.stderr and len(result.stderr.splitlines()) == 1


def test_predictions_on_standard_output_are_csv_and_nothing_else(kernbench, moons):
    kernbench("fit", "train.svm", "--out", "m.npz")
    result = kernbench("predict", "m.npz", "test.svm")
    lines = result.stdout.splitlines()
    assert lines[0] == "prediction" and len(lines) == 101 and set(lines[1:]) <= {"-1", "1"}
    assert result.stderr.startswith("error ")


def test_a_table_without_labels_is_predicted_without_an_error(kernbench, moons):
    assert kernbench("fit", "table.csv", "--label", "colour", "--out", "m.npz").exit_code == 0
    result = kernbench("predict", "m.npz", "bare.csv")
    assert result.exit_code == 0 and "no labels" in result.stderr


def test_labels_unknown_to_the_model_give_no_error_rate(kernbench, moons, tmp_path):
    kernbench("fit", "train.svm", "--out", "m.npz")
    write_svmlight(tmp_path / "dummy.svm", moons.X_test, np.zeros(100))
    result = kernbench("predict", "m.npz", "dummy.svm")
    assert result.exit_code == 0 and "not among the model's classes" in result.stderr


def test_text_labels_and_three_classes(kernbench, tmp_path):
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    lines = [",".join([*map(str, row), name]) for row, name in zip(X, names, strict=True)]
    (tmp_path / "iris.csv").write_text("\n".join(lines))
    shown = outcome(kernbench("fit", "iris.csv", "--test-size", "0.2", "--out", "m.npz"))
    assert "largest of 3 problems" in shown["objective"] and shown["examples"] == "120 × 4"
    assert shown["classes"] == "setosa, versicolor, virginica"
    model = load_model(tmp_path / "m.npz")
    assert shown["objective"].startswith(f"{max(model.objective_):.6g} (largest")
    assert shown["duality gap"].startswith(f"{max(model.duality_gap_):.3g} (largest")
    rows = kernbench("predict", "m.npz", "iris.csv", "--decision").stdout.splitlines()
    assert rows[0] == "prediction,decision_setosa,decision_versicolor,decision_virginica"
    assert rows[1].startswith("setosa,")
    kernbench("fit", "iris.csv", "--set", "decision_function_shape=ovo", "--out", "pairs.npz")
    rows = kernbench("predict", "pairs.npz", "iris.csv", "--decision").stdout.splitlines()
    assert rows[0] == "prediction,decision_0,decision_1,decision_2"  # three pairs, which are not the classes


@pytest.mark.parametrize("field, name", [("objective_", "objective"), ("duality_gap_", "duality gap")])
def test_no_largest_is_printed_where_that_of_one_problem_is_not_known(kernbench, tmp_path, monkeypatch, field, name):
    """As after Ctrl-C, which leaves problems that were not begun."""
    fit = KernelSVC.fit

    def incomplete(self, X, y):
        fit(self, X, y)
        setattr(self, field, np.array([1.5, np.nan, 0.5]))

    monkeypatch.setattr(KernelSVC, "fit", incomplete)
    (tmp_path / "three.csv").write_text("".join(f"{i},{i % 3}\n" for i in range(30)))
    shown = outcome(kernbench("fit", "three.csv"))
    assert {key for key, value in shown.items() if value == "–"} == {name}


def test_probabilities_of_a_calibrated_model_are_written_for_each_class(kernbench, refused, moons, tmp_path):
    search = ("--estimator", "kernelsvccv", "--set", "Cs=[1]", "--set", "cv=3", "--set", "calibration=sigmoid")
    assert kernbench("fit", "train.svm", *search, "--out", "m.npz").exit_code == 0
    result = kernbench("predict", "m.npz", "test.svm", "--out", "p.csv", "--decision", "--probabilities")
    assert result.exit_code == 0
    model = load_model(tmp_path / "m.npz")
    rows = list(csv.DictReader((tmp_path / "p.csv").open()))
    assert list(rows[0]) == ["prediction", "decision", *(f"probability_{name}" for name in model.classes_)]
    found = [[float(row[f"probability_{name}"]) for name in model.classes_] for row in rows]
    np.testing.assert_allclose(found, model.predict_proba(moons.X_test))

    assert kernbench("fit", "train.svm", "--out", "plain.npz").exit_code == 0
    assert "no probabilities" in refused("predict", "plain.npz", "test.svm", "--probabilities")


def test_fit_of_a_named_set_uses_its_test_part(kernbench, refused):
    assert outcome(kernbench("fit", "moons"))["examples"] == "2,000 × 2"
    assert "test part of its own" in refused("fit", "moons", "--test-size", "0.2")


def test_the_seed_decides_the_split(kernbench, moons):
    arguments = ("fit", "table.csv", "--test-size", "0.3", "--seed")
    first, again, other = (outcome(kernbench(*arguments, seed)) for seed in (1, 1, 2))
    drop = ("time",)
    assert {k: v for k, v in first.items() if k not in drop} == {k: v for k, v in again.items() if k not in drop}
    assert first["objective"] != other["objective"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("10", 10),
        ("1e-3", 1e-3),
        ("none", None),
        ("inf", float("inf")),
        ("True", True),
        ("rbf", "rbf"),
        ("'1'", "1"),
        ("[1, 2]", [1, 2]),
        ("1 +", "1 +"),
        ("{[1]: 2}", "{[1]: 2}"),  # a list is no key
    ],
)
def test_values_are_read_as_python_writes_them(text, value):
    assert parse_value(text) == value and type(parse_value(text)) is type(value)


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("C", "name=value"),
        ("=1", "name=value"),
        ("C=", "name=value"),
        ("C=-1", "positive"),
        ("C=ten", "'ten'"),
        ("class_weight={[1]: 2}", "class_weight must be"),
        ("kernel=precomputed", "from Python"),
        ("verbose=1", "unknown KernelSVC parameter"),
    ],
)
def test_a_bad_setting_is_refused(refused, moons, setting, words):
    assert words in refused("fit", "train.svm", "--set", setting)


def test_a_setting_given_twice_is_refused(refused, moons):
    assert "given twice" in refused("fit", "train.svm", "--set", "C=1", "--set", "C=2")


@pytest.mark.parametrize("estimator", NAMES)
@pytest.mark.parametrize(
    "setting, words",
    [("tol=0", "tol must be"), ("random_state=now", "random_state must be"), ("solver=x", "unknown solver")],
)
def test_settings_are_checked_before_the_data_are_read(refused, tmp_path, estimator, setting, words):
    (tmp_path / "broken.csv").write_text("1,2,x,y,,\n\n")
    if setting.partition("=")[0] not in parameters(find(estimator).load()):
        words = "unknown"  # parameter of this estimator
    assert words in refused("fit", "broken.csv", "--estimator", estimator, "--set", setting)


@pytest.mark.parametrize(
    "estimator, setting",
    [("kernelsvc", "class_weight={1: 5, -1: 1}"), ("linearsvc", "class_weight={1: 5, -1: 1}"), ("rocsvccv", "cv=25")],
)
def test_settings_that_depend_on_the_data_are_left_to_the_fit(kernbench, moons, estimator, setting):
    assert kernbench("fit", "train.svm", "--estimator", estimator, "--set", setting).exit_code == 0


def test_more_folds_than_rows_are_refused_by_the_fit(refused, moons):
    assert "cv=1000 folds need" in refused("fit", "train.svm", "--estimator", "rocsvccv", "--set", "cv=1000")


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("bad.csv", "1,2,1\n3,x,0\n", "line 2, column 2"),
        ("bad.svm", "1 1:1\n-1 1:nan\n", "line 2, column 4"),
        ("short.svm.gz", b"\x1f\x8b\x08\x00", "truncated"),
        ("empty.csv", "", "empty"),
        ("bad.npz", "PK\x03\x04", "archive"),
    ],
)
def test_a_broken_file_is_refused_with_the_place(refused, tmp_path, name, content, words):
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    line = refused("fit", name)
    assert name in line and words in line


def test_missing_files_and_folders_are_refused(refused, tmp_path):
    assert "there is no file nothing.csv" in refused("fit", "nothing.csv")
    assert "holds no file that can be read" in refused("fit", tmp_path)
    assert "nothing.npz" in refused("predict", "nothing.npz", "moons")


def test_an_empty_name_is_not_the_current_folder(kernbench, refused, moons):
    """As of a variable of the shell that is not set."""
    kernbench("fit", "train.svm", "--out", "m.npz")
    for command in (("fit", ""), ("fit", "train.svm", "--test", ""), ("predict", "m.npz", "")):
        assert "the name of the file is empty" in refused(*command)


def test_columns_of_a_table_are_those_of_the_fit_in_their_order(kernbench, refused, tmp_path):
    rng = np.random.default_rng(0)
    lines = [f"{a:.3f},{b:.3f},{int(a > 0)}" for a, b in rng.normal(size=(40, 2))]
    for name, header in (("train", "a,b,y"), ("swapped", "b,a,y"), ("other", "p,q,y"), ("front", "y,a,b")):
        (tmp_path / f"{name}.csv").write_text("\n".join([header, *lines]) + "\n")
    (tmp_path / "plain.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "bare.csv").write_text("b,a\n1,2\n")
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "0.csv").write_text((tmp_path / "train.csv").read_text())
    stream = ("--estimator", "doublystochasticclassifier", "--chunk-rows", "20")
    for data, options in (("train.csv", ()), ("train.csv", stream), ("parts", ("--label", "y"))):
        fit = ("fit", data, *options)
        result = kernbench(*fit, "--test", "train.csv", "--out", "m.npz")
        assert result.exit_code == 0 and result.stderr == ""
        assert load_model(tmp_path / "m.npz").feature_names_in_.tolist() == ["a", "b"]
        assert "feature 1 is 'b', but the fit had 'a' there" in refused(*fit, "--test", "swapped.csv")
        for file, first in (("swapped.csv", "b"), ("other.csv", "p"), ("front.csv", "y"), ("bare.csv", "b")):
            assert f"{file}: feature 1 is {first!r}" in refused("predict", "m.npz", file)
        for file in ("train.csv", "plain.csv"):
            result = kernbench("predict", "m.npz", file)
            assert result.exit_code == 0 and len(result.stderr.splitlines()) == 1
    assert kernbench("fit", "plain.csv", "--test", "swapped.csv", "--out", "m.npz").exit_code == 0
    assert kernbench("predict", "m.npz", "swapped.csv").exit_code == 0  # the names of the fit are not known


def test_a_header_of_numbers_is_known_by_the_names_of_the_fit(kernbench, refused, tmp_path):
    """As pandas writes columns without names; without these names it would be an example."""
    rows = [f"{a:.3f},{b:.3f},{c:.3f}" for a, b, c in np.random.default_rng(0).normal(size=(40, 3))]
    labelled = [f"{row},{i % 2}" for i, row in enumerate(rows)]
    for name, header, lines in (
        ("train", "0,1,2,y", labelled),
        ("quoted", '"0","1","2","y"', labelled),
        ("bare", "0,1,2", rows),
        ("none", "0,1,2", []),
    ):
        (tmp_path / f"{name}.csv").write_text("\n".join([header, *lines]) + "\n")
    assert kernbench("fit", "train.csv", "--label", "y", "--out", "m.npz").exit_code == 0
    result = kernbench("predict", "m.npz", "bare.csv", "--out", "p.csv")
    assert result.exit_code == 0 and "40 examples, no labels" in result.stdout
    assert len((tmp_path / "p.csv").read_text().splitlines()) == 41
    assert "of 40 examples" in kernbench("predict", "m.npz", "train.csv").stderr
    assert "found a header but no examples" in refused("predict", "m.npz", "none.csv")
    assert "%" in outcome(kernbench("fit", "quoted.csv", "--test", "train.csv"))["test error"]


@pytest.mark.parametrize("options", [(), ("--estimator", "doublystochasticclassifier", "--chunk-rows", "50")])
def test_a_column_without_a_name_is_told_since_it_may_hold_row_numbers(kernbench, tmp_path, options):
    lines = [f"{i},{np.sin(7 * i):.3f},class {i % 7}" for i in range(35)]
    (tmp_path / "numbered.csv").write_text("\n".join([",a,y", *lines]) + "\n")
    result = kernbench("fit", "numbered.csv", *options)
    assert "numbered.csv: the header has no name for feature 1: if it holds row numbers" in result.stderr
    assert outcome(result)["classes"] == "7: class 0, class 1, class 2, …"
    (tmp_path / "named.csv").write_text("\n".join(["i,a,y", *lines]) + "\n")
    assert "no name" not in kernbench("fit", "named.csv", *options).stderr


@pytest.mark.parametrize("options", [(), ("--estimator", "doublystochasticclassifier", "--chunk-rows", "50")])
def test_a_model_is_saved_if_its_file_has_gone_during_the_fit(kernbench, moons, tmp_path, monkeypatch, options):
    def fit(make, whole=fitting._fit):
        found = whole(make)
        Path("table.csv").unlink()
        return found

    monkeypatch.setattr(fitting, "_fit", fit)
    kernbench("fit", "table.csv", *options, "--out", "m.npz")
    assert load_model(tmp_path / "m.npz").feature_names_in_.tolist() == ["left", "right"]


def test_a_file_that_is_no_model_is_refused(refused, moons):
    assert "not a model file" in refused("predict", "table.csv", "bare.csv")


def test_examples_of_another_width_are_refused(kernbench, refused, moons, tmp_path):
    kernbench("fit", "train.svm", "--out", "m.npz")
    (tmp_path / "wide.csv").write_text("1,2,3,4,5\n" * 3)
    assert "expected 2" in refused("predict", "m.npz", "wide.csv")
    assert "10" in refused("predict", "m.npz", "blobs")


def test_one_class_and_impossible_splits_are_refused(refused, tmp_path):
    (tmp_path / "one.csv").write_text("1,2,1\n3,4,1\n")
    assert "class" in refused("fit", "one.csv")
    assert "--test-size" in refused("fit", "one.csv", "--test-size", "0.5", "--set", "C=1", "--test", "x.csv")
    (tmp_path / "three.csv").write_text("1,2,1\n3,4,1\n5,6,0\n")
    assert "cannot be split off" in refused("fit", "three.csv", "--test-size", "0.5")


@pytest.mark.parametrize("out", ["file/m.npz", "nowhere/m.npz", "."])
def test_impossible_output_is_refused_before_the_data_are_read(refused, tmp_path, out):
    (tmp_path / "file").write_text("in the way")
    assert "cannot write" in refused("fit", "broken-and-never-read", "--out", out)
    assert "cannot write" in refused("predict", "never-read.npz", "never-read.csv", "--out", out)


def test_a_limit_that_ends_the_fit_is_a_warning_not_a_failure(kernbench, moons, tmp_path):
    result = kernbench("fit", "train.svm", "--set", "max_iter=3", "--out", "m.npz")
    assert outcome(result)["ended"] == "max_iter"
    assert result.stderr.startswith("kernbench: warning: ") and (tmp_path / "m.npz").is_file()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
def test_ctrl_c_and_kill_save_the_model_reached_so_far(kernbench, moons, tmp_path, monkeypatch, number):
    fit = KernelSVC.fit

    def interrupted(self, X, y):
        fit(self, X, y)
        signal.raise_signal(number)

    monkeypatch.setattr(KernelSVC, "fit", interrupted)
    # nohup, for instance, ignores SIGHUP
    before = signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    try:
        result = kernbench("fit", "train.svm", "--out", "m.npz")
    finally:
        signal.signal(number, before)
    assert result.exit_code == 130 and "reached so far" in result.stderr
    assert load_model(tmp_path / "m.npz").predict(moons.X_test).shape == (100,)


def test_ctrl_c_before_there_is_a_model_leaves_nothing(kernbench, moons, tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("kernbench.cli.models.sources.train_and_test", interrupted)
    result = kernbench("fit", "train.svm", "--out", "m.npz")
    assert result.exit_code == 130 and result.stderr.strip() == "kernbench: interrupted"
    assert not (tmp_path / "m.npz").exists()


@pytest.mark.parametrize("name", NAMES)
def test_help_says_every_parameter_and_its_default(kernbench, name):
    shown = kernbench("fit", "--help").stdout
    assert f"\n  {name} " in shown
    words = shown.partition(f"Parameters of {name}, ")[2].partition("\n\n")[0].split()
    found = dict(word.split("=") for word in words if "=" in word)
    assert {key: parse_value(value) for key, value in found.items()} == parameters(NAMES[name].load())


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_models_and_predictions_can_go_to_a_pipe(kernbench, moons, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    kernbench("fit", "train.svm", "--out", "m.npz")
    predictions = kernbench("predict", "m.npz", "test.svm").stdout

    def assert_same_model(content):
        (tmp_path / "piped.npz").write_bytes(content)
        piped, saved = (load_model(tmp_path / name).decision_function(moons.X_test) for name in ("piped.npz", "m.npz"))
        np.testing.assert_allclose(piped, saved, atol=1e-9)

    def assert_same_predictions(content):
        assert content == predictions.encode()

    for arguments, check in [
        (("fit", "train.svm"), assert_same_model),
        (("predict", "m.npz", "test.svm"), assert_same_predictions),
    ]:
        received = queue.Queue()
        threading.Thread(target=lambda: received.put(pipe.read_bytes()), daemon=True).start()
        assert kernbench(*arguments, "--out", pipe).exit_code == 0
        check(received.get(timeout=30))
        assert pipe.is_fifo()
