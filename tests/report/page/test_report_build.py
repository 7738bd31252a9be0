"""From a results folder to a report folder: complete, self-contained, robust against any records."""

import json
import re
from html.parser import HTMLParser

import pytest

from kernbench.experiments.run.storing.packing import unpacked
from kernbench.experiments.run.storing.store import Store
from kernbench.report import build


class Links(HTMLParser):
    """Collects the resources that a browser would fetch, and the targets of links."""

    def __init__(self):
        super().__init__()
        self.fetched, self.links, self.tags, self.ids, self.captions = [], [], [], [], 0

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        for name, value in attributes:
            if name in ("src", "srcset", "data", "poster", "xlink:href") or (name == "href" and tag != "a"):
                self.fetched.append((tag, value))
            elif name == "href":
                self.links.append(value)
            elif name == "id":
                self.ids.append(value)


def page_of(built):
    return built.page.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def race(tmp_path_factory, race_records):
    """The folder of one report that several tests read."""
    folder = tmp_path_factory.mktemp("race")
    (folder / "toy.jsonl").write_text("".join(json.dumps(record) + "\n" for record in race_records))
    build(folder, folder / "out")
    return folder / "out"


@pytest.fixture(scope="module")
def content(race):
    """Its page."""
    return (race / "index.html").read_text(encoding="utf-8")


def test_page_needs_nothing_but_itself(content):
    links = Links()
    links.feed(content)
    # <use href="#…"> inside the figures is all there is.
    assert [entry for entry in links.fetched if not (entry[0] == "use" and entry[1].startswith("#"))] == []
    assert not {"script", "link", "iframe", "img", "object"} & set(links.tags)
    assert not re.search(r"@import|url\((?!#)", content)
    assert all(not link.startswith(("http:", "https:", "//")) for link in links.links)


def test_every_link_leads_to_a_file_that_is_there(race, content):
    links = Links()
    links.feed(content)
    relative = [link for link in links.links if not link.startswith("#")]
    assert relative and all((race / link).is_file() for link in relative)
    anchors = {link.removeprefix("#") for link in links.links if link.startswith("#")}
    assert anchors and anchors <= set(links.ids)


@pytest.fixture(scope="module")
def compact(tmp_path_factory, race_records):
    """The folder of the compact report of the same records, with a failure among them."""
    folder = tmp_path_factory.mktemp("compact")
    failed = race_records[0] | {"key": "lost", "status": "timeout", "repeat": 9}
    lines = [json.dumps(record) + "\n" for record in (*race_records, failed)]
    (folder / "toy.jsonl").write_text("".join(lines))
    build(folder, folder / "out", compact=True)
    return folder / "out"


def test_compact_report_has_no_files_of_figures_and_tables(compact):
    files = {str(path.relative_to(compact)) for path in compact.rglob("*") if path.is_file()}
    assert files - {"figures/speed.svg"} == {"index.html", "summary.md", "details/toy-paper.md", "records.jsonl.xz"}


def test_every_link_of_a_compact_report_leads_to_a_file_that_is_there(compact):
    test_every_link_leads_to_a_file_that_is_there(compact, (compact / "index.html").read_text(encoding="utf-8"))


def test_packed_records_make_the_report_again(compact, race_records, tmp_path):
    with unpacked(compact / "records.jsonl.xz") as folder:
        records = {record["key"]: record for record in Store(folder).records()}
        assert records.keys() == {"lost", *(record["key"] for record in race_records)}
        assert all(records[record["key"]]["trace"] == record["trace"] for record in race_records)
        build(folder, tmp_path, compact=True)
    again, first = ((path / "index.html").read_text(encoding="utf-8") for path in (tmp_path, compact))
    assert again == first


@pytest.mark.usefixtures("undrawn")
def test_a_compact_report_is_not_mixed_with_another_one(compact, tmp_path):
    before = {path: path.read_bytes() for path in compact.rglob("*") if path.is_file()}
    with unpacked(compact / "records.jsonl.xz") as folder:
        with pytest.raises(ValueError, match="holds a compact report with its records: choose another folder"):
            build(folder, compact)
        assert before == {path: path.read_bytes() for path in compact.rglob("*") if path.is_file()}
        build(folder, tmp_path, compact=True)
        build(folder, tmp_path, compact=True)


def test_report_has_paper_ours_and_libsvm(content):
    for words in ("14.9", "15.00 ± 0.00", "195 s", "4.5 ×", "Where these numbers come from", "Test CPU", "c0ffee"):
        assert words in content
    assert "kernbench run toy --scale paper" in content


def test_no_placeholder_reaches_the_reader(write, records, tmp_path):
    bare = records.one("smo", metrics={"test_error": 0.2}, trace={}, peak_memory_bytes=None, environment={}, data={})
    built = build(write([bare, *records.race()[:1]]), tmp_path / "out")
    for path in (built.page, tmp_path / "out" / "summary.md"):
        visible = re.sub(r"<(style|svg)\b.*?</\1>", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        assert not re.search(r"\b(None|nan|inf|Undefined)\b", visible)


@pytest.mark.usefixtures("undrawn")
def test_torn_lines_are_a_note(write, records, tmp_path):
    folder = write(records.race(), tail='{"key": "torn", "experi')
    built = build(folder, tmp_path / "out")
    assert built.n_records == len(records.race())
    assert any("line 13" in note for note in built.notes)
    assert "line 13" in page_of(built) and "line 13" in (tmp_path / "out" / "summary.md").read_text(encoding="utf-8")


@pytest.mark.usefixtures("undrawn")
def test_failures_and_gaps_are_named(write, records, tmp_path):
    rows = records.race(1) + [records.failure("smo", "memory", repeat=1)]
    content = page_of(build(write(rows), tmp_path / "out"))
    assert "Runs that failed" in content and "took too long" in content and ">memory<" in content
    assert "no-such-package" in content  # a method without records
    assert "mnist" in content  # a data set without records
    assert "1 of 2" in content


def test_one_repeat_is_said_and_has_no_error_bar(write, records, tmp_path):
    content = page_of(build(write(records.race(1)), tmp_path / "out"))
    assert "One repeat only" in content and "1 repeat: no interval" in content
    assert "±" not in re.sub(r'class="note">.*?</p>', "", content)


@pytest.mark.usefixtures("undrawn")
def test_generated_data_are_marked(write, records, tmp_path):
    rows = records.race(1, scale="quick", dataset="blobs", kind="generated")
    content = page_of(build(write(rows), tmp_path / "out"))
    assert "<strong>Generated data.</strong>" in content
    assert "held in its one repeat on generated data" in content
    assert "14.9†" in content and "numbers are from adult" in content


@pytest.mark.usefixtures("undrawn")
def test_paper_scale_gives_the_verdict_and_the_section(write, records, tmp_path):
    quick = records.race(scale="quick", dataset="blobs", kind="generated")
    content = page_of(build(write(quick + records.race()), tmp_path / "out"))
    assert "at paper scale" in content.split("</section>")[0]
    assert 'id="toy-paper"' in content and 'id="toy-quick"' not in content
    assert 'id="toy-quick"' in page_of(build(write(quick), tmp_path / "quick"))


@pytest.mark.usefixtures("undrawn")
def test_two_setups_are_told_apart(write, records, tmp_path):
    rows = records.race(2)
    for record in rows[4:]:
        record["environment"]["processor"] = "Fast CPU"
    content = page_of(build(write(rows), tmp_path / "out"))
    assert "2 different set-ups" in content and "Fast CPU" in content and "Test CPU" in content


@pytest.mark.usefixtures("undrawn")
def test_versions_of_other_libraries_are_told_and_are_no_setups_of_their_own(write, records, tmp_path):
    peers = [records.one()["environment"] | {"peer": peer} for peer in ("libauc 2.0.1", "snapml 1.17.2")]
    rows = [records.one("smo"), *(records.one("sbp", repeat=k, environment=peer) for k, peer in enumerate(peers))]
    content = page_of(build(write(rows), tmp_path / "out"))
    assert "<dt>other libraries</dt><dd>libauc 2.0.1, snapml 1.17.2</dd>" in content
    assert "different set-ups" not in content
    assert "other libraries" not in page_of(build(write([records.one("smo")]), tmp_path / "other"))


@pytest.mark.usefixtures("undrawn")
def test_two_commits_of_one_code_are_no_setups_of_their_own(write, records, tmp_path):
    rows = records.race(2)
    for k, record in enumerate(rows):
        record["environment"] |= {"code": "0123", "git_commit": "c0ffee" if k < 4 else "decaf"}
    content = page_of(build(write(rows), tmp_path / "out"))
    assert "set-ups" not in content and "<dd>c0ffee, decaf</dd>" in content
    for record in rows[4:]:
        record["environment"]["code"] = "4567"
    content = page_of(build(write(rows), tmp_path / "out"))
    assert "2 different set-ups" in content and "Repeats on adult are from several set-ups" in content


def test_a_method_that_diverged_does_not_cost_the_page(write, records, tmp_path):
    rows = records.race()
    for record in rows:
        if record["method"] == "sbp-quarter":
            record["metrics"] |= {"test_error": 1e200 * (1 + record["repeat"]), "objective": 1.7e308}
    built = build(write(rows), tmp_path / "out")
    assert built.n_records == len(rows) and "cannot be judged" in page_of(built)


def test_hostile_names_are_text(write, records, tmp_path):
    evil = '"><script>alert(1)</script>'
    rows = [record | {"dataset": f"../{evil}", "method": evil} for record in records.race(1)[:1]]
    rows += [records.failure("smo", repeat=7, error=f"{evil} | `x`\n# heading")]
    built = build(write(rows + records.race(1)), tmp_path / "out")
    content = page_of(built)
    assert "<script" not in content and "&lt;script&gt;" in content
    assert {path.name for path in tmp_path.iterdir()} == {"results", "out"}
    assert all(re.fullmatch(r"[\w.-]+", path.name) for path in (tmp_path / "out").rglob("*"))
    summary = (tmp_path / "out" / "summary.md").read_text(encoding="utf-8")
    assert "<script" not in summary.replace("\\<script", "") and "\n# heading" not in summary


def test_empty_results_say_which_command_makes_some(toy, tmp_path):
    with pytest.raises(ValueError, match="kernbench run --scale quick"):
        build(tmp_path / "nowhere", tmp_path / "out")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match=f"--results {tmp_path / 'empty'}"):
        build(tmp_path / "empty", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("undrawn")
def test_records_nobody_declares_are_left_out_with_a_note(write, records, tmp_path):
    rows = [*records.race(1), records.one(scale="gigantic")]
    built = build(write(rows), tmp_path / "out")
    assert built.n_records == 4
    assert any("unknown scale 'gigantic'" in note for note in built.notes)


def test_impossible_output_is_refused_before_any_drawing(write, records, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setattr("kernbench.report.building._page", lambda *_: pytest.fail("drew before it looked"))
    with pytest.raises(ValueError, match="cannot write the report to .*choose another folder"):
        build(write(records.race(1)), tmp_path / "file" / "out")


@pytest.mark.usefixtures("undrawn")
def test_a_failed_build_leaves_the_old_report(write, records, tmp_path, monkeypatch):
    out = tmp_path / "out"
    folder = write(records.race(1))
    before = page_of(build(folder, out))
    names = sorted(path.name for path in out.rglob("*"))
    for error in (OSError(28, "No space left on device"), KeyboardInterrupt()):

        def fail(page, error=error):
            raise error

        monkeypatch.setattr("kernbench.report.page.page.render_html", fail)
        with pytest.raises((OSError, KeyboardInterrupt)):
            build(folder, out)
        assert (out / "index.html").read_text(encoding="utf-8") == before
        assert sorted(path.name for path in out.rglob("*")) == names


@pytest.mark.usefixtures("undrawn")
def test_other_files_of_the_folder_stay(write, records, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "notes.txt").write_text("mine")
    build(write(records.race(1)), tmp_path / "out")
    assert (tmp_path / "out" / "notes.txt").read_text() == "mine"


def test_tables_csv_are_beside_the_page(race):
    comparison = (race / "tables/toy-paper-comparison.csv").read_text(encoding="utf-8").splitlines()
    assert comparison[0].startswith(
        "data,method,paper_test_error,test_error,test_error_standard_error,test_error_minus_libsvm,"
    )
    assert len(comparison) == 5


def test_json_of_older_records_without_optional_parts_is_enough(write, records, tmp_path):
    record = records.one("libsvm")
    for name in ("peak_memory_bytes", "n_kernel_evaluations"):
        del record[name]
    assert json.loads(json.dumps(record)) == record
    assert build(write([record]), tmp_path / "out").n_records == 1


@pytest.mark.usefixtures("undrawn")
def test_a_snapshot_keeps_its_manifest(race_records, tmp_path):
    (tmp_path / "toy.jsonl").write_text("".join(json.dumps(record) + "\n" for record in race_records))
    assert "manifest.json" not in page_of(build(tmp_path, tmp_path / "without"))
    (tmp_path / "manifest.json").write_text("{}")
    assert "manifest.json" in page_of(build(tmp_path, tmp_path / "with", compact=True))
    assert (tmp_path / "with" / "manifest.json").read_text() == "{}"
    assert "kernbench snapshot toy" not in page_of(build(tmp_path, tmp_path / "damaged"))
    (tmp_path / "manifest.json").write_text('{"runs": []}')
    assert "kernbench snapshot toy" in page_of(build(tmp_path, tmp_path / "again"))


def test_a_race_without_times_of_the_usual_choice_has_no_figure_of_speed(write, records, tmp_path):
    rows = [record for record in records.race() if record["method"] != "libsvm"]
    assert "Which method for your data?" in page_of(build(write(rows), tmp_path / "out"))
