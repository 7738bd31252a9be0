"""Races and claims: who is compared with whom, and that the words say what is compared."""

import pytest

from kernbench.experiments.declare import Claim, Passing, Recommendation
from kernbench.experiments.papers.dsg import svm
from kernbench.experiments.papers.scs.accuracy import SIZES
from kernbench.experiments.registry import EXPERIMENTS, get

RACES = [
    (experiment, scale, race)
    for experiment in EXPERIMENTS
    for scale in experiment.scales
    for race in experiment.tables
    if isinstance(race, Recommendation)
]


def baselines(experiment, method, kind=Claim):
    """The methods with which the claims of one kind compare a method."""
    return {claim.baseline for claim in experiment.claims if isinstance(claim, kind) and claim.method == method}


def runners(experiment, race, setting):
    """The methods that a race chooses among on a data set: neither the zero model nor those with a time budget."""
    names = [method.name for method in experiment.methods if method.depends_on is None]
    chosen = names if race.methods is None else [name for name in names if name in race.methods]
    return [name for name in chosen if name != race.zero and setting.takes(name)]


@pytest.mark.parametrize(("experiment", "scale", "race"), RACES, ids=lambda part: getattr(part, "name", part))
def test_a_race_has_two_methods_at_least(experiment, scale, race):
    """One alone would win it without a rival."""
    settings = [s for s in experiment.scale(scale).settings if race.datasets is None or s.name in race.datasets]
    alone = [setting.name for setting in settings if len(runners(experiment, race, setting)) == 1]
    assert not alone


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda experiment: experiment.name)
def test_a_claim_without_a_margin_says_no_more_in_place_of_less(experiment):
    """It holds with equal errors."""
    claims = [claim.text for claim in experiment.claims if isinstance(claim, Claim) and claim.margin >= 0]
    assert not [text for text in claims if "errs less" in text or "err less" in text]


def test_doubly_stochastic_svms_are_compared_with_every_rival_in_one_pass_and_in_equal_time():
    assert baselines(svm.EXPERIMENT, "doubly") >= {*svm.PEERS, *svm.TIMED}


def test_agd_sbcd_is_compared_with_both_dcas_in_training_pauc_and_in_speed():
    for kind in (Claim, Passing):
        assert baselines(get("pauc-train"), "agd-sbcd", kind) >= {"dca", "proximal-dca"}


def test_scs_is_compared_with_pegasos_on_the_four_largest_sets_of_the_paper_that_have_both():
    experiment = get("scs-accuracy")
    (claim,) = [c for c in experiment.claims if (c.method, c.baseline) == ("scs", "pegasos")]
    largest = sorted(SIZES, key=lambda name: SIZES[name][0])[-4:]
    settings = {setting.name: setting for setting in experiment.scale("paper").settings}
    assert set(claim.datasets) == {name for name in largest if settings[name].takes("pegasos")}
    assert (claim.metric, claim.margin, claim.time_fraction) == ("accuracy", 0.0, 1.0)
    assert "without Pegasos" in experiment.note


def test_the_usual_choice_for_partial_auc_is_no_method_of_the_window():
    experiment = get("pauc-test")
    (race,) = [table for table in experiment.tables if isinstance(table, Recommendation)]
    assert "fpr_range" not in experiment.method(race.baseline).params


def test_a_race_by_the_objective_has_the_exact_method_as_its_measure():
    for experiment, _, race in RACES:
        assert race.metric != "objective" or race.baseline.endswith("exact"), experiment.name
