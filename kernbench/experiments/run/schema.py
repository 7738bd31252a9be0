"""The form of a record, its version, and how records of older versions are brought up to date.

A change of the form raises `VERSION` and adds a function to `MIGRATIONS`; records are migrated as they are read, and
the files stay as they are.
"""

import re

STATUSES = ("ok", "error", "timeout", "memory")
_TEXT = ("key", "experiment", "scale", "dataset", "method", "status", "started")
_COUNT = ("repeat", "seed")
_TABLE = ("metrics", "seconds", "trace", "params", "data", "environment")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def _from_1(record):
    """Version 1 had no version."""
    return {"schema": 2, **record}


MIGRATIONS = (_from_1,)  # the k-th turns version k + 1 into version k + 2
VERSION = len(MIGRATIONS) + 1


def migrated(record):
    """Return a record in the present form.

    Parameters
    ----------
    record : dict
        One without ``schema`` is of version 1.

    Raises
    ------
    ValueError
        If its version is later than this one.
    """
    version = record.get("schema", 1)
    if version > VERSION:
        raise ValueError(
            f"a record of {record['experiment']!r} has schema {version}, and this kernbench reads up to {VERSION}: "
            "update kernbench, or choose another results folder"
        )
    for step in MIGRATIONS[version - 1 :]:
        record = step(record)
    return record


def fault(record):
    """Return what is wrong with `record` as a phrase, or None when it has the form of a record."""
    if not isinstance(record, dict):
        return "it is not a JSON object"
    version = record.get("schema", 1)
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        return f"'schema' should be the number of a version, got {version!r}"
    for names, kind, words in (
        (_TEXT, str, "text"),
        (_COUNT, int, "a whole number"),
        (_TABLE, dict, "an object"),
    ):
        for name in names:
            if not isinstance(record.get(name), kind):
                return f"{name!r} should be {words}, got {record.get(name)!r}"
    if record["status"] not in STATUSES:
        return f"'status' should be one of {', '.join(STATUSES)}, got {record['status']!r}"
    if not _NAME.fullmatch(record["experiment"]):
        return f"'experiment' should be a plain file name, got {record['experiment']!r}"
    return None
