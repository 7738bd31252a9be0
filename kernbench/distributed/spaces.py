"""Kernels and feature maps that are fitted to rows in blocks, and the features as blocks."""

from functools import partial

import numpy as np

from kernbench._random import generator_of
from kernbench.distributed.blocks.mapped_blocks import as_array, mapped
from kernbench.distributed.blocks.spread import check_kernel_range, gamma_of, spread_of
from kernbench.estimators.arguments.parameters import precision
from kernbench.estimators.fit.centring import centred
from kernbench.estimators.roc.parameters import is_linear
from kernbench.estimators.roc.space import DEFAULT_FEATURES, DEFAULT_LANDMARKS, Space
from kernbench.estimators.svm.expansion import centre_for
from kernbench.features import Nystroem, RandomFeatures
from kernbench.features.nystroem.landmarks import check_columns, choice_of
from kernbench.kernels.bandwidth import MEDIAN_ROWS
from kernbench.kernels.engine.operands.centre import CENTRE_ROWS
from kernbench.kernels.functions import Linear
from kernbench.kernels.names import OF_GAMMA, resolve_kernel


class DrawnRows:
    """Rows in blocks, or those `used` of them, with ``shape`` and ``[indices]`` as of an array, to draw some."""

    def __init__(self, blocks, used=None):
        self.blocks, self.used, self.dtype = blocks, used, blocks.dtype
        self.shape = (blocks.n_rows if used is None else len(used), blocks.n_columns)

    def __getitem__(self, indices):
        return self.blocks.rows(indices if self.used is None else self.used[indices])


def rows_to_draw(blocks, n_drawn, used=None):
    """Return all rows, or those `used`, if there are at most `n_drawn`, else a `DrawnRows` to draw them from."""
    rows = DrawnRows(blocks, used)
    return rows if rows.shape[0] > n_drawn else rows[np.arange(rows.shape[0])]


def used_rows(weights):
    """Return the indices of rows of positive weight, None if all are."""
    return None if weights is None or np.all(weights > 0) else np.flatnonzero(weights > 0)


def text_names(names):
    """Return the names of columns as an array; None unless there are any and all are text, as scikit-learn has it."""
    return np.array(names, dtype=object) if names is not None and all(isinstance(name, str) for name in names) else None


def kernel_of_blocks(model, blocks, weights, seed, names=None):
    """Return the kernel that the parameters of `model` specify for these rows; check that they are finite.

    ``gamma="scale"`` equals that of an array up to rounding; ``"median"`` draws the same rows.
    """
    gamma = getattr(model, "gamma", "scale")
    named = gamma if isinstance(gamma, str) and isinstance(model.kernel, str) and model.kernel in OF_GAMMA else None
    spread = spread_of(blocks, weights)
    if named == "scale":
        gamma = gamma_of(spread, blocks.n_columns)
    settings = {name: getattr(model, name) for name in ("degree", "coef0") if hasattr(model, name)}
    rows = rows_to_draw(blocks, MEDIAN_ROWS, used_rows(weights)) if named == "median" else blocks
    return resolve_kernel(model.kernel, rows, gamma=gamma, random_state=seed, **settings)


class LessCentre:
    """Subtract a centre from rows, in float64; see `kernbench.estimators.fit.centring`."""

    def __init__(self, centre):
        self.centre = centre

    def __call__(self, X):
        return centred(X, self.centre, np.float64)


def centred_blocks(model, blocks, n_problems=1):
    """Return the rows less a centre, and the centre, for a linear kernel with an intercept; else the rows and None.

    The centre is that of a few dense rows: any near the columns' values will do.
    """
    n = blocks.n_rows
    if blocks.is_sparse or not isinstance(model.kernel_, Linear):
        return blocks, None
    centre = centre_for(model, blocks.rows(np.arange(0, n, -(-n // CENTRE_ROWS))), n_problems)
    if centre is None:
        return blocks, None
    return mapped(blocks, LessCentre(centre), blocks.n_columns, np.float64), centre


def fit_nystroem(nystroem, blocks, names, kernel, y, rng, used=None):
    """Fit a Nystroem map to rows in blocks, or to those `used`: the landmarks are those of an array.

    `names` are those of the columns, or None.
    """
    nystroem._check_parameters()
    check_columns(nystroem.landmarks, names)
    choice = choice_of(nystroem.landmarks)
    if choice == "leverage":
        raise ValueError("landmarks='leverage' needs all rows at once: choose 'uniform', 'stratified' or 'kmeans'")
    if choice == "stratified" and y is None:
        raise ValueError("landmarks='stratified' needs class labels: give them as y, or choose 'uniform'")
    nystroem.n_features_in_, nystroem.kernel_ = blocks.n_columns, kernel
    y = y if y is None or used is None else y[used]
    return nystroem._fit_to(rows_to_draw(blocks, 20 * nystroem.n_landmarks, used), y, rng)


def fit_map(transformer, blocks, names, y):
    """Fit a `Nystroem` or `RandomFeatures` of a pipeline to rows in blocks, whose columns may have names."""
    rng = generator_of(transformer.random_state)
    if isinstance(transformer, Nystroem):
        kernel = kernel_of_blocks(transformer, blocks, None, rng.integers(2**63))
        return fit_nystroem(transformer, blocks, names, kernel, y, rng)
    kernel = kernel_of_blocks(transformer, blocks, None, rng)
    named, transformer.kernel = transformer.kernel, kernel
    try:
        return transformer.fit(blocks.rows(np.arange(min(2, blocks.n_rows))))
    finally:
        transformer.kernel = named


def fit_space_of_blocks(model, blocks, y, weights, seeds):
    """Determine the parameters of the kernel and the feature map of a ranking; see `fit_space`.

    Returns
    -------
    space : Space
    largest : float
        The largest k(x, x).
    """
    kind = model.features
    if kind == "auto":
        kind = "linear" if is_linear(model.kernel) else "nystroem"
    used = used_rows(weights)  # bandwidths and landmarks do not depend on rows of weight 0
    n_used = blocks.n_rows if used is None else len(used)
    model.dtype_ = blocks.dtype.name if kind == "linear" else precision(model.dtype, n_used)
    kernel = kernel_of_blocks(model, blocks, weights, int(seeds[0]))
    largest = check_kernel_range(blocks, kernel, model.dtype_, getattr(model, "feature_names_in_", None))
    made = None
    if kind == "nystroem":
        n_landmarks = model.n_landmarks or min(DEFAULT_LANDMARKS, n_used)
        made = Nystroem(kernel, n_landmarks, landmarks=model.landmarks, random_state=int(seeds[1]))
        rng = generator_of(made.random_state)
        rng.integers(2**63)  # the seed of a bandwidth, as `Nystroem.fit` draws it
        fit_nystroem(made, blocks, getattr(model, "feature_names_in_", None), kernel, y, rng, used)
    elif kind == "random":
        made = RandomFeatures(kernel, model.n_features or DEFAULT_FEATURES, random_state=int(seeds[1]))
        made.fit(blocks.rows(np.arange(min(2, blocks.n_rows))))
    return Space(kind, kernel, model.dtype_, made), largest


def features_of(blocks, transformer, dtype, keep_bytes):
    """Return the features of blocks by a fitted map."""
    n_columns = len(transformer.get_feature_names_out())
    return mapped(blocks, partial(as_array, transformer.transform), n_columns, dtype, keep_bytes=keep_bytes)
