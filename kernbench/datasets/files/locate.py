"""Find or download the files of a set, and verify them."""

import os
from dataclasses import dataclass
from pathlib import Path

from kernbench.datasets.errors import ChecksumMismatch, DataFileError, DatasetUnavailable
from kernbench.datasets.files.checksums import fresh_checksum, stored_checksum
from kernbench.datasets.files.download import download
from kernbench.datasets.files.folders import cache_folder, search_folders


@dataclass(frozen=True)
class FileStatus:
    """What `verify` found for one file.

    Attributes
    ----------
    dataset, name : str
    path : Path or None
        None if no folder has the file.
    status : {"ok", "missing", "damaged", "wrong checksum"}
    expected : str
        The checksum of the published content.
    found : str or None
        The checksum of the file at `path`; None if it is missing or damaged.
    """

    dataset: str
    name: str
    path: Path | None
    status: str
    expected: str
    found: str | None


def locate(dataset, files, page):
    """Return ``{name: path}`` of verified copies of `files`; download the missing ones.

    Parameters
    ----------
    dataset : str
        Its name, for messages.
    files : sequence of RemoteFile
    page : str
        The page where the files are published, for messages.

    Raises
    ------
    ChecksumMismatch
        If a copy found has other content; it is neither changed nor replaced.
    DatasetUnavailable
        If a file is neither found nor downloaded.
    """
    paths = {file.name: file.find() for file in files}
    for file in files:
        if paths[file.name] is not None:
            _require_published(dataset, file, page, paths[file.name])
    for file in files:
        if paths[file.name] is None:
            try:
                paths[file.name] = download(file)
            except DatasetUnavailable as error:
                missing = [file for file in files if paths[file.name] is None]
                raise DatasetUnavailable(_unavailable(dataset, missing, page, error)) from None
    return paths


def _require_published(dataset, file, page, path):
    found = stored_checksum(path)
    if not file.is_published(found):
        raise ChecksumMismatch(
            f"{path}: this is not the published {file.name} of the data set {dataset!r}: the SHA-256 of its "
            f"decompressed content is {found}, expected {file.checksum}. Remove or replace it (origin: {page}), "
            "or read it as your own data with kernbench.datasets.read_file"
        )


def check_files(sets):
    """Hash the files of data sets, each once, without the stored checksums and without downloads.

    Parameters
    ----------
    sets : iterable of (str, sequence of RemoteFile)
        Names of data sets and their files, of which several sets may have the same.

    Returns
    -------
    list of FileStatus
    """
    statuses, checksums = [], {}
    for dataset, files in sets:
        for file in files:
            path = file.find()
            if path is not None and path not in checksums:
                checksums[path] = _checksum_unless_damaged(path)
            found = checksums.get(path)
            if path is None:
                status = "missing"
            elif found is None:
                status = "damaged"
            else:
                status = "ok" if file.is_published(found) else "wrong checksum"
            statuses.append(FileStatus(dataset, file.name, path, status, file.checksum, found))
    return statuses


def _checksum_unless_damaged(path):
    try:
        return fresh_checksum(path)
    except DataFileError:
        return None


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
        f"Looked in: {', '.join(folders)}. Tried: {str(tried) or 'no download, since no address offers one'}. "
        f"To continue, {advice} {cache_folder()} or in a folder that KERNBENCH_DATA names"
    )
