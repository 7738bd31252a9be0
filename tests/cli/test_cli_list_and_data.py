"""``kernbench list`` and ``kernbench data``."""

import gzip
import importlib

from kernbench._models import MODELS
from kernbench.experiments import registry
from kernbench.solvers import registry as registry_of_solvers
from kernbench.solvers.kinds import KINDS
from kernbench.solvers.registry import SOLVERS


def test_list_names_everything(kernbench):
    result = kernbench("list")
    assert result.exit_code == 0
    for name in [entry.name for entry in SOLVERS] + registry.names() + ["Gaussian", "adult", "checkerboard"]:
        assert name in result.stdout


def test_models_are_listed_with_their_tasks(kernbench):
    lines = {line.split()[0]: line.split() for line in kernbench("list", "models").stdout.splitlines() if line.strip()}
    for model in MODELS:
        assert lines[model.name][1] == model.task
        package, name = lines[model.name][2], model.name
        assert getattr(importlib.import_module(package), name) is model.load()


def test_list_of_one_kind_leaves_the_others_out(kernbench):
    listed = kernbench("list", "solvers").stdout
    assert "pegasos" in listed and "checkerboard" not in listed


def test_solvers_are_listed_by_the_estimator_that_takes_them(kernbench):
    """Some solvers of different problems have the same name."""
    tables = kernbench("list", "solvers").stdout.split("Solvers of ")[1:]
    assert [table.partition(":")[0] for table in tables] == list(KINDS) == list(names_by_problem())
    for table, names in zip(tables, names_by_problem().values(), strict=True):
        listed = [line.split()[0] for line in table.splitlines()[2:] if line[:1].strip()]
        assert listed == names


def names_by_problem():
    return {entry.problem: registry_of_solvers.names(entry.problem) for entry in SOLVERS}


def test_columns_stay_readable_in_a_narrow_terminal(kernbench, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")  # which stands for a terminal

    def listed(columns):
        monkeypatch.setenv("COLUMNS", str(columns))
        return kernbench("list", "models").stdout

    assert listed(40) == listed(80) != listed(120)


def test_data_alone_is_the_list(kernbench):
    assert kernbench("data").stdout == kernbench("data", "list").stdout == kernbench("list", "datasets").stdout


def test_the_list_says_shares_of_positives_and_other_tasks(kernbench):
    listed = kernbench("list", "datasets").stdout.splitlines()
    lines = {words[0]: words for words in map(str.split, listed) if words}
    assert lines["skin"][:7] == ["skin", "subset", "70,000", "+", "30,000", "3", "20.8%"]
    assert lines["qm7"][6] == "regression"
    assert [lines[name][7] for name in ("skin", "moons")] == ["no", "yes"]  # here


def test_columns_of_data_verify_stay_apart(kernbench):
    lines = kernbench("data", "verify").stdout.splitlines()
    assert lines and all(len(line.split()) == 3 and line.endswith("  missing") for line in lines)


def test_data_path_names_the_chosen_folder_first(kernbench, tmp_path, monkeypatch):
    monkeypatch.setenv("KERNBENCH_DATA", str(tmp_path))
    first, second = kernbench("data", "path").stdout.splitlines()
    assert first == str(tmp_path)
    assert second.startswith(str(tmp_path / "cache")) and "does not exist" in second


def test_data_fetch_of_a_generated_set_needs_nothing(kernbench):
    result = kernbench("data", "fetch", "moons", "breast-cancer")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[0] == "moons: needs no file (generated)"


def test_data_verify_missing_is_no_failure_but_other_bytes_are(kernbench, tmp_path):
    result = kernbench("data", "verify", "adult")
    assert result.exit_code == 0 and result.stdout.count("missing") == 2
    (tmp_path / "cache").mkdir()
    with gzip.open(tmp_path / "cache" / "a9a.gz", "wb") as file:
        file.write(b"+1 1:1\n")
    result = kernbench("data", "verify", "adult")
    assert result.exit_code == 2
    assert "wrong checksum" in result.stdout
    assert "1 of 2 files are not the published ones; remove these and fetch them again" in result.stderr


def test_a_file_of_several_sets_is_counted_once_by_data_verify(kernbench, tmp_path):
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "train-images-idx3-ubyte").write_bytes(b"other")
    result = kernbench("data", "verify", "mnist", "mnist-8-vs-6")
    assert result.exit_code == 2 and result.stdout.count("wrong checksum") == 2
    assert "error: 1 of 4 files are not the published ones" in result.stderr


def test_what_is_said_of_a_damaged_file_gets_it_replaced(refused, tmp_path):
    """A file that is there is never replaced: to fetch it again would end in the same error."""
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "a9a.gz").write_bytes(gzip.compress(b"+1 1:1\n")[:-4])
    assert refused("data", "fetch", "adult").endswith(
        "a9a.gz: the gzip data are truncated; remove the file and fetch it again"
    )
