"""Records as the report reads them.

::

    reading.py     a results folder → Results, and notes on what could not be read
    results.py     Results: an experiment at one scale, its declaration and its records
    cells.py       Cell: one method on one data set, all its repeats; pairs of records that can be compared
    rows.py        records as rows of categories and numbers
    steps.py       traces as step curves
    export.py      records as a flat table for other programs
"""
