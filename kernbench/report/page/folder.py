"""Write a folder of files: all are written before the first is moved into place."""

import os
import tempfile
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def output_folder(folder):
    """Check that `folder` can be written; yield a temporary folder inside it, which is deleted at the end.

    Raises
    ------
    ValueError
        If the folder cannot be made or written; the message says to choose another.
    """
    folder = Path(folder)
    is_new = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        scratch = tempfile.TemporaryDirectory(prefix=".report-", dir=folder)
    except OSError as error:
        raise ValueError(_refusal(folder, error)) from error
    try:
        with scratch as name:
            yield Path(name)
    finally:
        if is_new and not any(folder.iterdir()):
            folder.rmdir()  # nothing was written


def write_files(folder, scratch, files):
    """Write `files` to the scratch folder, then move each into `folder`, the last one last.

    Parameters
    ----------
    folder, scratch : Path
    files : dict of str to str or bytes
        Relative path to content.

    Raises
    ------
    ValueError
        If writing fails; no partially written file remains.
    """
    try:
        for name, content in files.items():
            path = scratch / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        for name in files:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            os.replace(scratch / name, folder / name)
    except OSError as error:
        raise ValueError(_refusal(folder, error)) from error


def _refusal(folder, error):
    return f"cannot write the report to {str(folder)!r}: {error.strerror or error}; choose another folder"
