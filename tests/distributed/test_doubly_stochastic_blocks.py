"""Doubly stochastic models on rows in blocks: one model however the rows are cut, as good as that of the array."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernbench import (
    DoublyStochasticClassifier,
    DoublyStochasticDensityRatio,
    DoublyStochasticGPRegressor,
    DoublyStochasticNoveltyDetector,
    DoublyStochasticRegressor,
)
from kernbench.distributed import Distributed
from kernbench.distributed.streaming.doubly_sgd import BlockBatches
from kernbench.distributed.streaming.fixed_point import as_floats, exponent_for, is_fit, rounded_sum
from kernbench.distributed.streaming.gradients import Stratum
from kernbench.distributed.streaming.strata import Order, draw, joined, strata_of

N = 3_000
SMALL = {"batch_size": 256, "block_size": 32, "random_state": 0, "max_iter": 24}
WINDOW_OFF = {"solver_options": {"window": 0}}  # of the array: rows in blocks have none
pytestmark = pytest.mark.filterwarnings("ignore:.*steps of .* rows are so noisy")
MODELS = {
    "hinge": DoublyStochasticClassifier(**SMALL),
    "plain": DoublyStochasticClassifier(precondition=False, average="tail", loss="squared_hinge", **SMALL),
    "softmax": DoublyStochasticClassifier(loss="log_loss", class_weight="balanced", **SMALL),
    "one-against-rest": DoublyStochasticClassifier(shuffle=False, **SMALL),
    "squares": DoublyStochasticRegressor(max_blocks=3, **SMALL),
    "absolute": DoublyStochasticRegressor(loss="absolute_error", **SMALL),
    "gp": DoublyStochasticGPRegressor(**SMALL),
}


def targets_of(name, X, y):
    if name in ("softmax", "one-against-rest"):
        return np.where(X[:, 1] > 1, 2, y)
    return y if name in ("hinge", "plain") else X[:, 0] - np.sin(X[:, 1])


@pytest.mark.parametrize("name", MODELS)
def test_cuts_change_no_bit_and_the_model_is_as_good_as_that_of_the_array(name, examples, in_files):
    X, y = examples(N, 4)
    target, model = targets_of(name, X, y), MODELS[name]
    weights = np.arange(N) % 3 if name == "hinge" else None  # some are 0
    weighted = {} if weights is None else {"sample_weight": weights}
    plain = clone(model).set_params(**WINDOW_OFF).fit(X, target, **weighted)
    found = [
        Distributed(model).fit(data, target, weights) for data in (in_files(X, (700,)), [X[:1], X[1:2_000], X[2_000:]])
    ]
    assert np.array_equal(found[0].estimator_.block_coef_, found[1].estimator_.block_coef_)
    assert found[0].estimator_.objective_ == pytest.approx(plain.objective_, rel=0.1)
    assert found[0].score([X], target) >= plain.score(X, target) - 0.03
    assert found[0].estimator_.n_iter_ == plain.n_iter_
    assert found[0].score([X], target) == pytest.approx(found[0].estimator_.score(X, target), abs=1e-12)


def test_small_batches_are_warned_about_since_there_is_no_window(examples):
    X, y = examples(N, 4)
    with pytest.warns(UserWarning, match="DoublyStochasticClassifier.* steps of 256 rows .* Raise batch_size to 1024"):
        Distributed(DoublyStochasticClassifier(**{**SMALL, "max_iter": 2})).fit([X], y)


def test_a_step_on_all_rows_is_that_of_the_array(examples):
    """With one batch of all rows nothing is drawn, and sums differ by rounding alone."""
    X, y = examples(500, 3)
    for model in (
        DoublyStochasticClassifier(batch_size=500, block_size=16, max_iter=3, random_state=0),
        DoublyStochasticRegressor(batch_size=500, block_size=16, max_iter=3, precondition=False, random_state=0),
    ):
        plain = clone(model).fit(X, y)
        found = Distributed(model).fit([X], y).estimator_
        np.testing.assert_allclose(found.block_coef_, plain.block_coef_, rtol=1e-7, atol=1e-9)
        assert found.objective_ == pytest.approx(plain.objective_, rel=1e-9)


def test_the_standard_deviations_of_a_gaussian_process_are_as_good_as_those_of_the_array(examples, in_files):
    X, y = examples(N, 2)
    for options in ({}, {"precondition": False, "step_size": 0.5}):
        model = DoublyStochasticGPRegressor(
            std="operator", max_blocks=2, batch_size=512, block_size=32, max_iter=16, random_state=0, **options
        )
        target = np.sin(X[:, 0])
        plain = clone(model).fit(X, target)
        found = [Distributed(model).fit(data, target) for data in (in_files(X, (700,)), [X[:1], X[1:]])]
        assert np.array_equal(found[0].estimator_.operator_coef_, found[1].estimator_.operator_coef_)
        assert found[0].estimator_.n_samples_ == N
        rows = X[:100]
        mean, std = found[0].predict(rows, return_std=True)
        np.testing.assert_allclose(mean, plain.predict(rows), atol=0.1)
        np.testing.assert_allclose(std, plain.predict(rows, return_std=True)[1], atol=0.15)
        assert np.array_equal(found[0].predict([rows], return_std=True)[1], std)


def test_a_gaussian_process_on_one_batch_is_that_of_the_array(examples):
    X, y = examples(500, 2)
    model = DoublyStochasticGPRegressor(std="operator", block_size=40, random_state=0)
    plain, found = clone(model).fit(X, X[:, 0]), Distributed(model).fit([X[:7], X[7:]], X[:, 0])
    assert found.estimator_.n_iter_ == plain.n_iter_ == 1
    np.testing.assert_allclose(found.predict(X), plain.predict(X), atol=1e-6)
    expected = plain.predict(X, return_std=True)[1]
    np.testing.assert_allclose(found.predict(X, return_std=True)[1], expected, atol=1e-4)


def test_novelty_is_learned_from_rows_alone(examples, in_files):
    X, y = examples(N, 3)
    model = DoublyStochasticNoveltyDetector(nu=0.2, **{**SMALL, "max_iter": 60})
    weights = np.arange(N) % 3
    plain = clone(model).fit(X, sample_weight=weights)
    found = [
        Distributed(model).fit(data, sample_weight=weights)
        for data in (in_files(X, (700,)), [(X[:9], y[:9]), (X[9:], y[9:])])
    ]
    model = found[0].estimator_
    assert np.array_equal(model.block_coef_, found[1].estimator_.block_coef_)
    assert model.offset_ == found[1].estimator_.offset_ == pytest.approx(plain.offset_, rel=0.1)
    assert np.mean(found[0].predict([X]) == plain.predict(X)) > 0.95
    assert np.array_equal(found[0].score_samples(X), model.score_samples(X))
    assert not hasattr(found[0], "score")
    stream = Distributed(DoublyStochasticNoveltyDetector(random_state=0)).partial_fit([X]).partial_fit([X])
    assert stream.estimator_.n_iter_ > 0


def test_a_density_ratio_is_learned_from_two_samples(in_files):
    rng = np.random.default_rng(0)
    P, Q = rng.normal(0.0, 1.0, size=(2_000, 1)), rng.normal(0.5, 1.0, size=(700, 1))
    model = DoublyStochasticDensityRatio(batch_size=512, block_size=32, max_iter=40, random_state=0)
    plain = clone(model).fit(P, Q)
    found = [Distributed(model).fit(data, [Q[:300], Q[300:]]) for data in (in_files(P, (5,)), P)]
    assert np.array_equal(found[0].estimator_.block_coef_, found[1].estimator_.block_coef_)
    x = np.linspace(-1, 1, 21)[:, None]
    np.testing.assert_allclose(found[0].log_ratio(x), plain.log_ratio(x), atol=0.15)
    np.testing.assert_allclose(found[0].ratio([x[:5], x[5:]]), found[0].estimator_.ratio(x), rtol=1e-4)
    assert found[0].estimator_.objective_ == pytest.approx(plain.objective_, abs=0.05)
    for arguments, message in (
        ((P,), r"fit\(P, Q\)"),
        ((P, Q[:0]), "no rows"),
        ((P, Q, np.ones(2_700)), "no sample_weight"),
    ):
        with pytest.raises(ValueError, match=message):
            Distributed(model).fit(*arguments)
    with pytest.raises(ValueError, match="a chunk of each"):
        Distributed(model).partial_fit(P, Q)


def test_a_step_on_all_rows_of_two_samples_is_that_of_the_array():
    rng = np.random.default_rng(0)
    P, Q = rng.normal(0.0, 1.0, size=(200, 2)), rng.normal(0.5, 1.0, size=(200, 2))
    model = DoublyStochasticDensityRatio(batch_size=512, block_size=16, max_iter=3, random_state=0)
    plain, found = clone(model).fit(P, Q), Distributed(model).fit([P], [Q]).estimator_
    assert found.objective_ == pytest.approx(plain.objective_, rel=1e-9)
    np.testing.assert_allclose(found.block_coef_, plain.block_coef_, rtol=1e-7, atol=1e-9)


def test_both_samples_of_a_batch_have_the_same_mass():
    both = joined([draw([50, 50], 0, 60, 1), draw([20], 0, 15, 3)])
    assert len(both) == 75 and both.numbers.tolist() == [1, 1, 3]
    mass = both.weights * (both.spans[:, 1] - both.spans[:, 0])
    assert mass[:2].sum() == pytest.approx(75) and mass[2] == pytest.approx(75)


def test_sparse_chunks_and_pipelines(examples):
    X, y = examples(N, 4, is_sparse=True)
    model = MODELS["hinge"]
    one = Distributed(model).fit([X], y).estimator_
    assert np.array_equal(Distributed(model).fit([X[:9], X[9:]], y).estimator_.block_coef_, one.block_coef_)
    X = X.toarray()
    piped = Distributed(make_pipeline(StandardScaler(), model)).fit([X[:9], X[9:]], y)
    assert piped.score([X], y) > 0.7 and piped.estimator_.score(X, y) == pytest.approx(piped.score([X], y))


def test_text_that_does_not_fit_memory_is_refused(tmp_path, examples):
    X, y = examples(200, 3)
    np.savetxt(tmp_path / "x.csv", np.column_stack([X, y]), delimiter=",")
    with pytest.raises(ValueError, match="write the rows as .npy"):
        Distributed(MODELS["hinge"], memory=100).fit(tmp_path, 3)
    assert Distributed(MODELS["hinge"]).fit(tmp_path, 3).estimator_.n_features_in_ == 3
    sparse_rows = sparse.csr_matrix(X)  # which are in memory anyway
    assert Distributed(MODELS["hinge"], memory=0).fit([sparse_rows], y).estimator_.n_features_in_ == 3


def test_what_is_not_done_on_blocks_is_refused(examples):
    X, y = examples(200, 3)
    for model, message in (
        (DoublyStochasticGPRegressor(std="points"), "std='operator'"),
        (make_pipeline(StandardScaler(), DoublyStochasticDensityRatio()), "transform both"),
        (DoublyStochasticClassifier(warm_start=True), "warm_start"),
        (DoublyStochasticClassifier(kernel="precomputed"), "kernel"),
        (DoublyStochasticClassifier(step_size=1e9, precondition=False, loss="squared_hinge"), "diverges"),
    ):
        with pytest.raises(ValueError, match=message):
            Distributed(model).fit([X], y)
    with pytest.raises(ValueError, match="no path"):
        Distributed(MODELS["hinge"]).path([X], y, [1.0])


@pytest.mark.parametrize("n_rows, batch_size", [(64, 1), (1_000, 7), (1_001, 300), (5_000, 4_000)])
def test_each_row_is_drawn_once_in_a_pass(n_rows, batch_size):
    edges = strata_of(n_rows, batch_size)
    orders = [Order(k, int(b - a), 3, True) for k, (a, b) in enumerate(zip(edges[:-1], edges[1:]))]
    counts = [order.rows for order in orders]
    seen, sizes = [], []
    for start in range(0, n_rows, batch_size):
        rows = draw(counts, start, min(start + batch_size, n_rows), 2)
        sizes.append(len(rows))
        for begin, order, span in zip(edges, orders, rows.spans):
            seen.append(begin + order.between(2, *span))
    assert np.array_equal(np.sort(np.concatenate(seen)), np.arange(n_rows))
    assert max(sizes) <= batch_size + len(orders)


def test_small_batches_have_rows_of_some_strata_in_turn():
    batches = [draw([10] * 8, start, start + 4, 0) for start in range(0, 80, 4)]
    assert [len(batch) for batch in batches] == [4] * 20


def test_a_pass_begins_also_with_an_empty_batch():
    strata = [Stratum(None, None, None, Order(k, n, 3, True)) for k, n in enumerate([100] * 7 + [20])]
    batches = BlockBatches(None, strata, n_features=1, dtype="float64", batch_size=1)
    drawn = [batches.next() for _ in range(1_500)]
    assert drawn[0].begins_pass
    assert [batch.n_pass for batch in drawn if batch.begins_pass] == list(range(drawn[-1].n_pass + 1))


def test_sums_of_integers_do_not_depend_on_the_grouping():
    rng = np.random.default_rng(0)
    terms = [rng.normal(size=5) * 10.0**k for k in range(-3, 4)]
    exponent = exponent_for(max(np.abs(term).max() for term in terms))
    whole = rounded_sum(terms, exponent)
    assert np.array_equal(rounded_sum(terms[:2], exponent) + rounded_sum(terms[:1:-1], exponent), whole)
    np.testing.assert_allclose(as_floats(whole, exponent), np.sum(terms, axis=0), rtol=1e-9)
    assert is_fit(exponent, 1e3) and not is_fit(exponent, 1e9) and not is_fit(exponent, 1e-9)


def test_each_stratum_has_an_order_of_its_own_in_each_pass():
    orders = {tuple(Order(k, 20, 3, True).between(number, 0, 20)) for k in range(3) for number in range(3)}
    assert len(orders) == 9


def test_a_model_of_blocks_starts_anew_with_other_features(examples):
    X, y = examples(500, 3)
    for change, n_before in (({}, SMALL["max_iter"]), ({"gamma": 4.0}, 0)):
        model = Distributed(DoublyStochasticClassifier(gamma=1.0, **SMALL)).fit([X], y).estimator_
        assert model.set_params(**change).partial_fit(X, y).n_iter_ == [n_before + 2]
