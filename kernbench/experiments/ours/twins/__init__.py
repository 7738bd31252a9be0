"""``twins``: the speed of every compiled solver over its NumPy reference, straight from the registry.

::

    runs.py          a cell: all solvers of the registry on problems of one size, twin beside twin
    settings.py      what solvers of a kind are given besides data; the asv suite reads this file, too
    declaration.py   the experiment: sizes, claims, the heat map
"""
