"""``kernbench compare``: exit codes and outputs."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from kernbench.cli import main


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """The file of records of one quick experiment."""
    folder = tmp_path_factory.mktemp("measured")
    words = ["run", "scs-accuracy", "--method", "wolfe", "--repeats", "1", "--results", str(folder)]
    run = CliRunner().invoke(main, words)
    assert run.exit_code == 0, run.output
    (path,) = folder.glob("*.jsonl")
    return path


@pytest.fixture
def stores(kernbench, measured):
    """A folder of the records, and one of the same with one more kernel evaluation."""
    records = [json.loads(line) for line in measured.read_text().splitlines()]
    for folder in ("a", "b"):
        Path(folder).mkdir()
        (Path(folder) / measured.name).write_text("".join(json.dumps(record) + "\n" for record in records))
        for record in records:
            record["n_kernel_evaluations"] += 1
    return "a", "b"


def test_the_exit_code_says_whether_something_became_worse(kernbench, stores):
    before, after = stores
    worse = kernbench("compare", before, after)
    assert worse.exit_code == 1 and "n_kernel_evaluations" in worse.output and "exact" in worse.output
    assert kernbench("compare", after, before).exit_code == 0
    same = kernbench("compare", before, before, "--json")
    assert same.exit_code == 0
    found = json.loads(same.stdout)
    assert found["changes"] and {change["verdict"] for change in found["changes"]} == {"same", "too few repeats"}
    assert kernbench("compare", before, after, "--markdown").stdout.startswith("### Changes")


def test_sides_without_a_common_fit_are_not_said_to_be_no_worse(kernbench, stores):
    before, after = map(Path, stores)
    (path,) = after.glob("*.jsonl")
    path.write_text("".join(json.dumps(json.loads(line) | {"dataset": "other"}) + "\n" for line in path.open()))
    done = kernbench("compare", before, after)
    assert done.exit_code == 2 and "other" in done.stdout and "no fit in common" in done.stderr


def test_mistakes_are_refused_in_one_line(refused, stores):
    before, _ = stores
    assert "no results folder 'nowhere'" in refused("compare", before, "nowhere")
    assert "two folders" in refused("compare", before)
    assert "'nan' is not a number" in refused("compare", "a", "b", "--tolerance", "nan")
    assert "one folder" in refused("compare", "a", "b", "--commits", "1111", "2222")
    assert "it has records of" in refused("compare", before, "--commits", "zzzz", "yyyy")
