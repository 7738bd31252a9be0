"""Records of several commits: times on one machine over the first commit's, counters of the same data and seed."""

from dataclasses import replace

import pytest

from kernbench.experiments.declare import metrics as m
from kernbench.report import build
from kernbench.report.records.versions import versions


@pytest.fixture
def counting(toy):
    """The toy experiment with a deterministic counter."""
    return replace(toy, metrics=(*toy.metrics, m.N_KERNEL_EVALUATIONS))


def at(record, commit, day, **environment):
    environment = record["environment"] | {"git_commit": commit} | environment
    return record | {"environment": environment, "started": f"2024-05-{day:02d}", "key": f"{commit}/{record['key']}"}


def test_times_are_divided_by_those_of_the_first_commit(counting, records):
    rows = [at(records.one(seconds=1.5), "bbb", 2), at(records.one(seconds=2.0), "aaa", 1)]
    first, second = versions(rows, {"toy": counting})
    assert (first.commit, second.commit) == ("aaa", "bbb")
    assert first.factor("toy") is None and second.factor("toy") == pytest.approx(0.75)


def test_times_of_two_machines_are_not_divided(counting, records):
    rows = [at(records.one(), "aaa", 1), at(records.one(), "bbb", 2, processor="Other", n_kernels=1)]
    assert versions(rows, {"toy": counting}) == []


def test_counters_that_changed_are_counted(counting, records):
    rows = [at(records.one(repeat=k), "aaa", 1) for k in range(2)]
    rows += [at(records.one(repeat=k, n_kernel_evaluations=5_000_000 + k), "bbb", 2) for k in range(2)]
    _, second = versions(rows, {"toy": counting})
    assert (second.changed, second.compared) == ({"toy": 1}, {"toy": 2})


def test_one_commit_has_no_history(counting, records):
    assert versions([at(records.one(repeat=k), "aaa", 1) for k in range(3)], {"toy": counting}) == []


def test_uncommitted_changes_are_a_version_of_their_own(counting, records):
    rows = [at(records.one(), "aaa", 1), at(records.one(), "aaa", 2, git_dirty=True)]
    assert [version.commit for version in versions(rows, {"toy": counting})] == ["aaa", "aaa+"]


def test_the_page_has_a_history_for_several_commits_only(write, records, tmp_path):
    one, two = (write([at(r, c, d) for c, d in commits for r in records.race(1)], name=name)
                for name, commits in (("one", [("aaa", 1)]), ("two", [("aaa", 1), ("bbb", 2)])))  # fmt: skip
    assert "History:" not in build(one, tmp_path / "a").page.read_text(encoding="utf-8")
    page = build(two, tmp_path / "b").page.read_text(encoding="utf-8")
    assert "History: 2 commits" in page and "figures/commits.svg" in page
