"""Files of real sets: find them, verify them, download them."""

import hashlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from kernbench.datasets.checksums import content_checksum, remember, remembered_checksum
from kernbench.datasets.errors import ChecksumMismatch, DataFileError, DatasetUnavailable
from kernbench.datasets.folders import cache_folder, find_file, search_folders

TIMEOUT_SECONDS = 30  # without an answer from the server


@dataclass(frozen=True)
class RemoteFile:
    """A published file.

    Attributes
    ----------
    name : str
        Without a packing suffix.
    checksum : str
        SHA-256 of the unpacked content.
    urls : tuple of str
        Public origins, tried in this order.
    """

    name: str
    checksum: str
    urls: tuple


@dataclass(frozen=True)
class FileStatus:
    """What `verify` found for one file.

    Attributes
    ----------
    dataset, name : str
    path : Path or None
        None when the file is in none of the folders.
    status : {"ok", "missing", "damaged", "wrong checksum"}
    expected : str
        The published checksum (SHA-256 of the unpacked content).
    found : str or None
        The checksum of the file at `path`; None when there is none or it cannot be unpacked.
    """

    dataset: str
    name: str
    path: Path | None
    status: str
    expected: str
    found: str | None


def combined_checksum(files):
    """The checksum of a set: that of its only file, or SHA-256 of the lines ``<checksum>  <name>`` of all."""
    if len(files) == 1:
        return files[0].checksum
    listing = "".join(f"{file.checksum}  {file.name}\n" for file in files)
    return hashlib.sha256(listing.encode()).hexdigest()


def locate(dataset, files, page):
    """Return ``{name: path}`` of verified copies of `files`; download those that are not there.

    Raises
    ------
    ChecksumMismatch
        When the copy found holds something else.
    DatasetUnavailable
        When there is no copy and no download.
    """
    paths = {file.name: find_file(file.name) for file in files}
    for file in files:
        path = paths[file.name]
        if path is not None:
            _require_published(dataset, file, page, path)
    for file in files:
        if paths[file.name] is None:
            try:
                paths[file.name] = download(file)
            except DatasetUnavailable as error:
                missing = [name for name, path in paths.items() if path is None]
                raise DatasetUnavailable(_unavailable(dataset, missing, page, error)) from None
    return paths


def _require_published(dataset, file, page, path):
    found = remembered_checksum(path)
    if found != file.checksum:
        raise ChecksumMismatch(
            f"{path}: this is not the published {file.name} of the data set {dataset!r}: the SHA-256 of its "
            f"unpacked content is {found}, expected {file.checksum}. Remove or replace it (origin: {page}), "
            "or read it as data of your own with kernbench.datasets.read_file"
        )


def download(file):
    """Fetch `file` into the cache folder, verified, whole or not at all; return its path.

    Raises
    ------
    DatasetUnavailable
        With what was tried and why it failed.
    """
    import pooch

    failures = []
    for url in file.urls:
        try:
            cache_folder().mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=".download-", dir=cache_folder()) as folder:
                temporary = Path(folder) / url.rpartition("/")[2]
                pooch.HTTPDownloader(timeout=TIMEOUT_SECONDS)(url, str(temporary), None)
                found = content_checksum(temporary)
                if found == file.checksum:
                    path = cache_folder() / temporary.name
                    os.replace(temporary, path)
                    _remember(path, found)
                    return path
            failures.append(f"{url} (its content has SHA-256 {found}, expected {file.checksum})")
        except DataFileError:
            failures.append(f"{url} (what came is damaged)")
        except OSError as error:  # every exception of requests is one
            # The text of a failed connection is a page long and says no more than its type does.
            reason = str(error) if len(str(error)) <= 100 else type(error).__name__
            failures.append(f"{url} ({reason})")
    raise DatasetUnavailable("; ".join(failures))


def check_files(dataset, files):
    """Hash every file anew, whatever was remembered; return a list of `FileStatus`. Nothing is downloaded."""
    statuses = []
    for file in files:
        path, found = find_file(file.name), None
        if path is None:
            status = "missing"
        else:
            try:
                found = content_checksum(path)
            except DataFileError:
                status = "damaged"
            else:
                _remember(path, found)
                status = "ok" if found == file.checksum else "wrong checksum"
        statuses.append(FileStatus(dataset, file.name, path, status, file.checksum, found))
    return statuses


def _remember(path, checksum):
    status = path.stat()
    remember(path, checksum, [status.st_size, status.st_mtime_ns])


def _unavailable(dataset, missing, page, tried):
    names = ", ".join(missing)
    folders = [f"{folder}{'' if folder.is_dir() else ' (no such folder)'}" for folder in search_folders()]
    if not os.environ.get("KERNBENCH_DATA"):
        folders.append("KERNBENCH_DATA (not set)")
    return (
        f"the data set {dataset!r} needs {names}, not found on this computer and not downloaded. "
        f"Looked in: {', '.join(folders)}. Tried: {tried}. To go on, get {names} from {page} and place "
        f"{'it' if len(missing) == 1 else 'them'}, plain or as .gz, .bz2 or .xz, in {cache_folder()} "
        "or in a folder that KERNBENCH_DATA names"
    )
