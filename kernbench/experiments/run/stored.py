"""Which cells have a record already: of this machine or, where that is asked for, of any."""

from kernbench.experiments.run.cells import cell_key
from kernbench.experiments.run.storing.cleaning import newest_of, start_of

# Entries of a record's environment that describe the machine and enter its key.
MACHINE = ("processor", "n_threads", "blas")


def place_of(record):
    """The `place` of the cell that a record is of."""
    return tuple(record[name] for name in ("experiment", "scale", "dataset", "method", "repeat"))


def checksum_in_key(cell, record, read):
    """The checksum of a cell's data, from which the key of its record was made.

    A measurement may draw data of its own and describe these in the record; the key has the checksum of the cell's.

    Parameters
    ----------
    cell : Cell
    record : dict
    read : callable
        ``read(cell) -> str or None``: called where the key is not made from the checksum in the record.
    """
    checksum = record["data"].get("checksum")
    return checksum if record["key"] == cell_key(cell, checksum, record["environment"]) else read(cell)


def wanted_and_stored(cells, auto, find, estimates=None):
    """The cells to measure, and the records of those that need no run.

    Parameters
    ----------
    cells : list of Cell
    auto : AutoRepeats or None
        Which repeats to measure; None for all. The first ones decide, so their records are looked for before others.
    find : callable
        ``find(cells)``, as `stored` with the rest of its arguments.
    estimates : dict of tuple to dict, optional
        Records by `place` that stand in for first repeats without one that counts.

    Returns
    -------
    cells : list of Cell
    records : dict of tuple to dict
        By `place`.
    """
    if auto is not None:
        first = find([cell for cell in cells if cell.repeat == 0])
        cells = auto.wanted(cells, {**(estimates or {}), **first})
    return cells, find(cells)


def stored(cells, records, machines, checksum_of, *, any_machine=False):
    """The records of the cells that need no run, by `place`.

    Parameters
    ----------
    cells : list of Cell
        Each after the one it depends on.
    records : list of dict
        Those that count. Of each measurement one does: the newest, but a success before a later failure. An error does
        only if the cell that determines the budget of its cell is stored without a success.
    machines : list of Machine
        Those that run cells now.
    checksum_of : callable
        ``checksum_of(cell, record) -> str or None``: of the data of the cell.
    any_machine : bool, default=False
        Also the last records of races (all `cells` of a data set and repeat) that one other machine has measured
        whole: their times are compared with each other alone.

    Returns
    -------
    dict of tuple to dict
    """
    of_place, found, races = {}, {}, {}
    for record in sorted(newest_of(records).values(), key=start_of):
        of_place.setdefault(place_of(record), []).append(record)
    for cell in cells:
        races.setdefault((cell.experiment, cell.dataset, cell.repeat), []).append(cell)
        for record in of_place.get(cell.place, ()):
            if not _counts(record, cell, found):
                continue
            checksum = checksum_of(cell, record)
            if any(record["key"] == machine.key(cell, checksum) for machine in machines):
                found[cell.place] = record
    if any_machine:
        for race in races.values():
            if any(cell.place not in found for cell in race):
                found |= _of_another(race, of_place, machines, checksum_of)
    return found


def _counts(record, cell, found):
    """Whether a record counts; an error does if the cell that determines its budget has no success in `found`."""
    return record["status"] != "error" or (cell.needs in found and found[cell.needs]["status"] != "ok")


def _of_another(race, of_place, machines, checksum_of):
    """The last records of a race if one machine has made them all; else none, since a report shows the last ones."""
    last = {}
    for cell in race:
        records = [record for record in of_place.get(cell.place, ()) if _counts(record, cell, last)]
        if not records:
            return {}
        last[cell.place] = records[-1]
    first = last[race[0].place]["environment"]
    there = {name: first.get(name) for name in MACHINE}  # with others the keys below differ
    for cell in race:
        record = last[cell.place]
        checksum = checksum_of(cell, record)
        keys = (cell_key(cell, checksum, {**machine.environment(cell), **there}) for machine in machines)
        if record["key"] not in keys:
            return {}
    return last
