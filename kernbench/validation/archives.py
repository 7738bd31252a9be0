"""NumPy arrays in files: headers that contradict their file, and sizes that memory cannot hold, are refused first."""

import struct
from math import prod
from tokenize import TokenError

import numpy as np
from numpy.lib import format as npy

from kernbench.validation.container import available_bytes

# By version of the header.
HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
# What NumPy raises on damaged headers: it parses them as Python literals.
FAULTS = (ValueError, TypeError, KeyError, SyntaxError, TokenError, OverflowError, MemoryError, RecursionError,
          EOFError, struct.error)  # fmt: skip


def read_header(file, what):
    """Read the header of a ``.npy`` file from its start.

    Parameters
    ----------
    file : binary file
    what : str
        Names the file in the message.

    Returns
    -------
    shape : tuple of int
    fortran : bool
    dtype : dtype

    Raises
    ------
    ValueError
        If it is not one that ``numpy.save`` writes for an array of numbers or text.
    """
    try:
        shape, fortran, dtype = HEADERS[npy.read_magic(file)](file)
    except FAULTS as error:
        raise ValueError(f"{what} is not an array as numpy.save writes them ({error})") from None
    if any(size < 0 for size in shape):
        raise ValueError(f"{what} is not an array as numpy.save writes them (its shape is {shape})")
    return shape, fortran, dtype


def read_member(archive, name):
    """Return an array of an ``.npz`` archive, as ``archive[name]`` does, after a check of its size.

    A few megabytes may unpack to more than the machine has, and a damaged header may ask for any amount.

    Parameters
    ----------
    archive : NpzFile
        Opened with ``allow_pickle=False``.
    name : str

    Raises
    ------
    ValueError
        If the header contradicts the size of the member, or the array does not fit the free memory. What NumPy and
        ``zipfile`` raise for damaged members passes.
    """
    member = f"{name}.npy" if f"{name}.npy" in archive.zip.namelist() else name
    size = archive.zip.getinfo(member).file_size
    with archive.zip.open(member) as file:
        shape, _, dtype = read_header(file, name)
        n_bytes = size - file.tell()
    if dtype.hasobject:
        return archive[name]  # which refuses it
    wanted = prod(shape) * dtype.itemsize
    if wanted != n_bytes:
        raise ValueError(f"its header asks for {wanted} bytes, and {n_bytes} follow")
    check_memory(wanted)
    return archive[name]


def check_memory(n_bytes):
    """Raise ValueError if an array of this many bytes is larger than the free memory."""
    free = available_bytes()
    if n_bytes > free:
        raise ValueError(
            f"it unpacks to {n_bytes / 2**30:,.1f} GB, and {free / 2**30:,.1f} GB of memory are free: read larger data "
            "in chunks, from .npy, svmlight or Parquet files"
        )


def load_vector(path):
    """Return a one-dimensional array of a ``.npy`` file.

    Raises
    ------
    ValueError
        Names the file: a damaged header, a file that is too short, pickled objects.
    """
    with open(path, "rb") as file:
        read_header(file, path)
    try:
        return np.load(path, allow_pickle=False)
    except FAULTS as error:
        raise ValueError(f"{path} cannot be read: {error}") from None
