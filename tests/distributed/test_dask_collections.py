"""Dask arrays, data frames and lists of delayed chunks: fitted as their rows, predicted lazily, scored."""

import numpy as np
import pytest
from scipy import sparse

from kernbench import ROCSVC, KernelSVR, LinearSVC
from kernbench.distributed import Distributed

dask = pytest.importorskip("dask", reason="dask is not installed")
pytest.importorskip("distributed", reason="distributed is not installed")
da = pytest.importorskip("dask.array", reason="dask.array is not installed")

N = 18_000


def table_of(X, names):
    """Rows as a data frame, with sparse columns if they are sparse."""
    pandas = pytest.importorskip("pandas")
    make = pandas.DataFrame.sparse.from_spmatrix if sparse.issparse(X) else pandas.DataFrame
    return make(X, columns=list(names))


@pytest.mark.slow
def test_sparse_chunks_and_unknown_sizes(client, examples):
    X, y = examples(N, 8, is_sparse=True)
    delayed = [dask.delayed(X[a:b]) for a, b in ((0, 100), (100, 100), (100, 9_000), (9_000, N))]
    for model in (ROCSVC(random_state=0), LinearSVC(solver="bundle", random_state=0)):
        here = Distributed(model).fit([X], y).estimator_
        there = Distributed(model, client).fit(delayed, [y[:5_000], y[5_000:]]).estimator_
        assert np.array_equal(there.coef_, here.coef_)
    dense = da.from_array(X.toarray(), chunks=(5_000, 8))
    chosen = dense[dense[:, 0] > -10]  # of unknown length
    assert np.isnan(chosen.shape[0])
    there = Distributed(ROCSVC(random_state=0), client).fit(chosen, y).estimator_
    assert np.array_equal(there.coef_, Distributed(ROCSVC(random_state=0)).fit([X.toarray()], y).estimator_.coef_)


@pytest.mark.slow
def test_a_data_frame_keeps_its_names(client, examples):
    dd = pytest.importorskip("dask.dataframe", reason="dask.dataframe is not installed")
    pandas = pytest.importorskip("pandas")
    X, y = examples(2_000, 3)
    frame = dd.from_pandas(pandas.DataFrame(X, columns=["a", "b", "c"]).assign(y=y), npartitions=3)
    model = Distributed(ROCSVC(random_state=0), client).fit(frame[["a", "b", "c"]], frame["y"])
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    assert np.array_equal(model.estimator_.coef_, Distributed(ROCSVC(random_state=0)).fit([X], y).estimator_.coef_)


@pytest.mark.parametrize("is_sparse", [False, True])
def test_a_data_frame_is_fitted_and_predicted_as_its_rows(client, examples, is_sparse):
    dd = pytest.importorskip("dask.dataframe", reason="dask.dataframe is not installed")
    X, y = examples(2_000, 8, is_sparse=is_sparse)
    rows = dd.from_pandas(table_of(X, "abcdefgh"), npartitions=3)
    there = Distributed(ROCSVC(random_state=0), client).fit(rows, y)
    here = Distributed(ROCSVC(random_state=0)).fit([X], y)
    assert np.array_equal(there.estimator_.coef_, here.estimator_.coef_)
    assert np.array_equal(there.predict(rows).compute(), here.predict([X]))
    assert there.score(rows, y) == here.score([X], y)


@pytest.mark.filterwarnings("error:X (has|does not have)")
@pytest.mark.parametrize("is_sparse", [False, True])
def test_partitions_of_a_data_frame_are_predicted_as_they_are(examples, monkeypatch, is_sparse):
    """As arrays they would lose their names, which the estimator misses, and sparse ones would be filled up."""
    dd = pytest.importorskip("dask.dataframe", reason="dask.dataframe is not installed")
    X, _ = examples(600, 4, is_sparse=is_sparse)
    frame, seen, decide = table_of(X, "abcd"), [], LinearSVC.decision_function
    fitted = Distributed(LinearSVC(solver="bundle", tol=0.1, random_state=0)).fit([frame], np.arange(600) % 3)
    expected, arrays = fitted.estimator_.decision_function(frame), da.from_array(frame.to_numpy(), chunks=200)
    monkeypatch.setattr(LinearSVC, "decision_function", lambda self, rows: seen.append(rows) or decide(self, rows))
    with dask.config.set(scheduler="synchronous"):  # warnings of workers would not come here
        lazy = fitted.decision_function(dd.from_pandas(frame, npartitions=3))
        assert lazy.dtype == expected.dtype and lazy.numblocks == (3, 1) and lazy.chunks[1] == (3,)
        seen.clear()
        np.testing.assert_allclose(lazy.compute(), expected, atol=1e-12)
        assert [list(rows.columns) for rows in seen] == 3 * [list("abcd")]
        assert all(hasattr(rows, "sparse") == is_sparse for rows in seen)
        assert lazy.compute_chunk_sizes().shape == expected.shape
        np.testing.assert_allclose(fitted.decision_function(arrays).compute(), expected, atol=1e-12)


def test_scores_need_no_known_numbers_of_rows_and_no_client(client, examples):
    dd = pytest.importorskip("dask.dataframe", reason="dask.dataframe is not installed")
    pandas = pytest.importorskip("pandas")
    X, y = examples(900, 3)
    frame, series = pandas.DataFrame(X, columns=list("abc")), pandas.Series(y)
    rows, label = dd.from_pandas(frame, npartitions=3), dd.from_pandas(series, npartitions=2)
    weights = [np.ones(400), np.full(500, 2.0)]
    for model in (LinearSVC(solver="bundle", tol=0.1), KernelSVR(kernel="linear", tol=0.1)):
        fitted = Distributed(model).fit([frame], y)
        expected, weighted = fitted.score([X], y), fitted.score([X], y, sample_weight=np.concatenate(weights))
        for own in (None, client):
            fitted.client = own
            for labels in (da.from_array(y, chunks=300), label, series, y):
                assert fitted.score(rows, labels) == expected
            assert fitted.score(rows, label, sample_weight=weights) == weighted
    with pytest.raises(ValueError, match=r"y has shape \(899,\), but X has 900 rows"):
        fitted.score(da.from_array(X, chunks=300), da.from_array(y[1:], chunks=300))


def test_predictions_are_lazy_and_those_of_the_plain_model(client, examples):
    X, y = examples(3_000, 4)
    labels = np.where(X[:, 1] > 1, 2, y)
    rows = da.from_array(X, chunks=(700, 2))
    for model, target in ((ROCSVC(random_state=0), y), (LinearSVC(solver="bundle", random_state=0), labels)):
        fitted = Distributed(model, client).fit(rows, target)
        for method in ("predict", "decision_function"):
            lazy = getattr(fitted, method)(rows)
            expected = getattr(fitted.estimator_, method)(X)
            assert hasattr(lazy, "__dask_graph__") and lazy.dtype == expected.dtype and lazy.shape == expected.shape
            np.testing.assert_allclose(lazy.compute(), expected, atol=1e-12)
        assert fitted.score(rows, da.from_array(target, chunks=700)) == fitted.estimator_.score(X, target)
        assert fitted.score(rows, target) == fitted.estimator_.score(X, target)
        column = da.from_array(target[:, None], chunks=(700, 1))
        assert fitted.score(rows, column) == fitted.estimator_.score(X, target)


@pytest.mark.filterwarnings("error:X (has|does not have)")
def test_delayed_chunks_are_predicted_and_scored_as_they_are_fitted(client, examples):
    """How many rows they hold, and whether their columns have names, is unknown before they are computed."""
    pandas = pytest.importorskip("pandas")
    X, y = examples(900, 4)
    frame = pandas.DataFrame(X, columns=list("abcd"))
    arrays, frames = ([dask.delayed(rows[a:b]) for a, b in ((0, 300), (300, 300), (300, 900))] for rows in (X, frame))
    for target in (y, np.where(X[:, 1] > 1, 2, y)):
        fitted = Distributed(LinearSVC(solver="bundle", random_state=0), client).fit(frames, target)
        assert fitted.score(client.scatter(np.split(X, 3)), target) == fitted.estimator_.score(frame, target)
        for rows in (arrays, frames):
            with dask.config.set(scheduler="synchronous"):  # warnings of workers would not come here
                for method in ("predict", "decision_function"):
                    lazy, expected = getattr(fitted, method)(rows), getattr(fitted.estimator_, method)(frame)
                    assert lazy.dtype == expected.dtype and lazy.numblocks[0] == 3
                    assert lazy.ndim == expected.ndim and lazy.shape[1:] == expected.shape[1:]
                    np.testing.assert_allclose(lazy.compute(), expected, atol=1e-12)
            for labels in (target, [dask.delayed(target)], da.from_array(target, chunks=300)):
                assert fitted.score(rows, labels) == fitted.estimator_.score(frame, target)
    other = fitted.predict([dask.delayed(frame[list("bacd")])])
    with pytest.raises(ValueError, match="in the same order"):
        other.compute()


def test_partitions_without_rows_are_predicted_and_scored(client, examples):
    """`fit` passes over them, too; a selection of rows may leave some."""
    dd = pytest.importorskip("dask.dataframe", reason="dask.dataframe is not installed")
    pandas = pytest.importorskip("pandas")
    X, y = examples(600, 4)
    X, y = X[np.argsort(X[:, 0])], y[np.argsort(X[:, 0])]
    cut, rows = da.from_array(X, chunks=((400, 0, 200), (2, 2))), da.from_array(X, chunks=(200, 4))
    frame = dd.from_pandas(pandas.DataFrame(X, columns=list("abcd")), npartitions=3)
    least, half = X[299, 0], slice(300, 600)  # none of the first 200 rows
    for labels in (y, np.where(X[:, 1] > 1, 2, y)):
        fitted = Distributed(LinearSVC(solver="bundle", random_state=0), client).fit(cut, labels)
        plain = fitted.estimator_
        for data, own in ((cut, slice(None)), (rows[rows[:, 0] > least], half), (frame[frame["a"] > least], half)):
            for method in ("predict", "decision_function"):
                found, expected = getattr(fitted, method)(data), getattr(plain, method)(X[own])
                assert found.dtype == expected.dtype
                np.testing.assert_allclose(found.compute(), expected, atol=1e-12)
            assert fitted.score(data, labels[own]) == plain.score(X[own], labels[own])
            weights = np.arange(1.0, 1.0 + len(labels[own]))
            weighted = plain.score(X[own], labels[own], weights)
            assert fitted.score(data, labels[own], sample_weight=weights) == pytest.approx(weighted)
        for sizes in ((400, 0, 200), (300, 300)):
            assert fitted.score(cut, da.from_array(labels, chunks=(sizes,))) == plain.score(X, labels)
