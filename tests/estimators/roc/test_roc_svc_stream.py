"""ROCSVC.partial_fit: a stream gives about the model of fit."""

import inspect
import pickle
import re
from copy import deepcopy

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from kernbench import ROCSVC, load
from kernbench.estimators.fit.outcome import OF_AN_OUTCOME
from kernbench.estimators.roc.stream import Reservoir, Stream, _in_turn
from kernbench.metrics import roc_auc


def draw(n, rng):
    X = rng.standard_normal((n, 3))
    return X, (X[:, 0] + X[:, 1] + rng.standard_normal(n) > 1.5).astype(int)


def stream(model, n_batches, batch=100, seed=0, classes=(0, 1)):
    rng = np.random.default_rng(seed)
    for _ in range(n_batches):
        model.partial_fit(*draw(batch, rng), classes=classes)
    return model


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "log_loss", "squared"])
def test_stream_approaches_the_minimiser(loss):
    X, y = draw(20_000, np.random.default_rng(99))
    best = ROCSVC(alpha=0.1, loss=loss).fit(X, y).coef_
    errors = [
        np.linalg.norm(stream(ROCSVC(alpha=0.1, loss=loss, random_state=0), n).coef_ - best) / np.linalg.norm(best)
        for n in (3, 150)
    ]
    assert errors[1] < 0.06
    assert errors[1] < 0.5 * errors[0]


@pytest.mark.parametrize("features", ["nystroem", "random"])
def test_kernel_streams_rank_as_well_as_fits(features):
    rng = np.random.default_rng(0)

    def radial(n):
        X = rng.standard_normal((n, 2))
        return X, (np.square(X).sum(axis=1) + rng.standard_normal(n) > 3.5).astype(int)

    X, y = radial(4000)
    X_new, y_new = radial(4000)
    settings = {
        "kernel": "rbf",
        "features": features,
        **({"n_landmarks": 50} if features == "nystroem" else {"n_features": 100}),
        "random_state": 0,
    }
    whole = ROCSVC(**settings).fit(X, y)
    model = ROCSVC(**settings)
    for start in range(0, 4000, 500):
        model.partial_fit(X[start : start + 500], y[start : start + 500])
    assert roc_auc(y_new, model.decision_function(X_new)) > roc_auc(y_new, whole.decision_function(X_new)) - 0.01


def test_reservoir_is_a_fair_draw_of_the_stream():
    rng = np.random.default_rng(0)
    rows, weights = np.arange(30.0)[:, None], np.tile([1.0, 2.0, 3.0], 10)
    counts = np.zeros(30)
    for _ in range(300):
        reservoir = Reservoir()
        for batch in (slice(0, 5), slice(5, 6), slice(6, 30)):
            reservoir.join(rows[batch], weights[batch], 100, rng)
        counts += np.bincount(reservoir.rows[:, 0].astype(int), minlength=30)
    expected = counts.sum() * weights / weights.sum()
    assert np.sum((counts - expected) ** 2 / expected) < 81  # chi-squared with 29 degrees: more has probability 1e-6


def test_rows_come_in_proportion_to_their_weights():
    rng = np.random.default_rng(0)
    assert np.bincount(_in_turn(rng, np.array([1.0, 3.0]), 4000)) == pytest.approx([1000, 3000], rel=0.1)
    assert np.bincount(_in_turn(rng, np.ones(3), 6)).tolist() == [2, 2, 2]


def test_batches_may_lack_a_class():
    X, y = draw(200, np.random.default_rng(0))
    model = ROCSVC(random_state=0)
    model.partial_fit(X[y == 0], y[y == 0], classes=[0, 1])
    assert not model.coef_.any() and model.n_iter_ == 0
    model.partial_fit(X[y == 1], y[y == 1])
    assert roc_auc(y, model.decision_function(X)) > 0.8


def test_threshold_holds_on_fresh_rows():
    model = stream(ROCSVC(threshold=("sensitivity", 0.8), random_state=0), 50)
    X, y = draw(5000, np.random.default_rng(5))
    assert 0.75 < model.predict(X)[y == 1].mean() < 0.85


def test_sparse_batches_are_dense_batches():
    rng = np.random.default_rng(0)
    model, other = ROCSVC(random_state=0), ROCSVC(random_state=0)
    for _ in range(3):
        X, y = draw(100, rng)
        model.partial_fit(X, y)
        other.partial_fit(sparse.csr_matrix(X), y)
    np.testing.assert_allclose(other.coef_, model.coef_, rtol=1e-9)


@pytest.mark.parametrize("sparse_batches", [(0,), (1,), (0, 2), (1, 2)])
def test_sparse_and_dense_batches_may_alternate(sparse_batches):
    rng = np.random.default_rng(0)
    model, other = ROCSVC(random_state=0), ROCSVC(random_state=0)
    for k in range(4):
        X, y = draw(100, rng)
        if k == 2:  # of one class: the reservoirs may be of both kinds
            X, y = X[y == 1], y[y == 1]
        model.partial_fit(X, y)
        other.partial_fit(sparse.csr_matrix(X) if k in sparse_batches else X, y)
    np.testing.assert_allclose(other.coef_, model.coef_, rtol=1e-9)


def test_pickled_stream_goes_on():
    model = stream(ROCSVC(random_state=0), 3)
    other = pickle.loads(pickle.dumps(model))
    X, y = draw(100, np.random.default_rng(7))
    np.testing.assert_array_equal(model.partial_fit(X, y).coef_, other.partial_fit(X, y).coef_)


@pytest.mark.parametrize("n_steps", [0, 3, "all, before the threshold"])
def test_ctrl_c_leaves_the_stream_as_it_was(n_steps, monkeypatch):
    """Rows of the batch would count twice when it is given again."""
    model, (X, y) = stream(ROCSVC(random_state=0), 3), draw(100, np.random.default_rng(7))
    before, counted, kept = (
        model.coef_,
        model.n_iter_,
        [reservoir.rows.copy() for reservoir in model._stream.reservoirs],
    )
    expected = deepcopy(model).partial_fit(X, y)
    step, done = Stream.step, []

    def interrupted(self, *args):
        if len(done) == n_steps:
            raise KeyboardInterrupt
        done.append(step(self, *args))

    def interrupt(model, stream):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Stream, "step", interrupted)
        patch.setattr("kernbench.estimators.roc.stream._set_threshold", interrupt)
        model.partial_fit(X, y)
    assert model.coef_ is before and model.n_iter_ is counted and counted[0] < expected.n_iter_[0]
    for reservoir, rows in zip(model._stream.reservoirs, kept, strict=True):
        np.testing.assert_array_equal(reservoir.rows, rows)
    again = model.partial_fit(X, y)
    np.testing.assert_array_equal(again.coef_, expected.coef_)
    np.testing.assert_array_equal([again.intercept_, again.n_iter_], [expected.intercept_, expected.n_iter_])


def test_the_average_of_the_iterates_weighs_the_later_ones_more():
    """In proportion to their number; the start counts for nothing."""
    rng = np.random.default_rng(0)
    steps, iterates = Stream(None, rng, 1, np.ones(3), np.ones(3)), []
    for _ in range(5):
        steps.step(rng.normal(size=(4, 3)), 0.1, lambda margins: margins - 1.0, 1.0)
        iterates.append(steps.coef)
    np.testing.assert_allclose(steps.average, np.average(iterates, axis=0, weights=np.arange(1, 6)), rtol=1e-12)


def test_fit_is_gone_on_from():
    X, y = draw(2000, np.random.default_rng(0))
    model = ROCSVC(alpha=0.1, random_state=0).fit(X, y)
    before = model.coef_.copy()
    stream(model, 5, seed=1)
    assert 0 < np.linalg.norm(model.coef_ - before) < 0.1 * np.linalg.norm(before)
    assert not hasattr(model, "objective_") and not hasattr(model, "trace_")
    again = ROCSVC(alpha=0.1, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.fit(X, y).coef_, again.coef_)


@pytest.mark.parametrize("settings", [{}, {"kernel": "rbf", "features": "nystroem"}], ids=str)
def test_a_batch_of_one_class_leaves_the_model_of_fit_as_it_is(settings):
    """Its threshold became 0."""
    X, y = draw(300, np.random.default_rng(0))
    model = ROCSVC(threshold=("sensitivity", 0.8), random_state=0, **settings).fit(X, y)
    expected = model.predict(X)
    np.testing.assert_array_equal(model.partial_fit(X[y == 0], y[y == 0]).predict(X), expected)
    assert 0 < expected.sum() < 300


def test_a_stream_that_restarts_after_an_exact_fit_has_no_threshold_yet():
    X, y = draw(300, np.random.default_rng(0))
    model = ROCSVC("rbf", threshold=("sensitivity", 0.8), random_state=0).fit(X, y)
    assert model.features_ == "exact" and model.intercept_ != 0
    assert model.partial_fit(X[y == 0], y[y == 0]).intercept_ == 0


def test_number_of_pairs_is_the_number_of_steps():
    X, y = draw(100, np.random.default_rng(0))
    steps = [ROCSVC(pairs=pairs).partial_fit(X, y).n_iter_[0] for pairs in ("all", "n_samples", 320)]
    assert steps == [25, 4, 10]  # of 32 pairs


@pytest.mark.parametrize("is_from_file", [False, True])
def test_steps_after_a_fit_are_those_of_the_batches(is_from_file, tmp_path):
    """The solution of a fit stands for 10,000 steps, which were counted."""
    X, y = draw(100, np.random.default_rng(0))
    model = ROCSVC(random_state=0).fit(X, y).partial_fit(X, y)
    if is_from_file:
        model.save(tmp_path / "model.npz")
        model = load(tmp_path / "model.npz")
    assert model.n_iter_ == 25 and model.partial_fit(X, y).n_iter_ == 50


def test_attributes_of_a_run_of_fit_are_removed_and_the_documentation_says_so():
    X, y = draw(100, np.random.default_rng(0))
    model = ROCSVC(random_state=0).fit(X, y)
    documented = re.search(r"\n(converged_ :.*?\ntrace_ :.*?)\n\w", inspect.getdoc(ROCSVC), re.DOTALL)[1]
    of_a_run = set(re.findall(r"(?m)^(\w+_) :", documented))
    assert "`partial_fit` removes them" in " ".join(documented.split())
    before = set(vars(model))
    assert before - set(vars(model.partial_fit(X, y))) == of_a_run < set(OF_AN_OUTCOME)


def test_weights_of_zero_leave_rows_out():
    X, y = draw(200, np.random.default_rng(0))
    keep = np.arange(200) < 120
    model = ROCSVC(random_state=0).partial_fit(X, y, sample_weight=keep.astype(float))
    other = ROCSVC(random_state=0).partial_fit(X[keep], y[keep])
    np.testing.assert_array_equal(model.coef_, other.coef_)
    with pytest.raises(ValueError, match="non-zero"):
        model.partial_fit(X, y, sample_weight=np.zeros(200))


def test_size_of_the_reservoirs_is_fixed_by_the_first_batch():
    model = stream(ROCSVC(random_state=0, reservoir_size=10), 2)
    stream(model.set_params(reservoir_size=50), 2)
    assert all(reservoir.rows.shape == (10, 3) for reservoir in model._stream.reservoirs)


def test_labels_are_checked():
    X, y = draw(50, np.random.default_rng(0))
    with pytest.raises(ValueError, match="pass classes"):
        ROCSVC().partial_fit(X[y == 0], y[y == 0])
    with pytest.raises(ValueError, match="OneVsRestClassifier"):
        ROCSVC().partial_fit(X, y, classes=[0, 1, 2])
    model = ROCSVC().partial_fit(X, y)
    with pytest.raises(ValueError, match="not among the classes"):
        model.partial_fit(X, y + 1)
    with pytest.raises(ValueError, match="not those"):
        model.partial_fit(X, y, classes=[0, 2])
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(X[:, :2], y)


def test_clone_forgets():
    model = clone(stream(ROCSVC(random_state=0), 2))
    np.testing.assert_array_equal(stream(model, 2).coef_, stream(ROCSVC(random_state=0), 2).coef_)
