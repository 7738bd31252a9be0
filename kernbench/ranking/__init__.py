"""Exact arithmetic of rankings: losses over pairs of a positive and a negative score.

* :class:`AllPairs` -- every pair, by one sort: hinge and squared hinge, their derivatives, Hessian products;
* :class:`DrawnPairs` -- the same on a list of pairs, which :func:`draw_pairs` draws.

Both offer compiled solvers the same methods (``_pairs.pxd``, class ``Pairs``).
"""

from kernbench.ranking._pairs import AllPairs, DrawnPairs
from kernbench.ranking.drawing import draw_pairs

__all__ = ["AllPairs", "DrawnPairs", "draw_pairs"]
