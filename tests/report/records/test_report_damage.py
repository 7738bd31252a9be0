"""Damaged records never end a command in an internal error; what is damaged is named and counted."""

import json
import re
import shutil

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kernbench.cli import main
from kernbench.experiments import registry
from kernbench.experiments.run.storing.schema import DEEPEST, parse

DEEP = "[" * 5000 + "]" * 5000
RAW = (  # JSON that Python's own encoder would not write
    "NaN", "-Infinity", "1e999", "1" + "0" * 400, "1" + "0" * 5000, DEEP, '"\\ud800"', '{"a": ' * 50 + "1" + "}" * 50,
)  # fmt: skip
VALUES = (
    None, True, False, 0, -1, 1, 2**63, 10**18, 0.5, -0.5, 1e308, -1e308, 5e-324, "", "x", "0", "2024",
    "\x00\x1b[31m", "$\\frac{", "<img src=x onerror=alert(1)>", [], [1], ["a", None], [[1, 2]],
    [1e308, 1e308, -1e308], {}, {"a": {"b": [1]}}, {"seconds": "fast"},
)  # fmt: skip


def places_in(value, path=()):
    """The paths of all values inside a record."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*path, key)
        yield from places_in(item, (*path, key))


@st.composite
def mutations(draw, record):
    """A line of a results file: the record with one of its values replaced or dropped, or a damaged line."""
    record = json.loads(json.dumps(record))
    how = draw(st.sampled_from(("value", "value", "value", "raw", "drop", "cut", "bytes")))
    *path, last = draw(st.sampled_from(list(places_in(record))))
    inside = record
    for step in path:
        inside = inside[step]
    if how == "drop":
        del inside[last]
    elif how in ("value", "raw"):
        inside[last] = "@@" if how == "raw" else draw(st.sampled_from(VALUES))
    line = json.dumps(record)
    if how == "raw":
        line = line.replace('"@@"', draw(st.sampled_from(RAW)))
    line = line.encode()
    if how == "cut":
        line = line[: draw(st.integers(1, len(line) - 1))]
    elif how == "bytes":
        at = draw(st.integers(0, len(line) - 1))
        line = line[:at] + draw(st.binary(min_size=1, max_size=3)).replace(b"\n", b"") + line[at + 1 :]
    return line


VERBS = (
    ("results", "show", "--results", "{0}"),
    ("results", "export", "all.csv", "--results", "{0}"),
    ("results", "export", "all.json", "--results", "{0}"),
    ("results", "export", "all.jsonl.xz", "--results", "{0}"),
    ("results", "export", "errors.csv", "--rows", "errors", "--results", "{0}"),
    ("results", "merge", "{0}", "--results", "merged"),
    ("results", "merge", "all.jsonl.xz", "--results", "again"),
    ("compare", "{0}", "{1}", "--markdown"),
    ("compare", "{0}", "{1}"),
    ("compare", "{1}", "{0}", "--json"),
    ("report", "--results", "{0}", "--out", "page"),
    ("results", "clean", "--results", "{0}"),
)
EXPECTED = (0, 1, 2)  # done, something is worse, refused in one line


def check_no_verb_ends_in_an_internal_error(folder, lines, whole):
    (folder / "damaged").mkdir()
    path = folder / "damaged" / "toy.jsonl"
    path.write_bytes(b"\n".join([*lines, *(json.dumps(record).encode() for record in whole), b""]))
    (folder / "whole").mkdir()
    (folder / "whole" / "toy.jsonl").write_text("".join(json.dumps(record) + "\n" for record in whole))
    faulty = [number for number, line in enumerate(lines, 1) if line.strip() and parse(line)[1]]
    for verb in VERBS:
        arguments = [word.format(folder / "damaged", folder / "whole") for word in verb]
        found = CliRunner().invoke(main, arguments)
        assert found.exit_code in EXPECTED and "internal error" not in found.output, (
            verb,
            found.output,
            found.exc_info,
        )
        if verb[0] == "report":
            assert found.exit_code == 0
            page = (folder / "page" / "index.html").read_text(encoding="utf-8")
            summary = (folder / "page" / "summary.md").read_text(encoding="utf-8")
            for number in faulty:
                assert f"line {number} is skipped" in found.output and f"line {number} is skipped" in page
            assert len(faulty) < 2 or f"{len(faulty)} lines of the files" in summary
            assert "<img" not in page and "<img" not in summary.replace("\\<img", "")
    kept = path.read_bytes().splitlines()
    assert all(parse(line)[1] is None for line in kept if b'"schema"' not in line)


def run_on(data, records, tmp_path_factory, toy, n_lines):
    """Draw damaged lines and give every verb a folder with them."""
    folder = tmp_path_factory.mktemp("damage")
    lines = [data.draw(mutations(record)) for record in (records.race(3, schema=3) * 9)[:n_lines]]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(registry, "EXPERIMENTS", (toy,))
        check_no_verb_ends_in_an_internal_error(folder, lines, records.race(2))
    shutil.rmtree(folder)


ONCE = {"deadline": None, "suppress_health_check": list(HealthCheck), "derandomize": True}


@settings(max_examples=2, **ONCE)
@given(data=st.data())
def test_no_verb_ends_in_an_internal_error(data, records, tmp_path_factory, toy):
    run_on(data, records, tmp_path_factory, toy, n_lines=60)


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_no_verb_ends_in_an_internal_error_at_length(data, records, tmp_path_factory, toy):
    run_on(data, records, tmp_path_factory, toy, n_lines=12)


@pytest.mark.parametrize("raw", RAW, ids=lambda raw: f"{raw[:12]}, {len(raw)} characters")
@pytest.mark.parametrize("place", ["metrics", "seconds", "trace", "params", "data", "environment", "extra", "repeat"])
def test_what_no_float_no_text_and_no_recursion_can_hold_is_a_fault(records, place, raw):
    record = records.one()
    value = [0.5, "@@"] if place == "trace" else "@@"
    record[place] = {"fit": value} if place not in ("extra", "repeat") else value
    record, problem = parse(json.dumps(record).replace('"@@"', raw).encode())
    assert record is None and re.search("should be|cannot|JSON", problem) and len(problem) < 200


def test_nesting_counts_in_any_field(records):
    nested = "x"
    for _ in range(DEEPEST + 1):
        nested = [nested]
    assert parse(json.dumps(records.one(params={"a": nested})).encode())[1].endswith("nested too deeply")
    assert parse(json.dumps(records.one(params={"a": nested[0][0]})).encode())[1] is None
