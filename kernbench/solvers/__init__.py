"""Solvers: states that advance, one driver that moves them, one registry that names them.

``driver.run`` is the only loop, ``registry.SOLVERS`` the only list; the algorithms are in folders by problem
(``kernel/`` for kernel expansions): a compiled class each, with its plain-NumPy twin of the same name in
``kernbench/reference/``.
"""
