"""What the trainer refuses: parameters, devices, examples."""

import numpy as np
import pytest

pytest.importorskip("torch", reason="kernbench.deep needs PyTorch")

import torch
from small_fits import FAST, RANGE, Items, trained
from torch import nn
from torch.utils.data import IterableDataset, TensorDataset

from kernbench.deep import MLP, DeepPartialAUCClassifier


class Endless(IterableDataset):
    def __iter__(self):
        yield from ()


@pytest.mark.parametrize(
    "params, said",
    [
        ({"fpr_range": (0.5, 0.05)}, "fpr_range"),
        ({"fpr_range": (0.5, 0.5)}, "fpr_range"),
        ({"method": "agd"}, "agd-sbcd"),
        ({"module": "resnet"}, "module must be a torch.nn.Module"),
        ({"module": lambda: 3}, "returned int"),
        ({"module": lambda: nn.Linear(6, 2)}, "2 columns"),
        ({"n_positive": 0}, "n_positive must be a positive integer"),
        ({"learning_rate": -1.0}, "learning_rate must be a positive number"),
        ({"learning_rate": "fast"}, "learning_rate must be a positive number, or 'auto'"),
        ({"max_epochs": 1.5}, "max_epochs"),
        ({"max_seconds": 0}, "max_seconds"),
        ({"method_options": {"mu_": 1.0}}, "mu"),
        ({"method_options": {"mu": -1.0}}, "mu"),
        ({"method": "minibatch", "method_options": {"weight_decay": float("nan")}}, "weight_decay must be a finite"),
        ({"method": "cross-entropy", "method_options": {"weight_decay": "1"}}, "weight_decay must be a number"),
        ({"method": "cross-entropy", "module": lambda: nn.Linear(6, 1).requires_grad_(False)}, "requires_grad=False"),
        ({"method": "cross-entropy", "method_options": {"balanced": 1}}, "balanced must be True or False"),
        ({"validation": 1.5}, "validation"),
        ({"validation": None, "patience": 2}, "patience"),
        ({"keep": "first"}, "keep"),
        ({"threshold": "best"}, "threshold"),
        ({"fpr_range": (0.0, 1.0), "threshold": "window"}, "choose threshold='youden'"),
        ({"verbose": "x"}, "verbose must be 0, or 1 for a progress bar"),
        ({"resume": True}, "name it by checkpoint"),
        ({"checkpoint": "no-such-folder/run.pt"}, "the folder no-such-folder does not exist"),
        ({"device": "abacus"}, "not a device of torch"),
        ({"callback": 3}, "callback"),
        ({"random_state": -1}, "random_state"),
    ],
)
def test_bad_parameters_are_refused(rows, params, said):
    with pytest.raises(ValueError, match=said):
        DeepPartialAUCClassifier(**{"module": MLP, **FAST, **params}).fit(*rows)


def test_a_fit_that_is_refused_leaves_the_model(rows):
    X, y = rows
    model = trained(rows)
    scores = model.decision_function(X)
    model.set_params(module=lambda: nn.Linear(X.shape[1] + 1, 1))
    with pytest.raises(RuntimeError, match="shapes"):
        model.fit(X, np.where(y == y[0], "like the first", "other"))
    assert np.array_equal(model.classes_, np.unique(y)) and set(model.predict(X)) <= set(y)
    assert np.array_equal(model.decision_function(X), scores)
    with pytest.raises(RuntimeError, match="shapes"):
        (plain := DeepPartialAUCClassifier(model.module, RANGE)).fit(X, y)
    assert not hasattr(plain, "classes_") and not hasattr(plain, "n_features_in_")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_cuda_where_there_is_none(rows):
    with pytest.raises(ValueError, match="sees 0 CUDA devices here: use device='cpu'"):
        trained(rows, device="cuda")
    with pytest.raises(ValueError, match="CUDA"):
        trained(rows).to("cuda:0")


@pytest.mark.parametrize(
    "X, y, said",
    [
        (Endless(), None, "has no indices"),
        (TensorDataset(torch.zeros(0, 6)), None, "empty"),
        (TensorDataset(torch.zeros(9, 6)), None, "no labels"),
        (Items(np.zeros((9, 6)), np.arange(9) % 3), None, "one class c against the rest"),
        (Items(np.zeros((9, 6)), np.ones(9)), None, "greater than one"),
        (Items(np.zeros((9, 6)), np.arange(9) % 2), np.arange(8) % 2, "8 labels"),
        (np.zeros((9, 6)), None, "requires y"),
        (np.zeros((9, 6)), np.arange(9) % 3, "Only binary classification"),
        (np.zeros((9, 6)), np.zeros(9), "greater than one"),
        (np.full((9, 1, 2, 3), np.nan), np.arange(9) % 2, "NaN"),
        (np.zeros((9, 6)), np.arange(8) % 2, "inconsistent"),
    ],
)
def test_bad_examples_are_refused(X, y, said):
    with pytest.raises(ValueError, match=said):
        DeepPartialAUCClassifier(MLP, RANGE, **FAST).fit(X, y)


def test_masked_entries_are_refused(rows):
    """Conversions drop the mask, and networks would learn what is under it."""
    X, y = rows
    images = np.ma.masked_less(X.reshape(-1, 1, 2, 3), 0.0)
    model = DeepPartialAUCClassifier(lambda: nn.Sequential(nn.Flatten(), nn.Linear(6, 1)), RANGE, **FAST)
    with pytest.raises(ValueError, match="X must have no masked entries"):
        model.fit(images, y)
    masked = np.ma.masked_equal(y, 1)
    for inputs in (X, images.data, TensorDataset(torch.from_numpy(X).float())):
        with pytest.raises(ValueError, match="y must have no masked entries"):
            model.fit(inputs, masked)
    with pytest.raises(ValueError, match="X must have no masked entries"):
        model.set_params(validation=(images, y)).fit(images.data, y)
    model.set_params(validation=None).fit(np.ma.array(images.data), np.ma.array(y))  # nothing is masked
    with pytest.raises(ValueError, match="X must have no masked entries"):
        model.predict(images)


def test_a_class_of_one_example_cannot_be_held_out():
    with pytest.raises(ValueError, match="cannot hold out .* choose validation=None"):
        trained((np.random.default_rng(0).normal(size=(9, 6)), np.arange(9) == 3))


@pytest.mark.parametrize("validation", [0.1, None])
def test_scores_that_are_not_finite_from_the_start_are_refused(rows, validation):
    with pytest.raises(ValueError, match="not finite before the first step"):
        trained((rows[0] * 1e39, rows[1]), validation=validation)


def test_validation_of_one_class_is_refused(rows):
    X, y = rows
    with pytest.raises(ValueError, match="must hold both classes"):
        trained(rows, validation=(X[y == 1], y[y == 1]))
