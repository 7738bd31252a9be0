"""SHA-256 of decompressed content, stored between processes.

pooch hashes a file as it is stored; copies of published sets are compressed by their holders, each in another way, so
that only the decompressed content can be compared. Decompressing takes up to half as long as reading the set; the
result is therefore kept in the cache folder, by path, size and modification time.
"""

import hashlib
import json
import zipfile
import zlib

from kernbench._files import written_whole
from kernbench.datasets.errors import malformed
from kernbench.datasets.files.folders import cache_folder
from kernbench.datasets.readers.compressed import open_bytes

# What zipfile raises on damaged, truncated or encrypted archives.
ZIP_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError)
STORE = "checksums.json"  # in the cache folder: path -> [size, modification time in ns, checksum]


def content_checksum(path):
    """Return the SHA-256 of the decompressed content of a file, in hexadecimal.

    The content of a zip archive, such as an ``.npz`` file, is its members in alphabetical order, each as its name, a
    zero byte, its length in decimal, a zero byte and its bytes; compression and dates do not count.
    """
    with open_bytes(path) as file:
        is_zip = file.read(4) == b"PK\x03\x04"
        file.seek(0)
        return _archive_checksum(path, file) if is_zip else hashlib.file_digest(file, "sha256").hexdigest()


def _archive_checksum(path, file):
    digest = hashlib.sha256()
    try:
        with zipfile.ZipFile(file) as archive:
            for name, size in sorted((member.filename, member.file_size) for member in archive.infolist()):
                digest.update(f"{name}\0{size}\0".encode())
                with archive.open(name) as member:
                    while block := member.read(1 << 20):
                        digest.update(block)
    except ZIP_DAMAGE as error:
        raise malformed(path, f"the zip archive is damaged ({error}); remove the file and fetch it again") from None
    return digest.hexdigest()


def stored_checksum(path):
    """Return the checksum of `path`: the stored one while size and modification time are the same."""
    known = _read_store().get(str(path.resolve()))
    if isinstance(known, list) and len(known) == 3 and known[:2] == _stamp(path):
        return known[2]
    return fresh_checksum(path)


def fresh_checksum(path):
    """Compute the checksum of `path` and store it; if the cache folder is read-only, it is computed again next time."""
    stamp = _stamp(path)
    checksum = content_checksum(path)
    try:
        cache_folder().mkdir(parents=True, exist_ok=True)
        with written_whole(cache_folder() / STORE) as file:
            json.dump(_read_store() | {str(path.resolve()): [*stamp, checksum]}, file, indent=1)
    except OSError:
        pass
    return checksum


def _stamp(path):
    status = path.stat()
    return [status.st_size, status.st_mtime_ns]


def _read_store():
    try:
        store = json.loads((cache_folder() / STORE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return store if isinstance(store, dict) else {}
