"""The same algorithms in plain NumPy: learn a method here, see it made fast in its twin.

``solvers/linear/_sdca.pyx`` has its reference in ``reference/linear/sdca.py``, and likewise every solver: the folders
of ``solvers``, and ``kernels``, ``pairs`` and ``features``, have the same names here, and a file has the name of its
compiled twin without the underscore. ``solvers/design`` is ``design.py``; the kernels' formulas are one file
(``kernels/formulas.py``), and so are their rows; the subfolders of ``features`` are one folder here.

A reference solver has the constructor, the attributes and the iterates of its twin (in float64, up to rounding), and
draws its random numbers in the same order. Clarity comes first: what the compiled twin updates incrementally is
recomputed here.
"""
