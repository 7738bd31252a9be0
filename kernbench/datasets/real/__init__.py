"""Published data sets, from files to arrays, grouped by their files.

A module holds builders and, at its end, the ``ENTRIES`` of the list of data sets. A builder maps ``{file name: path}``
and options to the whole set, ``(X_train, y_train, X_test, y_test)``:

* `libsvm`: files of the LIBSVM and LASVM collections (Adult, IJCNN, web pages, Reuters);
* `tables`: large tables of the UCI repository; `tables_small`: small tables; `bank`: a table with categories;
* `images`: handwritten digits and small photographs; `deformed`: digits deformed at random, an endless stream;
* `molecules`: energies of molecules.

`preparation` reads, splits and standardises for them; `uci` holds the addresses of the UCI repository.
"""
