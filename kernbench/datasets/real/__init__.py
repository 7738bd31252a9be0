"""Real sets, from files to arrays, grouped by what their files are.

A module holds builders and, at its end, the ``ENTRIES`` of the list of data sets. A builder takes
``{file name: path}`` and its options, and returns the whole set as ``(X_train, y_train, X_test, y_test)``:

* `libsvm`: files of the LIBSVM and LASVM collections (Adult);
* `tables`: large tables of the UCI repository; `tables_small`: small ones;
* `images`: handwritten digits.

`parts` splits and standardises what has no published test part.
"""
