"""Checksums of unpacked content, remembered so that a file is hashed once, not on each load."""

import hashlib
import json

from kernbench._files import written_whole
from kernbench.datasets.archives import is_zip, open_member, sorted_members
from kernbench.datasets.folders import cache_folder
from kernbench.datasets.packed import open_unpacked

MEMORY_FILE = "checksums.json"


def content_checksum(path):
    """SHA-256 of the unpacked content of a file, in hexadecimal.

    The content of a zip archive, as NumPy's ``.npz`` is one, is its members in alphabetical order, each as
    its name, a zero byte, its length in decimal, a zero byte and its bytes: neither their compression nor
    their dates count.
    """
    digest = hashlib.sha256()
    if is_zip(path):
        for name, size in sorted_members(path):
            digest.update(f"{name}\0{size}\0".encode())
            with open_member(path, name) as file:
                _feed(digest, file)
    else:
        with open_unpacked(path) as file:
            _feed(digest, file)
    return digest.hexdigest()


def _feed(digest, file):
    while block := file.read(1 << 20):
        digest.update(block)


def remembered_checksum(path):
    """The checksum of `path`, from memory while the file's size and time of change stay the same.

    The memory is one JSON file in the cache folder: path -> [size, time of change in ns, checksum]. Where it
    cannot be written the file is hashed again next time, nothing worse.
    """
    key = str(path.resolve())
    status = path.stat()
    stamp = [status.st_size, status.st_mtime_ns]
    memory = _read_memory()
    known = memory.get(key)
    if isinstance(known, list) and known[:2] == stamp and len(known) == 3:
        return known[2]
    checksum = content_checksum(path)
    remember(path, checksum, stamp)
    return checksum


def remember(path, checksum, stamp):
    """Keep a checksum just computed for the file of this size and time of change."""
    memory = _read_memory()
    memory[str(path.resolve())] = [*stamp, checksum]
    try:
        cache_folder().mkdir(parents=True, exist_ok=True)
        with written_whole(cache_folder() / MEMORY_FILE) as file:
            json.dump(memory, file, indent=1)
    except OSError:
        pass


def _read_memory():
    try:
        memory = json.loads((cache_folder() / MEMORY_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return memory if isinstance(memory, dict) else {}
