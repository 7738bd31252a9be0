"""Plain data for model files: JSON, with the arrays stored beside it by name.

A value that JSON cannot represent becomes an object with one key that starts with ``$``::

    {"$tuple": [0.05, 0.5]}             a tuple
    {"$array": "support_"}              an array of the archive
    {"$objects": [1.0, "scale"]}        an array of Python objects: numbers, text, kernels, None
    {"$masked": ..., "mask": [...]}     an array of which some items are masked
    {"$csr": "support_vectors_", ...}   a sparse matrix, its three arrays in the archive
    {"$kernel": "Gaussian", ...}        a kernel object with its parameters; those of a sum are kernels again
    {"$pairs": [[key, value], ...]}     a dict whose keys are not all strings (class weights)

Nothing in it can run code when it is read.
"""

from collections.abc import Sequence
from dataclasses import fields
from numbers import Integral, Real

import numpy as np
from scipy import sparse

from kernbench._names import unknown_name
from kernbench.kernels.functions import KERNELS as CATALOGUE
from kernbench.kernels.functions import Callable, Kernel
from kernbench.validation.arrays import csr_from_parts

KERNELS = {name: kernel for name, kernel in CATALOGUE.items() if kernel is not Callable}
PLAIN = (bool, int, float, str, np.generic, Kernel, type(None))  # items of an array of objects that are stored
PLAIN_KINDS = "biufUSmM"  # kinds of NumPy arrays that are stored without pickle


class NotPlainData(ValueError):
    """The value cannot be stored as plain data."""


def encode(value, name, arrays):
    """Return `value` in a form that ``json.dumps`` accepts; add the arrays in it to the dict `arrays`.

    Parameters
    ----------
    value : object
        None, bool, number, str, sequence, dict, ndarray, CSR matrix or kernel object.
    name : str
        Its name in `arrays` and in messages.
    arrays : dict of str to ndarray
        Receives the arrays found.

    Raises
    ------
    NotPlainData
        For anything else.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value)
    if isinstance(value, tuple):
        return {"$tuple": encode(list(value), name, arrays)}
    if isinstance(value, Sequence):
        return [encode(item, f"{name}.{i}", arrays) for i, item in enumerate(value)]
    if isinstance(value, dict):
        return _encode_dict(value, name, arrays)
    if isinstance(value, np.ndarray):
        return _encode_array(value, name, arrays)
    if sparse.issparse(value):
        return _encode_csr(value.tocsr(), name, arrays)
    if KERNELS.get(type(value).__name__) is type(value):
        return {"$kernel": type(value).__name__, **_encode_kernel(value, name, arrays)}
    if isinstance(value, Callable) or (callable(value) and not isinstance(value, Kernel)):
        raise NotPlainData(f"{name} is a Python function, which cannot be stored as data")
    raise NotPlainData(f"{name} is a {type(value).__name__}, which cannot be stored as data")


def _encode_dict(value, name, arrays):
    if all(isinstance(key, str) and not key.startswith("$") for key in value):
        return {key: encode(item, f"{name}.{key}", arrays) for key, item in value.items()}
    pairs = enumerate(value.items())
    return {"$pairs": [[encode(key, name, arrays), encode(item, f"{name}.{k}", arrays)] for k, (key, item) in pairs]}


def _encode_kernel(kernel, name, arrays):
    # Not dataclasses.asdict, which would flatten the kernels of a sum into dicts without a class.
    parameters = {field.name: getattr(kernel, field.name) for field in fields(kernel)}
    return {key: encode(item, f"{name}.{key}", arrays) for key, item in parameters.items()}


def _encode_array(value, name, arrays):
    if isinstance(value, np.ma.MaskedArray):
        if value.mask.any():
            return {"$masked": _encode_array(value.filled(0), name, arrays), "mask": value.mask.tolist()}
        value = value.data
    if value.dtype.kind == "O" and all(isinstance(item, PLAIN) for item in value.ravel()) and value.ndim == 1:
        # NumPy's text drops NUL characters at its end.
        if not all(isinstance(item, str) and not item.endswith("\0") for item in value):
            return {"$objects": [encode(item, name, arrays) for item in value]}
    entry = {"$array": name}
    if value.dtype.kind in "OT":  # text held as Python objects (feature names, classes)
        if not all(isinstance(item, str) for item in value.ravel()):
            raise NotPlainData(f"{name} holds Python objects other than text, which cannot be stored as data")
        entry["objects"] = value.dtype.kind == "O"
        value = value.astype(np.str_)
    if value.dtype.kind not in PLAIN_KINDS:
        raise NotPlainData(f"{name} has dtype {value.dtype}, which cannot be stored as data")
    arrays[name] = value
    return entry


def _encode_csr(value, name, arrays):
    for part in ("data", "indices", "indptr"):
        arrays[f"{name}.{part}"] = getattr(value, part)
    return {"$csr": name, "shape": list(value.shape), "array": isinstance(value, sparse.sparray)}


def decode(value, arrays):
    """Return the value that `encode` was given.

    Parameters
    ----------
    value : object
        As read by ``json.loads``.
    arrays : mapping of str to ndarray

    Raises
    ------
    ValueError, KeyError, TypeError
        If it was not written by `encode`.
    """
    if isinstance(value, list):
        return [decode(item, arrays) for item in value]
    if not isinstance(value, dict):
        return value
    if "$tuple" in value:
        return tuple(decode(value["$tuple"], arrays))
    if "$array" in value:
        array = arrays[value["$array"]]
        return array.astype(object) if value.get("objects") else array
    if "$objects" in value:
        return np.array([decode(item, arrays) for item in value["$objects"]], dtype=object)
    if "$masked" in value:
        return np.ma.MaskedArray(decode(value["$masked"], arrays), mask=value["mask"])
    if "$csr" in value:
        return _decode_csr(value, arrays)
    if "$pairs" in value:
        return {decode(key, arrays): decode(item, arrays) for key, item in value["$pairs"]}
    if "$kernel" in value:
        if value["$kernel"] not in KERNELS:
            raise ValueError(unknown_name("kernel", value["$kernel"], KERNELS))
        return KERNELS[value["$kernel"]](**{k: decode(v, arrays) for k, v in value.items() if k != "$kernel"})
    return {key: decode(item, arrays) for key, item in value.items()}


def _decode_csr(value, arrays):
    parts = (arrays[f"{value['$csr']}.{part}"] for part in ("data", "indices", "indptr"))
    make = sparse.csr_array if value["array"] else sparse.csr_matrix
    return csr_from_parts(*parts, value["shape"], str(value["$csr"]), make=make)
