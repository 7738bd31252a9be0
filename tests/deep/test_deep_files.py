"""Checkpoints that go on bit for bit, and model files."""

import os
import pickle

import numpy as np
import pytest

pytest.importorskip("torch", reason="kernbench.deep needs PyTorch")

import torch
from sklearn.datasets import make_classification
from torch import nn

from kernbench.deep import MLP, DeepPartialAUCClassifier, Linear
from kernbench.deep.trainer import states
from kernbench.deep.trainer.methods import METHODS

RANGE = (0.05, 0.5)
SETTINGS = {"n_positive": 8, "n_negative": 8, "look_every": 5}
SMALL_STAGES = {"agd-sbcd": {"inner_steps": 7}}


@pytest.fixture(scope="module")
def rows():
    return make_classification(200, 6, n_informative=4, weights=[0.75], random_state=0)


def noisy():
    """A network whose path depends on torch's random numbers and on running statistics."""
    return nn.Sequential(nn.Linear(6, 4), nn.BatchNorm1d(4), nn.Dropout(0.3), nn.Linear(4, 1))


def trained(rows, module=noisy, **params):
    return DeepPartialAUCClassifier(module, RANGE, **{**SETTINGS, **params}).fit(*rows)


def same(first, second):
    return all(torch.equal(a, b) for a, b in zip(first.values(), second.values(), strict=True))


def stop_after(looks):
    def count(model, seen=[]):  # noqa: B006
        seen.append(1)
        if len(seen) == looks:
            raise KeyboardInterrupt

    return count


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("looks", [1, 4])
def test_a_stopped_fit_goes_on_bit_for_bit(rows, tmp_path, method, looks):
    params = {"method": method, "max_epochs": 3, "random_state": 0, "method_options": SMALL_STAGES.get(method)}
    whole = trained(rows, **params)
    file = tmp_path / "fit.pt"
    stopped = trained(rows, **params, checkpoint=file, callback=stop_after(looks))
    assert stopped.status_ == "interrupted" and stopped.n_iter_ == 5 * (looks - 1) < whole.n_iter_
    resumed = trained(rows, **params, checkpoint=file, resume=True)
    assert same(resumed.last_state_, whole.last_state_) and same(resumed.best_state_, whole.best_state_)
    assert resumed.intercept_ == whole.intercept_ and resumed.status_ == "finished"
    for name in set(whole.trace_) - {"seconds"}:
        assert resumed.trace_[name] == whole.trace_[name], name


def test_more_epochs_go_on_from_a_finished_fit(rows, tmp_path):
    file = tmp_path / "fit.pt"
    trained(rows, max_epochs=2, random_state=0, checkpoint=file)
    longer = trained(rows, max_epochs=5, random_state=0, checkpoint=file, resume=True)
    whole = trained(rows, max_epochs=5, random_state=0)
    assert same(longer.last_state_, whole.last_state_)


def test_a_fit_stopped_between_two_looks_keeps_its_losses_and_its_time(rows, tmp_path):
    params = {"max_epochs": 2, "random_state": 0, "checkpoint": tmp_path / "fit.pt"}
    stopped = trained(rows, **params, max_seconds=1e-9)
    assert stopped.n_iter_ == 1 and stopped.status_ == "max_seconds"
    resumed, whole = trained(rows, **params, resume=True), trained(rows, **{**params, "checkpoint": None})
    assert resumed.trace_["loss"] == whole.trace_["loss"]
    longer = trained(rows, **{**params, "max_epochs": 5}, resume=True)
    assert longer.trace_["seconds"] == sorted(longer.trace_["seconds"])


def test_a_file_of_a_later_format_is_refused(rows, tmp_path, monkeypatch):
    model = trained(rows, Linear(6), max_epochs=1)
    with monkeypatch.context() as later:
        later.setattr(states, "FORMAT_VERSION", 2)
        model.save(tmp_path / "model.pt")
    with pytest.raises(ValueError, match="has format 2, .* which reads format 1"):
        DeepPartialAUCClassifier.load(tmp_path / "model.pt", Linear(6))


@pytest.mark.parametrize("writer", ["99.0", None])
def test_a_file_that_makes_no_model_is_called_damaged(rows, tmp_path, writer):
    """By name, and with the later version that may have written it; TypeError and KeyError were raised."""
    file = tmp_path / "model.pt"
    trained(rows, Linear(6), max_epochs=1).save(file)
    whole = torch.load(file, weights_only=True)
    lacking = {name: value for name, value in whole.items() if name != "classes"}
    for content, said in (
        ({**whole, "params": {**whole["params"], "ranks": 3}}, "TypeError: .*ranks"),
        (lacking, "KeyError: .classes"),
    ):
        torch.save({**content, **({} if writer is None else {"kernbench": writer})}, file)
        needs = "" if writer is None else r", or needs kernbench 99\.0, which wrote it \(.*\)"
        with pytest.raises(ValueError, match=f"model.pt is damaged{needs}: {said}"):
            DeepPartialAUCClassifier.load(file, Linear(6))


def test_the_checkpoint_knows_the_seeds_of_a_fit_without_a_seed(rows, tmp_path):
    """Otherwise other examples would be held out, and the sizes alone would not tell."""
    file = tmp_path / "fit.pt"
    first = trained(rows, max_epochs=2, checkpoint=file)
    resumed = trained(rows, max_epochs=2, checkpoint=file, resume=True)
    assert same(first.last_state_, resumed.last_state_) and first.validation_score_ == resumed.validation_score_


def test_resume_begins_where_there_is_no_file_yet(rows, tmp_path):
    file = tmp_path / "fit.pt"
    assert trained(rows, max_epochs=1, checkpoint=file, resume=True).status_ == "finished" and file.exists()


@pytest.mark.parametrize(
    "changed, said",
    [
        ({"module": lambda: nn.Sequential(nn.Linear(6, 5), nn.BatchNorm1d(5), nn.Dropout(0.3), nn.Linear(5, 1))},
         r"'0.weight' has shape \(4, 6\) in the file, \(5, 6\) in the module"),
        ({"module": MLP}, "of another module: the module has and the file lacks 'layers.0.weight'"),
        ({"method": "minibatch"}, "was written with method='agd-sbcd', and now method='minibatch'"),
        ({"n_positive": 4}, "n_positive=8, and now n_positive=4"),
    ],
)  # fmt: skip
def test_a_checkpoint_of_something_else_is_refused(rows, tmp_path, changed, said):
    file = tmp_path / "fit.pt"
    trained(rows, max_epochs=1, checkpoint=file)
    with pytest.raises(ValueError, match=said):
        trained(rows, max_epochs=1, checkpoint=file, resume=True, **changed)


def test_a_checkpoint_of_other_data_is_refused(rows, tmp_path):
    file = tmp_path / "fit.pt"
    trained(rows, max_epochs=1, checkpoint=file)
    with pytest.raises(ValueError, match="180 .* training examples, and there are 170"):
        trained((rows[0][:-11], rows[1][:-11]), max_epochs=1, checkpoint=file, resume=True)


# --- model files --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("labels", [(0, 1), (-1.0, 1.0), ("no", "yes"), (False, True)])
def test_a_loaded_model_predicts_the_same(rows, tmp_path, labels):
    X, y = rows[0], np.array(labels)[rows[1]]
    model = trained((X, y), max_epochs=2, random_state=0)
    model.save(tmp_path / "model.pt")
    loaded = DeepPartialAUCClassifier.load(tmp_path / "model.pt", noisy)
    assert np.array_equal(loaded.predict(X), model.predict(X)) and loaded.classes_.dtype == model.classes_.dtype
    assert np.array_equal(loaded.decision_function(X), model.decision_function(X))
    assert np.array_equal(loaded.use("last").predict(X), model.use("last").predict(X))
    assert loaded.trace_ == model.trace_ and loaded.fpr_range == RANGE
    with pytest.raises(ValueError, match="features"):
        loaded.predict(X[:, :3])


def test_a_loaded_model_knows_the_names_of_its_columns(rows, tmp_path):
    """Columns in another order are refused as by the fitted model; a fit to a dataset forgets them."""
    pd = pytest.importorskip("pandas")
    X, y = pd.DataFrame(rows[0], columns=list("abcdef")), rows[1]
    model = trained((X, y), max_epochs=1)
    model.save(tmp_path / "model.pt")
    loaded = DeepPartialAUCClassifier.load(tmp_path / "model.pt", noisy)
    assert np.array_equal(loaded.decision_function(X), model.decision_function(X))
    for either in (model, loaded):
        with pytest.raises(ValueError, match="feature names"):
            either.predict(X[list("fedcba")])
    model.fit(torch.utils.data.TensorDataset(torch.tensor(rows[0]).float(), torch.tensor(y)))
    assert not hasattr(model, "feature_names_in_")


def test_a_lazy_module_can_be_loaded(rows, tmp_path):
    model = trained(rows, MLP, max_epochs=1)
    model.save(tmp_path / "model.pt")
    loaded = DeepPartialAUCClassifier.load(tmp_path / "model.pt", MLP())
    assert np.array_equal(loaded.predict(rows[0]), model.predict(rows[0]))


def test_a_model_file_of_another_shape_is_refused(rows, tmp_path):
    trained(rows, lambda: MLP(hidden=(4,)), max_epochs=1).save(tmp_path / "model.pt")
    for module, said in ((lambda: MLP(6, hidden=(5,)), "layers.0.weight"), (Linear, "of another module")):
        with pytest.raises(ValueError, match=said):
            DeepPartialAUCClassifier.load(tmp_path / "model.pt", module)


def test_a_module_of_another_precision_is_refused(rows, tmp_path):
    """Its scores would be others."""
    file, double = tmp_path / "model.pt", lambda: MLP().double()
    model = trained(rows, double, max_epochs=1, checkpoint=tmp_path / "fit.pt")
    model.save(file)
    said = "'layers.0.weight' is torch.float64 in the file, torch.float32 in the module"
    for module in (MLP, MLP(6)):
        with pytest.raises(ValueError, match=said):
            DeepPartialAUCClassifier.load(file, module)
    with pytest.raises(ValueError, match=said):
        trained(rows, MLP, checkpoint=tmp_path / "fit.pt", resume=True)
    loaded = DeepPartialAUCClassifier.load(file, double)
    assert np.array_equal(loaded.decision_function(rows[0]), model.decision_function(rows[0]))


def test_a_function_that_makes_no_module_is_refused(rows, tmp_path):
    trained(rows, max_epochs=1).save(tmp_path / "model.pt")
    with pytest.raises(ValueError, match="returned int, not a torch.nn.Module"):
        DeepPartialAUCClassifier.load(tmp_path / "model.pt", lambda: 3)


def test_a_callback_can_save_the_model_of_its_time(rows, tmp_path):
    def save(model):
        file = tmp_path / f"{model.n_iter_}.pt"
        model.save(file)
        scores[file] = model.use("last").decision_function(rows[0])

    params = {"max_epochs": 1, "random_state": 0}
    plain, model = trained(rows, **params), DeepPartialAUCClassifier(noisy, RANGE, callback=save, **SETTINGS, **params)
    for _ in range(2):  # nothing of the earlier fit is in the files of the second one
        scores = {}
        assert same(model.fit(*rows).last_state_, plain.last_state_) and len(scores) == 4
        for file, found in scores.items():
            loaded = DeepPartialAUCClassifier.load(file, noisy)
            for of_time in (loaded, loaded.use("last")):
                assert np.array_equal(of_time.decision_function(rows[0]), found)


def test_numbers_of_a_callback_may_be_tensors(rows, tmp_path):
    model = trained(rows, max_epochs=1, callback=lambda model: {"seen": torch.tensor(0.5, requires_grad=True)})
    model.save(tmp_path / "model.pt")
    loaded = DeepPartialAUCClassifier.load(tmp_path / "model.pt", noisy)
    assert loaded.trace_["seen"] == [0.5] * len(model.trace_["n_iter"])


class Executing:
    """Unpickling it would make a folder."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def test_nothing_in_a_file_is_run(rows, tmp_path):
    file, folder = tmp_path / "model.pt", tmp_path / "made"
    torch.save({"format": "kernbench deep model", "format_version": 1, "params": Executing(folder)}, file)
    with pytest.raises(ValueError, match="is not a model of kernbench.deep, or is damaged"):
        DeepPartialAUCClassifier.load(file, MLP)
    with pytest.raises(ValueError, match="is not a checkpoint"):
        trained(rows, checkpoint=file, resume=True)
    assert not folder.exists()


@pytest.mark.parametrize("content", [b"", b"text", pickle.dumps([1, 2])])
def test_other_files_are_refused(tmp_path, content):
    file = tmp_path / "model.pt"
    file.write_bytes(content)
    with pytest.raises(ValueError, match="is not a model of kernbench.deep"):
        DeepPartialAUCClassifier.load(file, MLP)
    with pytest.raises(FileNotFoundError):
        DeepPartialAUCClassifier.load(tmp_path / "none.pt", MLP)


def test_a_truncated_file_is_refused(rows, tmp_path):
    file = tmp_path / "model.pt"
    trained(rows, max_epochs=1).save(file)
    file.write_bytes(file.read_bytes()[:-100])
    with pytest.raises(ValueError, match="damaged"):
        DeepPartialAUCClassifier.load(file, noisy)


def test_a_checkpoint_is_no_model(rows, tmp_path):
    trained(rows, max_epochs=1, checkpoint=tmp_path / "fit.pt")
    with pytest.raises(ValueError, match="is not a model"):
        DeepPartialAUCClassifier.load(tmp_path / "fit.pt", noisy)
