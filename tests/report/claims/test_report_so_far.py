"""Where repeats are too few to judge a claim, the report says what all of them agree in, and counts it apart."""

from dataclasses import replace

import pytest

from kernbench.experiments import registry
from kernbench.experiments.declare import Bound, Claim, Metric, Passing, Scale, Setting
from kernbench.report import build
from kernbench.report.claims.findings import PARTLY
from kernbench.report.claims.judgement import FAILS, HELD, HOLDS, MISSED, OPEN


def drawn_anew(experiment):
    """The experiment on data that each repeat draws anew."""
    setting = Setting("adult", {"name": "adult"}, repeat_argument="seed")
    return replace(experiment, scales={"paper": Scale((setting,), repeats=3, time_limit=60)})


def seeded(experiment):
    """The experiment with methods that take a seed."""
    return replace(experiment, methods=tuple(replace(method, seed_param="seed") for method in experiment.methods))


@pytest.mark.parametrize(
    ("tested", "once", "verdict", "words"),
    [
        ((), (0.15,), HELD, "held in its one repeat"),
        ((), (0.25,), MISSED, "did not hold in its one repeat"),
        ((), (0.15, 0.15), HELD, "held in its one repeat on 2 data sets"),
        ((), (0.15, 0.25), OPEN, "held in its one repeat on 1 data set; did not hold in its one repeat on 1 data set"),
        ((0.15,), (0.15,), PARTLY, "holds on 1 data set; held in its one repeat on 1 data set"),
        ((0.15, 0.15), (0.25,), PARTLY, "holds on both data sets judged; did not hold in its one repeat on 1 data set"),
        ((0.25,), (0.15, 0.15), FAILS, "does not hold on 1 data set; held in its one repeat on 2 data sets"),
    ],
)
def test_a_single_repeat_decides_nothing(measured, records, found, twice, tested, once, verdict, words):
    rows = [record for k, error in enumerate(tested) for record in twice(f"t{k}", error=error)]
    rows += [records.one(dataset=f"d{k}", error=error) for k, error in enumerate(once)]
    (finding,) = found(measured, rows, Bound("", "smo", "test_error", 0.2))
    assert (finding.verdict, finding.words) == (verdict, words)
    assert (finding.n_holding, finding.n_failing) == (tested.count(0.15), tested.count(0.25))


@pytest.mark.parametrize(
    ("errors", "verdict", "words"),
    [
        ((0.15,), HELD, "held in its one repeat"),
        ((0.15, 0.16), HELD, "held in each of 2 repeats, too few to judge"),
        ((0.10, 0.15, 0.19), HELD, "held in each of 3 repeats, too few to judge"),
        ((0.10, 0.15, 0.21), OPEN, "cannot be judged"),
        ((0.21, 0.25, 0.35), MISSED, "did not hold in any of 3 repeats, too few to judge"),
    ],
)
def test_more_repeats_that_agree_do_not_make_a_claim_look_weaker(measured, records, found, errors, verdict, words):
    rows = [records.one(repeat=k, error=error) for k, error in enumerate(errors)]
    (finding,) = found(drawn_anew(measured), rows, Bound("", "smo", "test_error", 0.2))
    (judgement,) = finding.judgements
    assert finding.verdict == judgement.verdict == verdict
    assert finding.words == judgement.words == words


def test_repeats_agree_on_a_race_where_they_do_on_accuracy_and_time(toy, records, found):
    claim = Claim("", "smo", "libsvm", "test_error", 0.0, time_fraction=0.5)
    base = [records.one("libsvm", repeat=k, error=0.15, seconds=8.0) for k in range(2)]
    kinds = {
        HELD: ((0.14, 2.0), (0.149, 3.9)),
        MISSED: ((0.14, 4.1), (0.16, 2.0)),  # each in something else
        OPEN: ((0.14, 2.0), (0.16, 2.0)),
    }
    for verdict, row in kinds.items():
        rows = [records.one("smo", repeat=k, error=error, seconds=s) for k, (error, s) in enumerate(row)]
        (finding,) = found(toy, base + rows, claim)
        assert finding.verdict == verdict, finding.judgements


def test_levels_that_no_repeat_reaches_need_as_many_repeats_as_equal_results(toy, records, found):
    """The sign test: six repeats on one side are the fewest with a p value below 5 %."""
    never = {"seconds": [1.0, 9.0], "test_error": [0.5, 0.3]}
    for later, verdict, tested in ((False, MISSED, FAILS), (True, HELD, HOLDS)):
        claim = Passing("", "smo", "sbp", "test_error", 0.5, later=later)
        for n in (1, 5, 6):
            rows = [records.one("sbp", repeat=k, error=0.2, seconds=10.0) for k in range(n)]
            rows += [records.one("smo", repeat=k, error=0.3, trace=never) for k in range(n)]
            assert found(drawn_anew(toy), rows, claim)[0].verdict == (verdict if n < 6 else tested)
            late = {"seconds": [1.0, 9.0], "test_error": [0.5, 0.1]}
            rows[-1]["trace"] = late  # as does one that comes too late
            assert found(drawn_anew(toy), rows, claim)[0].verdict == (verdict if n < 6 else tested)
            rows[-1]["trace"] = {"seconds": [1.0, 9.0], "test_error": [0.1, 0.1]}
            if n > 1:
                assert found(drawn_anew(toy), rows, claim)[0].verdict == OPEN
    (finding,) = found(toy, rows[:2] + rows[6:8], Passing("", "smo", "sbp", "test_error", 0.5))
    assert finding.verdict == FAILS  # without chance two say what all would


def test_data_sets_on_which_a_claim_held_so_far_share_a_line(measured, records, found):
    rows = [records.one(dataset=f"d{k}", error=0.1 + 0.01 * k) for k in range(5)]
    rows += [records.one(dataset="d4", repeat=1, error=0.18)]
    (finding,) = found(measured, rows, Bound("", "smo", "test_error", 0.2))
    (judgement,) = finding.judgements
    assert finding.words == "held in each of 1 to 2 repeats on 5 data sets, too few to judge"
    assert (judgement.dataset, judgement.words) == ("5 of 5 data sets", "held so far")
    assert judgement.interval == "1 to 2 repeats of each, 4 without an interval."


@pytest.mark.parametrize("changed", [drawn_anew, seeded])
@pytest.mark.parametrize(("n", "verdict"), [(2, HELD), (5, HELD), (6, HOLDS)])
def test_a_few_results_that_coincide_prove_nothing_where_there_is_chance(measured, records, found, changed, n, verdict):
    base = (0.140, 0.150, 0.160, 0.151, 0.157, 0.148)
    rows = [records.one("libsvm", repeat=k, error=error) for k, error in enumerate(base[:n])]
    rows += [records.one(repeat=k, error=error - 0.01) for k, error in enumerate(base[:n])]
    for claim in (Claim("", "smo", "libsvm", "test_error", 0.0), Bound("", "sbp", "test_error", 0.2)):
        own = [*rows, *(records.one("sbp", repeat=k, error=0.1) for k in range(n))]
        (finding,) = found(changed(measured), own, claim)
        assert finding.verdict == verdict
        assert ("So few repeats do not decide this" in finding.judgements[0].why) == (verdict == HELD)


@pytest.mark.parametrize("baseline", [None, "libsvm"])
@pytest.mark.parametrize(("n", "verdict"), [(3, HELD), (6, HOLDS)])
def test_results_that_differ_by_rounding_coincide(measured, records, found, baseline, n, verdict):
    """Student's t test would take three of them for proof."""
    rows = [records.one("libsvm", repeat=k, error=0.1) for k in range(n)]
    rows += [records.one("smo", repeat=k, error=0.1 * (1.0 + k * 2.0**-52)) for k in range(n)]
    (finding,) = found(drawn_anew(measured), rows, Bound("", "smo", "test_error", 1.0 + 1e-9, baseline=baseline))
    assert finding.verdict == verdict
    assert finding.judgements[0].interval == f"{n} repeats, all equal."


@pytest.mark.parametrize(
    ("counts", "objectives", "verdict"),
    [((7, 7), (0.3, 0.3), HOLDS), ((7, 8), (0.3, 0.3), HELD), ((7, 7), (0.3, 0.31), HELD)],
)
def test_a_seed_without_an_effect_is_no_chance(measured, records, found, counts, objectives, verdict):
    """Fits of a given length have equal counts, whatever the seed: the objective tells."""
    n_iter = Metric("n_iter", "iterations", "lower", ("metrics", "n_iter"), deterministic=True)
    experiment = seeded(replace(measured, metrics=(*measured.metrics, n_iter)))
    rows = [
        records.one(repeat=k, seconds=1.0 + k, metrics={"test_error": 0.1, "n_iter": n, "objective": objective})
        for k, (n, objective) in enumerate(zip(counts, objectives))
    ]
    assert found(experiment, rows, Bound("", "smo", "test_error", 0.2))[0].verdict == verdict


def test_repeats_on_a_file_of_the_users_own_are_chance(measured, records, found):
    rows = [records.one(dataset="my.svm", kind="own", repeat=k, error=0.1) for k in range(3)]
    (finding,) = found(measured, rows, Bound("", "smo", "test_error", 0.11))
    assert finding.verdict == HELD and "So few repeats do not decide this" in finding.judgements[0].why


@pytest.mark.usefixtures("undrawn")
def test_the_page_says_that_a_claim_was_not_tested(measured, records, write, tmp_path, monkeypatch):
    monkeypatch.setattr(registry, "EXPERIMENTS", (measured,))
    build(write([records.one()]), tmp_path / "page")
    said = [(tmp_path / "page" / name).read_text(encoding="utf-8") for name in ("index.html", "summary.md")]
    assert all("held in its one repeat" in content for content in said)
    assert "The claim held in its one repeat." in said[0] and '<span class="badge held-so-far">' in said[0]
    details = (tmp_path / "page" / "details" / "toy-paper.md").read_text(encoding="utf-8")
    assert "**adult: held in its one repeat.**" in details
