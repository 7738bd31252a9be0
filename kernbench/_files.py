"""Write files whole or not at all."""

import os
import secrets
import stat
import tempfile
from contextlib import contextmanager
from pathlib import Path


def is_special(path):
    """Whether `path` exists and is neither a regular file nor a folder: a pipe, a terminal, a device."""
    try:
        mode = os.stat(path).st_mode  # not of the resolved path: /dev/stdout resolves to a name that does not exist
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


@contextmanager
def written_whole(path, mode="w"):
    """Open a temporary file beside `path`; rename it to `path` when the block ends without an exception.

    A crash, an exception or a full disk leaves the old file (or none) behind, never half a new one. Pipes and devices,
    which a rename would replace, are written to directly.

    Parameters
    ----------
    path : str or Path
        The file to write.
    mode : {"w", "wb"}, default="w"
        Text is UTF-8.

    Yields
    ------
    file object

    Raises
    ------
    OSError
        If `path` cannot be written; the error names `path`, not the temporary file.
    """
    encoding = None if "b" in mode else "utf-8"
    if is_special(path):
        with open(path, mode, encoding=encoding) as file:
            yield file
        return
    target = Path(os.path.realpath(path))  # a link stays a link
    with _errors_name(path):
        descriptor, temporary = _create_beside(target)
    try:
        with os.fdopen(descriptor, mode, encoding=encoding) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        with _errors_name(path):
            if target.exists():
                os.chmod(temporary, stat.S_IMODE(target.stat().st_mode))
            os.replace(temporary, target)
    except BaseException as error:
        if os.path.exists(temporary):
            os.unlink(temporary)
        if isinstance(error, OSError) and error.errno is not None and error.filename is None:  # of a write: a full disk
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


def check_writable_file(path):
    """Raise a ValueError that says why `path` cannot be written; create nothing."""
    path = Path(path)
    if path.is_dir():
        raise ValueError(f"cannot write {path}: it is a folder; name a file")
    if path.exists() and not os.access(path, os.W_OK):
        raise ValueError(f"cannot write {path}: the file is write-protected")
    if is_special(path):
        return  # written to directly
    # That of the file which will be replaced, not of a link to it.
    folder = Path(os.path.realpath(path)).parent if path.is_symlink() else path.parent
    if not folder.is_dir():
        raise ValueError(f"cannot write {path}: the folder {folder} does not exist")
    try:
        # A new file will be renamed to `path`, so the folder must be writable.
        with tempfile.NamedTemporaryFile(dir=folder, prefix=f".{path.name[:40]}."):
            pass
    except OSError as error:
        raise ValueError(f"cannot write {path}: {error.strerror or error}") from error


def _create_beside(target):
    """Create a file in the folder of `target`; return its descriptor and path.

    The system applies the umask, which cannot be read without changing it for all threads. What will replace a file
    that others may not read is private until then.
    """
    mode = 0o600 if target.exists() else 0o666
    while True:
        path = target.parent / f".{target.name[:40]}.{secrets.token_hex(6)}"
        try:
            return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), mode), str(path)
        except FileExistsError:
            continue


@contextmanager
def _errors_name(path):
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
