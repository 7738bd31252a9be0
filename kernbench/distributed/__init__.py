"""More rows than memory holds, or than one machine: the same fits on files and, with Dask, on a cluster."""
