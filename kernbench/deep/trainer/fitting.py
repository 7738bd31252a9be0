"""A fit from its arguments to the fitted model: examples, module, run, threshold, attributes."""

import copy
from pathlib import Path

import numpy as np
import torch
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import column_or_1d, validate_data

from kernbench._random import generator_of
from kernbench._warnings import warn
from kernbench.deep.checks import on_host
from kernbench.deep.trainer import checkpoints
from kernbench.deep.trainer.examples import Examples, column_of_scores, is_dataset, labels_of, scores_of
from kernbench.deep.trainer.loop import Limits, Run, advance
from kernbench.deep.trainer.methods import METHODS
from kernbench.deep.trainer.parameters import Settings, check, device_of, network_of, threshold_of
from kernbench.estimators.arguments.parameters import callbacks_of
from kernbench.estimators.arguments.training_data import check_labels, distinct_labels
from kernbench.estimators.roc.rows import hold_out
from kernbench.estimators.roc.threshold import intercept_for
from kernbench.validation.arrays import check_finite
from kernbench.validation.foreign import refuse_masked
from kernbench.validation.numbers import is_number
from kernbench.validation.rows import check_rows

ROUNDING_ULPS = 64  # by which a score may differ in another batch, in units of rounding of the largest score
HALF_ULPS = 4  # the same in half precision, whose sums are taken in single precision
NOT_FINITE = "the module's scores are not finite before the first step: scale the inputs, or choose other first weights"


def fit(model, X, y):
    """Fit a `DeepPartialAUCClassifier`."""
    make_method = check(model, METHODS)
    device = device_of(model.device)
    found = checkpoints.read(model) if model.resume and Path(model.checkpoint).exists() else None
    seeds = generator_of(model.random_state).integers(2**53, size=3).tolist() if found is None else found["seeds"]
    with torch.random.fork_rng(devices=[] if device.type != "cuda" else [device.index or 0]):
        torch.manual_seed(seeds[0])
        train, validation = _examples(model, X, y, seeds[1])
        module = _module(model, train, device)
        method = make_method(module, train, Settings.of(model, seeds[2]))
        run = Run(method, validation, method.settings.fpr_range)
        file = None if model.checkpoint is None else checkpoints.Checkpoint(model, run, seeds)
        if found is not None:
            file.restore(found)
        look_every = model.look_every or method.steps_per_epoch
        limits = Limits(model.max_epochs * method.steps_per_epoch, look_every, model.patience, model.max_seconds)
        status = advance(
            run,
            limits,
            callback=callbacks_of(model) or None,
            snapshot=lambda module: _as_of(model, run, module),
            checkpoint=None if file is None else file.write,
            progress=type(model).__name__ if model.verbose else False,
        )
        _describe(model, run, status, validation or train)  # scores augmented examples, by the same random numbers


def _examples(model, X, y, seed):
    """Check the arguments of ``fit``, set ``classes_``; return examples to train with, and to validate with or None."""
    source, y = _checked(model, X, y, reset=True)
    classes, codes = check_labels(y)
    if len(classes) > 2:
        name = type(model).__name__
        raise ValueError(
            f"Only binary classification is supported: {name} ranks the examples of two classes, and y has "
            f"{len(classes)}. Give y = (labels == c) for one class c against the rest"
        )
    model.classes_ = classes
    examples, asked = Examples(source, np.where(codes == 1, 1.0, -1.0)), model.validation
    if asked is None:
        return examples, None
    if is_number(asked):
        return hold_out(examples, "validation", asked, seed)
    pair = (asked, None) if is_dataset(asked) else asked
    return examples, labelled(model, *pair, "the examples of validation")


def labelled(model, X, y, name):
    """Return examples of both classes of a model, checked; `name` is what an error calls them."""
    source, y = _checked(model, X, y, reset=False)
    classes = model.classes_.tolist()
    if distinct_labels(y).tolist() != classes:
        raise ValueError(f"{name} must hold both classes, {classes}, and no others")
    return Examples(source, np.where(y == classes[1], 1.0, -1.0))


def _checked(model, X, y, *, reset):
    """Return X as an array or a dataset, and the labels, as many."""
    refuse_masked(y, "y")
    if is_dataset(X):
        y = column_or_1d(labels_of(X) if y is None else on_host(y), warn=True)
        if len(y) != len(X):
            raise ValueError(f"the dataset has {len(X)} items, and y {len(y)} labels: give one for each")
        if reset:
            for name in ("n_features_in_", "feature_names_in_", "example_shape_"):
                vars(model).pop(name, None)
        return X, y
    return _array(model, X, on_host(y), reset=reset)


def unlabelled(model, X):
    """Return examples to be scored, checked."""
    source = X if is_dataset(X) else _array(model, X, reset=False)
    return Examples(source, np.zeros(len(source)))


def _array(model, X, *y, reset):
    """Return X as a checked array, and the labels if there are any; its examples have the shape of those fitted."""
    refuse_masked(X, "X")
    X = on_host(X)
    if (X if hasattr(X, "ndim") else np.asarray(X)).ndim <= 2:
        found = check_rows(model, X, *y, reset=reset, accept_sparse=False)
        array = found[0] if y else found
    else:
        found = validate_data(model, X, *y, reset=reset, dtype="numeric", allow_nd=True, ensure_all_finite=False)
        array = found[0] if y else found
        check_finite(array.reshape(len(array), -1))
    if reset:
        model.example_shape_ = array.shape[1:]
    elif array.shape[1:] != getattr(model, "example_shape_", array.shape[1:]):
        raise ValueError(f"examples have the shape {array.shape[1:]}, the model was fitted to {model.example_shape_}")
    return found


def _module(model, train, device):
    """A module to train, on its device; a pass over two examples sets lazy layers and finds a bad output early."""
    module = network_of(model.module).to(device).eval()
    chosen = np.array([np.flatnonzero(train.positive)[0], np.flatnonzero(~train.positive)[0]])
    like = next((p for p in module.parameters() if p.is_floating_point()), torch.empty(0, device=device))
    with torch.no_grad():
        scores = column_of_scores(module(train.inputs(chosen, like)), len(chosen))
    if not torch.isfinite(scores).all():
        raise ValueError(NOT_FINITE)
    return module.train()


def _as_of(model, run, module):
    """A view of a model with the weights that a run has now, for callbacks: its only state is the last one."""
    view = copy.copy(model)
    view.module_, view.intercept_, view.intercepts_ = module, np.zeros(1), {"last": 0.0}
    view.last_state_, view.best_state_, view.trace_ = run.last, None, run.trace.columns
    view.n_iter_, view.best_n_iter_, view.validation_score_ = run.n_iter, run.best_n_iter, run.best_score
    view.status_ = None
    return view


def _describe(model, run, status, judged):
    """Set the attributes of a fitted model; warn of a run that diverged."""
    module = run.method.module
    if run.last is None and status == "interrupted":  # twice, in the first evaluation
        raise KeyboardInterrupt
    if run.last is None:
        raise ValueError(NOT_FINITE)
    module.eval()
    intercepts = {}
    for which, state in (("last", run.last), ("best", run.best)):
        if state is not None:
            module.load_state_dict(state)
            intercepts[which] = float(intercept(threshold_of(model, model.threshold), judged, module)[0])
    model.module_, model.status_, model.trace_, model.intercepts_ = module, status, run.trace.columns, intercepts
    model.n_iter_, model.best_n_iter_, model.validation_score_ = run.n_iter, run.best_n_iter, run.best_score
    model.best_state_, model.last_state_ = run.best, run.last
    which = model.keep if run.best is not None else "last"
    use(model, which)
    if status == "diverged":
        used, n_iter = "last good evaluation", run.trace.columns["n_iter"][-1]
        if which == "best":
            used, n_iter = "best evaluation", run.best_n_iter
        warn(
            f"training stopped after {run.n_iter} steps, since scores became NaN or infinite with the step size "
            f"{run.method.learning_rate:g} (learning_rate={model.learning_rate!r}): the model is that of the {used}, "
            f"after {n_iter} steps. Lower learning_rate, or scale the inputs",
            ConvergenceWarning,
        )


def use(model, which):
    """Load the state `which`, "best" or "last", and its threshold."""
    if which not in model.intercepts_:
        raise ValueError(f"which must be one of {', '.join(map(repr, model.intercepts_))}, got {which!r}")
    model.module_.load_state_dict(model.best_state_ if which == "best" else model.last_state_)
    model.intercept_ = np.array([model.intercepts_[which]])


def intercept(threshold, examples, module):
    """Return the intercept that a threshold means on the module's scores of some examples, shape (1,)."""
    scores = scores_of(module, examples)
    precision = max((torch.finfo(p.dtype).eps for p in module.parameters() if p.is_floating_point()), default=0.0)
    ulps = HALF_ULPS if precision > torch.finfo(torch.float32).eps else ROUNDING_ULPS

    def rounding():
        return ulps * precision * float(np.abs(scores).max())

    return np.array([intercept_for(threshold, scores, examples.positive, None, rounding)])
