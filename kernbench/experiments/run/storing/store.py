"""Records of finished cells, one JSON line each in ``<folder>/<experiment>.jsonl``, only ever appended.

A line is written by one ``write`` under a lock and flushed to the disk, so that a killed run costs at most
the line it was writing, and two runs may share a folder. `clean` alone replaces a file, by a rename.
"""

import errno
import fcntl
import json
import os
import warnings
from contextlib import contextmanager
from pathlib import Path

from kernbench._files import written_whole
from kernbench.experiments.run.storing.cleaning import copied, newest_of, start_of, worth_keeping
from kernbench.experiments.run.storing.schema import NOT_JSON, fault, parse


class SkippedLine(UserWarning):
    """A line of a results file that is not a record, with the file and its number."""


@contextmanager
def skipped_lines():
    """Yield a list that receives a sentence for each line skipped while the block runs, instead of a warning."""
    notes = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield notes
    notes += dict.fromkeys(str(warning.message) for warning in caught if warning.category is SkippedLine)
    for warning in caught:
        if warning.category is not SkippedLine:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)


def same_file(descriptor, path):
    """Whether an open file is still the one at `path`, after others may have replaced or deleted it."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False


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
            A record of the package's schema; numbers must be finite (None where there is none).

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
        """Raise ValueError if the folder cannot be written, before hours of work."""
        with self._locked_for_append(experiment):
            pass

    def records(self, experiment=None):
        """Read all records, those of each experiment oldest first; of those begun at one time in the order of the file.

        Lines that are not records are reported by a `SkippedLine` warning with file and line number, and skipped;
        they stay in the file. Records of older versions come in the present form.

        Parameters
        ----------
        experiment : str, optional
            All experiments by default.

        Raises
        ------
        ValueError
            If a file cannot be read.
        """
        names = self.experiments() if experiment is None else [experiment]
        return [record for name in names for record in sorted(self._read(name), key=start_of)]

    def latest(self, experiment=None):
        """The newest record of each key, as a dict; a success is never hidden by a later failure."""
        return newest_of(self.records(experiment))

    def merge(self, other):
        """Append the records of another store that this one does not have yet.

        Returns
        -------
        int
            How many were appended.
        """
        added, known = 0, {}
        for name in other.experiments():
            for record in other.records(name):
                own = record["experiment"]  # where it is appended; a file may hold records of several
                if own not in known:
                    known[own] = set(map(_canonical, self.records(own)))
                if _canonical(record) not in known[own]:
                    known[own].add(_canonical(record))
                    self.append(record)
                    added += 1
        return added

    @contextmanager
    def _locked_for_append(self, experiment):
        path, descriptor = self.path(experiment), None
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            while descriptor is None:
                descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                if not same_file(descriptor, path):  # replaced by `clean` while this waited
                    os.close(descriptor)
                    descriptor = None
            yield descriptor
        except OSError as error:
            raise ValueError(
                f"cannot write results to {str(path)!r}: {error.strerror}; choose another results folder"
            ) from error
        finally:
            if descriptor is not None:
                os.close(descriptor)  # and gives the lock back

    def clean(self, experiment, is_outdated=None):
        """Drop superseded records and lines that are not records, or certain records, from a file; a copy is kept.

        A record is superseded by a later one of the same measurement, except a success by a failure. Records of a
        later version are kept as they are.

        Parameters
        ----------
        experiment : str
        is_outdated : callable, optional
            ``is_outdated(record) -> bool``: drop the records of which this is true, and nothing else.

        Returns
        -------
        dropped : int
            Lines.
        copy : Path or None
            Where the file as it was is kept, ``<experiment>.jsonl.before-<n>``; None where nothing was dropped.
        """
        path = self.path(experiment)
        with self._locked_for_append(experiment):
            before = path.read_bytes()
            lines = [line for line in before.split(b"\n") if line.strip()]
            after = worth_keeping(lines, is_outdated)
            dropped = len(lines) - len(after)
            if not dropped:
                return 0, None
            copy = copied(path, before)
            # Replaced as a whole: a kill at any moment leaves the old file or the new one.
            with written_whole(path, "wb") as file:
                file.write(b"".join(line + b"\n" for line in after))
        return dropped, copy

    def since(self, experiment, position):
        """Read the records that were appended after a position; all, if `clean` has replaced the file since.

        Parameters
        ----------
        experiment : str
        position : tuple or None
            The position that this function returned before; None stands for the beginning of the file.

        Returns
        -------
        records : list of dict
        position : tuple or None
            The end of the file; None if there is none.
        """
        try:
            with open(self.path(experiment), "rb") as file:
                fcntl.flock(file, fcntl.LOCK_SH)  # no line is half written
                place = os.fstat(file.fileno())
                is_same = position is not None and position[:2] == (place.st_dev, place.st_ino)
                file.seek(position[2] if is_same else 0)
                added = file.read()
                end = file.tell()
        except FileNotFoundError:
            return [], None
        except OSError as error:
            raise _unreadable(self.path(experiment), error) from error
        records = [record for record, problem in map(parse, added.split(b"\n")) if problem is None]
        return records, (place.st_dev, place.st_ino, end)

    def _read(self, experiment):
        path = self.path(experiment)
        try:
            with open(path, "rb") as file:
                fcntl.flock(file, fcntl.LOCK_SH)
                content = file.read()
        except FileNotFoundError:
            return
        except OSError as error:
            raise _unreadable(path, error) from error
        yield from self._parsed(path, content)

    def _parsed(self, path, content):
        lines = content.split(b"\n")
        for number, line in enumerate(lines, 1):
            record, problem = parse(line)
            if problem is None:
                yield record
            elif problem == NOT_JSON and number == len(lines) and line:
                _skip(f"{path}, line {number} is ignored: it ends in the middle; was a run killed?")
            elif line.strip():
                _skip(f"{path}, line {number} is skipped: {problem}")


def _unreadable(path, error):
    return ValueError(f"cannot read results from {str(path)!r}: {error.strerror}")


def _skip(words):
    warnings.warn(words, SkippedLine, stacklevel=5)


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
