"""Records on the disk.

::

    store.py      a folder with a file for each experiment: append, read, merge, clean
    schema.py     the form of a record, checked once
    cleaning.py   the lines worth keeping
    claims.py     which run measures a cell, where several share a folder
    packing.py    all records in one small file
    manifest.py   a description of the records of a snapshot
"""
