"""Open a file that is plain or compressed with gzip, bzip2 or xz.

The first bytes decide, not the name: browsers and servers may decompress a download without renaming it.
"""

import bz2
import gzip
import io
import lzma
import zlib
from contextlib import contextmanager

from kernbench.datasets.errors import malformed

SUFFIXES = (".gz", ".bz2", ".xz")

_FORMATS = {  # name: first bytes, opener
    "gzip": (b"\x1f\x8b", gzip.open),
    "bzip2": (b"BZh", bz2.open),
    "xz": (b"\xfd7zXZ\x00", lzma.open),
}


def compression_of(file):
    """Return ``"gzip"``, ``"bzip2"``, ``"xz"``, or None for plain data, from the first bytes of an open file."""
    start = file.read(6)
    file.seek(0)
    return next((name for name, (magic, _) in _FORMATS.items() if start.startswith(magic)), None)


@contextmanager
def open_bytes(path):
    """Open `path` for reading its decompressed bytes.

    Yields
    ------
    binary file object

    Raises
    ------
    DataFileError
        When the compressed data are truncated or damaged, raised by the read that reaches the fault; for a pipe.
    """
    with open(path, "rb") as raw:
        if not raw.seekable():
            raise malformed(path, "a pipe or a device; files are read more than once: write the data to one first")
        name = compression_of(raw)
        if name is None:
            yield raw
            return
        try:
            # GzipFile iterates over lines in Python; a BufferedReader around it does so in C.
            with _FORMATS[name][1](raw) as decompressed, io.BufferedReader(decompressed) as reader:
                yield reader
        except EOFError:
            raise malformed(path, f"the {name} data are truncated; remove the file and fetch it again") from None
        except (OSError, zlib.error, lzma.LZMAError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise  # an error of the disk, not of the content
            raise malformed(
                path, f"the {name} data are damaged ({error}); remove the file and fetch it again"
            ) from None


@contextmanager
def open_text(path):
    """Open `path` for reading decompressed UTF-8 text, with or without a byte order mark."""
    with open_bytes(path) as file, io.TextIOWrapper(file, encoding="utf-8-sig") as text:
        try:
            yield text
        except UnicodeDecodeError:
            raise _not_utf8(path) from None


def _not_utf8(path):
    with open_bytes(path) as file:
        for number, line in enumerate(file, 1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                found = f"found the byte 0x{line[error.start]:02x}, expected UTF-8 text"
                return malformed(path, found, line=number, column=error.start + 1)
    return malformed(path, "not UTF-8 text")
