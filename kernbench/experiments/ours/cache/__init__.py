"""``cache``: the time of a kernel SVM against the memory for kernel rows.

::

    runs.py          a cell: fits with more and more memory, in turn
    declaration.py   the experiment: data, solvers, claims, table and figures
"""
