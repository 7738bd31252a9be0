"""Check that an output can be written before the work starts."""

import os
import tempfile
from pathlib import Path

from kernbench._files import is_special


def check_writable_file(path):
    """Raise a ValueError that says why `path` cannot be written; create nothing."""
    path = Path(path)
    if path.is_dir():
        raise ValueError(f"cannot write {path}: it is a folder; name a file")
    folder = path.parent
    if not folder.is_dir():
        raise ValueError(f"cannot write {path}: the folder {folder} does not exist")
    if path.exists() and not os.access(path, os.W_OK):
        raise ValueError(f"cannot write {path}: the file is write-protected")
    if is_special(path):
        return  # written to directly
    try:
        # A new file will be renamed to `path`, so the folder must be writable.
        with tempfile.NamedTemporaryFile(dir=folder, prefix=f".{path.name[:40]}."):
            pass
    except OSError as error:
        raise ValueError(f"cannot write {path}: {error.strerror or error}") from error
