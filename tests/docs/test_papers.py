"""The pages of papers say what the checked-in report says."""

import importlib.util
import sys
from itertools import product
from pathlib import Path

import pytest

from kernbench.experiments import EXPERIMENTS
from kernbench.report.claims.findings import PARTLY, Finding
from kernbench.report.claims.judgement import FAILS, HELD, HOLDS, MISSED, OPEN

DOCS = Path(__file__).parents[2] / "docs"
spec = importlib.util.spec_from_file_location("docs_papers", DOCS / "_papers.py")
papers = sys.modules[spec.name] = importlib.util.module_from_spec(spec)  # dataclasses look there
spec.loader.exec_module(papers)

SUMMARY = """## Some paper

A: B

### [First](details/first-paper.md), paper scale

* *holds on both data sets:* a
* *holds on 1 of 3 data sets:* b
* *holds on both data sets judged; 5 cannot be judged:* f
* *holds on 1 data set; 1 has no records:* g

* *does not hold on either data set:* c
* *cannot be judged:* d
* *has no records:* e
* *held in its one repeat:* h
* *did not hold in any of 3 repeats, too few to judge:* i

## Another

C: D
"""


def test_claims_are_counted_by_their_verdicts():
    assert papers.counts(SUMMARY) == [1, 3, 1, 1, 1, 2]


def test_the_verdicts_of_findings_are_counted_as_the_page_marks_them():
    kinds = [HOLDS, PARTLY, FAILS, HELD, MISSED, OPEN]
    for holding, failing, undecided, n_absent, n_held, n_missed in product(range(3), repeat=6):
        absent, held, missed = ["b"] * n_absent, (1, 3)[:n_held], (3, 1)[:n_missed]
        found = Finding("a", [None], holding, failing, undecided, absent, held=held, missed=missed)
        count = papers.counts(f"* *{found.words}:* a\n")
        assert count == [int(found.verdict == kind) for kind in kinds], found.words


def test_findings_are_claims_tables_and_differences(tmp_path):
    (tmp_path / "details").mkdir()
    (tmp_path / "summary.md").write_text(SUMMARY)
    details = "# First (paper scale)\n\n## T\n\n| a |\n\n## How this differs from the paper\n\nSo.\n\n## Z\n\nz\n"
    (tmp_path / "details" / "first-paper.md").write_text(details)
    found = papers.findings(tmp_path, papers.Paper("x", "Some paper", (("first", "T"),)))
    assert found.startswith("A: B.\n") and "**[First](../../reports/details/first-paper.md)**, paper scale" in found
    assert all(f":* {claim}\n" in found for claim in "abcdefghi") and "C: D" not in found
    assert "### T\n\nFirst (paper scale):\n\n| a |\n" in found and found.endswith("So.\n")
    assert papers.titled("## Time, s\n\n## Error\n\n## Errors\n", "Time") == "Time, s"
    assert papers.titled("## Error\n\n## Error of all\n", "Error") == "Error"  # not the only one: taken as it is
    with pytest.raises(LookupError, match="no section 'U'"):
        papers.findings(tmp_path, papers.Paper("x", "Some paper", (("first", "U"),)))


def test_every_paper_has_a_page_with_all_that_was_measured():
    """Each group of experiments but our own has a page, and all experiments of the report are on it."""
    assert {paper.group for paper in papers.PAPERS} == {experiment.group for experiment in EXPERIMENTS} - {"Ours"}
    for paper in papers.PAPERS:
        page = (DOCS / "papers" / f"{paper.page}.md").read_text(encoding="utf-8")
        assert papers.PLACE.findall(page) == [paper.page]
        said = [line.removeprefix("## ") for line in page.splitlines() if line.startswith("## ")]
        assert said[:3] == ["What the paper says", "What was found", "What is missed, and why"]
        text = papers.filled(page)
        for experiment in EXPERIMENTS:
            details = f"details/{experiment.name}-paper.md"
            if experiment.group == paper.group and (papers.REPORT / details).is_file():
                assert details in text
        assert text.count("\n| --- |") >= len(paper.tables)


def test_the_overview_counts_every_claim():
    page = papers.filled((DOCS / "papers.md").read_text(encoding="utf-8"))
    for paper in papers.PAPERS:
        row = next(line for line in page.splitlines() if f"](papers/{paper.page}.md)" in line)
        found = papers.CLAIM.findall(papers.findings(papers.REPORT, paper))
        assert sum(int(cell) for cell in row.split("|")[2:-1]) == len(found) > 0
