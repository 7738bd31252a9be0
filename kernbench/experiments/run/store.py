"""Records of finished cells, one JSON line each in ``<folder>/<experiment>.jsonl``, only ever appended.

A line is written by one ``write`` under a lock and flushed to the disk, so that a killed run costs at most
the line it was writing, and two runs may share a folder.
"""

import errno
import fcntl
import json
import os
import warnings
from contextlib import contextmanager
from pathlib import Path

from kernbench._files import written_whole
from kernbench.experiments.run.schema import fault, migrated


class Store:
    """The records in one folder.

    Parameters
    ----------
    folder : str or Path
        Made by the first `append`. Reading an absent folder finds no records.

    Raises
    ------
    ValueError
        If `folder` is a file.
    """

    def __init__(self, folder):
        self.folder = Path(folder)
        if self.folder.exists() and not self.folder.is_dir():
            raise ValueError(f"results folder {str(self.folder)!r} is a file; name a folder")

    def path(self, experiment):
        """The file of one experiment, whether it exists or not."""
        return self.folder / f"{experiment}.jsonl"

    def experiments(self):
        """Names of the experiments that have a file, sorted."""
        if not self.folder.is_dir():
            return []
        return sorted(path.stem for path in self.folder.glob("*.jsonl") if not path.name.startswith("."))

    def append(self, record):
        """Add one record at the end of its experiment's file and flush it to the disk.

        Parameters
        ----------
        record : dict
            As the package's record schema; numbers must be finite (None where there is none).

        Raises
        ------
        ValueError
            If the record is malformed, or the folder cannot be written.
        """
        problem = fault(record)
        if problem:
            raise ValueError(f"this is not a record: {problem}")
        try:
            line = _line(record)
        except (TypeError, ValueError) as error:
            raise ValueError(f"this record cannot be written as JSON: {error}") from error
        with self._locked_for_append(record["experiment"]) as descriptor:
            _append_line(descriptor, line)

    def check_writable(self, experiment):
        """Raise the ValueError of a folder that cannot be written, before hours of work."""
        with self._locked_for_append(experiment):
            pass

    def records(self, experiment=None):
        """Read all records, oldest first.

        Lines that are no records are reported by a warning with file and line number, and skipped; they stay
        in the file. Records of older versions come in the present form.

        Parameters
        ----------
        experiment : str, optional
            All experiments by default.

        Returns
        -------
        list of dict

        Raises
        ------
        ValueError
            If a record was written by a later version, or a file cannot be read.
        """
        names = self.experiments() if experiment is None else [experiment]
        return [record for name in names for record in self._read(name)]

    def latest(self, experiment=None):
        """The newest record of each key, as a dict; a success is never hidden by a later failure."""
        return _newest(self.records(experiment))

    def merge(self, other):
        """Append the records of another store that this one does not have yet.

        Parameters
        ----------
        other : Store

        Returns
        -------
        int
            How many were appended.
        """
        added = 0
        for name in other.experiments():
            known = {_canonical(record) for record in self.records(name)}
            for record in other.records(name):
                if _canonical(record) not in known:
                    known.add(_canonical(record))
                    self.append(record)
                    added += 1
        return added

    @contextmanager
    def _locked_for_append(self, experiment):
        path = self.path(experiment)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise ValueError(
                f"cannot write results to {str(path)!r}: {error.strerror}; choose another results folder"
            ) from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield descriptor
        except OSError as error:
            raise ValueError(f"cannot write results to {str(path)!r}: {error.strerror}") from error
        finally:
            os.close(descriptor)  # and gives the lock back

    def clean(self, experiment):
        """Drop superseded records and lines that are no records of this experiment; a copy of the file is kept.

        A record is superseded by a later one of the same measurement, except a success by a failure.

        Parameters
        ----------
        experiment : str

        Returns
        -------
        dropped : int
            Lines.
        copy : Path or None
            Where the file as it was is kept, ``<experiment>.jsonl.before-<n>``; None where nothing was dropped.
        """
        path = self.path(experiment)
        with self._locked_for_append(experiment) as descriptor:
            before = path.read_bytes()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what is wrong with a line does not matter: it goes
                newest = _newest(self._parsed(path, before)).values()
            kept = [record for record in newest if record["experiment"] == experiment]
            after = "".join(_line(record) + "\n" for record in kept).encode()
            dropped = len([line for line in before.split(b"\n") if line.strip()]) - len(kept)
            if not dropped:
                return 0, None
            number = 1 + len(list(self.folder.glob(f"{experiment}.jsonl.before-*")))
            copy = path.with_name(f"{path.name}.before-{number}")
            with written_whole(copy, "wb") as file:
                file.write(before)
            # In place, since a run that waits for the lock has this file open.
            os.ftruncate(descriptor, 0)
            os.write(descriptor, after)
            os.fsync(descriptor)
        return dropped, copy

    def _read(self, experiment):
        path = self.path(experiment)
        try:
            with open(path, "rb") as file:
                fcntl.flock(file, fcntl.LOCK_SH)
                content = file.read()
        except FileNotFoundError:
            return
        except OSError as error:
            raise ValueError(f"cannot read results from {str(path)!r}: {error.strerror}") from error
        yield from self._parsed(path, content)

    def _parsed(self, path, content):
        *lines, last = content.split(b"\n")
        for number, line in enumerate(lines, 1):
            record, problem = _parse(line)
            if problem is None:
                yield record
            elif line.strip():
                warnings.warn(f"{path}, line {number} is skipped: {problem}", stacklevel=4)
        if last:
            record, problem = _parse(last)
            if problem is None:
                yield record
            else:
                warnings.warn(
                    f"{path}, line {len(lines) + 1} is ignored: it ends in the middle; was a run killed?",
                    stacklevel=4,
                )


def _newest(records):
    """The newest record of each key, as a dict; a success is never hidden by a later failure."""
    newest = {}
    for record in records:
        before = newest.get(record["key"])
        if before is None or record["status"] == "ok" or before["status"] != "ok":
            newest[record["key"]] = record
    return newest


def _parse(line):
    """Return ``(record, None)``, or ``(None, what is wrong)``."""
    try:
        record = json.loads(line)
    except ValueError:
        return None, "it is not JSON"
    problem = fault(record)
    return (None, problem) if problem else (migrated(record), None)


def _line(record):
    return json.dumps(record, allow_nan=False, ensure_ascii=False)


def _canonical(record):
    return json.dumps(record, sort_keys=True)


def _append_line(descriptor, line):
    """Write one whole line, after ending a torn one; on failure leave the file as it was."""
    size = os.fstat(descriptor).st_size
    torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
    data = (b"\n" if torn else b"") + line.encode() + b"\n"
    try:
        written = os.write(descriptor, data)
        if written != len(data):
            raise OSError(errno.ENOSPC, f"only {written} of {len(data)} bytes fitted on the disk")
        os.fsync(descriptor)
    except OSError:
        if size < os.fstat(descriptor).st_size:
            os.ftruncate(descriptor, size)
        raise
