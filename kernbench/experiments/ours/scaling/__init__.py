"""``scaling``: how the time of a fit grows with rows, columns and threads, for every public model.

::

    orders.py        the stated order of each model, and the settings in which it holds; a new model needs a line
    data.py          rows and targets of any size
    runs.py          a cell: fits of growing size, the fitted slopes with their intervals
    declaration.py   the experiment: the models, sizes, claims, tables and figures
"""
