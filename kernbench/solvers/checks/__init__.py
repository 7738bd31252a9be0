"""The laws that every solver must satisfy: for ``kernbench check``, and for the tests.

::

    problems.py    small problems of each kind, and their solvers
    lockstep.py    the twins side by side
    laws.py        LAWS: the checks, by name
"""

from kernbench.solvers.checks.laws import LAWS
from kernbench.solvers.checks.problems import FORMS

__all__ = ["FORMS", "LAWS"]
