"""Builders of real sets, on small forged files of their formats."""

import gzip

import numpy as np
import pytest
from scipy import sparse

from kernbench.datasets import describe
from kernbench.datasets.real import libsvm, preparation, tables

N = 60
POSITIVE = np.arange(N) % 3 == 0


def _table(n_features, seed=0):
    return np.random.default_rng(seed).integers(0, 1000, (N, n_features)) / 4


def _text(rows, delimiter, header=None):
    lines = [header] * (header is not None) + [delimiter.join(map(str, row)) for row in rows]
    return "".join(f"{line}\n" for line in lines)


def _labelled(X, labels):
    return [[*row, label] for row, label in zip(X, labels, strict=True)]


def _skin(X):
    X = np.floor(X)  # colours are whole numbers
    return X, {"Skin_NonSkin.txt": _text(_labelled(X.astype(int), np.where(POSITIVE, 1, 2)), "\t")}


def _accelerometer(X):
    rows = [[*row, "34:22.9", label] for row, label in zip(X, np.where(POSITIVE, 0, 1), strict=True)]
    header = "accX,accY,accZ,gyroX,gyroY,gyroZ,timestamp,Activity"
    return X, {"accelerometer_gyro_mobile_phone_dataset.csv": _text(rows, ",", header)}


def _magic(X):
    return X, {"magic04.data": _text(_labelled(X, np.where(POSITIVE, "h", "g")), ",")}


def _occupancy(X):
    rows = [["2017/12/22", "10:49:41", *row] for row in _labelled(X, np.where(POSITIVE, 2, 0))]
    header = ",".join(["Date", "Time", *map(str, range(16)), "Room_Occupancy_Count"])
    return X, {"Occupancy_Estimation.csv": _text(rows, ",", header)}


def _heart_failure(X):
    header = ",".join([*(f"column {j}" for j in range(12)), "DEATH_EVENT"])
    rows = _labelled(X, np.where(POSITIVE, 1, 0))
    return X, {"heart_failure_clinical_records_dataset.csv": _text(rows, ",", header)}


def _wine_quality(X):
    header = ";".join([*(f'"column {j}"' for j in range(11)), '"quality"'])
    rows = _labelled(X, np.where(POSITIVE, 7, 6))
    return X, {
        "winequality-red.csv": _text(rows[:20], ";", header),
        "winequality-white.csv": _text(rows[20:], ";", header),
    }


def _w8a(X):
    rows = [
        [label, *(f"{j + 1}:{value}" for j, value in enumerate(row) if value)]
        for row, label in zip(X, np.where(POSITIVE, "+1", "-1"), strict=True)
    ]
    return X, {"w8a": _text(rows, " ")}


FORGERS = {
    "skin": _skin,
    "accelerometer": _accelerometer,
    "magic": _magic,
    "occupancy": _occupancy,
    "heart-failure": _heart_failure,
    "wine-quality": _wine_quality,
    "w8a": _w8a,
}


@pytest.fixture
def forged(write):
    """A function from a set's name to a builder of a forged one, and the rows that its files hold."""

    def forge(name):
        X, contents = FORGERS[name](_table(describe(name).n_features))
        paths = {file: write(f"{name}-{file}", content) for file, content in contents.items()}
        raw = {"standardise": False} if "standardise" in describe(name).options else {}
        if name == "skin":
            raw["n_rows"] = None

        def build(**options):
            parts = describe(name).build(paths, **{**raw, **options})
            return tuple(part.toarray() if sparse.issparse(part) else part for part in parts)

        return build, X

    return forge


@pytest.mark.parametrize("name", FORGERS)
def test_every_row_comes_once_with_its_label(name, forged):
    build, X = forged(name)
    X_train, y_train, X_test, y_test = build(test_fraction=0.25)
    labels = {tuple(row): label for row, label in zip(X, np.where(POSITIVE, 1, -1), strict=True)}
    assert len(labels) == N
    for rows, y in ((X_train, y_train), (X_test, y_test)):
        assert y.dtype == np.int64
        assert [labels.pop(tuple(row)) for row in rows] == list(y)
    assert labels == {}
    assert (len(y_test), np.sum(y_test == 1)) == (15, 5)


@pytest.mark.parametrize("name", FORGERS)
def test_splits_are_drawn_by_their_seed(name, forged):
    build, _ = forged(name)
    first, again, other = (build(split_seed=seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first[0], again[0])
    assert not np.array_equal(first[0], other[0])
    assert (len(first[1]), len(first[3])) == (42, 18)


@pytest.mark.parametrize("name", sorted(set(FORGERS) - {"w8a"}))
def test_only_training_rows_set_the_scale(name, forged):
    build, _ = forged(name)
    raw, scaled = build(split_seed=2), build(split_seed=2, standardise=True)
    mean, deviation = raw[0].mean(axis=0), raw[0].std(axis=0)
    for part in (0, 2):
        np.testing.assert_allclose(scaled[part], (raw[part] - mean) / deviation, atol=1e-12)


@pytest.mark.parametrize(("fraction", "n_test"), [(0.001, 1), (13 / 60, 13), (0.5, 30), (58 / 60, 58)])
def test_a_fraction_of_whole_numbers_asks_for_exact_sizes(fraction, n_test, forged):
    build, _ = forged("magic")
    assert len(build(test_fraction=fraction)[3]) == n_test


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"test_fraction": 0}, "test_fraction must be a number of at least 0.001 and below 1"),
        ({"test_fraction": 20}, "test_fraction must be"),
        ({"test_fraction": 0.99}, "leaves fewer than 2 of 60 rows for training"),
        ({"split_seed": 1.5}, "split_seed must be an integer"),
        ({"standardise": 1}, "standardise must be True or False"),
        ({"n_rows": 5}, "n_rows must be an integer of at least 10 and below 61"),
        ({"n_rows": 61}, "n_rows must be"),
    ],
)
def test_options_out_of_range_are_refused(options, said, forged):
    build, _ = forged("skin")
    with pytest.raises(ValueError, match=said):
        build(**options)


def test_wines_are_of_one_colour_on_request(forged):
    build, X = forged("wine-quality")
    for colour, expected in (("red", X[:20]), ("white", X[20:]), ("both", X)):
        X_train, _, X_test, _ = build(colour=colour, test_fraction=0.25)
        np.testing.assert_array_equal(np.sort(np.concatenate([X_train, X_test])[:, 0]), np.sort(expected[:, 0]))
    with pytest.raises(ValueError, match="did you mean 'white'"):
        build(colour="whit")


def test_the_subsample_of_skin_is_the_same_for_all_splits(forged):
    build, _ = forged("skin")
    rows = []
    for split_seed in (0, 1):
        X_train, y_train, X_test, y_test = build(n_rows=30, split_seed=split_seed)
        rows.append(set(map(tuple, np.vstack([X_train, X_test]))))
        assert np.sum(y_train == 1) + np.sum(y_test == 1) == 10
    assert rows[0] == rows[1] and len(rows[0]) == 30


def test_avila_keeps_its_published_parts(write):
    paths = {
        "avila-tr.txt": write("tr", "0.5,-1,A\r\n1,2,B\r\n"),
        "avila-ts.txt": write("ts", "3,4,Y\r\n5,6,A\r\n7,8,A\r\n"),
    }
    X_train, y_train, X_test, y_test = describe("avila").build(paths)
    np.testing.assert_array_equal(X_train, [[0.5, -1], [1, 2]])
    assert X_test.shape == (3, 2)
    assert (y_train.tolist(), y_test.tolist()) == ([1, -1], [-1, 1, 1])


def test_a_constant_column_becomes_zero_though_its_deviation_is_rounded():
    parts = np.full((7, 1), 0.1), None, np.array([[0.1], [2.1]]), None
    assert parts[0].std(axis=0) > 0
    X_train, _, X_test, _ = preparation.standardised(parts, True)
    assert not X_train.any() and X_test.ravel().tolist() == [0.0, 2.0]


@pytest.fixture
def small_covtype(write, monkeypatch):
    monkeypatch.setattr(tables, "COVTYPE_TRAIN", 40)
    rng = np.random.default_rng(0)
    table = rng.integers(-100, 4000, (60, 55))
    table[:, 7] = 3  # constant
    table[:, -1] = np.tile([1, 2, 2, 3, 7, 2], 10)
    return table, {"covtype.data": write("covtype.data.gz", gzip.compress(_text(table, ",").encode()))}


def test_covtype_builder_keeps_raw_integers_on_request(small_covtype):
    table, paths = small_covtype
    X_train, y_train, X_test, y_test = tables.covtype(paths, standardise=False)
    assert X_train.shape == (40, 54)
    rows = {tuple(row[:-1]): 1 if row[-1] == 2 else -1 for row in table.tolist()}
    for X, y in ((X_train, y_train), (X_test, y_test)):
        assert [rows.pop(tuple(map(int, row))) for row in X] == list(y)
    assert rows == {}
    assert (np.sum(y_train == 1), np.sum(y_test == 1)) == (20, 10)


def test_covtype_builder_standardises_by_the_training_part(small_covtype):
    _, paths = small_covtype
    raw = tables.covtype(paths, standardise=False, split_seed=4)
    scaled = tables.covtype(paths, split_seed=4)
    mean, deviation = raw[0].mean(axis=0), raw[0].std(axis=0)
    deviation[7] = 1
    for part in (0, 2):
        np.testing.assert_allclose(scaled[part], (raw[part] - mean) / deviation, atol=1e-5)
    assert np.all(scaled[0][:, 7] == 0)
    assert not np.array_equal(raw[0], tables.covtype(paths, standardise=False, split_seed=5)[0])


def test_adult_builder_gives_both_parts_123_columns(write):
    paths = {"a9a": write("a9a", "-1 3:1 123:1\n+1 1:1\n"), "a9a.t": write("a9a.t", "-1 122:1\n")}
    X_train, y_train, X_test, y_test = libsvm.adult(paths)
    assert X_train.shape == (2, 123) and X_test.shape == (1, 123)
    assert y_train.tolist() == [-1, 1] and y_test.tolist() == [-1]


def test_ijcnn_builder_makes_rows_dense(write):
    paths = {"ijcnn1": write("ijcnn1", "-1.0 6:1 11:-0.5 13:0.0\n1.0 22:2\n"), "ijcnn1.t": write("ijcnn1.t", "1 7:1\n")}
    X_train, y_train, X_test, y_test = libsvm.ijcnn1(paths)
    expected = np.zeros((2, 22))
    expected[[0, 0, 1], [5, 10, 21]] = 1, -0.5, 2
    np.testing.assert_array_equal(X_train, expected)
    assert X_test.shape == (1, 22)
    assert y_train.tolist() == [-1, 1] and y_test.tolist() == [1]


def test_reuters_builder_gives_both_parts_8315_columns(write):
    paths = {"reuters.trn": write("trn", "-1 8315:1\n"), "reuters.tst": write("tst", "+1 21:0.5 66:0.5\n")}
    X_train, y_train, X_test, y_test = libsvm.reuters_money_fx(paths)
    assert sparse.issparse(X_train)
    assert (X_train.shape, X_test.shape) == ((1, 8315), (1, 8315))
    assert (y_train.tolist(), y_test.tolist()) == ([-1], [1])
