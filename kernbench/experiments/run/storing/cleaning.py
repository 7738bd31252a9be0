"""Which lines of a results file are worth keeping, and the copy of the file as it was."""

import os

from kernbench.experiments.run.storing.schema import is_of_a_later_version, parse


def start_of(record):
    """The time at which a record was begun, to sort by: merged files have their records in any order."""
    return str(record.get("started") or "")


def newest_of(records):
    """The newest record of each key, as a dict; a success is never hidden by a later failure.

    Parameters
    ----------
    records : list of dict
        In any order; of those begun at one time the last counts.
    """
    newest = dict.fromkeys(record["key"] for record in records)
    for record in sorted(records, key=start_of):
        before = newest[record["key"]]
        if before is None or record["status"] == "ok" or before["status"] != "ok":
            newest[record["key"]] = record
    return newest


def worth_keeping(lines, is_outdated=None):
    """The lines that `clean` leaves: the newest record of each key, and records that this version cannot read.

    With `is_outdated`, all lines but the records of which it is true.
    """
    parsed = [(line, parse(line)[0]) for line in lines]
    if is_outdated is not None:
        return [line for line, record in parsed if record is None or not is_outdated(record)]
    newest = {id(record) for record in newest_of([record for _, record in parsed if record is not None]).values()}
    return [line for line, record in parsed if id(record) in newest or is_of_a_later_version(line)]


def copied(path, content):
    """Write a copy of a file under a number that no copy has had; return its path."""
    numbers = [copy.name.rpartition("-")[2] for copy in path.parent.glob(f"{path.name}.before-*")]
    number = max((int(text) for text in numbers if text.isdecimal()), default=0)
    while True:
        number += 1
        copy = path.with_name(f"{path.name}.before-{number}")
        try:
            with open(copy, "xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        except FileExistsError:
            continue
        return copy
