"""Members of zip archives: parts of a download, arrays of an ``.npz`` file."""

import shutil
import zipfile
import zlib
from contextlib import contextmanager
from pathlib import Path

from kernbench.datasets.errors import malformed

# What zipfile raises on damaged, truncated or encrypted archives.
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError)


def is_zip(path):
    """Whether the file starts as a zip archive does."""
    with open(path, "rb") as file:
        return file.read(4) == b"PK\x03\x04"


def sorted_members(path):
    """Names and unpacked sizes of the members of an archive, in alphabetical order."""
    with _opened(path) as archive:
        return sorted((member.filename, member.file_size) for member in archive.infolist())


@contextmanager
def open_member(path, name):
    """Open a member of an archive for reading bytes.

    Raises
    ------
    DataFileError
        When the archive is damaged, be it at the member's last byte, or has no such member.
    """
    with _opened(path) as archive:
        if name not in archive.namelist():
            raise malformed(path, f"the zip archive has no member {name!r}")
        with archive.open(name) as member:
            yield member


def extract(path, name):
    """Unpack a member into the folder of its archive, without the member's own folders; return its path."""
    target = Path(path).parent / Path(name).name
    with open_member(path, name) as member, open(target, "wb") as file:
        shutil.copyfileobj(member, file)
    return target


@contextmanager
def _opened(path):
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except _DAMAGE as error:
        raise malformed(path, f"the zip archive is damaged ({error}); fetch the file again") from None
