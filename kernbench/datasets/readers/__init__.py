"""Readers of data files, one module per format.

* `svmlight`: svmlight / LIBSVM text; `delimited`: tables; `npz`: NumPy archives; the last and the first also write;
* `delimited_layout` and `delimited_faults`: delimiter and header of a table, and the first fault in it;
* `detect`: the format of a file from its name or content; `compressed`: gzip, bzip2 and xz;
* `chunks`: files of any size, a number of rows at a time;
* `conventions`: the types of labels and column indices that all readers return.

A reader leaves parsing to scikit-learn or NumPy. When the parser fails or returns values that it should have refused,
a second, slow pass in Python finds the first fault and reports file, line and column.
"""
