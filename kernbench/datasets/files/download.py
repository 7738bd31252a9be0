"""Download a published file into the cache folder, through pooch.

pooch transfers and unzips; it does not verify. It compares the hash of a file as transferred, which the origins do not
publish for their archives and compressed files, so the decompressed content is verified here (`checksums`) before the
file is copied into the cache folder.
"""

import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path

from kernbench._files import written_whole
from kernbench.datasets.errors import DataFileError, DatasetUnavailable, malformed
from kernbench.datasets.files.checksums import ZIP_DAMAGE, content_checksum
from kernbench.datasets.files.folders import cache_folder

TIMEOUT_SECONDS = 30  # without an answer from the server


def download(file):
    """Download `file` from the first of its addresses that answers with the published content.

    Returns
    -------
    Path
        In the cache folder.

    Raises
    ------
    DatasetUnavailable
        If no address answers; the message lists those tried and why each of them failed.
    """
    failures = []
    for url in file.urls:
        try:
            cache_folder().mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=".download-", dir=cache_folder()) as folder:
                temporary = _retrieve(url, folder)
                found = content_checksum(temporary)
                if file.is_published(found):
                    path = cache_folder() / temporary.name
                    # pooch makes files that only their owner can read; others may share the cache folder.
                    with open(temporary, "rb") as source, written_whole(path, "wb") as target:
                        shutil.copyfileobj(source, target, 1 << 20)
                    return path
            failures.append(f"{url} (its content has SHA-256 {found}, expected {file.checksum})")
        except (DataFileError, *ZIP_DAMAGE):
            failures.append(f"{url} (the download is damaged)")
        except OSError as error:  # the base class of all exceptions of requests
            # The text of a failed connection is a page long and says no more than its type; that of a full disk names
            # a long path.
            reason = str(error) if len(str(error)) <= 100 else error.strerror or type(error).__name__
            failures.append(f"{url} ({reason})")
    raise DatasetUnavailable("; ".join(failures))


def _retrieve(url, folder):
    """Download ``address#member#…`` into `folder`, unzip each member in turn, and return the path of the last."""
    import pooch

    address, *members = url.split("#")

    def unzip(path, action, pup):
        for member in members:
            pooch.Unzip(members=[member])(path, action, pup)
            path = os.path.join(f"{path}.unzip", member)
            if not os.path.isfile(path):
                raise malformed(url, f"the zip archive has no member {member!r}")
        return path

    with _silent(pooch.get_logger()):
        return Path(
            pooch.retrieve(
                address,
                known_hash=None,
                fname=address.rpartition("/")[2],
                path=folder,
                processor=unzip,
                downloader=pooch.HTTPDownloader(timeout=TIMEOUT_SECONDS),
            )
        )


@contextmanager
def _silent(logger):
    """Hide pooch's advice to note the hash of each download, which it prints to the standard error."""
    level = logger.level
    logger.setLevel("WARNING")
    try:
        yield
    finally:
        logger.setLevel(level)
