"""What people pass as `random_state`, as a ``numpy.random.Generator``."""

import numpy as np


def as_generator(random_state):
    """Turn None, an int, a SeedSequence, a RandomState or a Generator into a ``numpy.random.Generator``.

    A RandomState (scikit-learn's currency) is asked for one 32-bit seed, so that it advances as its users expect.
    """
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**32, dtype=np.uint32))
    return np.random.default_rng(random_state)


def generator_of(random_state):
    """The same for the parameter of an estimator: what means nothing is refused in a sentence.

    Raises
    ------
    ValueError
        If it means no generator.
    """
    try:
        return as_generator(random_state)
    except (TypeError, ValueError):
        raise ValueError(
            "random_state must be None, an integer of at least 0, a numpy RandomState or a Generator, "
            f"got {random_state!r}"
        ) from None
