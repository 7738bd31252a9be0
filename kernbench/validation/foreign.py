"""Arrays of other libraries: those in the memory of the CPU are read, those on a device are rejected.

Iterators and dicts, which NumPy takes for one object, are rejected. Data frames of sparse columns become sparse
matrices, as scikit-learn has it.
"""

from collections.abc import Iterator, Mapping, Set, ValuesView

import numpy as np
from scipy import sparse

# Types of devices in DLPack (DLDeviceType) whose memory the CPU reads: the CPU itself, pinned memory of CUDA and ROCm.
ON_THE_HOST = {1: "CPU", 3: "CUDA host", 11: "ROCm host"}
# How the names of types of dates and times begin: of pandas and polars, date32 and timestamp of pyarrow, and so on.
TIMES = ("date", "time", "duration", "period")


def host_array(values, name):
    """Return `values`, or, if they are an array of another library that speaks DLPack, a NumPy array of them.

    Parameters
    ----------
    values : object
        Lists, data frames, sparse matrices and whatever else NumPy or scikit-learn converts are returned as they are,
        but strings of NumPy's ``StringDType``, which scikit-learn does not take, as objects.
    name : str
        Name of the data in messages.

    Returns
    -------
    object
        A view of the same memory where possible.

    Raises
    ------
    ValueError
        For an array on a device, one of ``numpy.ma`` with masked entries, and what NumPy cannot represent as an array;
        the message says what to do.
    """
    refuse_masked(values, name)
    if isinstance(values, np.ndarray | np.generic) or sparse.issparse(values):
        return values.astype(object) if values.dtype.kind == "T" else values
    if isinstance(values, Iterator | Mapping | Set | ValuesView) and not hasattr(values, "__array__"):
        raise ValueError(
            f"{name} is a {type(values).__name__}, not an array: make a list, an array or a data frame of it"
        )
    if hasattr(values, "collect_schema") and hasattr(values, "collect"):
        raise ValueError(f"{name} is a query that was not run ({type(values).__name__}): give {name}.collect()")
    if not hasattr(values, "__dlpack_device__"):
        return values
    kind = f"{type(values).__module__.split('.')[0]}.{type(values).__name__}"
    try:
        device = int(values.__dlpack_device__()[0])
    except Exception:  # such as torch's device "meta", which has no memory
        device = None
    if device not in ON_THE_HOST:
        raise ValueError(
            f"{name}, a {kind}, is not in the memory of the CPU (DLPack device type {device}), where kernbench "
            "computes: copy it first, for example with .cpu() (torch), .get() (CuPy) or jax.device_get"
        )
    try:
        return np.asarray(values) if hasattr(values, "__array__") else np.from_dlpack(values)
    except Exception as error:  # each library raises its own
        raise ValueError(
            f"{name}, a {kind}, cannot be read as an array: {error} (NumPy takes dense arrays of float32 or float64)"
        ) from error


def dense_array(X):
    """Return an array, or a data frame as an array: missing values in nullable columns of pandas become NaN.

    Raises
    ------
    ValueError
        For dates and times, and for text.
    """
    refuse_times(X)
    values = np.asarray(X)
    return X.to_numpy(dtype=np.float64, na_value=np.nan) if values.dtype.kind == "O" and hasattr(X, "iloc") else values


def column_names(X):
    """Return the names of the columns of a table, as its library has them; None of anything else."""
    if hasattr(X, "column_names") and not hasattr(X, "dtypes"):  # of pyarrow, whose `columns` are their values
        return X.column_names
    return getattr(X, "columns", None)


def refuse_masked(values, name):
    """Raise ValueError for an array of ``numpy.ma`` with masked entries: conversions drop the mask, and use what is
    under it."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise ValueError(
            f"{name} must have no masked entries, since what is under the mask would be used: fill them in "
            "(numpy.ma.filled), or leave out their rows"
        )


def refuse_times(X, name="X"):
    """Raise ValueError, which names the column, if an array or a data frame holds dates or times.

    There are several ways to make numbers of them. Each library would count them in a unit of its own, and missing ones
    as -2**63.
    """
    if hasattr(X, "columns") and hasattr(X, "dtypes"):  # of pandas and polars
        columns = zip(X.columns, X.dtypes, strict=True)
    elif hasattr(X, "column_names"):  # of pyarrow
        columns = zip(X.column_names, X.schema.types, strict=True)
    else:
        columns = [(None, getattr(X, "dtype", None))]
    for column, dtype in columns:
        if getattr(dtype, "kind", "") in ("m", "M") or str(dtype).lower().startswith(TIMES):
            where = name if column is None else f"{name}: the column {column!r}"
            raise ValueError(f"{where} holds {dtype}, not numbers: encode it first, or leave it out")


def without_sparse_columns(X):
    """Return a data frame of pandas whose columns are all sparse, and zero where nothing is stored, as a CSR matrix.

    Anything else is returned as it is. ``numpy.asarray`` would fill the frame up.
    """
    if not hasattr(X, "sparse") or not hasattr(X.sparse, "to_coo") or not len(X.columns):
        return X
    if not all(dtype.fill_value == 0 for dtype in X.dtypes):
        return X
    return X.sparse.to_coo().tocsr()
