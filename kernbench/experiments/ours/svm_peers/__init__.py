"""``peers-svm``: the solvers of kernel SVMs against each other and against a lower limit, to the same accuracy.

::

    declaration.py     data, methods, metrics, claims, tables and figures
    fits.py            a cell: fit on the clock, judge against a certified optimum
    thunder.py         ThunderSVM, with the attributes by which it is judged
    limit.py           a cell: the least time in which the rows of all support vectors can be computed
    family.py          the same for regression and one class
    fits_of_family.py  their cells
    shares.py          the same at equal nu
    fits_of_shares.py  their cells
    largest.py         all rows of covtype, by the methods that end there
    fits_of_largest.py  their cells
"""
