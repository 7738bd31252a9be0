"""Files are written whole or not at all."""

import os
import stat
import tempfile
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def written_whole(path, mode="w"):
    """Open a temporary neighbour of `path`; rename it over `path` when the block ends well.

    A crash, an exception or a full disk leaves the old file (or none) behind, never half a new one.

    Parameters
    ----------
    path : str or Path
        The file to write.
    mode : {"w", "wb"}, default="w"
        Text is UTF-8.

    Yields
    ------
    file object
    """
    path = Path(path).resolve()  # a link is written through
    encoding = None if "b" in mode else "utf-8"
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, mode, encoding=encoding) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        # mkstemp makes the file private; give it what an ordinary open() would have given, or left.
        if path.exists():
            mode = stat.S_IMODE(path.stat().st_mode)
        else:
            umask = os.umask(0)
            os.umask(umask)
            mode = 0o666 & ~umask
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise
