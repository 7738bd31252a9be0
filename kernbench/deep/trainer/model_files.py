"""Fitted models in files: weights and plain data, without the network's code."""

import numpy as np

from kernbench.deep.trainer import states
from kernbench.deep.trainer.parameters import check_module, device_of, network_of
from kernbench.saving.model_file import damaged

# Take their defaults in a loaded model.
NOT_DATA = ("module", "validation", "callback", "device", "checkpoint", "resume")
PLAIN = ("n_iter_", "best_n_iter_", "validation_score_", "status_", "trace_", "intercepts_", "n_features_in_")


def save(model, path):
    """Write a fitted `DeepPartialAUCClassifier`."""
    classes = model.classes_
    if classes.dtype.kind not in "biufUS":
        classes = classes.astype(str)
    params = {name: states.plain(value) for name, value in model.get_params(deep=False).items() if name not in NOT_DATA}
    content = {
        "params": params,
        "classes": classes.tolist(),
        "classes_dtype": classes.dtype.str,
        "attributes": {name: states.plain(getattr(model, name)) for name in PLAIN if hasattr(model, name)},
        "feature_names": model.feature_names_in_.tolist() if hasattr(model, "feature_names_in_") else None,
        "example_shape": list(model.example_shape_) if hasattr(model, "example_shape_") else None,
        "intercept": float(model.intercept_[0]),
        "module": {name: tensor.detach().to("cpu") for name, tensor in model.module_.state_dict().items()},
        "best": model.best_state_,
        "last": model.last_state_,
    }
    states.write(path, "model", content)


def load(cls, path, module, device):
    """Read a model written by `save`, for a network or a function that makes one."""
    check_module(module)
    device = device_of(device)
    content = states.read(path, "model")
    try:
        model, weights = _rebuilt(cls, module, content), content["module"]
    except Exception as error:  # of a damaged file, or of one that a later version wrote
        raise damaged(path, content.get("kernbench"), error) from error
    network = network_of(module)
    states.load_weights(network, weights, path)
    model.module_ = network.to(device).eval()
    return model


def _rebuilt(cls, module, content):
    """Return the model of a file, without its network."""
    model = cls(module, **{name: _as_param(value) for name, value in content["params"].items()})
    model.classes_ = np.array(content["classes"], dtype=content["classes_dtype"])
    model.intercept_ = np.array([content["intercept"]])
    model.best_state_, model.last_state_ = content["best"], content["last"]
    if content["example_shape"] is not None:
        model.example_shape_ = tuple(content["example_shape"])
    for name, value in content["attributes"].items():
        setattr(model, name, value)
    if content.get("feature_names") is not None:  # files of earlier versions have none
        model.feature_names_in_ = np.array(content["feature_names"], dtype=object)
    return model


def _as_param(value):
    return tuple(value) if isinstance(value, list) else value
