"""The trainer: conventions, looks and states, limits."""

import copy
import pickle
import warnings
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("torch", reason="kernbench.deep needs PyTorch")

import torch
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from small_fits import FAST, RANGE, Items, trained
from torch import nn
from torch.utils.data import TensorDataset

from kernbench.deep import MLP, DeepPartialAUCClassifier, Linear
from kernbench.deep.trainer.examples import Examples, labels_of
from kernbench.deep.trainer.loop import Run
from kernbench.deep.trainer.methods import METHODS
from kernbench.metrics import partial_auc


def same(first, second):
    return all(torch.equal(a, b) for a, b in zip(first.values(), second.values(), strict=True))


class Noisy(Items):
    """Items that are augmented by PyTorch's random numbers whenever they are fetched."""

    def __getitem__(self, k):
        inputs, label = super().__getitem__(k)
        return inputs + torch.randn(inputs.shape), label


class Shifted(TensorDataset):
    """Items that are not those of its tensors."""

    def __getitem__(self, k):
        inputs, label = super().__getitem__(k)
        return inputs + 5.0, 1 - label


# --- what a fit finds ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_every_method_learns_to_rank(rows, method):
    model = trained(rows, method=method, max_epochs=12)
    X, y = rows
    assert partial_auc(y, model.decision_function(X), RANGE) > 0.85
    assert model.status_ == "finished" and model.n_iter_ == 12 * 12  # 180 rows, batches of 16
    assert model.trace_["n_iter"] == list(range(0, 145, 12))


def test_cross_entropy_on_a_linear_module_is_logistic_regression(rows):
    X, y = rows
    model = trained(rows, lambda: Linear(6, bias=True), method="cross-entropy", learning_rate=0.05, max_epochs=60,
                    validation=None, keep="last", method_options={"decay_every": 40})  # fmt: skip
    truth = LogisticRegression(C=np.inf).fit(X, y)
    assert np.allclose(model.predict_proba(X), truth.predict_proba(X), atol=0.05)


def test_balanced_cross_entropy_is_balanced_logistic_regression_with_the_probabilities_of_all_rows(rows):
    X, y = rows
    model = trained(rows, lambda: Linear(6, bias=True), method="cross-entropy", learning_rate=0.05, max_epochs=60,
                    validation=None, keep="last", n_positive=24, n_negative=24,
                    method_options={"decay_every": 40, "balanced": True})  # fmt: skip
    truth = LogisticRegression(C=np.inf, class_weight="balanced").fit(X, y)
    log_odds = truth.decision_function(X) + np.log(np.mean(y == 1) / np.mean(y == 0))
    assert np.allclose(model.predict_proba(X)[:, 1], 1 / (1 + np.exp(-log_odds)), atol=0.05)


@pytest.mark.parametrize("method", METHODS)
def test_one_seed_one_model(rows, method):
    first, second, other = (trained(rows, method=method, random_state=seed) for seed in (1, 1, 2))
    assert same(first.last_state_, second.last_state_) and not same(first.last_state_, other.last_state_)


def test_the_random_numbers_of_torch_are_those_of_before(rows):
    torch.manual_seed(5)
    before = torch.get_rng_state()
    trained(rows, lambda: nn.Sequential(nn.Linear(6, 4), nn.Dropout(), nn.Linear(4, 1)))
    assert torch.equal(torch.get_rng_state(), before)


def test_looks_do_not_change_the_path(rows):
    often, rarely = (trained(rows, look_every=steps, keep="last") for steps in (1, 12))
    assert same(often.last_state_, rarely.last_state_)
    assert len(often.trace_["n_iter"]) == 25 and len(rarely.trace_["n_iter"]) == 3


@pytest.mark.parametrize(
    "method, options, rates",
    [
        ("agd-sbcd", {"inner_steps": 3}, [0.1, 0.05, 0.05, 0.05, 0.1 / 3]),  # stages end after 3 and 15 steps
        ("minibatch", {}, [0.1, 0.1 / 4**0.5, 0.1 / 8**0.5, 0.1 / 12**0.5]),
        ("cross-entropy", {"decay_every": 1}, [0.1, 0.1, 0.1, 0.01, 0.01]),
        ("auc-margin", {"decay_every": 1}, [0.1, 0.1, 0.1, 0.01, 0.01]),
    ],
)
def test_the_trace_has_the_step_size_now(rows, method, options, rates):
    model = trained(rows, Linear(6), method=method, method_options=options, learning_rate=0.1, look_every=4)
    looks = [0, 4, 8, 12, 16]
    assert model.trace_["n_iter"][:5] == looks and model.trace_["epoch"][:5] == [n / 12 for n in looks]
    assert model.trace_["learning_rate"][: len(rates)] == pytest.approx(rates)


def test_the_loss_of_a_look_is_the_mean_since_the_last_one():
    module = nn.Linear(2, 1)
    method = SimpleNamespace(
        module=module, judged_weights=lambda: nullcontext(module), steps_per_epoch=4, learning_rate=0.1
    )
    run = Run(method, None, RANGE, n_iter=2, losses=[1.0, 3.0])
    run.evaluate()
    run.losses.append(5.0)
    run.evaluate()
    assert run.trace.columns["loss"] == [2.0, 5.0]


def test_layers_keep_their_momentum(rows):
    model = trained(rows, lambda: nn.Sequential(nn.BatchNorm1d(6, momentum=0.25), nn.Linear(6, 1)))
    assert model.module_[0].momentum == 0.25


def test_whole_numbers_of_a_dataset_stay_whole():
    """They may index an embedding."""
    tokens = TensorDataset(torch.arange(6).reshape(3, 2), torch.ones(3))
    like = torch.zeros(1, dtype=torch.float64)
    assert Examples(tokens, np.ones(3)).inputs(np.array([0, 2]), like).dtype == torch.int64
    assert Examples(np.ones((3, 2), dtype=int), np.ones(3)).inputs(np.array([0]), like).dtype == torch.float64


def test_looks_do_not_change_statistics_of_batch_normalisation_nor_random_numbers(rows):
    def normed():
        return nn.Sequential(nn.Linear(6, 4), nn.BatchNorm1d(4), nn.Dropout(), nn.Linear(4, 1))

    often, rarely = (trained(rows, normed, look_every=steps, keep="last") for steps in (1, 12))
    assert same(often.last_state_, rarely.last_state_)


def test_running_statistics_of_other_normalisations_are_left(rows):
    """Instance normalisation takes no mean without a momentum: reset, its statistics would stay at 0 and 1."""

    def normed():
        norm = nn.InstanceNorm1d(2, track_running_stats=True)
        return nn.Sequential(nn.Unflatten(1, (2, 3)), norm, nn.Flatten(), nn.Linear(6, 1))

    shifted = (rows[0].astype(np.float32) + 3.0, rows[1])
    model = trained(shifted, normed, keep="last")
    (mean,) = (value for name, value in model.last_state_.items() if name.endswith("running_mean"))
    assert (mean > 1.0).all()


def test_layers_kept_in_evaluation_mode_keep_their_statistics(rows):
    """As of a pre-trained network, which belong to all rows: reset, they would stay at 0 and 1."""

    class Frozen(nn.BatchNorm1d):
        def train(self, mode=True):
            return super().train(False)

    def pretrained():
        norm = Frozen(6)
        norm.running_mean.fill_(3.0)
        return nn.Sequential(norm, nn.BatchNorm1d(6), nn.Linear(6, 1))

    model = trained(rows, pretrained)
    assert (model.module_[0].running_mean == 3.0).all() and (model.module_[1].running_mean < -2.0).all()


def test_rows_in_half_precision_are_those_in_single(rows):
    X, y = torch.tensor(rows[0]).bfloat16(), torch.tensor(rows[1])
    scores = [trained((examples, y)).decision_function(examples) for examples in (X, X.float())]
    assert np.array_equal(*scores)


@pytest.mark.parametrize(
    "make",
    [
        Items,
        lambda X, y: TensorDataset(torch.tensor(X).float(), torch.tensor(y)),
        lambda X, y: TensorDataset(torch.tensor(X).float(), torch.tensor(y).bfloat16()),
    ],
)
def test_a_dataset_is_its_arrays(rows, make):
    X, y = rows
    of_arrays = trained((X.astype(np.float32), y))
    of_items = DeepPartialAUCClassifier(MLP, RANGE, **FAST).fit(make(X, y))
    assert same(of_arrays.last_state_, of_items.last_state_)
    assert np.array_equal(of_items.predict(make(X, y)), of_arrays.predict(X.astype(np.float32)))


def test_items_are_those_of_a_subclass_of_tensor_datasets(rows):
    X, y = rows
    seen = []

    class Spying(Linear):
        def forward(self, rows):
            seen.append(rows.mean().item())
            return super().forward(rows)

    items = Shifted(torch.zeros(X.shape), torch.tensor(y))
    model = DeepPartialAUCClassifier(lambda: Spying(6), RANGE, validation=None, **{**FAST, "max_epochs": 1})
    model.fit(items)
    assert set(seen) == {5.0}
    assert labels_of(items).tolist() == (1 - y).tolist()


def test_the_threshold_on_augmented_examples_depends_on_the_seed_only(rows):
    X, y = rows
    intercepts = []
    for elsewhere in (1, 2):
        torch.manual_seed(elsewhere)
        before = torch.get_rng_state()
        model = DeepPartialAUCClassifier(MLP, RANGE, validation=None, **{**FAST, "max_epochs": 1})
        intercepts.append(model.fit(Noisy(X, y)).intercept_[0])
        assert torch.equal(torch.get_rng_state(), before)
    assert intercepts[0] == intercepts[1]


def test_both_networks_of_agd_sbcd_see_the_same_augmented_batches(rows):
    X, y = rows
    seen = []

    class Recording(Linear):
        def forward(self, inputs):
            if self.training and torch.is_grad_enabled():
                seen.append(inputs.clone())
            return super().forward(inputs)

    model = DeepPartialAUCClassifier(lambda: Recording(6), RANGE, validation=None, **{**FAST, "max_epochs": 1})
    model.fit(Noisy(X, y))
    assert len(seen) > 2 and not torch.equal(seen[0], seen[2])
    for first, second in zip(seen[::2], seen[1::2], strict=True):
        assert torch.equal(first, second)


def test_images_and_text_labels(rows):
    X, y = rows
    images = (X[:, :4].reshape(-1, 1, 2, 2) * 40 + 128).clip(0, 255).astype(np.uint8)
    model = trained((images, np.where(y == 1, "yes", "no")), learning_rate=0.01)
    assert set(model.predict(images)) == {"no", "yes"} and model.example_shape_ == (1, 2, 2)
    with pytest.raises(ValueError, match="the model was fitted to"):
        model.predict(images[:, :, :1])


def test_images_in_another_order_of_bytes(rows):
    """As files of astronomy hold them."""
    images = rows[0].reshape(-1, 1, 2, 3).astype(np.float32)
    native, other = trained((images, rows[1])), trained((images.astype(images.dtype.newbyteorder()), rows[1]))
    assert same(native.last_state_, other.last_state_)


def test_the_module_given_is_left_as_it_was(rows):
    module = MLP(6)
    before = copy.deepcopy(module.state_dict())
    model = trained(rows, module)
    assert same(module.state_dict(), before) and not same(model.last_state_, before)


def test_clones_and_pickles(rows):
    model = DeepPartialAUCClassifier(MLP(6), RANGE, **FAST)
    fitted = clone(model).fit(*rows)
    assert clone(fitted).get_params()["n_positive"] == 8
    X = rows[0]
    assert np.array_equal(pickle.loads(pickle.dumps(fitted)).decision_function(X), fitted.decision_function(X))


def test_only_cross_entropy_has_probabilities(rows):
    assert hasattr(trained(rows, method="cross-entropy"), "predict_proba")
    assert not hasattr(trained(rows, method="minibatch"), "predict_proba")


# --- states, thresholds, limits -----------------------------------------------------------------------------


def test_the_best_state_is_that_of_the_best_look(rows):
    model = trained(rows, max_epochs=2, method="cross-entropy", learning_rate=0.5, look_every=1)
    found = model.trace_["validation_partial_auc"]
    assert model.validation_score_ == max(found[1:])
    assert model.best_n_iter_ == model.trace_["n_iter"][found.index(max(found[1:]), 1)]
    X = rows[0]
    best, last = model.decision_function(X), model.use("last").decision_function(X)
    assert same(model.module_.state_dict(), model.last_state_)
    assert np.array_equal(model.use("best").decision_function(X), best)
    assert 0 < model.best_n_iter_ < model.n_iter_ and not np.array_equal(best, last)


def test_the_first_weights_are_the_best_state_only_without_trained_ones(rows):
    model = trained(rows, method="minibatch", learning_rate=1e-9)  # all looks find the same score
    assert model.validation_score_ == model.trace_["validation_partial_auc"][0]
    assert model.best_n_iter_ == 24  # the latest of equal ones
    assert trained(rows, callback=lambda model: True).best_n_iter_ == 0


def test_other_rows_can_validate(rows):
    X, y = rows
    model = trained((X[:150], y[:150]), validation=(X[150:], y[150:]))
    assert model.validation_score_ == partial_auc(y[150:], model.decision_function(X[150:]), RANGE)
    of_items = DeepPartialAUCClassifier(MLP, RANGE, validation=Items(X[150:], y[150:]), **FAST)
    assert of_items.fit(Items(X[:150], y[:150])).validation_score_ == pytest.approx(model.validation_score_)


def test_a_dataset_can_validate_by_labels_given_beside_it(rows):
    """Items may have labels of more classes."""
    X, y = rows
    classes, parts = 2 * y + np.arange(200) % 2, (slice(150), slice(150, None))
    train, held = (Items(X[part], classes[part]) for part in parts)
    model = DeepPartialAUCClassifier(MLP, RANGE, validation=(held, y[150:]), **FAST).fit(train, y[:150])
    assert model.validation_score_ == partial_auc(y[150:], model.decision_function(held), RANGE)


def test_a_threshold_keeps_its_level(rows):
    X, y = rows
    model = trained(rows, validation=None, threshold="window")
    assert 0.4 <= np.mean(model.predict(X[y == 0]) == 1) <= 0.5
    for labels in (y, torch.tensor(y).bfloat16()):
        model.adjust_threshold(X, labels, ("sensitivity", 0.9))
        assert np.mean(model.predict(X[y == 1]) == 1) >= 0.9
    model.adjust_threshold(X, y, "window")
    assert 0.4 <= np.mean(model.predict(X[y == 0]) == 1) <= 0.5
    with pytest.raises(ValueError, match="y must hold both classes"):
        model.adjust_threshold(X, np.ones(200), "youden")


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_a_threshold_in_half_precision_is_near_its_level(rows, dtype):
    X, y = rows
    model = trained(rows, lambda: MLP(6).to(dtype), validation=None, threshold=("sensitivity", 0.9))
    assert 0.9 <= np.mean(model.predict(X[y == 1]) == 1) < 1.0


def test_early_stopping_counts_looks(rows):
    model = trained(rows, max_epochs=50, learning_rate=1e-9, patience=3)
    assert model.status_ == "early_stopping" and model.n_iter_ == (1 + 3) * 12


def test_time_budget(rows):
    model = trained(rows, max_epochs=10**6, max_seconds=0.05)
    assert model.status_ == "max_seconds" and model.trace_["n_iter"][-1] == model.n_iter_


def test_callbacks_see_a_model_and_end_the_run(rows):
    def judge(model):
        calls.append(model.decision_function(rows[0]).std())
        return {"spread": calls[-1]} if len(calls) < 3 else True

    calls = []
    model = trained(rows, max_epochs=50, callback=judge)
    assert model.status_ == "callback" and len(model.trace_["spread"]) == 3 and model.n_iter_ == 24


@pytest.mark.parametrize("validation", [0.1, None])
@pytest.mark.parametrize("method", ["agd-sbcd", "cross-entropy"])
def test_the_module_of_a_callback_is_in_evaluation_mode(rows, method, validation):
    """And what it does there changes no running statistics."""

    def normed():
        return nn.Sequential(nn.Linear(6, 4), nn.BatchNorm1d(4), nn.Dropout(), nn.Linear(4, 1))

    def look(model):
        modes.append(model.module_.training)
        model.module_(torch.ones(9, 6))

    modes, params = [], {"method": method, "validation": validation, "keep": "last"}
    looked, plain = trained(rows, normed, callback=look, **params), trained(rows, normed, **params)
    assert modes == [False] * 3 and same(looked.last_state_, plain.last_state_)


def test_probabilities_of_far_rows_are_0_and_1(rows):
    model = trained(rows, method="cross-entropy")
    far = 1e6 * np.vstack([rows[0][:5], -rows[0][:5]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert set(model.predict_proba(far).ravel()) == {0.0, 1.0}


def test_a_progress_bar_is_shown(rows, capsys):
    trained(rows, verbose=1)
    assert "DeepPartialAUCClassifier" in capsys.readouterr().out
