"""Checks of numeric arguments.

scikit-learn's `check_scalar` accepts booleans and NaN, and raises TypeError for a wrong type.
"""

import math
import numbers


def require_number(name, value, *, at_least=None, below=None, whole=False):
    """Raise ValueError unless `value` is a finite (whole) number with ``at_least <= value < below``."""
    kind = numbers.Integral if whole else numbers.Real
    sound = isinstance(value, kind) and not isinstance(value, bool) and math.isfinite(value)
    sound = sound and (at_least is None or value >= at_least) and (below is None or value < below)
    if not sound:
        wanted = "a whole number" if whole else "a finite number"
        bounds = [f"at least {at_least}"] * (at_least is not None) + [f"below {below}"] * (below is not None)
        raise ValueError(
            f"{name} must be {wanted}{' ' if bounds else ''}{' and '.join(bounds)}, got {value!r}"
        )
