"""From `random_state` to a ``numpy.random.Generator``."""

import numpy as np


def as_generator(random_state):
    """Turn None, an int, a SeedSequence, a RandomState or a Generator into a ``numpy.random.Generator``.

    A RandomState (as scikit-learn uses) gives one 32-bit seed, so that it advances with every call.
    """
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**32, dtype=np.uint32))
    return np.random.default_rng(random_state)


def generator_of(random_state):
    """Do the same for the parameter of an estimator.

    Raises
    ------
    ValueError
        For anything that is not one of these; the message lists them.
    """
    try:
        return as_generator(random_state)
    except (TypeError, ValueError):
        raise ValueError(
            "random_state must be None, an integer of at least 0, a numpy RandomState or a Generator, "
            f"got {random_state!r}"
        ) from None
