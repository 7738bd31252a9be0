"""Patterns over experiment/dataset/method."""

import pytest

from kernbench.experiments import Setting
from kernbench.experiments.run.cells import plan


@pytest.fixture
def experiment(make_experiment, fake):
    settings = (
        Setting("one", {}, loader="experiment_fakes:load"),
        Setting("two", {}, loader="experiment_fakes:load"),
        Setting("large", {}, loader="experiment_fakes:load", optional=True),
    )
    methods = (
        fake("slow"),
        fake("quarter", depends_on="slow", budget_fraction=0.25),
        fake("free"),
        fake("peer", requires="no_such_module"),
    )
    return make_experiment(*methods, settings=settings)


def places(experiment, **options):
    cells, _ = plan([experiment], "quick", **options)
    return [f"{cell.dataset}/{cell.method}" for cell in cells]


@pytest.mark.parametrize(
    "options, expected",
    [
        ({"only": ["fake/one/free"]}, ["one/free"]),
        ({"only": ["*/free"]}, ["one/free", "two/free"]),
        ({"only": ["fake/t*"]}, ["two/slow", "two/quarter", "two/free"]),
        ({"only": ["fake"], "skip": ["*/one/*"]}, ["two/slow", "two/quarter", "two/free"]),
        ({"only": ["f?ke/one/[a-f]*", "*/two/slow"]}, ["one/free", "two/slow"]),
        ({"skip": ["*/free", "fake/two"]}, ["one/slow", "one/quarter"]),
    ],
)
def test_patterns_choose_cells_in_their_order(experiment, options, expected):
    assert places(experiment, **options) == expected


def test_what_a_chosen_cell_depends_on_comes_along(experiment):
    assert places(experiment, only=["*/one/quarter"]) == ["one/slow", "one/quarter"]


def test_what_depends_on_a_skipped_cell_is_skipped_too(experiment):
    assert places(experiment, skip=["*/slow"]) == ["one/free", "two/free"]
    assert places(experiment, only=["*/quarter", "*/free"], skip=["*/one/slow"]) == [
        "one/free", "two/slow", "two/quarter", "two/free",
    ]  # fmt: skip


def test_an_optional_data_set_runs_when_a_pattern_names_it(experiment):
    assert places(experiment, only=["fake/large/free"]) == ["large/free"]
    assert "large/free" not in places(experiment, only=["fake/*/free"])


def test_a_pattern_adds_no_data_set_to_those_that_are_named(experiment):
    assert places(experiment, datasets=["one"], only=["*/free"]) == ["one/free"]
    for name in ("two", "large"):
        with pytest.raises(ValueError, match=f"'fake/{name}/free' matches nothing"):
            places(experiment, datasets=["one"], only=["fake/one/free", f"fake/{name}/free"])


def test_a_pattern_that_matches_nothing_is_told_the_nearest_places(experiment):
    with pytest.raises(ValueError, match=r"'fake/one/fre' matches nothing; the nearest: fake/one/free"):
        plan([experiment], "quick", only=["fake/one/fre"])
    with pytest.raises(ValueError, match=r"'fakke' matches nothing; the nearest: fake "):
        plan([experiment], "quick", skip=["fakke"])


def test_to_skip_what_does_not_run_anyway_is_no_mistake(experiment):
    for skip in ("fake/large", "*/large/free"):
        assert places(experiment, methods=["free"], skip=[skip]) == ["one/free", "two/free"]
    assert places(experiment, datasets=["one"], methods=["free"], skip=["*/two", "*/quarter"]) == ["one/free"]
    with pytest.raises(ValueError, match=r"'\*/lage' matches nothing"):
        plan([experiment], "quick", skip=["*/lage"])


def test_a_pattern_of_a_method_that_cannot_run_here_is_a_gap_and_no_mistake(experiment):
    cells, gaps = plan([experiment], "quick", only=["*/peer", "*/one/free"])
    assert [gap.method for gap in gaps] == ["peer"] and len(cells) == 1
    assert plan([experiment], "quick", only=["*/free"])[1] == []
    assert plan([experiment], "quick", skip=["*/peer"])[1] == []
