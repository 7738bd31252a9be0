"""The commands "to reproduce them" make the same cells, with the same limits; gaps name all that is missing."""

import shlex
from dataclasses import replace

import pytest

from kernbench.cli.group import CONTEXT
from kernbench.cli.running import command as run_command
from kernbench.experiments import registry
from kernbench.experiments.declare import Scale, Setting
from kernbench.experiments.run.cells import plan
from kernbench.report.page.commands import commands
from kernbench.report.page.gaps import gaps
from kernbench.report.verdict.verdict import verdicts

LIMITS = {"seconds": 60.0, "bytes": None}


@pytest.fixture
def grid(toy):
    """The toy's methods without a peer on three data sets, one of them optional."""
    names = ("adult", "mnist", "ijcnn1")
    settings = tuple(Setting(name, {"name": name}, optional=name == "ijcnn1") for name in names)
    return replace(toy, methods=toy.methods[:4], scales={"paper": Scale(settings, 3, 60)})


def rows_of(records, cells, repeats=3, **changes):
    return [records.one(method, dataset, k, **changes) for dataset, method in cells for k in range(repeats)]


def cells_made(experiment, words):
    """The cells that a command of the page runs."""
    # As below its group: the command keeps the names of its help option from the first context that it sees.
    context = run_command.make_context("run", shlex.split(words)[2:], **CONTEXT)
    asked = context.params
    names = {"repeats": asked["repeats"], "datasets": list(asked["datasets"]), "methods": list(asked["methods"])}
    patterns = {"only": asked["only"], "skip": asked["skip"]}
    made, _ = plan([experiment], asked["scale"], **{name: value or None for name, value in names.items()}, **patterns)
    return {(cell.dataset, cell.method, cell.repeat) for cell in made}


ADULT, BOTH = ("adult",), ("adult", "mnist")
FREE = ("libsvm", "sbp", "smo")
SELECTIONS = {
    "all": [(d, m) for d in BOTH for m in (*FREE, "sbp-quarter")],
    "one data set": [(d, m) for d in ADULT for m in (*FREE, "sbp-quarter")],
    "an optional one too": [(d, m) for d in (*BOTH, "ijcnn1") for m in (*FREE, "sbp-quarter")],
    "some methods": [(d, m) for d in BOTH for m in FREE],
    "some of some": [("adult", "smo"), ("mnist", "libsvm"), ("adult", "libsvm"), ("ijcnn1", "sbp")],
}


@pytest.mark.parametrize("chosen", SELECTIONS.values(), ids=SELECTIONS)
def test_a_command_makes_the_cells_that_are_recorded(grid, records, chosen):
    first, report = commands(records.results(grid, rows_of(records, chosen, repeats=2)))
    assert first.startswith("kernbench run toy --scale paper --repeats 2")
    assert report == "kernbench report --out results/report"
    assert cells_made(grid, first) == {(*cell, k) for cell in chosen for k in range(2)}


def test_cells_with_other_repeats_or_limits_have_commands_of_their_own(grid, records):
    rows = rows_of(records, SELECTIONS["one data set"], limits=LIMITS)
    rows += rows_of(records, [("mnist", "smo")], repeats=1, limits={"seconds": 5.0, "bytes": 2.0**30})
    *made, _ = commands(records.results(grid, rows))
    assert made == [
        "kernbench run toy --scale paper --repeats 3 --dataset adult",
        "kernbench run toy --scale paper --repeats 1 --time-limit 5 --memory-limit 1024 --dataset mnist --method smo",
    ]


def test_unknown_limits_are_those_of_the_other_records(grid, records):
    rows = rows_of(records, SELECTIONS["all"])
    rows[0]["limits"] = {"seconds": 7.5}
    *made, _ = commands(records.results(grid, rows))
    assert made == ["kernbench run toy --scale paper --repeats 3 --time-limit 7.5"]


def test_threads_jobs_force_and_plug_ins_are_told_and_quoted(grid, records):
    rows = rows_of(records, SELECTIONS["all"])
    for row in rows:
        row["environment"] |= {
            "n_threads": 4, "jobs": 2, "overcommitted": "2 jobs × 4 threads on 2 cores",
            "plugin": "my $(rm -r) solver.py 0123456789ab",
        }  # fmt: skip
    plugin = "--plugin 'my $(rm -r) solver.py'"
    assert commands(records.results(grid, rows)) == [
        f"kernbench run toy --scale paper --repeats 3 --threads 4 --jobs 2 --force {plugin}",
        f"kernbench report --out results/report {plugin}",
    ]


@pytest.mark.parametrize("name", ["a b; rm -r /", "`x`", "$(x)", "it's", "a\nb", "x*[y]?", "-n", '"><script>', "|"])
def test_any_name_is_one_word_for_the_shell(grid, records, name):
    hostile = replace(grid, scales={"paper": Scale((Setting(name, {}), *grid.scale("paper").settings), 3, 60)})
    cells = [(name, "smo"), ("adult", "libsvm")]
    line, _ = commands(records.results(hostile, rows_of(records, cells)))
    assert "\n" not in line and shlex.split(line)[:3] == ["kernbench", "run", "toy"]
    if name.isprintable():
        assert cells_made(hostile, line) == {
            (d, m, k) for d, m in ((name, "smo"), ("adult", "libsvm")) for k in range(3)
        }


def test_nothing_is_missing_only_where_nothing_failed(grid, records):
    rows = rows_of(records, SELECTIONS["an optional one too"])
    assert gaps(records.results(grid, rows)) == []
    failed = [records.failure("smo", repeat=1), records.failure("sbp", "memory", dataset="mnist")]
    places = {(row["dataset"], row["method"], row["repeat"]) for row in failed}
    rows = [row for row in rows if (row["dataset"], row["method"], row["repeat"]) not in places]
    assert gaps(records.results(grid, rows + failed)) == [
        "Of 36 fits 1 ran out of memory and 1 ran out of time.",
        "SMO: 1 of 3 repeats failed (timeout) on adult.",
        "SBP: 1 of 3 repeats failed (memory) on mnist.",
    ]
    fewer = [row for row in rows if row["repeat"] < 2]
    assert gaps(records.results(grid, fewer))[-2:] == [
        "1 of 3 repeats for 2 of 12 pairs of method and data set.",
        "2 of 3 repeats for 10 of 12 pairs of method and data set.",
    ]


def test_what_is_missing_counts_what_failed_and_what_is_absent(grid, records):
    rows = [records.one("smo"), records.failure("libsvm"), records.failure("sbp"), records.failure("smo", "error", 1)]
    assert gaps(records.results(grid, rows))[0] == (
        "Of 4 fits 1 ended in an error and 2 ran out of time; without records: 2 of 3 data sets and 1 of 4 methods."
    )
    fewer = rows_of(records, SELECTIONS["an optional one too"], repeats=2)
    assert gaps(records.results(grid, fewer)) == ["2 of 3 repeats for all pairs of method and data set."]


def test_a_snapshot_is_made_again_by_the_command_that_made_it(grid, records):
    made = commands(records.results(grid, rows_of(records, SELECTIONS["all"], repeats=2)), runs=[{"only": ["toy/*"]}])
    assert made == ["kernbench snapshot toy", "kernbench report --out snapshot/report --results snapshot"]


def test_a_snapshot_tells_which_cells_were_repeated_by_request(grid, records):
    """Without this, the one command would make fewer repeats than the page shows."""
    runs = [
        {"only": ["toy/adult/smo", "other/adult/*"], "repeats": 5},
        {"only": ["toy/mnist/*"], "repeats": 5, "experiments": ["toy"]},
        {"only": ["other/*"], "repeats": 7},
        {"experiments": ["other"], "repeats": 8},
        {"experiments": ["toy"]},
    ]
    results = records.results(grid, rows_of(records, SELECTIONS["all"]))
    base, repeated, _ = commands(results, runs=runs)
    assert base == "kernbench snapshot toy"
    assert repeated == "kernbench snapshot toy --only toy/adult/smo --only 'toy/mnist/*' --repeats 5"
    assert commands(results, runs=[*runs, {"repeats": 9}])[2] == "kernbench snapshot toy --repeats 9"
    runs = [{"skip": ["toy/mnist", "other/*"], "repeats": 5}, {"skip": ["toy"], "repeats": 6}]
    assert commands(results, runs=runs)[1:-1] == ["kernbench snapshot toy --skip toy/mnist --repeats 5"]


def test_repeats_are_told_from_how_many_to_how_many(grid, records):
    def basis(rows):
        return verdicts([records.results(grid, rows)])[0]

    cells = [("adult", "libsvm"), ("adult", "smo")]
    assert basis(rows_of(records, cells)).basis.endswith(" 3 repeats.")
    mixed = basis(rows_of(records, cells[:1], repeats=5) + rows_of(records, cells[1:], repeats=1))
    assert mixed.basis.endswith(" 1 to 5 repeats.")
    alone = "1 of 2 pairs of method and data set has one repeat only: nothing is known of the scatter there."
    assert alone in mixed.caveats


def test_every_data_set_with_numbers_of_a_paper_says_what_the_paper_had():
    for experiment in registry.EXPERIMENTS:
        if experiment.group != "Ours":
            numbered = {number.dataset for number in experiment.paper_numbers}
            assert {data.dataset for data in experiment.paper_data} == numbered, experiment.name
