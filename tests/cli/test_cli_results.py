"""``kernbench results``: show, merge, export, clean."""

import csv
import json
from pathlib import Path

import pytest

from kernbench.experiments.run.storing.packing import packed
from kernbench.experiments.run.storing.store import Store


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Records of one quick experiment, made once."""
    from kernbench.experiments.run import run

    folder = tmp_path_factory.mktemp("recorded")
    run("scs-accuracy", methods=["wolfe", "scs"], repeats=1, results=folder)
    return Store(folder).records()


@pytest.fixture
def folder(kernbench, recorded):
    """The same records in an empty working folder."""
    store = Store("results")
    for record in recorded:
        store.append(record)
    return store


def test_show_counts_the_records(kernbench, folder, recorded):
    shown = kernbench("results", "show")
    assert shown.exit_code == 0
    assert "scs-accuracy" in shown.output and f" {len(recorded)} " in shown.output


def test_show_counts_failures_and_dates_the_newest(kernbench, folder, recorded):
    folder.append({**recorded[0], "status": "timeout", "error": "too long", "started": "2099-01-02T00:00:00+00:00"})
    (line,) = (line.split() for line in kernbench("results", "show").output.splitlines() if "scs-accuracy" in line)
    assert line[2:4] == [str(len(recorded) + 1), "1"] and line[-1] == "2099-01-02"


def test_the_name_of_a_folder_is_no_markup(kernbench, folder):
    for name in ("runs[old]", "runs[red]"):
        Path("results").rename(name)
        assert f"Records in {name} " in kernbench("results", "show", "--results", name).stdout
        Path(name).rename("results")


def test_merge_adds_what_is_missing(kernbench, folder, recorded):
    assert (
        f"{len(recorded)} records added to all" in kernbench("results", "merge", "results", "--results", "all").output
    )
    assert "0 records added" in kernbench("results", "merge", "results", "--results", "all").output
    assert Store("all").records() == recorded


def test_export_has_numbers_in_plain_columns(kernbench, folder, recorded):
    assert kernbench("results", "export", "all.csv").exit_code == 0
    rows = list(csv.DictReader(Path("all.csv").read_text().splitlines()))
    assert len(rows) == len(recorded)
    for row, record in zip(rows, recorded):
        assert float(row["seconds.fit"]) == record["seconds"]["fit"]
        assert row["environment.processor"] == record["environment"]["processor"]
    assert kernbench("results", "export", "all.json").exit_code == 0
    assert [row["key"] for row in json.loads(Path("all.json").read_text())] == [r["key"] for r in recorded]


def test_parquet_takes_columns_of_numbers_and_text(kernbench, folder, recorded):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    widths = {"a": 0.5, "b": "scale", "c": 2, "d": True}
    for key, width in widths.items():
        folder.append({**recorded[0], "key": key, "params": {"width": width, "size": 1}})
    assert kernbench("results", "export", "all.parquet").exit_code == 0
    table = pandas.read_parquet("all.parquet").set_index("key")
    assert table.loc[list(widths), "params.width"].tolist() == ["0.5", "scale", "2", "True"]
    assert table.loc[list(widths), "params.size"].tolist() == [1, 1, 1, 1]
    for record in recorded:
        assert table.loc[record["key"], "seconds.fit"] == record["seconds"]["fit"]


def test_packed_records_are_merged_like_those_of_a_folder(kernbench, folder, recorded):
    assert kernbench("results", "export", "all.jsonl.xz").exit_code == 0
    assert Path("all.jsonl.xz").stat().st_size < folder.path("scs-accuracy").stat().st_size
    merged = kernbench("results", "merge", "all.jsonl.xz", "--results", "published")
    assert f"all.jsonl.xz: {len(recorded)} records added to published" in merged.output
    assert Store("published").records() == recorded


def test_errors_are_lower_where_the_method_is_better(kernbench, folder, recorded):
    assert kernbench("results", "export", "errors.csv", "--rows", "errors").exit_code == 0
    rows = list(csv.DictReader(Path("errors.csv").read_text().splitlines()))
    assert {row["method"] for row in rows} == {"wolfe", "scs"}
    for row in rows:
        assert row["task"].startswith("scs-accuracy/quick/") and 0 <= float(row["error"]) <= 1


def test_errors_of_an_experiment_that_is_not_declared_are_left_out_with_a_note(kernbench, recorded):
    store = Store("some")
    for name in ("scs-accuracy", "mine"):
        store.append(recorded[0] | {"experiment": name, "key": name})
    done = kernbench("results", "export", "errors.csv", "--rows", "errors", "--results", "some")
    assert "1 row written to errors.csv" in done.stdout
    assert "1 record left out: unknown experiment 'mine'" in done.stderr and "needs --plugin FILE" in done.stderr


def test_merge_skips_and_names_what_is_not_a_record(kernbench, recorded):
    Path("some.jsonl.xz").write_bytes(packed([recorded[0], {"experiment": "x"}]))
    merged = kernbench("results", "merge", "some.jsonl.xz", "--results", "all")
    assert merged.exit_code == 0 and "1 record added to all" in merged.output
    assert "some.jsonl.xz, line 2 is skipped: 'key' should be text, got None" in merged.output


def test_clean_keeps_a_copy(kernbench, folder, recorded):
    path = folder.path("scs-accuracy")
    before = path.read_text()
    path.write_text(before + '{"torn')
    assert "1 line dropped" in kernbench("results", "clean").output
    assert path.read_text() == before
    assert Path("results/scs-accuracy.jsonl.before-1").read_text() == before + '{"torn'


def test_mistakes_are_refused_in_one_line(refused, folder):
    assert "no results folder" in refused("results", "show", "--results", "nowhere")
    assert "no results folder" in refused("results", "merge", "nowhere")
    Path("torn.jsonl.xz").write_bytes(b"no xz")
    assert "cannot read packed records" in refused("results", "merge", "torn.jsonl.xz")
    assert "unknown format 'xls'" in refused("results", "export", "all.xls")
    assert "holds records: name a table" in refused("results", "export", "all.jsonl.xz", "--rows", "errors")
    assert "does not exist" in refused("results", "export", "nowhere/all.csv")


def test_a_command_to_copy_quotes_a_folder_with_a_space(refused):
    Path("my records").mkdir()
    assert refused("report", "--results", "my records").endswith("--results 'my records'")
