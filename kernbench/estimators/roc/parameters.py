"""Checks of the parameters of rankings; each raises a ValueError that says what to change."""

from kernbench._names import unknown_name
from kernbench.estimators.arguments.kernel import check_kernel
from kernbench.estimators.arguments.parameters import check_run
from kernbench.features.nystroem.landmarks import OWN, are_indices, check_landmarks, choice_of
from kernbench.kernels.domain import is_precomputed
from kernbench.kernels.functions import Linear
from kernbench.losses.pairwise import HINGE, SQUARED_HINGE
from kernbench.losses.table import losses_of
from kernbench.solvers import registry
from kernbench.validation.numbers import check_name, check_number, check_positive, is_integer, is_number

FEATURES = ("auto", "nystroem", "random", "exact")
SQUARED = "squared"  # solved in closed form for every `solver`
LOSSES = ("auto", *losses_of("pair"), SQUARED)
ONLY_SMOOTH = ("newton",)  # solvers that need a loss with a derivative
PAIRS = ("all", "n_samples")
YOUDEN = "youden"
DEFAULT_CHOICE = "stratified"  # of landmarks
RATES = ("sensitivity", "specificity")
ON_TRAINING_ROWS = "train"


def check_space(model, *, zero_alpha=False):
    """Check regularisation, kernel, features and limits: what all models of a space have."""
    if zero_alpha:
        check_number("alpha", model.alpha, at_least=0)
    else:
        check_positive("alpha", model.alpha)
    check_kernel(model)
    check_run(model)
    check_name("features", model.features, FEATURES)
    _check_landmarks(model)
    for name in ("n_landmarks", "n_features"):
        value = getattr(model, name)
        if value is not None and not (is_integer(value) and value >= 1):
            raise ValueError(f"{name} must be a positive integer, or None for the default, got {value!r}")
    _check_use_of_features(model)


def _check_landmarks(model):
    """Check ``landmarks``: a name or rows, not indices, since rows of weight 0 are removed before they would apply."""
    check_landmarks(model.landmarks)
    if are_indices(model.landmarks):
        raise ValueError("landmarks as indices are for Nystroem itself: give the rows, landmarks=X[indices]")
    if choice_of(model.landmarks) == OWN and is_precomputed(model.kernel):
        raise ValueError("landmarks are rows, but with kernel='precomputed' X holds kernel values: name a choice")


def check_threshold_parameters(model, named=(YOUDEN,)):
    """Check ``threshold`` and ``threshold_on``."""
    check_threshold(model.threshold, named)
    share = model.threshold_on
    if share != ON_TRAINING_ROWS and not (is_number(share) and 0 < share < 1):
        raise ValueError(
            f"threshold_on must be 'train', or the share of the rows to hold out, between 0 and 1, got {share!r}"
        )


def is_linear(kernel):
    """Whether `kernel` is the linear one, by name or as an object."""
    return isinstance(kernel, Linear) or (isinstance(kernel, str) and kernel == "linear")


def _check_use_of_features(model):
    """Raise ValueError for a parameter of features that ``features=`` does not use."""
    features = model.features
    if model.n_features is not None and features != "random":
        raise ValueError(
            f"n_features={model.n_features!r} is the number of random features: choose features='random', or "
            "leave it out"
        )
    if features == "nystroem" or (features == "auto" and not is_linear(model.kernel)):
        return
    by = "kernel='linear' with features='auto'" if features == "auto" else f"features={features!r}"
    choice = choice_of(model.landmarks)
    for name, value, default in (
        ("n_landmarks", model.n_landmarks, None),
        ("landmarks", choice, model._default_landmarks),
    ):
        if value != default:
            raise ValueError(
                f"{name}={value!r} is for the Nyström method, but {by} has no landmarks: choose "
                "features='nystroem', or leave it out"
            )


def check_roc_svc(model):
    """Check the parameters of a `ROCSVC` and return the registry's entry of its solver."""
    entry = registry.get(model.solver, "roc-svm")
    check_space(model)
    check_threshold_parameters(model)
    if not (is_integer(model.reservoir_size) and model.reservoir_size >= 1):
        raise ValueError(f"reservoir_size must be a positive integer, got {model.reservoir_size!r}")
    _check_loss(model)
    _check_pairs(model)
    return entry


def _check_loss(model):
    check_name("loss", model.loss, LOSSES)
    if model.solver in ONLY_SMOOTH and model.loss in losses_of("pair", smooth=False):
        raise ValueError(
            f"solver={model.solver!r} needs a smooth loss: choose loss='squared_hinge' or 'log_loss', or "
            "solver='bundle'"
        )
    if model.loss == SQUARED and model.features == "exact":
        raise ValueError(
            "loss='squared' is solved by moments of features, and features='exact' has none: "
            "choose features='nystroem' or 'random'"
        )


def _check_pairs(model):
    pairs = model.pairs
    if isinstance(pairs, str):
        if pairs not in PAIRS:
            raise ValueError(unknown_name("pairs", pairs, PAIRS))
    elif not (is_integer(pairs) and pairs >= 1):
        raise ValueError(f"pairs must be 'all', 'n_samples' or an integer of at least 1, got {pairs!r}")
    if model.loss == SQUARED and pairs != "all":
        raise ValueError("loss='squared' takes all pairs at no extra cost: choose pairs='all'")


def check_threshold(threshold, named=(YOUDEN,)):
    """Raise ValueError unless `threshold` is one of the names, a number or a (rate, level) pair."""
    if isinstance(threshold, str):
        if threshold not in named:
            raise ValueError(unknown_name("threshold", threshold, named))
        return
    if isinstance(threshold, tuple | list) and len(threshold) == 2:
        rate, level = threshold
        if not (isinstance(rate, str) and rate in RATES):
            raise ValueError(unknown_name("threshold", rate, RATES))
        if not (is_number(level) and 0 < level <= 1):
            raise ValueError(f"the {rate} of a threshold must be above 0 and at most 1, got {level!r}")
        return
    if not is_number(threshold):
        raise ValueError(
            f"threshold must be {' or '.join(map(repr, named))}, a number, ('sensitivity', s) or ('specificity', q), "
            f"got {threshold!r}"
        )


def loss_of(model):
    """Return the loss that ``loss=`` of a `ROCSVC` stands for."""
    if model.loss != "auto":
        return model.loss
    return SQUARED_HINGE if model.solver in ONLY_SMOOTH else HINGE


def n_pairs_of(model, n_rows):
    """Return how many pairs ``pairs=`` draws for `n_rows` training rows; None for all, without drawing."""
    if model.pairs == "all":
        return None
    return n_rows if model.pairs == "n_samples" else int(model.pairs)
