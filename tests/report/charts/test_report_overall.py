"""Profiles over all experiments."""

import json
from dataclasses import replace

import pytest

from kernbench.experiments import registry
from kernbench.report import build
from kernbench.report.charts.overall import overall_profiles
from kernbench.report.records.cells import cells_of
from kernbench.report.records.results import Results


def race(records, name, times, objectives=None, dataset="adult"):
    """A record of each method: `times` in seconds, objectives 0.3 unless told."""
    return [
        records.one(
            method,
            dataset,
            seconds=seconds,
            experiment=name,
            key=f"{name}/{dataset}/{method}",
            metrics={"objective": (objectives or {}).get(method, 0.3)},
        )
        for method, seconds in times.items()
    ]


def profile(toy, rows):
    declared = {"toy": toy, "other": replace(toy, name="other")}
    found = overall_profiles([Results(declared[name], scale, cells) for (name, scale), cells in cells_of(rows).items()])
    return found[0] if found else None


def points(found):
    return [line.split(",") for line in found.csv.splitlines()[1:]]


def test_problems_of_all_experiments_count_alike(toy, records):
    rows = race(records, "toy", {"smo": 1.0, "libsvm": 4.0}) + race(records, "other", {"smo": 6.0, "libsvm": 3.0})
    found = profile(toy, rows)
    assert found.name == "all-paper-fit-time-profile" and "2 problems" in found.caption
    shares = {(label, float(x)): float(y) for label, x, y in points(found)}
    assert shares["SMO", 1.0] == 0.5 and shares["SMO", 2.0] == 1.0
    assert shares["LIBSVM (scikit-learn SVC)", 4.0] == 1.0


def test_times_of_two_machines_are_two_problems(toy, records):
    rows = race(records, "toy", {"smo": 1.0, "libsvm": 4.0}) + race(records, "other", {"smo": 6.0, "libsvm": 3.0})
    assert "2 problems" in profile(toy, rows).caption
    rows[-1]["environment"] = rows[-1]["environment"] | {"processor": "Fast CPU"}
    assert "1 problem " in profile(toy, rows).caption


def test_who_stops_early_has_not_solved_it(toy, records):
    rows = race(records, "toy", {"smo": 1.0, "sbp": 0.1}, {"sbp": 0.31}) + race(
        records, "other", {"smo": 1.0, "sbp": 0.1}, {"sbp": 0.3 * 1.0005}
    )
    shares = {}
    for label, x, y in points(profile(toy, rows)):
        shares.setdefault(label, []).append((float(x), float(y)))
    assert shares["SBP"][-1] == (1.0, 0.5)  # one of two, for ever


@pytest.mark.parametrize("only", ["one experiment", "one method", "nothing"])
def test_without_shared_methods_there_is_no_profile(toy, records, only):
    rows = {
        "one experiment": race(records, "toy", {"smo": 1.0, "libsvm": 4.0}),
        "one method": race(records, "toy", {"smo": 1.0}) + race(records, "other", {"smo": 1.0, "libsvm": 1.0}),
        "nothing": race(records, "toy", {"smo": 1.0}) + race(records, "other", {"libsvm": 1.0}),
    }[only]
    assert profile(toy, rows) is None


def test_methods_of_other_tasks_do_not_keep_those_that_meet_from_being_compared(toy, records):
    """No problem has all methods that two experiments share: not one of SVMs those of the partial AUC."""
    svm, other_task = {"smo": 1.0, "libsvm": 4.0, "sbp": 9.0}, {"sbp": 1.0, "other": 2.0}
    rows = [row for name in ("toy", "other") for row in race(records, name, svm)]
    rows += [row for name in ("toy", "other") for row in race(records, name, other_task, dataset="mnist")]
    found = profile(toy, rows)
    assert {label for label, *_ in points(found)} == {"SMO", "LIBSVM (scikit-learn SVC)", "SBP"}
    assert "2 problems" in found.caption


def test_a_method_with_a_budget_does_not_count(toy, records):
    times = {"smo": 1.0, "libsvm": 4.0, "sbp-quarter": 1.0}
    found = profile(toy, race(records, "toy", times) + race(records, "other", times))
    assert {label for label, *_ in points(found)} == {"SMO", "LIBSVM (scikit-learn SVC)"}


def test_the_page_shows_it(toy, records, write, tmp_path, monkeypatch):
    other = replace(toy, name="other")
    monkeypatch.setattr(registry, "EXPERIMENTS", (toy, other))
    folder = write(race(records, "toy", {"smo": 1.0, "libsvm": 4.0}))
    rows = race(records, "other", {"smo": 1.0, "libsvm": 4.0})
    (folder / "other.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    build(folder, tmp_path / "page")
    assert "Over all experiments" in (tmp_path / "page" / "index.html").read_text(encoding="utf-8")
    assert (tmp_path / "page" / "figures" / "all-paper-fit-time-profile.svg").exists()
