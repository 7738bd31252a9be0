"""Counts among the parameters of solvers refuse what is no integer in range, and flags what is not True or False."""

import inspect

import numpy as np
import pytest

from kernbench.kernels import Gaussian
from kernbench.solvers.kinds import TWINS
from kernbench.solvers.registry import SOLVERS, get

COUNTS = {
    ("kernel-svm", "smo"): ("working_set_size", "classic_rows"),
    ("kernel-svm", "sbp"): ("burn_in", "fetch_rows"),
    ("kernel-svm", "perceptron"): ("n_passes",),
    ("kernel-svm", "norma"): ("window", "batch_size"),
    ("kernel-svm", "pegasos"): ("batch_size",),
    ("kernel-svm", "sdca"): ("batch_size",),
    ("kernel-svm", "scs"): ("n", "s0", "growth", "sample_cap"),
    ("kernel-svm", "wolfe"): ("bundle_size",),
    ("linear-svm", "sdca"): ("min_iter", "batch_size"),
    ("linear-svm", "newton"): ("min_iter",),
    ("linear-regression", "newton"): ("min_iter",),
    ("linear-svm", "pegasos"): ("batch_size",),
    ("linear-svm", "simba"): ("horizon",),
    ("linear-svm", "sbmd"): ("n_blocks",),
    ("linear-svm", "rbcd"): ("n_blocks",),
    ("linear-svm", "bundle"): ("max_cuts",),
    ("kernel-regression", "smo"): ("classic_rows",),
    ("kernel-regression", "sdca"): ("batch_size",),
    ("kernel-regression", "pegasos"): ("batch_size",),
    ("kernel-regression", "norma"): ("window", "batch_size"),
    ("kernel-nu-svm", "smo"): ("classic_rows",),
    ("kernel-nu-regression", "smo"): ("classic_rows",),
    ("kernel-novelty", "smo"): ("classic_rows",),
    ("linear-regression", "sdca"): ("min_iter", "batch_size"),
    ("linear-regression", "pegasos"): ("batch_size",),
    ("linear-regression", "sbmd"): ("n_blocks",),
    ("linear-regression", "rbcd"): ("n_blocks",),
    ("roc-svm", "bundle"): ("max_cuts",),
    ("roc-svm", "gradient"): ("n_pairs",),
    ("partial-auc", "svmpauc-tight"): ("max_cuts",),
    ("partial-auc", "agd-sbcd"): ("inner_steps", "n_positive", "n_negative"),
    ("partial-auc", "dca"): ("inner_steps", "n_positive", "n_negative"),
    ("partial-auc", "proximal-dca"): ("inner_steps", "n_positive", "n_negative"),
    ("partial-auc", "minibatch"): ("n_positive", "n_negative"),
    ("ranked-range", "agd"): ("inner_steps", "batch_size"),
    ("ranked-range", "dca"): ("inner_steps", "batch_size"),
    ("auc-margin", "pesg"): ("stage_steps", "n_positive", "n_negative"),
    ("doubly-stochastic", "doubly-sgd"): ("n_outputs", "block_size", "window"),
}
COUNTED = [(*where, name) for where, names in COUNTS.items() for name in names]


def build(entry, twin, **options):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=30) > 0, 1.0, -1.0)
    if entry.kind.first == "batches":
        batches = entry.kind.make_data(X, y=y, batch_size=10, twin=twin)
        return entry.load(twin)(batches, Gaussian(1.0), alpha=0.1, random_state=0, **options)
    kernel = None if entry.kind.counts == "n_inner_products" else Gaussian(1.0)
    if entry.problem == "ranked-range":
        options = {"ranked_range": (2.0, 20.0), **options}
    if (entry.problem, entry.name) == ("kernel-svm", "sdca"):
        options = {"fit_intercept": False, **options}  # which batches of coordinates need
    data = entry.kind.make_data(X, kernel, twin=twin, dtype=np.float64)
    return entry.load(twin)(data, y, alpha=0.1, random_state=0, **entry.kind.defaults, **options)


@pytest.mark.parametrize("twin", TWINS)
@pytest.mark.parametrize("problem, solver, name", COUNTED, ids=lambda part: part)
def test_counts_are_integers(problem, solver, name, twin):
    for value in (True, np.True_, 2.5, np.nan, "3", -1):
        with pytest.raises(ValueError, match=f"^{name} must be a.* integer.*, got "):
            build(get(solver, problem), twin, **{name: value})


@pytest.mark.parametrize("twin", TWINS)
@pytest.mark.parametrize("problem, solver, name", COUNTED, ids=lambda part: part)
def test_counts_of_numpy_are_integers(problem, solver, name, twin):
    build(get(solver, problem), twin, **{name: np.int64(60)})


@pytest.mark.parametrize("twin", TWINS)
@pytest.mark.parametrize("name", ["delta_min", "delta_0", "delta_max"])
@pytest.mark.parametrize("value", [True, np.inf, np.nan, "1", 0.0], ids=repr)
def test_radii_are_positive_numbers(name, twin, value):
    with pytest.raises(ValueError, match=f"^{name} must be a "):
        build(get("scs"), twin, **{name: value})


def flags_of(entry):
    """Parameters whose default is True or False, without those that estimators set."""
    parameters = inspect.signature(entry.load("reference")).parameters
    flags = {name for name, parameter in parameters.items() if type(parameter.default) is bool}
    return sorted(flags - {"fit_intercept", "free_last"})


FLAGS = [(entry, name) for entry in SOLVERS for name in flags_of(entry)]


@pytest.mark.parametrize(("entry", "name"), FLAGS, ids=lambda part: getattr(part, "name", part))
@pytest.mark.parametrize("value", ["no", 1, None], ids=repr)
def test_flags_are_true_or_false(entry, name, value):
    with pytest.raises(ValueError, match=f"^{name} must be True or False, got "):
        build(entry, "compiled", **{name: value})


def test_every_count_of_a_solver_is_listed_here():
    """Integers among the defaults of the constructors."""
    for entry in SOLVERS:
        parameters = inspect.signature(entry.load("reference")).parameters
        counts = {name for name, parameter in parameters.items() if type(parameter.default) is int}
        counts -= {"cache_size"}  # megabytes
        missing = counts - set(COUNTS.get((entry.problem, entry.name), ()))
        assert not missing, f"COUNTS lacks {sorted(missing)} of {(entry.problem, entry.name)}"
