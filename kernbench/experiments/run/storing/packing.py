"""All records of a store in one small file: JSON lines, packed by xz."""

import json
import tempfile
import warnings
from contextlib import contextmanager
from pathlib import Path

from kernbench.experiments.run.storing.schema import parse
from kernbench.experiments.run.storing.store import SkippedLine

ENDING = "jsonl.xz"


def packed(rows):
    """Return rows (records, or others) as the bytes of a packed file.

    Returns
    -------
    bytes
        The same for the same rows.
    """
    import lzma

    lines = (json.dumps(row, allow_nan=False, ensure_ascii=False) + "\n" for row in rows)
    return lzma.compress("".join(lines).encode())


@contextmanager
def unpacked(path):
    """Yield a temporary results folder with the records of a packed file.

    Yields
    ------
    Path

    Raises
    ------
    ValueError
        If the file is not one that `packed` made. A line that is not a record is skipped with a `SkippedLine` warning.
    """
    import lzma

    try:
        lines = lzma.decompress(path.read_bytes()).split(b"\n")
    except (OSError, lzma.LZMAError) as error:
        raise ValueError(f"cannot read packed records from {str(path)!r}: {error}") from error
    with tempfile.TemporaryDirectory() as folder:
        own = {}
        for number, line in enumerate(lines, 1):
            record, problem = parse(line)
            if problem is None:
                own.setdefault(record["experiment"], []).append(line + b"\n")
            elif line.strip():
                warnings.warn(f"{path}, line {number} is skipped: {problem}", SkippedLine, stacklevel=3)
        for name, kept in own.items():
            (Path(folder) / f"{name}.jsonl").write_bytes(b"".join(kept))
        yield Path(folder)
