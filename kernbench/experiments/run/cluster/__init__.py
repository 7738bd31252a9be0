"""Run cells on the workers of a Dask cluster, each in the same process as on this machine.

Three processes take part in a cell:

* ``client``  this one, which plans, gives all methods of a repeat on a data set to one worker, and stores the records;
* ``remote``  the worker, whose task asks the host beside it and waits;
* ``host``    a plain process beside each worker, which starts the cell's process and watches its limits. A Dask worker
  cannot: it is a daemon of its nanny, and daemons may have no children.
"""
