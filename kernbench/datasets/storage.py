"""Files of real sets: find them, verify them, download them."""

import hashlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from kernbench.datasets.archives import extract
from kernbench.datasets.checksums import content_checksum, remember, remembered_checksum
from kernbench.datasets.errors import ChecksumMismatch, DataFileError, DatasetUnavailable
from kernbench.datasets.folders import cache_folder, find_file, search_folders

TIMEOUT_SECONDS = 30  # without an answer from the server


@dataclass(frozen=True)
class RemoteFile:
    """A published file, or one made from published files.

    Attributes
    ----------
    name : str
        Without a packing suffix.
    checksum : str
        SHA-256 of the unpacked content: :func:`kernbench.datasets.checksums.content_checksum`.
    urls : tuple of str
        Public origins, tried in this order. ``address#member`` is a member of the zip archive at that
        address, ``address#inner.zip#member`` one of an archive inside it.
    aliases : tuple of str
        Other names under which copies of the file are about.
    same_examples : tuple of str
        Checksums of copies that hold the same examples in other bytes: with other ends of lines.
    recipe : str
        How to make the file from what its page offers, where there is no such file to download.
    """

    name: str
    checksum: str
    urls: tuple
    aliases: tuple = ()
    same_examples: tuple = ()
    recipe: str = ""

    def find(self):
        """Where the file is on this computer, or None."""
        return find_file(self.name, *self.aliases)

    def is_published(self, checksum):
        """Whether content with this checksum is what was published."""
        return checksum == self.checksum or checksum in self.same_examples


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
        The checksum of what was published.
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
    paths = {file.name: file.find() for file in files}
    for file in files:
        path = paths[file.name]
        if path is not None:
            _require_published(dataset, file, page, path)
    for file in files:
        if paths[file.name] is None:
            try:
                paths[file.name] = download(file)
            except DatasetUnavailable as error:
                missing = [file for file in files if paths[file.name] is None]
                raise DatasetUnavailable(_unavailable(dataset, missing, page, error)) from None
    return paths


def _require_published(dataset, file, page, path):
    found = remembered_checksum(path)
    if not file.is_published(found):
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
                address, *members = url.split("#")
                temporary = Path(folder) / address.rpartition("/")[2]
                pooch.HTTPDownloader(timeout=TIMEOUT_SECONDS)(address, str(temporary), None)
                for member in members:
                    temporary = extract(temporary, member)
                found = content_checksum(temporary)
                if file.is_published(found):
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
        path, found = file.find(), None
        if path is None:
            status = "missing"
        else:
            try:
                found = content_checksum(path)
            except DataFileError:
                status = "damaged"
            else:
                _remember(path, found)
                status = "ok" if file.is_published(found) else "wrong checksum"
        statuses.append(FileStatus(dataset, file.name, path, status, file.checksum, found))
    return statuses


def _remember(path, checksum):
    status = path.stat()
    remember(path, checksum, [status.st_size, status.st_mtime_ns])


def _unavailable(dataset, missing, page, tried):
    names = ", ".join(file.name for file in missing)
    them = "it" if len(missing) == 1 else "them"
    folders = [f"{folder}{'' if folder.is_dir() else ' (no such folder)'}" for folder in search_folders()]
    if not os.environ.get("KERNBENCH_DATA"):
        folders.append("KERNBENCH_DATA (not set)")
    recipes = [file.recipe for file in missing if file.recipe]
    if recipes:
        advice = f"make {names} from what {page} offers ({'; '.join(recipes)}) and place {them} in"
    else:
        advice = f"get {names} from {page} and place {them}, plain or as .gz, .bz2 or .xz, in"
    return (
        f"the data set {dataset!r} needs {names}, not found on this computer and not downloaded. "
        f"Looked in: {', '.join(folders)}. Tried: {str(tried) or 'no download, there is none'}. "
        f"To go on, {advice} {cache_folder()} or in a folder that KERNBENCH_DATA names"
    )
