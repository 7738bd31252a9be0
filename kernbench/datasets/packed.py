"""Open a file whether it is plain, gzip, bzip2 or xz; the content decides, not the name.

A browser or a server may unpack a download and leave its name, so the name is no proof.
"""

import bz2
import gzip
import io
import lzma
import zlib
from contextlib import contextmanager
from pathlib import Path

from kernbench.datasets.errors import malformed

PACKING_SUFFIXES = (".gz", ".bz2", ".xz")

_PACKINGS = {  # name: first bytes, opener
    "gzip": (b"\x1f\x8b", gzip.open),
    "bzip2": (b"BZh", bz2.open),
    "xz": (b"\xfd7zXZ\x00", lzma.open),
}


@contextmanager
def open_unpacked(path):
    """Open `path` for reading its unpacked bytes.

    Yields
    ------
    binary file object

    Raises
    ------
    DataFileError
        When the packing breaks off or is damaged, be it at the last byte.
    """
    with open(path, "rb") as raw:
        start = raw.read(6)
        raw.seek(0)
        packing = next((name for name, (magic, _) in _PACKINGS.items() if start.startswith(magic)), None)
        if packing is None:
            yield raw
            return
        try:
            # GzipFile hands out lines from Python, a BufferedReader around it does so from C.
            with _PACKINGS[packing][1](raw) as unpacked, io.BufferedReader(unpacked) as reader:
                yield reader
        except EOFError:
            raise malformed(path, f"the {packing} data break off: truncated; fetch the file again") from None
        except (OSError, zlib.error, lzma.LZMAError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise  # the disk's trouble, not the file's content
            raise malformed(path, f"the {packing} data are damaged ({error}); fetch the file again") from None


@contextmanager
def open_text(path):
    """Open `path` for reading unpacked UTF-8 text, with or without a byte order mark."""
    with open_unpacked(path) as file, io.TextIOWrapper(file, encoding="utf-8-sig") as text:
        try:
            yield text
        except UnicodeDecodeError:
            raise _not_utf8(path) from None


def _not_utf8(path):
    with open_unpacked(path) as file:
        for number, line in enumerate(file, 1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                found = f"found the byte 0x{line[error.start]:02x}, expected UTF-8 text"
                return malformed(path, found, line=number, column=error.start + 1)
    return malformed(path, "not UTF-8 text")


def unpacked_name(path):
    """The file name without a packing suffix: ``a9a.t`` for ``data/a9a.t.gz``."""
    path = Path(path)
    return path.stem if path.suffix.lower() in PACKING_SUFFIXES else path.name
