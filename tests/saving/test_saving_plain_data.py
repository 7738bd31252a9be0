"""Values as plain data: every kernel of the catalogue, and all that a fitted model holds."""

import json

import numpy as np
import pytest

from kernbench.kernels.functions import (
    KERNELS,
    Callable,
    DotProduct,
    Gaussian,
    Kernel,
    Laplacian,
    Polynomial,
    Product,
    Sum,
)
from kernbench.saving.plain_data import NotPlainData, decode, encode


def through_json(value):
    arrays = {}
    return decode(json.loads(json.dumps(encode(value, "value", arrays))), arrays)


NESTED = Sum((Product((Gaussian(0.1), Polynomial(2, np.float32(0.5)))), DotProduct([0.0, 1.0, 0.25])), (0.1, 3))
PARTS = {"Sum": (NESTED.kernels,), "Product": ((Laplacian(3.0), NESTED),)}


@pytest.mark.parametrize("name", sorted(set(KERNELS) - {"Callable"}))
def test_every_kernel_comes_back(name):
    kernel = KERNELS[name](*PARTS.get(name, ()))
    found = through_json(kernel)
    assert found == kernel and type(found) is type(kernel)


def test_parameters_and_parts_come_back():
    found = through_json(NESTED)
    assert found == NESTED and hash(found) == hash(NESTED)
    assert found.weights == (0.1, 3.0) and found.kernels[0].kernels[0] == Gaussian(0.1)
    assert found.kernels[1].coefficients == (0.0, 1.0, 0.25)


@pytest.mark.parametrize(
    "value, reason",
    [
        (Callable(np.dot), "value is a Python function"),
        (np.dot, "value is a Python function"),
        (Gaussian() + Product((Gaussian(), Callable(np.dot))), r"value\.kernels\.1\.kernels\.1 is a Python function"),
        (object(), "value is a object"),
        (np.array([object()]), "value holds Python objects"),
        (np.array([[1.0, "a"]], dtype=object), "value holds Python objects"),
    ],
    ids=["Callable", "function", "inside a sum", "object", "array of objects", "matrix of objects"],
)
def test_what_is_no_data_is_refused_by_its_place(value, reason):
    with pytest.raises(NotPlainData, match=reason):
        encode(value, "value", {})


def test_a_kernel_of_somebody_elses_making_is_refused():
    class Gaussian(Kernel):
        form = "gaussian"

    with pytest.raises(NotPlainData, match="value is a Gaussian, which cannot be stored"):
        encode(Gaussian(), "value", {})


@pytest.mark.parametrize(
    "told",
    [
        {"$kernel": "Callable", "function": "print"},
        {"$kernel": "Sum", "kernels": [3]},
        {"$kernel": "Gaussian", "sigma": 0},
    ],
)
def test_what_was_not_written_by_encode_is_refused(told):
    with pytest.raises((ValueError, TypeError)):
        decode(told, {})


def test_text_that_ends_in_nul_comes_back():
    """NumPy's own text drops these characters."""
    labels = np.array(["a", "a\0"], dtype=object)
    found = through_json(labels)
    assert found.dtype == object and found.tolist() == labels.tolist()


def test_arrays_under_keys_that_are_no_text_stay_apart():
    value = {"seen": [np.zeros(2)], 1: [np.ones(2)], 2: np.arange(3.0), 3: {4: np.full(1, 7.0)}}
    found = through_json(value)
    assert list(found) == list(value) and np.array_equal(found["seen"], value["seen"])
    assert np.array_equal(found[1], value[1]) and np.array_equal(found[2], value[2]) and found[3][4] == 7.0


def test_keys_that_begin_as_those_of_the_encoding_come_back():
    value = {"$array": "a", "$kernel": 1, "$tuple": 2, "plain": {"$csr": None}}
    assert through_json(value) == value


@pytest.mark.parametrize("value", [(), (0.05, 0.5), [(1, [2]), ((3,), "a")], {(1, 2): (None,)}], ids=repr)
def test_tuples_stay_tuples(value):
    assert through_json(value) == value


@pytest.mark.parametrize("value", [np.bool_(True), np.int64(3), np.float32(0.5), np.str_("a")], ids=repr)
def test_scalars_of_numpy_come_back_as_those_of_python(value):
    found = through_json(value)
    assert found == value.item() and type(found) is type(value.item())


def test_masked_items_stay_masked():
    found = through_json(np.ma.MaskedArray([1.0, 2.0, 3.0], mask=[False, True, False]))
    assert isinstance(found, np.ma.MaskedArray) and found.tolist() == [1.0, None, 3.0]
    assert type(through_json(np.ma.MaskedArray([1.0, 2.0]))) is np.ndarray
