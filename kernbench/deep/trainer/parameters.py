"""Checks of the parameters of the trainer; each raises a ValueError that says what to change."""

import copy
from dataclasses import dataclass, field

import torch

from kernbench._files import check_writable_file
from kernbench._names import unknown_name
from kernbench.deep.trainer.examples import is_dataset
from kernbench.estimators.arguments.parameters import callbacks_of, check_verbose
from kernbench.estimators.roc.parameters import YOUDEN, check_threshold
from kernbench.estimators.windows.parameters import KEEPS, check_validation
from kernbench.pairs.window import checked_fpr_range
from kernbench.validation.numbers import check_flag, check_name, check_number, check_positive

WINDOW = "window"
THRESHOLDS = (YOUDEN, WINDOW)


@dataclass
class Settings:
    """What a method of training is given.

    Attributes
    ----------
    fpr_range : (float, float)
    n_positive, n_negative : int
    learning_rate : float or "auto"
    options : dict
        Options of the method.
    seed : int
        Seed of the batches.
    """

    fpr_range: tuple
    n_positive: int
    n_negative: int
    learning_rate: object
    options: dict = field(default_factory=dict)
    seed: int = 0

    def rate(self, default):
        """The learning rate, `default` for "auto"."""
        return default if self.learning_rate == "auto" else float(self.learning_rate)

    @classmethod
    def of(cls, model, seed):
        """The settings of a `DeepPartialAUCClassifier`."""
        low, high = checked_fpr_range(model.fpr_range)
        return cls(
            (low, high),
            int(model.n_positive),
            int(model.n_negative),
            model.learning_rate,
            dict(model.method_options or {}),
            seed,
        )


def check(model, methods):
    """Check the parameters of a `DeepPartialAUCClassifier` that can be checked without data."""
    check_module(model.module)
    checked_fpr_range(model.fpr_range)
    method = methods[check_name("method", model.method, tuple(methods))]
    for name in ("n_positive", "n_negative", "max_epochs"):
        check_number(name, getattr(model, name), at_least=1, whole=True)
    for name in ("look_every", "patience"):
        if getattr(model, name) is not None:
            check_number(name, getattr(model, name), at_least=1, whole=True, unit=", or None,")
    if not isinstance(model.learning_rate, str) or model.learning_rate != "auto":
        check_positive("learning_rate", model.learning_rate, unit=", or 'auto',")
    if model.max_seconds is not None:
        check_positive("max_seconds", model.max_seconds, unit=" of seconds, or None")
    check_name("keep", model.keep, KEEPS)
    threshold_of(model, model.threshold)
    if not _of_dataset(model.validation):
        check_validation(model.validation)
    if model.patience is not None and model.validation is None:
        raise ValueError(
            "patience counts evaluations without a better validation score: give validation, or leave it out"
        )
    options = {} if model.method_options is None else model.method_options
    if not isinstance(options, dict):
        raise ValueError(f"method_options must be a dict or None, got {options!r}")
    for name in options:
        if name not in method.options:
            raise ValueError(unknown_name(f"option of method {model.method!r}", name, tuple(method.options)))
    for callback in callbacks_of(model):
        if not callable(callback):
            raise ValueError(f"callback must be a function or a list of functions, got {callback!r}")
    check_flag("resume", model.resume)
    check_verbose(model.verbose)
    if model.resume and model.checkpoint is None:
        raise ValueError("resume=True continues from a file: name it by checkpoint")
    if model.checkpoint is not None:
        check_writable_file(model.checkpoint)
    device_of(model.device)
    return method


def threshold_of(model, threshold):
    """Return the threshold that a parameter means for a model, checked."""
    check_threshold(threshold, THRESHOLDS)
    if threshold != WINDOW:
        return threshold
    _, high = checked_fpr_range(model.fpr_range)
    if high == 1:
        raise ValueError(
            "threshold='window' is where every example is positive if fpr_range ends at 1: choose threshold='youden'"
        )
    return ("specificity", 1.0 - high)


def _of_dataset(validation):
    """Whether examples to validate with are a dataset, or a pair of one and labels."""
    is_pair = isinstance(validation, tuple | list) and len(validation) == 2
    return is_dataset(validation[0] if is_pair else validation)


def check_module(module):
    """Raise ValueError unless `module` is a module of torch or a function that makes one."""
    if isinstance(module, torch.nn.Module) or callable(module):
        return
    raise ValueError(f"module must be a torch.nn.Module, or a function that makes one, got {module!r}")


def network_of(module):
    """Return a copy of a module, or the one that a function makes."""
    network = copy.deepcopy(module) if isinstance(module, torch.nn.Module) else module()
    if not isinstance(network, torch.nn.Module):
        raise ValueError(f"the function given as module returned {type(network).__name__}, not a torch.nn.Module")
    return network


def device_of(asked):
    """Return the torch.device that ``device=`` means; ValueError if this computer has none of that kind."""
    if asked is None:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(asked)
    except (RuntimeError, TypeError) as error:
        first = str(error).partition("\n")[0]
        raise ValueError(f"device={asked!r} is not a device of torch: {first}") from None
    if device.type == "cuda":
        found = torch.cuda.device_count() if torch.cuda.is_available() else 0
        if (device.index or 0) >= found:
            raise ValueError(
                f"device={asked!r} was asked for, but torch {torch.__version__} sees {found} CUDA devices here: use "
                "device='cpu', or None for whatever there is"
            )
    elif device.type == "mps" and not torch.backends.mps.is_available():
        raise ValueError(f"device={asked!r} was asked for, but this computer has none: use device='cpu', or None")
    return device
