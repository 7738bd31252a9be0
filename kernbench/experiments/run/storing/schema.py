"""The form of a record, its version, and how records of older versions are brought up to date.

Types are checked here, once, when a record is written or read: whoever gets a record from a store may rely on them. A
change of the form raises `VERSION` and adds a function to `MIGRATIONS`; records are migrated as they are read, and the
files stay as they are.
"""

import json
import re
from math import isfinite
from reprlib import Repr

STATUSES = ("ok", "error", "timeout", "memory")
UPDATE = "update kernbench"  # what helps against records of a later version
NOT_JSON = "it is not JSON"
LARGEST = 1.7976931348623157e308  # a JSON integer may be larger, but cannot be converted to a float
DEEPEST = 10  # objects and lists inside each other; those of the experiments have five
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_SURROGATE = re.compile("[\ud800-\udfff]")  # half a character: JSON can escape it, UTF-8 cannot hold it
_LIMITS = (  # in the error of a record before version 3
    ("seconds", re.compile(r"longer than its limit of ([0-9]{1,9}(?:\.[0-9]{1,9})?(?:e\+[0-9]{2})?) s$"), 1.0),
    ("bytes", re.compile(r"its limit of ([0-9][0-9,]{0,20}) MB$"), 2.0**20),
)


def _is_text(value):
    return isinstance(value, str) and (value.isascii() or not _SURROGATE.search(value))


def _is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and -LARGEST <= value <= LARGEST


def _is_amount(value):
    return value is None or (_is_number(value) and value >= 0)


def _is_count(value):
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63


def _is_entry(value):
    return value is None or isinstance(value, bool) or _is_text(value) or _is_number(value)


def _are_numbers(values):
    """Whether a list holds nothing but numbers that JSON can hold, as most lists of a record do: fast."""
    try:
        return {int, float}.issuperset(map(type, values)) and all(map(isfinite, values))
    except OverflowError:  # an integer above `LARGEST`
        return False


def _is_plain(value, depth=DEEPEST):
    """Whether JSON, CSV and UTF-8 can hold a value, and recursion can walk through it."""
    if isinstance(value, (list, tuple)):  # JSON writes both as an array
        return depth > 0 and (_are_numbers(value) or all(_is_plain(item, depth - 1) for item in value))
    if isinstance(value, dict):
        return depth > 0 and all(_is_text(key) and _is_plain(item, depth - 1) for key, item in value.items())
    return _is_entry(value)


def _is_column(value):
    return isinstance(value, (list, dict))


def _object_of(test):
    return lambda value: isinstance(value, dict) and all(map(test, value.values()))


def _or_none(test):
    return lambda value: value is None or test(value)


_ENTRIES = "an object of text, numbers, true, false and null"
_AMOUNT = "a number that is not negative, or null"
_TEXT_OR_NULL = "text or null"

# Names, test, and how the test reads after "should be".
REQUIRED = (
    (("key", "experiment", "scale", "dataset", "method", "status", "started"), _is_text, "text"),
    (("repeat", "seed"), _is_count, "a whole number that is not negative"),
    (("metrics", "params"), lambda value: isinstance(value, dict), "an object"),
    (("seconds",), _object_of(_is_amount), "an object of numbers that are not negative"),
    (("trace",), _object_of(_is_column), "an object of lists"),
    (("data", "environment"), _object_of(_is_entry), _ENTRIES),
)
OPTIONAL = (
    (("error", "estimator"), _or_none(_is_text), _TEXT_OR_NULL),
    (("peak_memory_bytes", "working_memory_bytes", "n_kernel_evaluations"), _is_amount, _AMOUNT),
    (("limits",), _object_of(_is_amount), "an object of numbers that are not negative"),
)
OF_DATA = (
    (("name", "kind", "checksum", "description"), _or_none(_is_text), _TEXT_OR_NULL),
    (("n_train", "n_test", "n_features"), _is_amount, _AMOUNT),
)

_short = Repr()
_short.maxlevel, _short.maxstring, _short.maxother = 2, 60, 60


def _from_1(record):
    """Version 1 had no version."""
    return {**record, "schema": 2}


def _from_2(record):
    """Version 2 had the limits of a fit only in the message that it had exceeded one."""
    error, limits = record.get("error") or "", {}
    for name, pattern, unit in _LIMITS:
        found = pattern.search(error)
        if found:
            limits[name] = float(found[1].replace(",", "")) * unit
    return {"limits": limits, **record, "schema": 3}


MIGRATIONS = (_from_1, _from_2)  # the k-th turns version k + 1 into version k + 2
VERSION = len(MIGRATIONS) + 1


def migrated(record):
    """Return a record that has no `fault` in the present form; one without ``schema`` is of version 1."""
    for step in MIGRATIONS[record.get("schema", 1) - 1 :]:
        record = step(record)
    return record


def parse(line):
    """Read a line of a results file.

    Returns
    -------
    record : dict or None
        The record in the current format.
    problem : str or None
        What is wrong with the line, as a phrase, if it is not a record.
    """
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None, NOT_JSON
    problem = fault(record)
    return (None, problem) if problem else (migrated(record), None)


def is_of_a_later_version(line):
    """Whether a line is a record of a later kernbench, which this one cannot read and must not drop."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return False
    version = record.get("schema") if isinstance(record, dict) else None
    return _is_count(version) and version > VERSION


def fault(record):
    """Return what is wrong with `record` as a phrase, or None when it has the form of a record."""
    if not isinstance(record, dict):
        return "it is not a JSON object"
    version = record.get("schema", 1)
    if not _is_count(version) or version < 1:
        return f"'schema' should be the number of a version, got {_short.repr(version)}"
    if version > VERSION:
        return f"it has schema {version}, and this kernbench reads up to {VERSION}: {UPDATE}"
    problem = _wrong_type(record, REQUIRED) or _wrong_type(record, OPTIONAL, optional=True)
    problem = problem or _wrong_type(record["data"], OF_DATA, optional=True)
    if problem:
        return problem
    for name, value in record.items():
        if not (_is_text(name) and _is_plain(value)):
            return f"{_short.repr(name)} holds what JSON and UTF-8 cannot, or is nested too deeply"
    if record["status"] not in STATUSES:
        return f"'status' should be one of {', '.join(STATUSES)}, got {_short.repr(record['status'])}"
    if not _NAME.fullmatch(record["experiment"]):
        return f"'experiment' should be a plain file name, got {_short.repr(record['experiment'])}"
    return None


def _wrong_type(values, fields, optional=False):
    for names, test, words in fields:
        for name in names:
            value = values.get(name)
            if not (test(value) or (optional and name not in values)):
                return f"{name!r} should be {words}, got {_short.repr(value)}"
    return None
