"""What a loss says of itself, and the refusal of a loss that is not offered."""

import numpy as np

from kernbench._names import unknown_name
from kernbench.validation.numbers import check_number


class Loss:
    """A loss: its name, what it is a loss of, and the properties that methods ask for.

    Attributes
    ----------
    name : str
    code : int
        Its number in compiled code, an enumerator of ``_margin.h``, ``_regression.h`` or ``_output.h``.
    kinds : tuple of str
        What it is a loss of: ``"margin"``, ``"residual"``, ``"pair"`` (there are sums over all pairs in
        `kernbench.pairs`), ``"rank"`` (ranges of ranks may be taken of it) or ``"output"``.
    smoothness : float
        The largest second derivative, infinite where there is a kink.
    flat : bool
        Whether it is 0 on an interval.
    bend : float or None
        -psi'', where the dual psi is a quadratic function on its domain, on either side of 0; else None.
    parameter_name : str or None
        Name of the parameter, None for a loss without one.
    bounds : dict or None
        Bounds of the parameter, as keywords of `kernbench.validation.numbers.check_number`.
    default : float
        The parameter unless it is given.
    """

    name, code, kinds, smoothness, flat, bend = "", -1, (), np.inf, False, None
    parameter_name, bounds, default = None, None, 0.0


def check_offered(name, offered, known, of="solver"):
    """Return `name` if it is among those `offered`.

    Raises
    ------
    ValueError
        For one of the `known` names that is not offered, and for an unknown name, with the nearest that is offered.
    """
    offered = tuple(offered)
    if isinstance(name, str) and name in offered:
        return name
    if isinstance(name, str) and name in known:
        raise ValueError(f"this {of} minimises loss={' or '.join(map(repr, offered))} only, not {name!r}")
    raise ValueError(unknown_name("loss", name, offered))


def with_parameter(loss, parameters, known):
    """Return an instance of the class `loss`, with its own one of these parameters.

    All are checked by the bounds that the losses `known` declare.
    """
    bounds = {one.parameter_name: one.bounds for one in (*known, loss)}
    for name, value in parameters.items():
        check_number(name, value, **bounds[name])
    return loss() if loss.parameter_name is None else loss(parameters.get(loss.parameter_name, loss.default))
