"""Measured numbers in the pages are those of the records of the checked-in report."""

import json
import lzma
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"


def _module():
    spec = spec_from_file_location("docs_numbers", DOCS / "_numbers.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


numbers = _module()


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
