"""The experiments on partial AUC: splits anew, and the batches that LibAUC is given."""

import inspect
import re

import numpy as np
import pytest
from scipy import sparse

from kernbench.datasets import Dataset
from kernbench.datasets.generated.network_features import PREVALENCES
from kernbench.experiments.declare import Axis
from kernbench.experiments.papers.pauc import mu, peers, rates, sorr, splits, train, work
from kernbench.experiments.papers.pauc.test import EXPERIMENT, PAPER_SCALE, STEPS
from kernbench.solvers import registry
from kernbench.solvers.ranking.svmpauc_tight import SVMpAUCTight

RUNS = [
    (experiment, setting.name, method.name)
    for experiment in (train.EXPERIMENT, mu.EXPERIMENT, sorr.EXPERIMENT)
    for setting in experiment.scale("quick").settings
    for method in experiment.methods
    if setting.takes(method.name) and method.requires is None
]


@pytest.mark.parametrize(("experiment", "dataset", "method"), RUNS)
@pytest.mark.filterwarnings("ignore:.*max_iter", "ignore:.*converge")
def test_every_method_is_followed_to_its_end(outcome, experiment, dataset, method):
    limit = {"max_iter": 20} if "solver" in experiment.method(method).params else {}
    found = outcome(experiment, dataset, method, **limit)
    trace, metrics = found["trace"], found["metrics"]
    assert trace["loss"][-1] == metrics["objective"] > 0 and trace["n_iter"][-1] == metrics["n_iter"]


@pytest.mark.parametrize("method", ["agd-sbcd", "agd-sbcd-threshold", "agd-sbcd-threshold-small"])
def test_the_criticality_has_a_point_for_each_length_of_a_run_and_the_power_that_is_fitted_to_them(outcome, method):
    found = outcome(rates.EXPERIMENT, "edema-stand-in", method, outer=[1, 2, 3])
    trace = found["trace"]
    assert trace["n_iter"] == [50, 250, 700] and min(trace["criticality"]) > 0
    np.testing.assert_allclose(trace["passes"], np.array(trace["n_iter"]) * 200 / 1000)
    expected = np.polyfit(np.log(trace["passes"]), np.log(trace["criticality"]), 1)[0]
    metrics = found["metrics"]
    assert metrics["slope"] == pytest.approx(expected) and metrics["low"] < expected < metrics["high"]


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix], ids=["dense", "CSR"])
def test_pooled_parts_are_all_rows_at_their_sizes_and_other_ones_for_another_seed(monkeypatch, layout):
    X = np.arange(60.0).reshape(30, 2)
    y = np.where(np.arange(30) % 3 == 0, 1, -1)
    published = Dataset("toy", layout(X[:20]), y[:20], layout(X[20:]), y[20:], "full", "Rows.", "nowhere", "ab" * 32)
    monkeypatch.setattr(splits, "load", lambda name: published)
    first, second = (splits.pooled("toy", split_seed=seed) for seed in (0, 1))
    parts = [part.toarray() if sparse.issparse(part) else part for part in (first.X_train, first.X_test)]
    assert [len(part) for part in parts] == [20, 10]
    np.testing.assert_array_equal(np.sort(np.vstack(parts), axis=0), X)
    rows = parts[1][:, 0].astype(int) // 2
    np.testing.assert_array_equal(first.y_test, y[rows])
    other = second.X_test.toarray() if sparse.issparse(second.X_test) else second.X_test
    assert not np.array_equal(parts[1], other) and "seed 1" in second.description


def test_every_repeat_of_the_paper_scale_has_its_own_data():
    for setting in PAPER_SCALE.settings:
        assert setting.arguments_of(0) != setting.arguments_of(1)


@pytest.mark.parametrize(
    ("experiment", "limit"), [(EXPERIMENT, STEPS), (sorr.EXPERIMENT, sorr.STEPS)], ids=["pauc-test", "sorr"]
)
def test_notes_tell_after_how_many_steps_the_model_of_agd_is(experiment, limit):
    """It is that of the last complete outer iteration, of 50 (k + 1)² steps."""
    ends = np.cumsum([50 * (k + 1) ** 2 for k in range(20)])
    last = ends[ends <= limit][-1]
    assert f"take {limit:,} steps" in experiment.note and f"after {last:,} of them" in experiment.note


def test_dca_with_constant_steps_is_not_said_to_be_of_the_papers_grid():
    options = sorr.EXPERIMENT.method("dca-constant").params["solver_options"]
    assert options.get("inner_steps", 100) in (2000, 3000) or "the 100 steps from one" in sorr.EXPERIMENT.note
    assert "one point of it" not in sorr.EXPERIMENT.differs


def test_the_stand_ins_of_a_run_without_names_have_the_extreme_shares_of_positives():
    extremes = {min(PREVALENCES, key=PREVALENCES.get), max(PREVALENCES, key=PREVALENCES.get)}
    for experiment in (EXPERIMENT, mu.EXPERIMENT):
        stand_ins = [setting for setting in experiment.scale("paper").settings if setting.stands_for]
        assert {setting.stands_for for setting in stand_ins} == set(PREVALENCES)
        assert {setting.stands_for for setting in stand_ins if not setting.optional} == extremes


def test_balanced_batches_pass_over_the_negatives_with_as_many_positives():
    y = np.repeat([1, -1], [3, 23])
    batches = list(peers._balanced_batches(y, 5, np.random.default_rng(0)))
    assert [len(batch) for batch in batches] == [10] * 4
    assert all((y[batch[:5]] == 1).all() for batch in batches)
    negatives = np.concatenate([batch[5:] for batch in batches])
    assert len(set(negatives)) == 20 and (y[negatives] == -1).all()


def test_where_cutting_planes_may_stop_is_told_beside_the_claims_on_their_time():
    limit = f"{registry.get('svmpauc-tight', 'partial-auc').default_iterations:,} cuts"
    claims = [claim for claim in train.EXPERIMENT.claims if claim.baseline == "svmpauc-tight"]
    assert claims and all(limit in claim.text for claim in claims) and limit in train.EXPERIMENT.note


def test_every_smoothing_of_the_paper_is_compared_and_its_own_numbers_are_told():
    compared = {claim.method for claim in mu.EXPERIMENT.claims} | {claim.baseline for claim in mu.EXPERIMENT.claims}
    assert compared == {number.method for number in mu.EXPERIMENT.paper_numbers}
    for _, _, (of_d3, _), *_ in mu.TABLE.values():
        assert f"{of_d3:.4f}".lstrip("0") in mu.EXPERIMENT.note


def test_every_pauc_that_agd_sbcd_has_in_the_paper_has_the_error_printed_beside_it():
    for experiment in (train.EXPERIMENT, mu.EXPERIMENT):
        paucs = [n for n in experiment.paper_numbers if n.method != "svmpauc-tight" and n.metric != "fit_seconds"]
        assert paucs and all(number.error for number in paucs)


def test_the_note_on_ranked_ranges_tells_of_both_sets_with_fewer_rows_than_in_the_paper():
    assert "w8a 34,824 of the 49,749" in sorr.EXPERIMENT.note and "covtype 522,910 of" in sorr.EXPERIMENT.note


def of_stages(experiment):
    """The methods with outer iterations of batches, by whether they have one exact threshold, the solvers' default."""
    for method in experiment.methods:
        if method.params.get("solver") in ("agd-sbcd", "agd", "dca", "proximal-dca"):
            yield method, method.params.get("solver_options", {}).get("thresholds", "exact") == "exact"


@pytest.mark.parametrize("experiment", [train.EXPERIMENT, EXPERIMENT, mu.EXPERIMENT, rates.EXPERIMENT, sorr.EXPERIMENT])
def test_labels_tell_which_methods_have_one_threshold_in_place_of_the_papers(experiment):
    for method, is_exact in of_stages(experiment):
        assert ("one τ" in method.label or "one exact threshold" in method.label) == is_exact, method.label


@pytest.mark.parametrize("experiment", [train.EXPERIMENT, EXPERIMENT, sorr.EXPERIMENT], ids=lambda e: e.name)
def test_claims_and_notes_tell_that_the_papers_dca_was_not_run(experiment):
    exact = [method.name for method, is_exact in of_stages(experiment) if is_exact and "dca" in method.params["solver"]]
    claims = [claim for claim in experiment.claims if claim.baseline in exact]
    assert claims and all(re.search("DCA with one (exact )?threshold", claim.text) for claim in claims)
    assert re.search("the paper's, (which keep|whose λ)|the paper's have a λ", experiment.note)
    assert re.search("w(as|ere) not run", experiment.note)


def n_stages(limit, length):
    """How many outer iterations begin within a limit of steps; `length` gives that of each."""
    ends = np.cumsum([length(k) for k in range(limit)])
    return int(np.searchsorted(ends, limit)) + 1


def test_full_passes_that_the_rows_of_steps_leave_out_are_told():
    agd, dca = (lambda k: 50 * (k + 1) ** 2), (lambda k: 100 * (k + 1) ** 2)
    (table,) = [table for table in train.EXPERIMENT.tables if table.name == "passing"]
    told = " ".join(table.notes)
    limit = train.AGD_ITER
    assert f"{n_stages(limit, agd)} in all" in told and f"{2 * n_stages(limit, dca)} in all" in told
    note, limit = sorr.EXPERIMENT.note, sorr.STEPS
    constant = 2 * n_stages(limit, lambda k: 100)
    assert f"{n_stages(limit, agd)} in all" in note
    assert f"{2 * n_stages(limit, dca)} with changing and {constant} with constant steps" in note
    for experiment in (mu.EXPERIMENT, rates.EXPERIMENT):
        assert "is not counted" in experiment.note
    for experiment in (train.EXPERIMENT, EXPERIMENT, mu.EXPERIMENT, rates.EXPERIMENT, sorr.EXPERIMENT):
        labels = [metric.label for metric in experiment.metrics if metric.name == "passes"]
        axes = [axis for figure in experiment.figures for axis in vars(figure).values() if isinstance(axis, Axis)]
        labels += [axis.label for axis in axes if axis.path == "trace.passes"]
        assert set(labels) <= {work.READ}


def test_the_c_of_svmpauc_tight_is_told_beside_the_papers_grid():
    (C,) = {1 / m.params["alpha"] for m in train.EXPERIMENT.methods if m.params["solver"] == "svmpauc-tight"}
    claims = [claim for claim in train.EXPERIMENT.claims if claim.baseline == "svmpauc-tight"]
    assert claims and all(f"C = {C:,.0f}" in claim.text for claim in claims)
    assert f"C = 1/α = {C:,.0f}" in train.EXPERIMENT.note and "the paper's grid, 10⁻³ to 1" in train.EXPERIMENT.note
    alphas = {alpha for s in PAPER_SCALE.settings for alpha in s.params["search"]["alphas"]}
    assert max(alphas) == 1.0 and min(alphas) == 1e-6 and "C = 1/α from 1 to 10⁶" in EXPERIMENT.note


def test_the_note_tells_how_the_published_cutting_planes_are_changed():
    held = inspect.signature(SVMpAUCTight).parameters["max_cuts"].default
    plain = train.EXPERIMENT.method("svmpauc-tight").params
    assert "max_cuts" not in plain["solver_options"] and plain["start"] == "logistic"
    assert f"at most {held} cuts" in train.EXPERIMENT.note and "starts from the logistic" in train.EXPERIMENT.note
