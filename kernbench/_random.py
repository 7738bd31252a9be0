"""From `random_state` to a ``numpy.random.Generator``."""

import numpy as np


def as_generator(random_state):
    """Turn None, an int, a SeedSequence, a RandomState or a Generator into a ``numpy.random.Generator``.

    None (or the module ``numpy.random``) is NumPy's global state, as in scikit-learn: ``np.random.seed(0)`` makes a
    script repeat. It and a RandomState give 128 bits, the seed of a generator, so that they advance with every call.
    """
    if random_state is None:
        random_state = np.random  # its functions draw from the global state
    if random_state is np.random or isinstance(random_state, np.random.RandomState):
        random_state = random_state.randint(2**32, size=4, dtype=np.uint32)
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


def check_random_state(random_state):
    """Raise the ValueError of `generator_of`, without drawing from a state: for a fit that draws nothing."""
    is_global = random_state is None or random_state is np.random
    if not is_global and not isinstance(random_state, np.random.RandomState | np.random.Generator):
        generator_of(random_state)
