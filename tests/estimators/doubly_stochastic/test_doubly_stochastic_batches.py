"""Batches and blocks that are chosen from the number of rows."""

import numpy as np
import pytest
from doubly_stochastic_cases import LABELS, X

from kernbench import DoublyStochasticClassifier
from kernbench.estimators.doubly_stochastic import parameters


@pytest.mark.parametrize("n_rows", [50_000, 60_000, 65_535, 522_911, 10**6 + 1])
def test_large_batches_leave_no_small_rest(n_rows):
    model = DoublyStochasticClassifier()
    rows = parameters.batch_size_of(model, n_rows)
    assert 3600 < rows < 4400
    assert (n_rows - 1) % rows + 1 > 0.9 * rows
    block = parameters.block_size_of(model, n_rows)
    assert block % 2 == 0 and rows - 8 < 4 * block <= rows
    assert parameters.batch_size_of(model, n_rows, block) == rows
    assert parameters.batch_size_of(model, np.inf, block) == 4 * block


@pytest.mark.parametrize("settings", [{}, {"precondition": False}, {"batch_size": 1024}])
def test_batches_are_small_for_few_rows_streams_and_algorithm_1(settings):
    model = DoublyStochasticClassifier(**settings)
    model.classes_ = [0, 1]
    for n_rows in (49_999, np.inf, *([10**6] if settings else [])):
        assert parameters.batch_size_of(model, n_rows) == 1024
        assert parameters.block_size_of(model, n_rows) == 256
        assert parameters.steps_of(model, n_rows) == (
            (1.0, "bounded") if "precondition" in settings else (0.3, "published")
        )
        assert model._fewest_steps(n_rows) == 100


def test_the_steps_of_few_large_batches_are_longer():
    model = DoublyStochasticClassifier()
    model.classes_ = [0, 1]
    lengths = [parameters.steps_of(model, n_rows)[0] for n_rows in (50_000, 204_800, 10**6)]
    np.testing.assert_allclose(lengths, [0.9, 0.6, 0.3])


def test_a_fit_of_large_batches_is_one_pass_and_goes_on(monkeypatch):
    for name, value in {"BATCH": 16, "LARGE_BATCH": 128, "MANY_ROWS": 400}.items():
        monkeypatch.setattr(parameters, name, value)
    assert len(X) >= 400
    model = DoublyStochasticClassifier(random_state=0, warm_start=True, max_iter=2).fit(X, LABELS)
    few, rows = model.block_coef_.shape[1], parameters.batch_size_of(model, len(X))
    assert few == rows // 8 * 2 > parameters.BATCH
    model.fit(X, LABELS)
    once = DoublyStochasticClassifier(random_state=0, max_iter=4).fit(X, LABELS)
    np.testing.assert_array_equal(model.block_coef_, once.block_coef_)  # the same batches
    whole = DoublyStochasticClassifier(random_state=0).fit(X, LABELS)
    assert whole.n_iter_ == [-(-len(X) // rows)]
    whole.partial_fit(X[: 4 * few], LABELS[: 4 * few])
    assert whole.block_coef_.shape[1] == few and whole.n_iter_ == [-(-len(X) // rows) + 1]
