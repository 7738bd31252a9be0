"""Which records stand for cells: those of this machine and, where that is asked for, races of one other machine."""

from types import SimpleNamespace

import pytest

from kernbench.experiments.run.cells import cell_key, plan
from kernbench.experiments.run.stored import stored


def test_a_later_failure_does_not_stand_for_a_success(make_experiment, fake, make_record):
    """As after a merge of the records of two machines of one kind, in a run that tries no timeout again."""
    (cell,) = plan([make_experiment(fake("good"))], "quick")[0]
    machine = SimpleNamespace(key=lambda cell, checksum: "a")
    made = [make_record(key="a", status=status, started=f"2025-01-0{day}T00:00:00+00:00")
            for day, status in enumerate(("timeout", "ok", "timeout"), 1)]  # fmt: skip
    found = stored([cell], made, [machine], lambda cell, record: "abc")
    assert [record["status"] for record in found.values()] == ["ok"]
    assert stored([cell], made[::2], [machine], lambda cell, record: "abc") == {cell.place: made[2]}


def environment(processor):
    return {"processor": processor, "n_threads": 1, "blas": "a blas"}


def machine_here():
    return SimpleNamespace(
        environment=lambda cell: environment("here"),
        key=lambda cell, checksum: cell_key(cell, checksum, environment("here")),
    )


@pytest.mark.parametrize(
    ("processors", "n_here", "n_anywhere"),
    [
        (("here", "here"), 2, 2),
        (("there", "there"), 0, 2),
        (("there", None), 0, 0),  # begun there
        (("there", "elsewhere"), 0, 0),  # whose times cannot be compared
        (("here", "there"), 1, 1),
    ],
)
def test_a_race_of_another_machine_counts_as_a_whole(make_experiment, fake, processors, n_here, n_anywhere):
    cells, _ = plan([make_experiment(fake("first"), fake("second"))], "quick")
    places = ("experiment", "scale", "dataset", "method", "repeat")
    records = [
        {"key": cell_key(cell, "abc", environment(processor)), "environment": environment(processor), "status": "ok"}
        | {name: getattr(cell, name) for name in places}
        for cell, processor in zip(cells, processors, strict=True)
        if processor is not None
    ]
    for any_machine, n_stored in ((False, n_here), (True, n_anywhere)):
        found = stored(cells, records, [machine_here()], lambda cell, record: "abc", any_machine=any_machine)
        assert len(found) == n_stored and all(record["method"] == place[3] for place, record in found.items())


@pytest.mark.parametrize(
    ("status", "processor", "n_here", "n_anywhere"),
    [("timeout", "here", 2, 2), ("timeout", "there", 0, 2), ("ok", "here", 1, 1), ("ok", "there", 0, 0)],
)
def test_an_error_counts_if_its_budget_is_a_part_of_no_time(
    make_experiment, fake, make_record, status, processor, n_here, n_anywhere
):
    quarter = fake("quarter", depends_on="slow", budget_fraction=0.25)
    cells, _ = plan([make_experiment(fake("slow"), quarter)], "quick")
    there = environment(processor)
    records = [
        make_record(key=cell_key(cell, "abc", there), environment=there, method=cell.method, status=ended)
        for cell, ended in zip(cells, (status, "error"), strict=True)
    ]
    for any_machine, n_stored in ((False, n_here), (True, n_anywhere)):
        found = stored(cells, records, [machine_here()], lambda cell, record: "abc", any_machine=any_machine)
        assert len(found) == n_stored
