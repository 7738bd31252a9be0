"""``tuning``: C and γ of a kernel SVM by cross-validation, from data to fitted model.

::

    declaration.py   data, grids, methods, claims, tables and figures
    runs.py          a cell: search on the clock, judge off it; and the path without folds, the lower limit
    referee.py       the certificate at the parameters chosen, and the choice among those of the exact search
    peers.py         searches of other libraries, as estimators with the attributes of `KernelSVCCV`
"""
