"""Records of a snapshot that cells of now would not make, since an experiment has changed."""

from kernbench.experiments.run.cells import cell_key, plan
from kernbench.experiments.run.code import experiment_digest, names_in
from kernbench.experiments.run.machine import description
from kernbench.experiments.run.progress import Event
from kernbench.experiments.run.stored import checksum_in_key, place_of
from kernbench.experiments.run.storing.store import Store, skipped_lines


def drop_outdated(folder, experiments, scale, on_event=None):
    """Drop records that no cell of now would make, since the experiment has changed; say how many.

    Parameters
    ----------
    folder : Path
        Of the records; a copy of those of each such experiment is kept there.
    experiments : list of Experiment
    scale : str
    on_event : callable, optional
        Is told by a note.
    """
    store = Store(folder)
    for experiment in experiments:
        if not store.path(experiment.name).exists():
            continue
        with skipped_lines():
            # As many repeats as a call with `repeats` has made: more than the rule may give.
            repeats = 1 + max((record["repeat"] for record in store.records(experiment.name)), default=0)
        cells, gaps = plan([experiment], scale, repeats=repeats, optional=True)
        is_outdated = outdated({cell.place: cell for cell in cells}, {gap.method for gap in gaps})
        dropped, copy = store.clean(experiment.name, is_outdated)
        if dropped and on_event is not None:
            records = "1 record is" if dropped == 1 else f"{dropped} records are"
            note = f"{experiment.name}: {records} of code or cells that have changed since; {copy} has them"
            on_event(Event("note", message=note))


def outdated(planned, missing=()):
    """A function that says whether a record is of an experiment's code, or of a cell, that has changed since.

    The key of a record tells both: it is made from all that a cell has, arguments of its data and seed included, and
    from the digest of the experiment's code. The machine and the code that all cells share are those of the record. The
    limits of a cell are not in its key: a fit that ended within one is the same within another.

    Parameters
    ----------
    planned : dict of tuple to Cell
        Cells of now, by their `place`.
    missing : collection of str
        Methods that have none for want of a package: their records are kept.
    """

    def is_outdated(record):
        cell, environment = planned.get(place_of(record)), record["environment"]
        if cell is None:
            return record["method"] not in missing
        if environment.get("experiment_code") != experiment_digest(names_in(cell)):
            return True  # whatever its data, which are slow to read
        checksum = checksum_in_key(cell, record, lambda cell: description(cell)[0]["checksum"])
        return record["key"] != cell_key(cell, checksum, environment)

    return is_outdated
