"""What each loss says of itself is true, and docstrings name the losses that are accepted, and no other."""

import re
from inspect import cleandoc

import numpy as np
import pytest

from kernbench._models import MODELS
from kernbench.losses.margin import MARGIN_LOSSES
from kernbench.losses.output import OUTPUT_LOSSES
from kernbench.losses.regression import RESIDUAL_LOSSES
from kernbench.losses.table import LOSSES, PROPERTIES, losses_of
from kernbench.solvers import registry
from kernbench.solvers.kinds import TWINS

OF_ONE_NUMBER = [*MARGIN_LOSSES.values(), *(loss() for loss in RESIDUAL_LOSSES.values())]
Z = np.linspace(-6.0, 6.0, 240_001)
MODELS_WITH_A_LOSS = [model for model in MODELS if re.search("^loss : ", cleandoc(model.load().__doc__), re.MULTILINE)]
NOT_IN_THE_TABLE = {"auto", "squared"}  # the default's name, and the loss that rankings solve in closed form
each_loss = pytest.mark.parametrize("loss", OF_ONE_NUMBER, ids=lambda loss: loss.name)


def test_names_and_codes_are_given_once():
    assert len({loss.name for loss in LOSSES}) == len({loss.code for loss in LOSSES}) == len(LOSSES)
    assert {loss.name: loss.code for loss in LOSSES} == {loss.name: loss.code for loss in OUTPUT_LOSSES.values()}
    assert set(losses_of("output")) == set(OUTPUT_LOSSES)


@each_loss
def test_smooth_losses_have_continuous_slopes(loss):
    steepest = np.abs(np.diff(loss.slope(Z))).max() / (Z[1] - Z[0])
    if PROPERTIES["smooth"](loss):
        assert steepest == pytest.approx(loss.smoothness, rel=1e-3)
    else:
        assert steepest > 1000.0


@each_loss
def test_curvatures_are_derivatives_of_slopes(loss):
    z = np.linspace(-6.0, 6.0, 121) + 0.0123  # next to no kink
    change = (loss.slope(z + 1e-6) - loss.slope(z - 1e-6)) / 2e-6
    np.testing.assert_allclose(loss.curvature(z), change, rtol=1e-6, atol=1e-8)


@each_loss
def test_flat_losses_are_zero_on_an_interval(loss):
    assert (np.count_nonzero(loss.value(Z) == 0.0) > 1) == loss.flat


@each_loss
def test_a_quadratic_dual_has_a_constant_curvature(loss):
    a = np.linspace(0.1, 0.4, 31)  # inside the domain of each, and on one side of 0
    curvature = -np.diff(loss.dual_value(a), 2) / (a[1] - a[0]) ** 2
    if loss.bend is None:
        assert np.ptp(curvature) > 0.1
    else:
        np.testing.assert_allclose(curvature, loss.bend, atol=1e-9)


@pytest.mark.parametrize("loss", MARGIN_LOSSES.values(), ids=lambda loss: loss.name)
def test_the_largest_pull_of_a_margin(loss):
    assert np.max(-loss.slope(Z) * Z) == pytest.approx(loss.largest_pull, abs=1e-3)


def test_methods_ask_for_kinds_and_properties():
    assert losses_of("margin", "residual", smooth=False, flat=True) == ("hinge", "epsilon_insensitive")
    assert losses_of("pair", first="log_loss") == ("log_loss", "hinge", "squared_hinge")
    assert not losses_of("pair", quadratic_dual=True, flat=False)


def described(docstring):
    """Return the names that the parameter ``loss`` of a docstring gives as values."""
    text = re.search(r"^loss : (.*?)(?=^\w|\Z)", cleandoc(docstring), re.MULTILINE | re.DOTALL)[1]
    listed = re.match(r"\{(.*?)\}", text, re.DOTALL)
    if listed:
        return set(re.findall(r'"(\w+)"', listed[1]))
    return set(re.findall(r'``"(\w+)"``', text))


def accepts(model, loss, solver):
    """Return whether ``fit`` accepts the loss with this solver, or with the default one for None."""
    y = np.array([0, 1, 0, 1, 1, 0, 1, 0, 0, 1])
    X = np.stack([y + np.arange(10.0), np.arange(10.0) ** 2], axis=1)
    settings = {"loss": loss, "max_iter": 1} | ({} if solver is None else {"solver": solver})
    try:
        model.load()(**settings).fit(X, y)
    except ValueError as error:
        if "loss" not in str(error):
            raise
        return False
    return True


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model", MODELS_WITH_A_LOSS, ids=lambda model: model.name)
def test_the_docstring_of_a_model_names_the_losses_that_it_accepts(model):
    names = described(model.load().__doc__)
    solvers = [entry.name for entry in registry.SOLVERS if entry.kind.estimator == model.name] or [None]
    if "solver" not in model.load()().get_params():
        solvers = [None]
    accepted = {
        loss
        for loss in {loss.name for loss in LOSSES} | NOT_IN_THE_TABLE
        if any(accepts(model, loss, solver) for solver in solvers)
    }
    assert names == accepted


def test_the_docstrings_of_solvers_list_the_losses_that_they_minimise():
    listed = {}
    for entry in registry.SOLVERS:
        for twin in TWINS:
            solver = entry.load(twin)
            solver = getattr(solver, "func", solver)  # a method with its core
            if "\nloss : {" in cleandoc(solver.__doc__ or ""):
                listed[solver] = described(solver.__doc__)
    assert len(listed) > 10
    assert {solver.__name__: names for solver, names in listed.items() if names != set(solver.losses)} == {}
