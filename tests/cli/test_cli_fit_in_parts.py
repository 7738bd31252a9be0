"""``kernbench fit`` to files in chunks and to folders, and what is told before and after such a pass."""

import shutil
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from fit_lines import outcome

from kernbench.cli.models import blocks, fitting
from kernbench.distributed import Distributed
from kernbench.distributed.cluster.workers import WorkersLost
from kernbench.saving import load as load_model

DOUBLY = ("--estimator", "doublystochasticclassifier", "--set", "batch_size=32")


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("file", ["train.svm", "table.csv"])
def test_a_file_is_learned_from_in_chunks(kernbench, moons, tmp_path, file):
    args = ("fit", file, *DOUBLY, "--chunk-rows", "50", "--test", "test.svm", "--out", "m.npz")
    shown = outcome(kernbench(*args))
    assert shown["examples"] == "200 × 2" and shown["ended"] == "finished"
    assert "training error" not in shown
    error = np.mean(load_model(tmp_path / "m.npz").predict(moons.X_test) != moons.y_test)
    assert shown["test error"] == f"{100 * error:.2f} %" and error < 0.4


def test_a_gaussian_process_counts_the_rows_of_its_chunks(kernbench, moons, tmp_path):
    args = ("fit", "train.svm", "--estimator", "doublystochasticgpregressor", "--chunk-rows", "64")
    assert outcome(kernbench(*args, "--out", "m.npz"))["examples"] == "200 × 2"
    assert load_model(tmp_path / "m.npz").n_samples_ == 200


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("train.svm", "--estimator", "linearsvc"), "LinearSVC does not learn from chunks"),
        (("train.svm", *DOUBLY, "--test-size", "0.2"), "give the test examples by --test"),
        (("moons", *DOUBLY), "'moons' is a data set, which is read whole"),
    ],
)
def test_what_has_no_chunks_is_refused(kernbench, moons, args, message):
    result = kernbench("fit", *args, "--chunk-rows", "50")
    assert result.exit_code == 2 and message in result.stderr


def test_a_folder_is_fitted_in_blocks(kernbench, refused, tmp_path):
    rng = np.random.default_rng(0)
    table = np.column_stack([rows := rng.normal(size=(600, 3)), rows[:, 0] + rng.normal(size=600) > 0])
    (tmp_path / "parts").mkdir()
    for k, part in enumerate(np.array_split(table, 2)):
        np.savetxt(tmp_path / "parts" / f"{k}.csv", part, delimiter=",", header="a,b,c,label", comments="")
    fit = ("fit", "parts", "--estimator", "rocsvc")
    lines = outcome(kernbench(*fit, "--label", "label", "--out", "m.npz"))
    assert lines["examples"] == "600 × 3" and load_model(tmp_path / "m.npz").n_features_in_ == 3
    assert "--test-size out" in refused(*fit, "--test-size", "0.2")
    assert "--scheduler takes a folder" in refused("fit", "moons", "--scheduler", "tcp://127.0.0.1:1")
    np.save(tmp_path / "parts" / "rows.npy", rows)
    for file in (tmp_path / "parts").glob("*.csv"):
        file.unlink()
    assert "there are no labels" in refused(*fit)
    np.save(tmp_path / "y.npy", table[:, 3])
    assert outcome(kernbench(*fit, "--label", "y.npy"))["examples"] == "600 × 3"


def test_a_test_file_that_is_not_there_is_told_before_the_fit(moons, refused, monkeypatch):
    monkeypatch.setattr(fitting, "_fit", None)
    assert "there is no file nowhere.svm" in refused(
        "fit", "train.svm", *DOUBLY, "--chunk-rows", "50", "--test", "nowhere.svm", "--out", "m.npz"
    )


def test_a_test_file_of_another_format_is_told_before_the_fit(moons, refused, monkeypatch):
    monkeypatch.setattr(fitting, "_fit", None)
    np.save("test.npy", np.column_stack([moons.X_test, moons.y_test]))
    Path("parts").mkdir()
    shutil.copy("table.csv", "parts")
    told = "test.npy: a binary file; expected LIBSVM text, a table (.csv, .tsv) or a NumPy archive (.npz)"
    assert told in refused("fit", "train.svm", *DOUBLY, "--chunk-rows", "50", "--test", "test.npy", "--out", "m.npz")
    assert told in refused("fit", "parts", "--estimator", "rocsvc", "--test", "test.npy", "--out", "m.npz")


def test_a_test_table_with_other_columns_is_told_before_a_pass_over_a_stream_or_a_folder(refused, monkeypatch):
    for name, header in (("train.csv", "a,b,y"), ("swapped.csv", "b,a,y")):
        Path(name).write_text(f"{header}\n" + "0.1,0.2,0\n0.9,0.8,1\n" * 20)
    monkeypatch.setattr(fitting, "_fit", None)
    Path("parts").mkdir()
    shutil.copy("train.csv", "parts")
    Path("parts/0.csv").write_text("a,b,y\n")  # a part without rows
    told = "swapped.csv: feature 1 is 'b', but the fit had 'a' there"
    args = ("--test", "swapped.csv", "--out", "m.npz")
    assert told in refused("fit", "train.csv", *DOUBLY, "--chunk-rows", "50", *args)
    assert told in refused("fit", "parts", "--estimator", "rocsvc", *args)


def test_a_model_is_saved_before_its_test_rows_are_read(kernbench, moons):
    Path("broken.svm").write_text("1 1:2\n1 nonsense\n")
    args = ("fit", "train.svm", *DOUBLY, "--chunk-rows", "50", "--test", "broken.svm", "--out", "m.npz")
    result = kernbench(*args)
    assert result.exit_code == 2 and "broken.svm" in result.output
    assert "model saved to m.npz" in result.output and Path("m.npz").is_file()


def test_workers_that_are_lost_for_good_are_told_with_what_to_do(moons, refused, monkeypatch):
    def fit(*_):
        raise WorkersLost("workers were lost 4 times in one pass over the rows: a worker was lost")

    monkeypatch.setattr(blocks, "connected", nullcontext)
    monkeypatch.setattr(Distributed, "fit", fit)
    Path("parts").mkdir()
    shutil.copy("table.csv", "parts")
    told = refused("fit", "parts", "--estimator", "rocsvc", "--scheduler", "tcp://10.0.0.1:8786")
    assert "workers of tcp://10.0.0.1:8786 were lost during the fit (workers were lost 4 times" in told
    assert "give the same command again" in told
