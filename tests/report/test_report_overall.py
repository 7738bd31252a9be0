"""Profiles over all experiments, and how new wordings and axes of the report behave."""

import json
from dataclasses import replace

import pytest

from kernbench.experiments import registry
from kernbench.experiments.declare import Axis, Claim, Curves
from kernbench.report import build, text
from kernbench.report.aggregate import group_records
from kernbench.report.charts.curves import lines_of, picture
from kernbench.report.charts.scales import ticks
from kernbench.report.claims import judge
from kernbench.report.overall import overall_profile
from kernbench.report.style import looks


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
    other = replace(toy, name="other")
    return overall_profile({"toy": toy, "other": other}, group_records(rows))


def points(found):
    return [line.split(",") for line in found.csv.splitlines()[1:]]


def test_problems_of_all_experiments_count_alike(toy, records):
    rows = race(records, "toy", {"smo": 1.0, "libsvm": 4.0}) + race(
        records, "other", {"smo": 6.0, "libsvm": 3.0}
    )
    found = profile(toy, rows)
    assert found.name == "all-paper-fit-time-profile" and "2 problems" in found.caption
    shares = {(label, float(x)): float(y) for label, x, y in points(found)}
    assert shares["SMO", 1.0] == 0.5 and shares["SMO", 2.0] == 1.0
    assert shares["LIBSVM (scikit-learn SVC)", 4.0] == 1.0


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
        "one method": race(records, "toy", {"smo": 1.0})
        + race(records, "other", {"smo": 1.0, "libsvm": 1.0}),
        "nothing": race(records, "toy", {"smo": 1.0}) + race(records, "other", {"libsvm": 1.0}),
    }[only]
    assert profile(toy, rows) is None


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


@pytest.mark.parametrize(
    ("margin", "words"),
    [
        (0.0, "1.00 points better."),
        (-0.005, "better, to be better by 0.50 points at least."),
        (0.01, "within the margin"),
    ],
)
def test_a_margin_is_told_where_there_is_one(toy, records, margin, words):
    claim = Claim("", "sbp", "libsvm", "test_error", margin)
    rows = [records.one("libsvm", error=0.15), records.one("sbp", error=0.14)]
    (group,) = group_records(rows)
    assert words in judge(toy, group, "adult", claim).why


def test_possessives():
    assert (text.possessive("LIBSVM"), text.possessive("Pegasos")) == ("LIBSVM's", "Pegasos'")


def test_many_powers_of_ten_are_thinned_evenly():
    found = ticks(1e-1, 1e15, log=True)
    assert len(found) <= 7 and len({b / a for a, b in zip(found, found[1:])}) <= 2
    assert ticks(1.0, 1e5, log=True) == [10.0**k for k in range(6)]


def test_panels_may_have_a_scale_of_their_own(toy, records):
    rows = [
        records.one(dataset=name, trace={"x": [1.0, 10.0], "y": [scale, 2 * scale]})
        for name, scale in (("a", 1.0), ("b", 1000.0))
    ]
    (group,) = group_records(rows)
    display = Curves("c", "C", Axis("trace.x", "x", log=True), Axis("trace.y", "y"), panel="dataset")
    drawn = {
        shared: picture(replace(display, shared_y=shared), toy, group, looks(["smo"])).svg_file
        for shared in (True, False)
    }
    assert len(lines_of(display, group)) == 2
    # A tick at 1 is seen only where the small panel has its own scale.
    assert ">1.0<" not in drawn[True] and drawn[True] != drawn[False]
