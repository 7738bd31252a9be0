"""memory=: cells that were finished are read, whatever killed the search; other data or parameters are other cells."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from joblib import parallel_backend
from search_faces import FACES
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, StratifiedKFold

from kernbench import KernelSVCCV, kernels
from kernbench.estimators.search import cells, store, svc_search

CS, GAMMAS = [10.0, 0.1, 1.0], [0.1, 0.02]
X, Y = make_classification(120, 6, n_informative=4, flip_y=0.1, random_state=0)


def search(folder, **settings):
    return KernelSVCCV(**{"Cs": CS, "gammas": GAMMAS, "cv": 3, "tol": 1e-6, "memory": folder, **settings})


def names(folder):
    return {path.name for path in folder.iterdir()}


def seconds(folder):
    """Mean seconds of the fits of each stored cell, by which a search that reads it is told from one that solves it."""
    found = set()
    for path in folder.glob("*.npz"):
        with np.load(path) as cell:
            found.add(cell["seconds"].mean())
    return found


def assert_same(one, other):
    for k in range(3):
        name = f"split{k}_test_score"
        assert np.abs(one.cv_results_[name] - other.cv_results_[name]).max() <= 1.01 / 40  # one row
    assert one.best_params_ == other.best_params_
    np.testing.assert_allclose(one.oof_decision_, other.oof_decision_, atol=1e-3)
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), atol=1e-3)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_second_search_solves_nothing(tmp_path, monkeypatch, n_jobs):
    with parallel_backend("threading", n_jobs=n_jobs or 1):
        first = search(tmp_path, n_jobs=n_jobs).fit(X, Y)
        assert len(names(tmp_path)) == 6
        monkeypatch.setattr(svc_search, "OneKernel", None)
        assert_same(search(str(tmp_path), n_jobs=n_jobs, scoring="accuracy").fit(X, Y), first)


def test_a_grid_that_grows_solves_the_new_cells_only(tmp_path):
    search(tmp_path).fit(X, Y)
    old, before, larger = names(tmp_path), seconds(tmp_path), {"Cs": [*CS, 3.0], "gammas": [*GAMMAS, 0.5]}
    grown = search(tmp_path, **larger).fit(X, Y)
    assert len(names(tmp_path)) == 12 and old < names(tmp_path)
    assert len(before) == 6 and before <= set(grown.cv_results_["mean_fit_time"])
    assert_same(grown, search(None, **larger).fit(X, Y))


def test_an_interrupted_search_goes_on(tmp_path, monkeypatch):
    add, added = cells.GridOfCells._add, []

    def interrupted(self, index, *cell):
        add(self, index, *cell)
        added.append(index)
        if len(added) == 2:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.warns(ConvergenceWarning, match="after 2 of 6 cells"):
        patch.setattr(cells.GridOfCells, "_add", interrupted)
        search(tmp_path).fit(X, Y)
    before, rest = seconds(tmp_path), search(tmp_path).fit(X, Y)
    assert len(before) == 2 and before <= set(rest.cv_results_["mean_fit_time"])
    assert_same(rest, search(None).fit(X, Y))


def test_a_killed_search_leaves_whole_files(tmp_path):
    """The fifth file is torn when the process is killed."""
    code = (
        "import os\n"
        "import numpy as np\n"
        "write, files = np.savez, []\n"
        "def torn(file, **arrays):\n"
        "    write(file, **arrays)\n"
        "    files.append(file)\n"
        "    if len(files) == 5:\n"
        "        file.truncate(file.tell() // 2)\n"
        "        os.kill(os.getpid(), 9)\n"
        "np.savez = torn\n"
        "from test_stored_cells import search, X, Y\n"
        f"search({str(tmp_path)!r}).fit(X, Y)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-P", "-c", code],
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])},
    )
    assert ended.returncode == -9
    before, rest = seconds(tmp_path), search(tmp_path).fit(X, Y)
    assert len(before) == 4 and before <= set(rest.cv_results_["mean_fit_time"])
    assert_same(rest, search(None).fit(X, Y))


@pytest.mark.parametrize("damage", [lambda data: data[: len(data) // 2], lambda data: b"", lambda data: b"x" * 99])
def test_a_damaged_file_is_solved_again(tmp_path, damage):
    first = search(tmp_path).fit(X, Y)
    for path in tmp_path.iterdir():
        path.write_bytes(damage(path.read_bytes()))
    assert_same(search(tmp_path).fit(X, Y), first)
    assert_same(search(tmp_path).fit(X, Y), first)


WEIGHTS = np.where(np.arange(len(Y)) % 2, 1.0, 2.0)


@pytest.mark.parametrize(
    "settings, data",
    [
        ({"tol": 1e-5}, (X, Y)),
        ({"fit_intercept": False}, (X, Y)),
        ({"class_weight": "balanced"}, (X, Y)),
        ({"kernel": "laplacian"}, (X, Y)),
        ({"dtype": "float32"}, (X, Y)),
        ({"cv": KFold(3)}, (X, Y)),
        ({"cv": [(train[1:], test) for train, test in StratifiedKFold(3).split(X, Y)]}, (X, Y)),
        ({"max_iter": 10**6}, (X, Y)),
        ({}, (X + 1e-9, Y)),
        ({}, (X, 1 - Y)),
        ({}, (X, Y, WEIGHTS)),
    ],
)
def test_other_numbers_are_other_cells(tmp_path, settings, data):
    search(tmp_path).fit(X, Y)
    search(tmp_path, **settings).fit(*data)
    assert len(names(tmp_path)) == 12


def test_class_weights_belong_to_the_names_of_classes(tmp_path):
    for labels in (Y, Y - 1):
        search(tmp_path, class_weight={0: 5.0}).fit(X, labels)
    assert len(names(tmp_path)) == 12


def test_cells_of_another_version_are_solved_again(tmp_path, monkeypatch):
    search(tmp_path).fit(X, Y)
    monkeypatch.setattr(store, "__version__", "0")
    search(tmp_path).fit(X, Y)
    assert len(names(tmp_path)) == 12


def test_cells_in_single_precision_are_not_those_of_rows_that_may_be_too_coarse_for_it(tmp_path):
    y = np.arange(2100) % 2
    X = y[:, None] + 0.1 * np.random.default_rng(0).standard_normal((len(y), 2))
    for dtype in ("float32", "auto"):
        KernelSVCCV([1.0], [0.1], cv=2, refit=False, dtype=dtype, memory=tmp_path).fit(X, y)
    assert len(names(tmp_path)) == 2


def test_the_same_kernel_by_another_name_is_the_same_cell(tmp_path):
    search(tmp_path, gammas=[0.5]).fit(X, Y)
    search(tmp_path, gammas=["scale"], kernel=kernels.Gaussian(sigma=1.0)).fit(X, Y)
    assert len(names(tmp_path)) == 3


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"memory": 1.5}, "memory must be the path of a folder"),
        ({"memory": __file__}, "is not a folder"),
        ({"kernel": lambda a, b: a @ b.T, "gammas": ["scale"]}, "a Python function has changed"),
        ({"search": "race"}, "search='exact' or 'halving', or memory=None"),
    ],
)
def test_bad_memory_is_rejected(tmp_path, settings, message):
    with pytest.raises(ValueError, match=message):
        search(**{"folder": tmp_path, **settings} if "memory" not in settings else {"folder": settings["memory"]}).fit(
            X, Y
        )


@pytest.mark.parametrize("face", FACES, ids=str)
def test_cells_are_found_again_without_a_seed(face, tmp_path):
    X, y = face.data()
    face.make(random_state=None, memory=tmp_path).fit(X, y)
    before = names(tmp_path)
    face.make(random_state=None, memory=tmp_path).fit(X, y)
    assert names(tmp_path) == before
    search = face.make(random_state=None, warm_start=True).fit(X, y)
    times = search.cv_results_["mean_fit_time"]
    np.testing.assert_array_equal(search.fit(X, y).cv_results_["mean_fit_time"], times)
