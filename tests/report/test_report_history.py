"""The history: values of asv's files in the order of their commits, drawn on a page that needs no network."""

import json
import re

import pytest

from kernbench.report import build
from kernbench.report.history import history_files, history_section
from kernbench.report.history.results import read

COLUMNS = ["result", "params", "version", "started_at", "duration"]
TIME, COUNT = "fits.Fit.time_fit", "fits.Fit.track_count"


def result(commit, day, **values):
    """A file of asv's results; `values` are lists over two estimators."""
    params = [["'KernelSVC smo'", "'LinearSVC <b>'"]]
    results = {f"fits.Fit.{name}": [value, params, "1", None, None] for name, value in values.items()}
    return {
        "commit_hash": commit,
        "date": day * 86_400_000,
        "result_columns": COLUMNS,
        "results": {**results, "gone.benchmark": [[1.0], [], "1", None, None]},
        "version": 2,
    }


@pytest.fixture
def folder(tmp_path):
    described = {TIME: {"unit": "seconds"}, COUNT: {"unit": "kernel evaluations"}, "version": 2}
    machine = tmp_path / "history" / "two-cores"
    machine.mkdir(parents=True)
    (tmp_path / "history" / "benchmarks.json").write_text(json.dumps(described))
    (machine / "machine.json").write_text(json.dumps({"machine": "two-cores", "version": 1}))
    for name, content in {
        "new": result("c" * 40, 20_003, time_fit=[0.5, 0.002], track_count=[100, None]),
        "old": result("a" * 40, 20_001, time_fit=[2.0, float("nan")], track_count=[150, 0]),
        "middle": result("b" * 40, 20_002, time_fit=None),
    }.items():
        (machine / f"{name}.json").write_text(json.dumps(content))
    return tmp_path / "history"


def test_values_are_in_the_order_of_commits_and_failures_are_left_out(folder):
    found = {(series.benchmark, series.label): series for series in read(folder)}
    assert len(found) == 4  # not those of a benchmark that is gone
    smo = found[TIME, "KernelSVC smo"]
    assert (smo.machine, smo.unit) == ("two-cores", "seconds")
    assert [(commit[0], value) for _, commit, value in smo.points] == [("a", 2.0), ("c", 0.5)]
    assert [commit[0] for _, commit, _ in found[TIME, "LinearSVC <b>"].points] == ["c"]
    assert [commit[0] for _, commit, _ in found[COUNT, "LinearSVC <b>"].points] == ["a"]


def test_the_page_shows_every_series_and_needs_nothing_from_the_network(folder):
    files = history_files(folder)
    page = files["history.html"]
    assert "2024-10-05 to 2024-10-07" in page and "3 commits" not in page and "2 commits" in page
    assert "0.25 ×" in page and "2000 ms" in page.replace(",", "") and "500 ms" in page
    assert "LinearSVC &lt;b&gt;" in page and "<b>" not in page
    assert not re.search(r"""(src|href)=["'](https?:)?//""", page)
    assert history_section(folder).strip() in page
    assert "count, KernelSVC smo" in page and "count, LinearSVC" not in page  # 0 everywhere
    assert "time of fit, KernelSVC smo" in page and "Time of fit, ms, on two-cores." in page
    assert f"figures/history-two-cores-{TIME}.svg" in files
    rows = files[f"figures/history-two-cores-{TIME}.csv"].splitlines()
    assert rows[1] == f"{TIME},KernelSVC smo,{'a' * 40},2000.0"


@pytest.mark.usefixtures("undrawn")
def test_the_report_has_the_page_where_its_folder_has_a_history(folder, toy, write, records, tmp_path):
    results = write(records.race(1))
    without = build(results, tmp_path / "elsewhere")
    assert "history.html" not in without.page.read_text(encoding="utf-8")
    assert not (tmp_path / "elsewhere" / "history.html").exists()
    built = build(results, folder.parent)
    assert 'href="history.html"' in built.page.read_text(encoding="utf-8")
    assert (folder.parent / "history.html").exists()
    build(results, tmp_path / "elsewhere", history=folder)
    assert (tmp_path / "elsewhere" / "history.html").exists()


def test_what_is_not_of_asv_is_refused_by_name(folder):
    with pytest.raises(ValueError, match="benchmarks.json"):
        read(folder.parent / "nowhere")
    (folder / "two-cores" / "new.json").write_text('{"version": 1}')
    with pytest.raises(ValueError, match="new.json.*not of version 2"):
        read(folder)
    (folder / "two-cores" / "new.json").write_text('{"ver')
    with pytest.raises(ValueError, match="new.json.*is not a file of asv"):
        read(folder)
    for path in (folder / "two-cores").glob("*.json"):
        path.unlink()
    with pytest.raises(ValueError, match="no results of asv"):
        read(folder)


@pytest.mark.parametrize(
    ("unit", "first", "last", "shown"),
    [
        ("log10 relative gap", -6.0, -7.0, "0.1 ×"),
        ("log10 relative error", -7.0, -6.0, "10 ×"),
        ("log10 relative gap", 0.0, 1.0, "10 ×"),
        ("objective", -2.0, -1.0, "–"),
        ("test error", 0.1, 0.0, "–"),
        ("timing: ratio", 2.0, 1.0, "0.5 ×"),
    ],
)
def test_ratios_are_those_of_positive_numbers(folder, unit, first, last, shown):
    (folder / "benchmarks.json").write_text(json.dumps({COUNT: {"unit": unit}, "version": 2}))
    for commit, name, day, value in (("a", "old", 20_001, first), ("c", "new", 20_003, last)):
        content = result(commit * 40, day, track_count=[value, None])
        (folder / "two-cores" / f"{name}.json").write_text(json.dumps(content))
    files = history_files(folder)
    (table,) = (content for name, content in files.items() if name.startswith("tables/"))
    header, row = table.splitlines()
    assert header.endswith(",ratio") and (row.split(",")[-1] == "") == (shown == "–")
    assert f'<td class="number">{shown}</td>' in files["history.html"]
