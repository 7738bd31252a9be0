"""Measured numbers in the pages are those of the records of the checked-in report."""

import json
import lzma
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from kernbench.experiments import EXPERIMENTS

DOCS = Path(__file__).parent.parent / "docs"


def _module():
    spec = spec_from_file_location("docs_numbers", DOCS / "_numbers.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


numbers = _module()
_papers = sys.modules["_papers"]  # which it has imported


@pytest.fixture(scope="module")
def records():
    return numbers.Records()


@pytest.mark.parametrize("page", numbers.pages(), ids=lambda page: page.name)
def test_numbers_of_a_page_are_those_of_the_records(page, records):
    text = page.read_text(encoding="utf-8")
    assert numbers.filled(text, records) == text, "run: python docs/_numbers.py"


def test_every_text_stands_on_one_page():
    found = [name for page in numbers.pages() for _, name, _, _ in numbers.MARKED.findall(page.read_text())]
    assert sorted(found) == sorted(numbers.TEXTS)


def test_another_record_makes_another_text(tmp_path):
    lines = lzma.decompress(numbers.RECORDS.read_bytes()).splitlines()
    changed = [json.loads(line) for line in lines]
    for record in changed:
        if record["status"] == "ok" and (record["experiment"], record["method"]) == ("peers-svm", "smo"):
            record["seconds"]["fit"] *= 2
    path = tmp_path / "records.jsonl.xz"
    path.write_bytes(lzma.compress("\n".join(map(json.dumps, changed)).encode()))
    page = DOCS / "performance.md"
    assert numbers.filled(page.read_text(encoding="utf-8"), numbers.Records(path)) != page.read_text(encoding="utf-8")


def test_a_mark_without_a_text_is_refused(records):
    with pytest.raises(KeyError, match="nowhere"):
        numbers.filled("<!-- numbers: nowhere -->\n<!-- /numbers -->", records)


# --- what the report says of the papers -----------------------------------------------------------

SUMMARY = """## Some paper

A: B

### [First](details/first-paper.md), paper scale

* *holds on all 2 data sets:* a
* *holds on 1 of 2 data sets, cannot be judged on 1:* b

* *does not hold on any of 2 data sets:* c
* *cannot be judged:* d
* *has no records:* e

## Another

C: D
"""


def test_claims_are_counted_by_their_verdicts():
    assert _papers.counts(SUMMARY) == [1, 1, 1, 2]


def test_findings_are_claims_tables_and_differences(tmp_path):
    (tmp_path / "details").mkdir()
    (tmp_path / "summary.md").write_text(SUMMARY)
    details = "# First (paper scale)\n\n## T\n\n| a |\n\n## How this differs from the paper\n\nSo.\n\n## Z\n\nz\n"
    (tmp_path / "details" / "first-paper.md").write_text(details)
    found = _papers.findings(tmp_path, _papers.Paper("x", "Some paper", (("first", "T"),)))
    assert found.startswith("A: B.\n") and "**[First](../../reports/details/first-paper.md)**, paper scale" in found
    assert all(f":* {claim}\n" in found for claim in "abcde") and "C: D" not in found
    assert "### T\n\nFirst (paper scale):\n\n| a |\n" in found and found.endswith("So.\n")
    with pytest.raises(LookupError, match="no section 'U'"):
        _papers.findings(tmp_path, _papers.Paper("x", "Some paper", (("first", "U"),)))


def test_every_experiment_of_a_paper_is_on_a_page(records):
    """Each group of experiments but our own has a page, and its claims are all there."""
    groups = {experiment.group for experiment in EXPERIMENTS} - {"Ours"}
    assert {paper.group for paper in _papers.PAPERS} == groups
    for paper in _papers.PAPERS:
        text = (DOCS / "papers" / f"{paper.page}.md").read_text(encoding="utf-8")
        for experiment in EXPERIMENTS:
            details = f"details/{experiment.name}-paper.md"
            if experiment.group == paper.group and (records.folder / details).is_file():
                assert details in text
