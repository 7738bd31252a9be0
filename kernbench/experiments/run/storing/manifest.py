"""``manifest.json``: a description of the records of a snapshot, in their folder."""

import json

from kernbench._files import written_whole

MANIFEST = "manifest.json"


def read_manifest(folder):
    """The manifest in a folder of records; empty where there is none, or a damaged one."""
    try:
        found = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) and isinstance(found.get("runs"), list) else {}


def write_manifest(folder, manifest):
    """Write a manifest atomically."""
    with written_whole(folder / MANIFEST) as file:
        json.dump(manifest, file, indent=1, ensure_ascii=False)
        file.write("\n")
