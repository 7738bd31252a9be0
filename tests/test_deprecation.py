"""A parameter that was renamed works by its old name, and says so."""

import inspect

import pytest

from kernbench._deprecation import renamed_parameters


@renamed_parameters("0.3", step="step_size")
def descend(start, step_size=1.0):
    """Return what was given."""
    return start, step_size


def test_the_old_name_warns_and_works():
    with pytest.warns(
        FutureWarning, match="'step' of descend is now called 'step_size'; kernbench 0.3 forgets"
    ) as told:
        assert descend(0, step=2) == (0, 2)
    assert told[0].filename == __file__


def test_the_new_name_is_silent_and_the_signature_is_kept(recwarn):
    assert descend(0, step_size=2) == (0, 2)
    assert not recwarn
    assert list(inspect.signature(descend).parameters) == ["start", "step_size"]


def test_both_names_are_one_parameter():
    with pytest.raises(TypeError, match="leave out 'step'"):
        descend(0, step=1, step_size=2)
