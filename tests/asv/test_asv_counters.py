"""The gate of CI: every counter is compared exactly, and the file holds what all records agree on."""

import json
import os
import shutil
import subprocess
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import SimpleNamespace

import pytest

from kernbench.experiments import get
from kernbench.experiments.run import Store
from kernbench.experiments.run.code import shared_digest
from kernbench.experiments.run.storing.schema import VERSION

BENCH = Path(__file__).parents[2] / "asv_bench"


def script(name):
    spec = spec_from_file_location(f"kernbench_asv_{name}", BENCH / f"{name}.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


counters, over_commits = script("counters"), script("over_commits")
CELL = "sbp-libsvm/checkerboard/smo-converged/0"


@pytest.fixture
def store(tmp_path):
    """``store(name, evaluations, support, **changes)``: a folder with one more record."""

    def make(name, evaluations=1000, support=50, method="smo-converged", **changes):
        record = {
            "schema": VERSION,
            "key": name,
            "experiment": "sbp-libsvm",
            "scale": "quick",
            "dataset": "checkerboard",
            "method": method,
            "repeat": 0,
            "seed": 0,
            "status": "ok",
            "error": None,
            "metrics": {"n_support": support, "test_error": 0.1},
            "n_kernel_evaluations": evaluations,
            "seconds": {"fit": 1.0},
            "peak_memory_bytes": None,
            "trace": {},
            "params": {},
            "data": {},
            "environment": {"code": shared_digest()},
            "started": "2024-05-01T10:00:00+00:00",
        } | changes
        folder = tmp_path / name
        Store(folder).append(record)
        return folder

    return make


def test_counters_are_those_of_own_methods_that_no_clock_ends(store):
    assert counters.counters_of(store("own")) == {CELL: {"n_kernel_evaluations": 1000, "n_support": 50}}
    experiment = get("sbp-libsvm")
    others = [method.name for method in experiment.methods if not method.estimator.startswith("kernbench")]
    timed = [method.name for method in experiment.methods if method.depends_on]
    assert others and timed
    for method in (*others, *timed):
        assert counters.counters_of(store(method, method=method)) == {}
    assert counters.counters_of(store("failed", status="timeout")) == {}
    assert counters.counters_of(store("paper", scale="paper")) == {}


def test_a_success_of_earlier_code_does_not_stand_for_a_fit_that_fails_now(store, tmp_path, capsys):
    path = tmp_path / "counters.json"
    counters.renew([counters.counters_of(store("results"))], path)
    folder = store("stale", environment={"code": "earlier"})
    store("stale", status="error", error="…", started="2024-05-02T10:00:00+00:00")
    assert counters.check(counters.counters_of(folder), path) == 1
    assert f"{CELL}: no successful record" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        counters.main(["check", str(folder)])
    assert "no records at quick scale of this code" in capsys.readouterr().err


def test_a_cell_that_failed_in_one_folder_is_named_and_its_counters_stay(store, tmp_path, monkeypatch, capsys):
    path, folders = tmp_path / "counters.json", [store(name) for name in ("one", "other")]
    path.write_text(json.dumps({CELL: {"n_support": 49}}))
    monkeypatch.setattr(counters.renew, "__defaults__", (path, None))
    store("one", dataset="text-like")
    store("other", dataset="text-like", status="timeout")
    arguments = ["renew", *map(str, folders)]
    with pytest.raises(SystemExit):
        counters.main(arguments)
    assert capsys.readouterr().err.endswith(f" {CELL.replace('checkerboard', 'text-like')}\n")
    assert json.loads(path.read_text()) == {CELL: {"n_support": 49}}
    # Of another experiment than the one that is renewed it does not matter.
    assert counters.unequal([counters.counters_of(folder) for folder in folders], "cache") == []
    store("other", dataset="text-like")
    assert counters.main(arguments) == 0 and len(json.loads(path.read_text())) == 2


def test_only_what_all_records_agree_on_is_kept(store, tmp_path):
    stores = [counters.counters_of(store(str(n), evaluations=n)) for n in (1000, 1000, 1001)]
    counters.renew(stores[:2], tmp_path / "both.json")
    assert json.loads((tmp_path / "both.json").read_text()) == stores[0]
    counters.renew(stores, tmp_path / "all.json")
    assert json.loads((tmp_path / "all.json").read_text()) == {CELL: {"n_support": 50}}
    assert counters.agreed([stores[0], {}]) == {}


def test_the_counters_of_one_experiment_are_replaced_and_the_others_kept(store, tmp_path):
    path, other = tmp_path / "counters.json", "cache/adult-like/smo/0"
    path.write_text(json.dumps({other: {"evaluations_ratio": 1}, CELL: {"n_support": 49}, f"{CELL}9": {"n_iter": 1}}))
    counters.renew([counters.counters_of(store("new"))], path, experiment="sbp-libsvm")
    kept = json.loads(path.read_text())
    assert kept == {other: {"evaluations_ratio": 1}, CELL: {"n_kernel_evaluations": 1000, "n_support": 50}}


def test_a_counter_that_differs_on_one_data_set_is_left_out_on_all(store):
    folders = [store(str(n), evaluations=n, dataset="text-like") for n in (1000, 1001)]
    for n in (1000, 1001):
        store(str(n), evaluations=500)
    kept = counters.agreed([counters.counters_of(folder) for folder in folders])
    assert kept == {CELL.replace("checkerboard", name): {"n_support": 50} for name in ("checkerboard", "text-like")}


@pytest.mark.parametrize("evaluations", [999, 1001, None])
def test_one_evaluation_more_or_less_or_none_is_refused(store, tmp_path, evaluations, capsys):
    path = tmp_path / "counters.json"
    counters.renew([counters.counters_of(store("before"))], path)
    assert counters.check(counters.counters_of(store("same", support=50)), path) == 0
    assert counters.check(counters.counters_of(store("after", evaluations)), path) == 1
    assert f"{CELL}: n_kernel_evaluations" in capsys.readouterr().out
    assert counters.check({}, path) == 1
    assert f"{CELL}: no successful record" in capsys.readouterr().out


def test_a_folder_without_records_is_a_mistake(tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        counters.main(["check", str(tmp_path)])
    assert ended.value.code == 2 and "no records at quick scale" in capsys.readouterr().err


def test_the_checked_in_counters_are_of_declared_cells():
    baseline = json.loads(counters.BASELINE.read_text())
    assert len(baseline) > 50
    for name, values in baseline.items():
        experiment, dataset, method, _ = name.split("/")
        declared = get(experiment)
        assert declared.scale("quick").setting(dataset).takes(declared.method(method).name)
        assert all(declared.metric(metric).deterministic for metric in values)


def test_words_after_two_dashes_are_for_asv():
    given = over_commits.parse(["run", "--last", "3", "--", "--machine", "other", "--last"])
    assert (given.last, given.asv) == (3, ["--machine", "other", "--last"])
    assert over_commits.parse(["keep"]).asv == []


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_releases_are_the_commits_of_their_tags_newest_first(tmp_path, monkeypatch):
    own = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    for role in ("AUTHOR", "COMMITTER"):
        own |= {f"GIT_{role}_NAME": "A", f"GIT_{role}_EMAIL": "a@example.org"}

    def git(*words, day=1):
        dates = {name: f"2020-01-0{day}T00:00:00Z" for name in ("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE")}
        done = subprocess.run(
            ["git", *words], cwd=tmp_path, env=own | dates, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    git("init", "-q")
    monkeypatch.setattr(over_commits, "HERE", tmp_path)
    assert over_commits.commits(10, 1, releases=True) == []
    hashes = []
    for day, tag in ((1, ["v1"]), (2, ["other"]), (3, ["-a", "-m", "an object of its own", "v2"])):
        git("commit", "-q", "--allow-empty", "-m", f"day {day}", day=day)
        git("tag", *tag)
        hashes.append(git("rev-parse", "HEAD"))
    assert over_commits.commits(10, 1, releases=True) == [hashes[2], hashes[0]]
    assert over_commits.commits(2, 1, releases=False) == [hashes[2], hashes[1]]


def test_one_run_of_asv_has_all_commits_so_that_one_that_fails_does_not_end_it(monkeypatch):
    calls = []
    monkeypatch.setattr(over_commits, "commits", lambda *_: ["new", "broken", "old"])
    monkeypatch.setattr(
        over_commits.subprocess,
        "run",
        lambda words, **given: calls.append((words, given)) or SimpleNamespace(returncode=2),
    )
    assert over_commits.run(over_commits.parse(["run", "--", "--machine", "other"])) == 2
    ((words, given),) = calls
    assert words[:2] == ["asv", "run"] and words[-3:] == ["--machine", "other", "HASHFILE:-"]
    assert given["input"] == "new\nbroken\nold\n"


def test_what_is_kept_of_asv_has_its_form_without_repeats(tmp_path):
    machine = tmp_path / "results" / "two-cores"
    machine.mkdir(parents=True)
    described = {
        name: {"unit": "seconds", "type": "time", "param_names": [], "code": "…"} for name in ("a.F.f", "b.G.g")
    }
    (machine.parent / "benchmarks.json").write_text(json.dumps({**described, "version": 2}))
    (machine / "machine.json").write_text("{}")
    columns = ["result", "params", "version", "samples"]
    for commit, value in (("good", 1.0), ("bad", None)):
        rows = {name: [[value], [], "v", [[1.0, 2.0]]] for name in described}
        content = {"commit_hash": commit, "date": 1, "results": rows, "result_columns": columns, "version": 2}
        (machine / f"{commit}.json").write_text(json.dumps({**content, "env_vars": {}, "durations": {}}))
    target = tmp_path / "kept"
    assert over_commits.keep(machine.parent, target, "a.") == 1
    assert not (target / "two-cores" / "bad.json").exists()
    kept = json.loads((target / "two-cores" / "good.json").read_text())
    assert kept["results"] == {"a.F.f": [[1.0], [], "v"]} and kept["result_columns"] == ["result", "params", "version"]

    from kernbench.report.history.results import read

    (series,) = read(target)
    assert (series.benchmark, series.points) == ("a.F.f", [(1, "good", 1.0)])
    with pytest.raises(ValueError, match="no benchmark in .*results matches 'f.F'"):
        over_commits.keep(machine.parent, target, "f.F")
    assert read(target) == [series]
    assert over_commits.keep(machine.parent, target, ".") == 1  # all, as for asv run
    assert {series.benchmark for series in read(target)} == set(described)
