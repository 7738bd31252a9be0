"""Measured numbers in the pages are those of the records of the checked-in report."""

import json
import lzma
import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from statistics import fmean, median, variance

import pytest

from kernbench.experiments import get
from kernbench.report.records.cells import Cell
from kernbench.report.records.results import KINDS, Results
from kernbench.report.statistics import mean_and_error
from kernbench.report.text import percent

DOCS = Path(__file__).parent.parent / "docs"
RECORDS = DOCS.parent / "reports" / "records.jsonl.xz"


def _module():
    spec = spec_from_file_location("docs_numbers", DOCS / "_numbers.py")
    module = module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(DOCS)
        spec.loader.exec_module(module)
    return module


numbers = _module()


@pytest.fixture(scope="module")
def records():
    return numbers.Records()


@pytest.fixture(scope="module")
def lines_of_svm():
    """Those of the file of records that are of ``peers-svm``."""
    return [line for line in lzma.decompress(RECORDS.read_bytes()).splitlines() if b'"peers-svm"' in line]


@pytest.mark.parametrize("page", numbers.pages(), ids=lambda page: page.name)
def test_numbers_of_a_page_are_those_of_the_records(page, records):
    text = page.read_text(encoding="utf-8")
    assert numbers.filled(text, records) == text, "run: python docs/_numbers.py"


def test_every_text_stands_on_one_page():
    texts = [page.read_text(encoding="utf-8") for page in numbers.pages()]
    found = [name for text in texts for _, name, _, _ in numbers.MARKED.findall(text)]
    assert sorted(found) == sorted(numbers.TEXTS)


def test_the_data_of_the_records_are_of_kinds_that_the_report_knows(records):
    found = {}
    for (experiment, dataset, method), repeats in records._found.items():
        cell = Cell(dataset, method, list(repeats.values()))
        found[experiment, dataset] = Results(get(experiment), "paper", {(dataset, method): cell}).kind(dataset)
    assert found and set(found.values()) <= set(KINDS)
    deformed = {kind for (_, dataset), kind in found.items() if "deformed" in dataset}
    assert deformed == {"generated"}  # though they are read from the files of the full data


def test_the_largest_gain_of_a_window_where_none_is_needed_is_that_of_its_map(records):
    repeats = records.of("pauc-map", "right", "difference").values()
    places = zip(*(record["trace"]["difference"] for record in repeats), strict=True)
    gain = f"{100 * max(map(median, places)):.2f} points"
    assert gain in get("pauc-map").note and gain in (DOCS / "partial_auc.md").read_text(encoding="utf-8")


def test_another_record_makes_another_text(records, monkeypatch):
    def slower(experiment, dataset, method, of=records.of):
        found = of(experiment, dataset, method)
        if (experiment, method) != ("peers-svm", "smo"):
            return found
        return {k: r | {"seconds": r["seconds"] | {"fit": 2 * r["seconds"]["fit"]}} for k, r in found.items()}

    text = (DOCS / "performance.md").read_text(encoding="utf-8")
    assert numbers.filled(text, records) == text
    monkeypatch.setattr(records, "of", slower)
    assert numbers.filled(text, records) != text


def test_means_are_rounded_as_in_the_report():
    """Halfway between two hundredths of a percent, too, where the mean of percents may be another number."""
    for count in range(100):
        values = [count / 10_000, (count + 11) / 10_000]
        assert numbers._mean(values) == percent(*mean_and_error(values))


def test_the_machine_of_a_text_is_that_of_the_records_it_shows(records, lines_of_svm, tmp_path):
    own = [json.loads(line) for line in lines_of_svm]
    for record in own:
        if not (record["dataset"] in numbers.SVM and record["method"] in numbers.SVM_METHODS):
            record["environment"] |= {"processor": "another", "git_commit": "0" * 40}
    path = tmp_path / "records.jsonl.xz"
    path.write_bytes(lzma.compress("\n".join(map(json.dumps, own)).encode(), preset=0))
    changed = numbers.Records(path)
    for text in (numbers.svm_headline, numbers.svm_table):
        assert text(changed) == text(records)


def test_a_speed_up_is_that_of_the_repeats_that_both_methods_have(records, lines_of_svm, tmp_path):
    own = [json.loads(line) for line in lines_of_svm]
    alone = [dict(record, repeat=100 + record["repeat"]) for record in own if record["method"] == "smo"]
    for record in alone:
        record["seconds"] = {**record["seconds"], "fit": 1000.0}
    path = tmp_path / "records.jsonl.xz"
    path.write_bytes(lzma.compress("\n".join(map(json.dumps, own + alone)).encode(), preset=0))
    changed = numbers.Records(path)
    assert numbers.svm_headline(changed) == numbers.svm_headline(records)
    assert changed.seconds("peers-svm", "adult", "smo") > records.seconds("peers-svm", "adult", "smo")
    assert records.speed_up("peers-svm", "adult", "nobody", "smo") is None
    for record in own:
        if record["method"] == "smo":
            record["environment"]["processor"] = "another"
    path.write_bytes(lzma.compress("\n".join(map(json.dumps, own)).encode(), preset=0))
    assert numbers.Records(path).speed_up("peers-svm", "adult", "libsvm", "smo") is None


def test_what_the_headline_says_in_words_holds(records):
    """Beside the times: "to the same test errors and with a certified duality gap"."""
    for name in numbers.SVM:
        cells = [records.values("peers-svm", name, method, metric="test_error") for method in (*numbers.SVC, "smo")]
        errors = [error for cell in cells for error in cell.values()]
        assert max(errors) - min(errors) <= 1e-4, name  # a hundredth of a point
        assert max(records.values("peers-svm", name, "smo", metric="relative_gap").values()) <= 1e-3, name  # its tol


def test_what_pages_say_of_halving_in_words_holds(records):
    """In docs/kernel_svm.md and docs/performance.md, of `KernelSVCCV` with ``search="halving"`` and an exact search."""

    def errors(name, search):
        return [100.0 * error for error in records.values("tuning", name, search, metric="test_error").values()]

    def difference(name):
        """How much larger the mean error of halving is, and the standard error of that."""
        exact, halving = errors(name, "exact"), errors(name, "halving")
        return fmean(halving) - fmean(exact), sum(variance(own) / len(own) for own in (exact, halving)) ** 0.5

    as_low = ("digits", "adult-5000-grid", "adult-10000-grid", "ijcnn1-10000-grid", "w8a-10000-grid")
    for name in as_low:  # "on five of six sets"
        more, error = difference(name)
        assert more <= 2.0 * error, name
    assert 1.5 <= difference("covtype-10000-grid")[0] <= 2.0  # "nearly two points"


def test_a_mark_without_a_text_is_refused(records):
    with pytest.raises(KeyError, match="nowhere"):
        numbers.filled("<!-- numbers: nowhere -->\n<!-- /numbers -->", records)


# Times, memory and speed-ups; what is declared, such as a limit, is written with the whole word (0.2 seconds).
MEASURED = re.compile(r"\d\s?(?:s|ms|µs|MB|GB)\b|\d\s?(?:×|times) (?:as|faster|slower|longer|the time)|factor of \d")
DECLARED = (
    "about 50 ms at a time",  # the driver's chunks
    "from 1 to 4,000 MB",  # the sizes of the experiment cache
    "blocks of 2 MB",
    "at most 8 MB or four chunks",
)


@pytest.mark.parametrize("page", [*numbers.pages(), DOCS.parent / "CHANGELOG.md"], ids=lambda page: page.name)
def test_no_page_has_measured_numbers_outside_the_marks(page):
    text = numbers.MARKED.sub("", page.read_text(encoding="utf-8"))
    text = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    for words in DECLARED:
        text = text.replace(words, "")
    found = [line for line in text.splitlines() if MEASURED.search(line)]
    assert not found, "take them from records (docs/_numbers.py), or leave them out"


@pytest.mark.parametrize("words", ["takes 1.35 s", "17 MB above it", "7 times as long", "57 × faster", "3 ms"])
def test_a_measured_number_is_noticed(words):
    assert MEASURED.search(words)
