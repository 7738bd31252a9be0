"""``cross-paper``: the ideas of all papers on one data set and one certified objective each.

::

    judge.py         the certified optimum, and metrics of models relative to it
    runs.py          a cell: a method followed over its time and its kernel values
    declaration.py   the experiment: methods, data sets, claims, tables and figures
"""
