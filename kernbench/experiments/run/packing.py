"""All records of a store in one small file: JSON lines, packed by xz."""

import json
import tempfile
from contextlib import contextmanager
from pathlib import Path

from kernbench.experiments.run.schema import fault

ENDING = "jsonl.xz"


def packed(rows):
    """Return rows (records, or others) as the bytes of a packed file.

    Parameters
    ----------
    rows : iterable of dict

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

    Parameters
    ----------
    path : Path

    Yields
    ------
    Path

    Raises
    ------
    ValueError
        If the file is not one that `packed` made of records.
    """
    import lzma

    try:
        records = [json.loads(line) for line in lzma.decompress(path.read_bytes()).splitlines()]
    except (OSError, lzma.LZMAError, ValueError) as error:
        raise ValueError(f"cannot read packed records from {str(path)!r}: {error}") from error
    problem = next(filter(None, map(fault, records)), None)
    if problem:
        raise ValueError(f"{str(path)!r} has a line that is not a record: {problem}")
    with tempfile.TemporaryDirectory() as folder:
        lines = {}
        for record in records:
            lines.setdefault(record["experiment"], []).append(json.dumps(record) + "\n")
        for name, own in lines.items():
            (Path(folder) / f"{name}.jsonl").write_text("".join(own), encoding="utf-8")
        yield Path(folder)
