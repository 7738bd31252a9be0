"""Numbers and names: what passes, and the sentence that refuses the rest."""

from fractions import Fraction

import numpy as np
import pytest

from kernbench.validation.numbers import check_name, check_number, check_positive, is_integer, is_number

INTEGERS = [0, -3, 10**30, np.int32(2), np.uint64(2)]
NUMBERS = [*INTEGERS, 0.5, np.float32(0.5), np.float16(-1), Fraction(1, 3)]
OTHERS = [True, np.True_, None, "1", [1.0], np.array([1.0]), 1j, float("nan"), float("inf"), -np.inf, np.float32("nan")]


@pytest.mark.parametrize("value", NUMBERS, ids=repr)
def test_finite_real_numbers_pass(value):
    assert is_number(value) and check_number("x", value) is value


@pytest.mark.parametrize("value", OTHERS, ids=lambda value: repr(value)[:20])
def test_booleans_and_whatever_is_not_a_finite_real_number_are_refused(value):
    assert not is_number(value)
    for whole in (False, True):
        with pytest.raises(ValueError, match="^x must be an? (finite number|number|integer), got "):
            check_number("x", value, whole=whole)


def test_integers_beyond_the_range_of_floats_are_no_numbers():
    assert not is_number(10**400)
    with pytest.raises(ValueError, match="x must be a finite number, got 1000"):
        check_number("x", 10**400)


def test_integers():
    assert all(is_integer(value) for value in INTEGERS)
    assert not any(is_integer(value) for value in (True, np.True_, 2.0, Fraction(2), "2", None))


@pytest.mark.parametrize(
    "settings, passes, refused, wanted",
    [
        ({"above": 0}, 1e-300, 0, "a positive number"),
        ({"above": 0, "unit": " of seconds, or None"}, 1, -1, "a positive number of seconds, or None"),
        ({"at_least": 0}, 1, np.inf, "a finite number of at least 0"),
        ({"above": 1}, 1.5, 1, "a number above 1"),
        ({"at_least": 0}, 0, -0.5, "a number of at least 0"),
        ({"at_least": 0, "below": 1}, 0.5, 1, "a number of at least 0 and below 1"),
        ({"above": 0, "at_most": 1}, 1, 1.5, "a positive number at most 1"),
        ({"at_least": 1, "whole": True}, 1, 0, "a positive integer"),
        ({"at_least": 1, "whole": True}, 1, 1.5, "a positive integer"),
        ({"at_least": 2, "at_most": 5, "whole": True}, 5, 6, "an integer of at least 2 and at most 5"),
    ],
)
def test_bounds_and_their_sentence(settings, passes, refused, wanted):
    assert check_number("x", passes, **settings) == passes
    with pytest.raises(ValueError) as caught:
        check_number("x", refused, **settings)
    assert str(caught.value) == f"x must be {wanted}, got {refused!r}"


def test_positive_numbers():
    check_positive("C", 2)
    with pytest.raises(ValueError, match="C must be a positive number of megabytes, got 0"):
        check_positive("C", 0, " of megabytes")


def test_names():
    assert check_name("solver", "smo", ("smo", "sbp")) == "smo"
    for given in ("smoo", None, 3, ["smo"]):
        with pytest.raises(ValueError, match="unknown solver"):
            check_name("solver", given, ("smo", "sbp"))
