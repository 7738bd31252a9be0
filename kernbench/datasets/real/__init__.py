"""Real sets, from files to arrays, grouped by what their files are.

A module holds builders and, at its end, the ``ENTRIES`` of the list of data sets. A builder takes
``{file name: path}`` and its options, and returns the whole set as ``(X_train, y_train, X_test, y_test)``:

* `libsvm`: files of the LIBSVM and LASVM collections (Adult, IJCNN, web pages, Reuters);
* `tables`: large tables of the UCI repository; `tables_small`: small ones; `bank`: one with categories;
* `images`: handwritten digits and small photographs; `molecules`: energies of molecules.

`parts` reads, splits and standardises for them; `origins` knows the addresses of the UCI repository.
"""
