"""The cores of the solvers in plain NumPy: learn the arithmetic here, see it made fast in its twin.

``solvers/linear/_sdca.pyx`` has its reference in ``reference/linear/sdca.py``, and likewise every solver: the folders
of ``solvers``, and ``kernels``, ``pairs`` and ``features``, have the same names here, and a file has the name of its
compiled twin without the underscore. ``solvers/design`` is ``design.py``; the kernels' formulas are one file
(``kernels/formulas.py``), and so are their rows; the subfolders of ``features`` are one folder here.

The functions of a core have the names, the parameters and the results of their twins (in float64, up to rounding), and
its classes their constructors. Clarity comes first: what
the compiled twin updates incrementally is recomputed here.
"""
