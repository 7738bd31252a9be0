"""Files of several kinds, files of different widths, labels in files: what one array would give."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernbench import ROCSVC, DoublyStochasticClassifier, DoublyStochasticRegressor, LinearSVC
from kernbench.datasets.readers.svmlight import write_svmlight
from kernbench.distributed import Distributed, FileBlocks, meta_estimator
from kernbench.distributed.blocks import local_blocks
from kernbench.distributed.blocks.kept_rows import KeptRows, Room
from kernbench.distributed.blocks.random_rows import rows_at_random
from kernbench.distributed.blocks.spread import spread_of
from kernbench.distributed.sources.text import TextSource
from kernbench.features import Nystroem

LINEAR = LinearSVC(solver="bundle", random_state=0)


def as_csv(path, X, y=None):
    columns = X if y is None else np.column_stack([y, X])
    names = [f"c{k}" for k in range(X.shape[1])] if y is None else ["label", *(f"c{k}" for k in range(X.shape[1]))]
    path.write_text("\n".join([",".join(names), *(",".join(map(repr, row)) for row in columns.tolist())]) + "\n")
    return path


@pytest.fixture
def both_kinds(examples, tmp_path):
    """Rows, labels, and the same rows in text, in a ``.npy`` file and in an array, cut within blocks."""
    X, y = examples(8_000, 4)
    np.save(tmp_path / "b.npy", X[1_500:6_000])
    return X, y, [as_csv(tmp_path / "a.csv", X[:1_500]), tmp_path / "b.npy", X[6_000:]]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
def test_labels_of_any_form_are_the_same(examples, tmp_path):
    X, y = examples(300, 2)
    table, chunks = as_csv(tmp_path / "a.csv", X, y), (X[:100], X[100:])
    expected = Distributed(LINEAR).fit([X], y).estimator_.coef_
    for label in (0, np.int64(0), "label"):
        np.testing.assert_array_equal(Distributed(LINEAR).fit(table, label).estimator_.coef_, expected)
    for labels in ([y[:50], y[50:]], (y[:50], y[50:]), [y[:50, None], y[50:, None]], y.tolist(), tuple(y)):
        model = Distributed(LINEAR).fit(chunks, labels)
        np.testing.assert_array_equal(model.estimator_.coef_, expected)
        assert model.score(chunks, labels) == model.score([X], y)
    with pytest.raises(ValueError, match="1d array"):
        Distributed(LINEAR).fit(table, True)


def test_text_beside_numbers_is_refused_as_in_one_file(tmp_path):
    """NumPy would make text of the numbers, and classes of both."""
    rows = np.arange(4.0).reshape(2, 2)
    (tmp_path / "0.csv").write_text("1,2,0\n3,4,1\n")
    (tmp_path / "1.csv").write_text("5,6,NA\n7,8,NA\n")
    np.save(tmp_path / "0.npy", [0, 1]), np.save(tmp_path / "1.npy", ["a", "b"])
    message = "the labels of {} are text, those of {} are numbers: use labels of one type, and leave out rows without"
    with pytest.raises(ValueError, match=message.format(r".*1\.csv", r".*0\.csv")):
        FileBlocks([tmp_path / "0.csv", tmp_path / "1.csv"], label=-1)
    with pytest.raises(ValueError, match=message.format("chunk 0", "chunk 1")):
        FileBlocks([(rows, ["a", "b"]), (rows, [0.0, 1.0])])
    with pytest.raises(ValueError, match=message.format("part 1", "part 0")):
        Distributed(LINEAR).fit([rows, rows], [[0, 1], ["a", "b"]])
    (tmp_path / "0.csv").unlink(), (tmp_path / "1.csv").unlink()
    with pytest.raises(ValueError, match=message.format(r".*1\.npy", r".*0\.npy")):
        Distributed(LINEAR).fit([rows, rows], tmp_path)
    both = FileBlocks([(rows, ["a", "b"]), (rows, np.array(["c", "d"], dtype=object))])
    assert both.y.tolist() == ["a", "b", "c", "d"]


@pytest.mark.parametrize("keep_bytes", [0, 30_000, 1 << 30])
@pytest.mark.parametrize("block_bytes", [60_000, 1 << 30])
def test_rows_that_begin_in_text_and_end_in_an_array_are_the_same_in_each_pass(
    both_kinds, keep_bytes, block_bytes, monkeypatch
):
    monkeypatch.setattr(local_blocks, "BLOCK_BYTES", block_bytes)
    X, _, data = both_kinds
    blocks = FileBlocks(data, keep_bytes=keep_bytes)
    for _ in range(3):
        for start in range(0, 8_000, 2_000):
            np.testing.assert_array_equal(blocks.read(start, start + 2_000), X[start : start + 2_000])


def test_text_is_kept_up_to_the_memory_for_it(examples, tmp_path):
    X, _ = examples(8_000, 4)
    blocks = FileBlocks(as_csv(tmp_path / "a.csv", X), keep_bytes=100_000)
    for start in range(0, 8_000, 2_000):  # 64 kB each
        blocks.read(start, start + 2_000)
    kept = [rows is not None for _, _, rows in blocks._kept.stretches(0, 8_000)]
    assert kept == [True, False] and blocks.room.left == 36_000


@pytest.mark.parametrize("keep_bytes", [30_000, 1 << 30])
def test_any_range_is_made_of_what_is_kept_and_what_is_read(both_kinds, keep_bytes):
    X, _, data = both_kinds
    blocks, rng = FileBlocks(data, keep_bytes=keep_bytes), np.random.default_rng(0)
    for _ in range(40):
        start, stop = np.sort(rng.choice(8_001, 2, replace=False))
        np.testing.assert_array_equal(blocks.read(start, stop), X[start:stop])


SCALED = make_pipeline(StandardScaler(), Nystroem(n_landmarks=8, random_state=0), LINEAR)


@pytest.mark.parametrize("suffix, estimator", [("csv", LINEAR), ("svm", LINEAR), ("csv", SCALED)])
def test_text_that_is_kept_is_parsed_once_for_all_passes(suffix, estimator, examples, tmp_path, monkeypatch):
    """Rows with a constant, and features of maps, are read in other ranges than the rows of the first pass."""
    monkeypatch.setattr(local_blocks, "BLOCK_BYTES", 3_000)
    X, y = examples(3_000, 4)
    X, parsed, text_of = np.where(np.abs(X) > 1.0, X, 0.0).round(3), [], TextSource._text

    def counted(source, start, stop):
        parsed.append(stop - start)
        return text_of(source, start, stop)

    monkeypatch.setattr(TextSource, "_text", counted)
    if suffix == "csv":
        path, label, rows = as_csv(tmp_path / "a.csv", X, y), "label", X
    else:
        path, label, rows = tmp_path / "a.svm", None, sparse.csr_matrix(X)
        write_svmlight(path, rows, y)
    model = Distributed(estimator, memory=10**8).fit(path, label)
    assert sum(parsed) == 3_000
    expected = Distributed(estimator).fit([rows], y).decision_function([rows])
    np.testing.assert_array_equal(model.decision_function([rows]), expected)


def test_text_between_arrays_is_kept_too(examples, tmp_path, monkeypatch):
    """All of them lie in one block."""
    X, y = examples(600, 4)
    parsed, text_of = [], TextSource._text
    monkeypatch.setattr(TextSource, "_text", lambda *given: parsed.append(given) or text_of(*given))
    chunks = [as_csv(tmp_path / "a.csv", X[:100]), X[100:300], as_csv(tmp_path / "b.csv", X[300:450]), X[450:]]
    model = Distributed(LINEAR, memory=10**8).fit(chunks, y)
    assert sum(stop - start for _, start, stop in parsed) == 250
    expected = Distributed(LINEAR).fit([X], y).decision_function([X])
    np.testing.assert_array_equal(model.decision_function([X]), expected)


def test_the_message_on_rows_drawn_at_random_names_what_is_slow_to_read(examples, tmp_path):
    X, y = examples(60, 4)
    with pytest.raises(ValueError, match="b.csv is slow to read so"):
        Distributed(DoublyStochasticClassifier(), memory=0).fit([X[:30], as_csv(tmp_path / "b.csv", X[30:])], y)


def held(room):
    """Return the bytes of the arrays in a room; those of a part and of the whole count once."""
    stores = [store._rows if isinstance(store, KeptRows) else store.values() for store in room._stores]
    whole = [rows if rows.base is None else rows.base for store in stores for rows in store]
    return sum({id(rows): rows.nbytes for rows in whole}.values())


@pytest.mark.parametrize(
    "estimator",
    [
        ROCSVC("rbf", n_landmarks=16, random_state=0),
        make_pipeline(Nystroem(n_landmarks=16, random_state=0), ROCSVC("rbf", n_landmarks=16, random_state=0)),
    ],
    ids=["features", "map"],
)
def test_rows_and_all_features_share_the_memory(estimator, examples, tmp_path, monkeypatch):
    monkeypatch.setattr(local_blocks, "BLOCK_BYTES", 3_000)
    X, y = examples(3_000, 4)
    memory, rooms = X.nbytes + 100_000, []
    monkeypatch.setattr(meta_estimator, "Room", lambda n_bytes: rooms.append(Room(n_bytes)) or rooms[-1])
    model = Distributed(estimator, memory=memory).fit(as_csv(tmp_path / "a.csv", X, y), "label")
    (room,) = rooms
    assert memory - 6_000 < held(room) == memory - room.left <= memory
    expected = Distributed(estimator).fit([X], y).decision_function([X])
    np.testing.assert_array_equal(model.decision_function([X]), expected)


@pytest.mark.parametrize("suffix", ["csv", "svm"])
def test_rows_that_are_drawn_at_random_are_in_memory_once(suffix, examples, tmp_path, monkeypatch):
    monkeypatch.setattr(local_blocks, "BLOCK_BYTES", 30_000)
    X, y = examples(20_000, 8)
    path = tmp_path / f"a.{suffix}"
    if suffix == "csv":
        as_csv(path, X)
    else:
        X = sparse.csr_matrix(np.where(np.abs(X) > 1.0, X, 0.0).round(3))
        write_svmlight(path, X, y)
    n_bytes = X.nbytes if suffix == "csv" else 12 * X.nnz
    for memory in (n_bytes, 10 * n_bytes):
        room = Room(memory)
        blocks = FileBlocks(path, keep_bytes=room)
        tracemalloc.start()
        try:
            spread_of(blocks)
            rows, (left, peak) = rows_at_random(blocks, room), tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert held(room) == 0 and left < 1.5 * n_bytes
        assert peak < (1.8 if memory == n_bytes else 2.6) * n_bytes  # beside it, what was kept, a block and its text
        if suffix == "csv":
            np.testing.assert_array_equal(rows, X)
        else:
            assert rows.format == "csr" and (rows != X).nnz == 0 and rows.has_canonical_format


def test_a_fit_to_text_and_arrays_is_that_of_the_array(both_kinds):
    X, y, data = both_kinds
    ours, plain = Distributed(LINEAR).fit(data, y), Distributed(LINEAR).fit([X], y)
    np.testing.assert_array_equal(ours.estimator_.coef_, plain.estimator_.coef_)
    assert ours.score(data, y) == plain.score(X, y)


def test_a_scaler_that_does_not_copy_leaves_the_rows_alone(examples):
    X, y = examples(3_000, 4)
    chunks = np.split(3.0 * X + 5.0, [1_000])
    before = [chunk.copy() for chunk in chunks]
    models = [
        Distributed(make_pipeline(StandardScaler(copy=copy), LINEAR)).fit(chunks, y).estimator_
        for copy in (False, True)
    ]
    for chunk, own in zip(chunks, before, strict=True):
        np.testing.assert_array_equal(chunk, own)
    np.testing.assert_array_equal(models[0][-1].coef_, models[1][-1].coef_)
    assert models[0][0].copy is False


def test_the_score_of_rows_without_labels_is_refused(both_kinds, tmp_path):
    X, y, data = both_kinds
    model = Distributed(LINEAR).fit(X, y)
    for rows in (X, data, tmp_path / "b.npy"):
        with pytest.raises(ValueError, match="there are no labels"):
            model.score(rows)
    for labels in (y[:10], y[:1]):
        with pytest.raises(ValueError, match=r"y has shape \(\d+,\), but X has 8000 rows"):
            model.score(X, labels)
    with pytest.raises(ValueError, match="there are no labels"):
        model.score(X, 0)  # the number of a column, of an array without one


@pytest.mark.parametrize("target", ["labels", "numbers"])
def test_the_score_counts_weights(examples, target):
    X, y = examples(2_000, 4)
    data = [X[:300], X[300:]]
    estimator = LINEAR if target == "labels" else DoublyStochasticRegressor(max_iter=5, random_state=0)
    model, weights = Distributed(estimator).fit(data, y), np.random.default_rng(0).uniform(0, 5, len(y)) * (X[:, 0] > 0)
    expected = model.estimator_.score(X, y, weights)
    assert model.score(data, y, weights) == pytest.approx(expected, abs=1e-6)
    assert abs(model.score(data, y) - expected) > 1e-3
    assert model.score(data, y, 2.0) == pytest.approx(model.score(data, y), rel=1e-12)
    wrong = (weights[:10], "shape"), (-weights, "at least 0"), (0 * weights, "non-zero")
    for given, message in (*wrong, (np.where(y > 0, np.nan, 1.0), "NaN"), (np.column_stack([weights, weights]), "1D")):
        with pytest.raises(ValueError, match=message):
            model.score(data, y, given)


@pytest.mark.parametrize("label", ["label", 0])
def test_the_score_finds_a_column_of_labels_as_fit_does(examples, tmp_path, label):
    X, y = examples(600, 4)
    path, y = as_csv(tmp_path / "all.csv", X, np.where(y > 0, 1, -1)), np.where(y > 0, 1, -1)
    model = Distributed(LINEAR).fit(path, label)
    table = pd.DataFrame(X, columns=model.feature_names_in_)
    assert model.score(path, label) == model.score(table, y) > 0.5


@pytest.fixture
def of_different_widths(tmp_path):
    """Sparse rows in three files, whose largest indices differ, and one of fewer columns to be predicted."""
    dense = sparse.random(900, 12, density=0.3, random_state=0).toarray().round(3)
    dense[:300, 9:] = dense[600:, 11] = 0.0
    X = sparse.csr_array(dense)
    y = np.where(dense.sum(axis=1) + dense[:, 0] > 1.8, 1, -1)
    folder = tmp_path / "parts"
    folder.mkdir()
    for k in range(3):
        rows = slice(300 * k, 300 * (k + 1))
        write_svmlight(folder / f"part{k}.svm", X[rows], y[rows])
    return X, y, folder


def test_files_with_other_largest_indices_are_predicted(of_different_widths):
    X, y, folder = of_different_widths
    model = Distributed(LINEAR).fit(folder)
    assert model.n_features_in_ == 12
    narrow = folder / "part0.svm"
    np.testing.assert_array_equal(model.predict(narrow), model.predict(X[:300]))
    assert model.score(narrow) == model.score(X[:300], y[:300])
    stream = Distributed(DoublyStochasticClassifier(random_state=0, max_iter=5)).partial_fit(folder).partial_fit(narrow)
    assert stream.predict(narrow).shape == (300,)


def test_files_without_an_entry_are_as_wide_as_others_or_as_in_fit(of_different_widths):
    X, y, folder = of_different_widths
    model, alone = Distributed(LINEAR).fit(folder), folder.parent / "alone.svm"
    alone.write_text("1\n-1\n1\n")
    zeros = sparse.csr_array((3, 12))
    np.testing.assert_array_equal(model.decision_function(alone), model.decision_function(zeros))
    assert model.score(alone) == model.score(zeros, [1, -1, 1])
    (folder / "part3.svm").write_text(alone.read_text())
    blocks = FileBlocks(folder)
    assert blocks.shape == (903, 12) and blocks.n_values == X.nnz and blocks.y.tolist() == [*y, 1, -1, 1]
    expected = sparse.vstack([X[890:], zeros]).toarray()
    np.testing.assert_array_equal(blocks.read(890, 903).toarray(), expected)
    np.testing.assert_array_equal(blocks.read(900, 902).toarray(), np.zeros((2, 12)))
    with pytest.raises(ValueError, match="alone.svm: the file holds labels but no features"):
        FileBlocks(alone)


def test_chunks_in_memory_of_different_widths_are_refused(of_different_widths):
    X, y, folder = of_different_widths
    with pytest.raises(ValueError, match="chunk 0 has 9 columns, others have 12"):
        Distributed(LINEAR).fit([X[:300, :9], X[300:]], y)
    narrow = FileBlocks([folder / "part0.svm", X[300:]])
    assert narrow.shape == (900, 12)
    np.testing.assert_array_equal(narrow.read(200, 400).toarray(), X[200:400].toarray())


def test_a_cluster_reads_files_with_other_largest_indices(of_different_widths):
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")
    X, y, folder = of_different_widths
    bare = folder.parent / "bare"
    bare.mkdir()
    for own in (folder, bare):
        (own / "part9.svm").write_text("1\n-1\n")  # without an entry
    tables = folder.parent / "tables"
    tables.mkdir()
    np.save(tables / "0.npy", X[:500].toarray()), as_csv(tables / "1.csv", X[500:].toarray())
    as_csv(tables / "0.csv", np.empty((0, 12)))  # a header alone
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None, processes=False) as cluster,
        distributed.Client(cluster) as client,
    ):
        of_files, of_process = Distributed(LINEAR, client).fit(folder), Distributed(LINEAR).fit(folder)
        np.testing.assert_array_equal(of_files.estimator_.coef_, of_process.estimator_.coef_)
        with pytest.raises(ValueError, match="the data hold no columns beside labels"):
            Distributed(LINEAR, client).fit(bare)
        named = Distributed(LINEAR, client).fit(str(tables), y)
        assert list(named.feature_names_in_) == [f"c{k}" for k in range(12)]
        np.testing.assert_array_equal(named.estimator_.coef_, Distributed(LINEAR).fit(tables, y).estimator_.coef_)
        frame = pd.DataFrame(X[500:].toarray(), columns=named.feature_names_in_)
        frame[frame.columns[::-1]].to_csv(tables / "2.csv", index=False)
        with pytest.raises(ValueError, match="partition 2 has other columns than partition 1, or in another order"):
            Distributed(LINEAR, client).fit(str(tables), np.concatenate([y, y[500:]]))
