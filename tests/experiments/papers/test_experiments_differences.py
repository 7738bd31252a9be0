"""Every experiment on a paper says in one sentence how it differs, with the numbers that are declared."""

import re
from dataclasses import replace

import pytest

from kernbench.experiments.registry import EXPERIMENTS

ON_PAPERS = [experiment for experiment in EXPERIMENTS if experiment.group != "Ours"]
SECONDS = {"minutes": 60.0, "hours": 3600.0}
NUMBER = r"([\d.e-]*\d)"
GRID = re.compile(rf"(\d+) (?:values of [αλ]|factors of the width) from {NUMBER} to {NUMBER}")


def declared_grids(experiment):
    """Number of values, least and largest, of all grids of the paper's scale that a search or a sweep runs through."""
    users = (*experiment.methods, *experiment.scale("paper").settings)
    searched = [(user.params.get("search") or {}).get("alphas") for user in users]
    swept = [user.params.get("factors") for user in users]
    return {(len(grid), min(grid), max(grid)) for grid in (*searched, *swept) if grid}


def faults(experiment):
    """What the sentence of an experiment lacks, or states otherwise than it is declared."""
    sentence, scale = experiment.differs, experiment.scale("paper")
    if not sentence.endswith(".") or ". " in sentence or not sentence.startswith("The paper"):
        yield "one sentence about the paper"
    if re.findall(r"(\d+) repeats", sentence) != [str(scale.repeats)]:
        yield "repeats"
    limits = [float(number) * SECONDS[unit] for number, unit in re.findall(r"at most (\d+) (minutes|hours)", sentence)]
    if limits != [scale.time_limit]:
        yield "time limit"
    grids = {(int(n), *sorted(map(float, ends))) for n, *ends in GRID.findall(sentence)}
    if grids != declared_grids(experiment):
        yield "grids"


@pytest.mark.parametrize("experiment", ON_PAPERS, ids=lambda experiment: experiment.name)
def test_the_sentence_tells_what_is_declared(experiment):
    assert not list(faults(experiment)), experiment.differs


@pytest.mark.parametrize("experiment", ON_PAPERS, ids=lambda experiment: experiment.name)
def test_the_note_tells_what_runs_only_by_name(experiment):
    """Data sets that a run of all leaves out are in the note, so that nobody takes the others for all of the paper."""
    left_out = [setting.name for setting in experiment.scale("paper").settings if setting.optional]
    assert not left_out or "by name" in experiment.note, left_out


def test_a_sentence_that_tells_something_else_is_noticed():
    """Other repeats, another limit, another grid: each is found."""
    (one,) = [experiment for experiment in EXPERIMENTS if experiment.name == "rocsvm-real"]
    assert list(faults(one)) == []
    scale = one.scale("paper")
    for change, fault in (({"repeats": 31}, "repeats"), ({"time_limit": 60.0}, "time limit")):
        assert list(faults(replace(one, scales={**one.scales, "paper": replace(scale, **change)}))) == [fault]
    for words, fault in (("23 values", "22 values"), ("1e-10", "1e-09"), ("values of α", "settings")):
        assert list(faults(replace(one, differs=one.differs.replace(words, fault)))) == ["grids"]
    assert list(faults(replace(one, differs="")))[0] == "one sentence about the paper"
