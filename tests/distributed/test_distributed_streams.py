"""`Distributed.partial_fit`: chunks in their order, each learned from once."""

import numpy as np
import pytest
from sklearn.base import clone

from kernbench import ROCSVC, DoublyStochasticClassifier, PartialAUCClassifier
from kernbench.distributed import Distributed
from kernbench.distributed.blocks import local_blocks, random_rows


def test_a_stream_is_learned_chunk_after_chunk(examples, in_files):
    X, y = examples(3_000, 4)
    model = DoublyStochasticClassifier(batch_size=256, block_size=16, random_state=0)
    stream = Distributed(model).partial_fit(in_files(X, (1_000,)), y).partial_fit([X[:300]], y[:300])
    plain = clone(model).partial_fit(X, y).partial_fit(X[:300], y[:300])
    assert stream.estimator_.n_iter_ == plain.n_iter_ and stream.classes_.tolist() == [-1, 1]
    assert stream.score([X], y) == stream.estimator_.score(X, y) > 0.8
    assert not hasattr(Distributed(PartialAUCClassifier()), "partial_fit")


@pytest.mark.filterwarnings("ignore:.*steps of .* rows are so noisy")
def test_a_first_chunk_that_is_refused_leaves_nothing(examples, monkeypatch):
    monkeypatch.setattr(local_blocks, "BLOCK_BYTES", 1_000)
    monkeypatch.setattr(random_rows, "ROWS", 50)
    X, y = examples(1_000, 3)
    X, y = X[np.argsort(y)], np.sort(y)  # the first rows are of one class
    stream = Distributed(DoublyStochasticClassifier(batch_size=64, block_size=16, random_state=0))
    with pytest.raises(ValueError, match="NaN"):
        stream.partial_fit([np.full((1_000, 3), np.nan)], y)
    assert stream.partial_fit([X], y).classes_.tolist() == [-1, 1]
    stream = Distributed(stream.estimator)
    with pytest.raises(ValueError, match="cannot be sorted"):
        stream.partial_fit([X], np.array([1, "a"] * 500, dtype=object))
    assert not hasattr(stream, "estimator_") and not hasattr(stream, "n_samples_")
    with pytest.raises(ValueError, match="NaN"):  # after the first chunks
        stream.partial_fit([np.where(np.arange(1_000)[:, None] < 900, X, np.nan)], y)
    assert stream.classes_.tolist() == [-1, 1] and len(stream.predict([X])) == 1_000
    assert 0 < stream.n_samples_ < 1_000  # those before the chunk


def test_a_stream_passes_over_chunks_of_weight_zero(examples, monkeypatch):
    monkeypatch.setattr(local_blocks, "BLOCK_BYTES", 1_000)
    monkeypatch.setattr(random_rows, "ROWS", 50)
    X, y = examples(500, 3)
    weights = np.repeat([0.0, 1.0, 0.0], [160, 240, 100])  # chunks have 80 rows here
    model = ROCSVC(random_state=0)
    stream = Distributed(model).partial_fit([X], y, sample_weight=weights)
    plain = Distributed(model).partial_fit([X[160:400]], y[160:400], sample_weight=weights[160:400])
    assert np.array_equal(stream.estimator_.coef_, plain.estimator_.coef_)
    for bad, message in ((np.zeros(500), "at least one non-zero"), (-weights, "at least 0")):
        fresh = Distributed(model)
        with pytest.raises(ValueError, match=message):
            fresh.partial_fit([X], y, sample_weight=bad)
        assert not hasattr(fresh, "estimator_")


@pytest.mark.filterwarnings("error::UserWarning")
def test_a_stream_keeps_the_names_of_columns_and_counts_rows(examples):
    pandas = pytest.importorskip("pandas")
    X, y = examples(400, 3)
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    model = DoublyStochasticClassifier(batch_size=64, block_size=16, max_iter=5, precondition=False, random_state=0)
    stream = Distributed(model).partial_fit([frame], y)
    plain = clone(model).partial_fit(frame, y)
    for rows in (frame, [frame], [X]):
        assert np.array_equal(stream.decision_function(rows), plain.decision_function(frame))
    stream.partial_fit([frame[:100]], y[:100], sample_weight=np.r_[np.zeros(40), np.ones(60)])
    assert stream.n_samples_ == 500 and list(stream.feature_names_in_) == ["a", "b", "c"]
    fitted = Distributed(model).fit([frame], y)
    fitted.partial_fit([X[:100]], y[:100])
    assert fitted.n_samples_ == 500 and list(fitted.estimator_.feature_names_in_) == ["a", "b", "c"]
