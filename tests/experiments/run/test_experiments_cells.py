"""Declarations into cells: complete, in order, and identified by everything that affects them."""

import json
import pickle
from dataclasses import asdict, replace

import pytest

from kernbench.experiments import Experiment, Method, Metric, Scale, Setting
from kernbench.experiments.run.cells import Cell, cell_key, plan, seed_of

ENVIRONMENT = {
    "kernbench": "0.1.0",
    "git_commit": "abc",
    "git_dirty": False,
    "processor": "a processor",
    "n_threads": 1,
    "blas": "a blas 1.0",
    "platform": "Linux",
}


def settings():
    return (Setting("one", {}, {"C": 1.0}), Setting("two", {}), Setting("huge", {}, optional=True))


def places(cells):
    return [(cell.repeat, cell.dataset, cell.method) for cell in cells]


def test_methods_vary_fastest_and_repeats_slowest(make_experiment, fake):
    cells, _ = plan([make_experiment(fake("a"), fake("b"), settings=settings(), repeats=2)], "quick")
    assert places(cells) == [(r, d, m) for r in (0, 1) for d in ("one", "two") for m in ("a", "b")]


def test_dependency_comes_first_wherever_it_is_declared(make_experiment, fake):
    late = fake("late", depends_on="middle", budget_fraction=0.5)
    middle = fake("middle", depends_on="base", budget_fraction=0.5)
    experiment = make_experiment(late, middle, fake("base"))
    assert [cell.method for cell in plan([experiment], "quick")[0]] == ["base", "middle", "late"]
    cells, _ = plan([experiment], "quick", methods=["middle"])
    assert [cell.method for cell in cells] == ["base", "middle"]
    assert cells[1].needs == cells[0].place


def test_methods_that_wait_for_each_other_are_refused(make_experiment, fake):
    one = fake("one", depends_on="two", budget_fraction=0.5)
    two = fake("two", depends_on="one", budget_fraction=0.5)
    with pytest.raises(ValueError, match="circle: one → two → one"):
        plan([make_experiment(one, two)], "quick")


def test_what_depends_on_a_method_that_cannot_run_here_is_a_gap_too(make_experiment, fake):
    peer = fake("peer", requires="no_such_package.module", package="no-such-package", depends_on="base",
                budget_fraction=1.0)  # fmt: skip
    experiment = make_experiment(fake("base"), peer, fake("late", depends_on="peer", budget_fraction=0.5))
    for methods, planned, left_out in ((None, ["base"], ["peer", "late"]), (["late"], [], ["late"])):
        cells, gaps = plan([experiment], "quick", methods=methods)
        assert [cell.method for cell in cells] == planned and [gap.method for gap in gaps] == left_out
        assert {gap.reason for gap in gaps} == {"no-such-package is not installed"}


def test_a_method_that_the_chosen_data_do_not_take_is_no_gap(make_experiment, fake):
    settings = (Setting("few", {}, methods=("base",)), Setting("all", {}))
    experiment = make_experiment(fake("base"), fake("peer", requires="no_such_module"), settings=settings)
    assert [len(plan([experiment], "quick", datasets=[name])[1]) for name in ("few", "all")] == [0, 1]


def test_optional_settings_run_only_by_name(make_experiment, fake):
    experiment = make_experiment(fake("a"), settings=settings())
    assert {cell.dataset for cell in plan([experiment], "quick")[0]} == {"one", "two"}
    assert {cell.dataset for cell in plan([experiment], "quick", datasets=["huge", "one"])[0]} == {"huge", "one"}


def test_a_filter_may_miss_one_of_several_experiments(make_experiment, fake):
    first = make_experiment(fake("a"), settings=(Setting("one", {}),))
    second = replace(make_experiment(fake("b"), settings=(Setting("two", {}),)), name="second")
    cells, _ = plan([first, second], "quick", datasets=["two"])
    assert [(cell.experiment, cell.dataset) for cell in cells] == [("second", "two")]


def test_params_of_the_method_win_over_those_of_the_setting(make_experiment, fake):
    own, common = fake("own", params={"C": 2.0, "tol": 0.1}), fake("common", seed_param="random_state")
    cells, _ = plan([make_experiment(own, common, settings=settings())], "quick", datasets=["one"])
    assert cells[0].params == {"C": 2.0, "tol": 0.1}
    assert cells[1].params == {"C": 1.0, "random_state": cells[1].seed}


def test_seed_is_shared_by_methods_and_differs_between_repeats_and_data(make_experiment, fake):
    cells, _ = plan([make_experiment(fake("a"), fake("b"), settings=settings(), repeats=2)], "quick")
    seeds = {(cell.dataset, cell.repeat): cell.seed for cell in cells}
    assert all(cell.seed == seeds[cell.dataset, cell.repeat] for cell in cells)
    assert len(set(seeds.values())) == len(seeds) == 4
    assert seed_of("sbp-libsvm", "adult", 0) == 3904169703  # must never change: records of other machines rely on it


def test_cell_survives_json_and_pickle(make_experiment, fake):
    budgeted = fake("b", params={"tol": 0.1}, depends_on="a", budget_fraction=0.5)
    for cell in plan([make_experiment(fake("a"), budgeted)], "quick")[0]:
        assert Cell(**json.loads(json.dumps(asdict(cell)))) == cell
        assert pickle.loads(pickle.dumps(cell)) == cell


def test_key_changes_with_all_that_changes_a_measurement_and_nothing_else(make_experiment, fake):
    (cell,), _ = plan([make_experiment(fake("a", params={"C": 1.0}))], "quick")
    keys = [
        cell_key(cell, "abc", ENVIRONMENT),
        cell_key(cell, "abd", ENVIRONMENT),
        cell_key(replace(cell, params={"C": 2.0}), "abc", ENVIRONMENT),
        cell_key(replace(cell, repeat=1), "abc", ENVIRONMENT),
        cell_key(replace(cell, seed=1), "abc", ENVIRONMENT),
        cell_key(replace(cell, estimator="other:Class"), "abc", ENVIRONMENT),
    ]
    for name, value in [("kernbench", "x"), ("code", "x"), ("n_threads", 2), ("blas", "x")]:
        keys.append(cell_key(cell, "abc", {**ENVIRONMENT, name: value}))
    for name in ("processor", "experiment_code", "plugin", "overcommitted"):
        keys.append(cell_key(cell, "abc", {**ENVIRONMENT, name: "x"}))
    assert len(set(keys)) == len(keys)
    assert cell_key(replace(cell), "abc", {**ENVIRONMENT, "platform": "other", "git_commit": "x"}) == keys[0]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Method("a", "a", "m:C", depends_on="b"), "depends_on and budget_fraction go together"),
        (lambda: Metric("m", "m", "downwards", ("m",)), "unknown direction 'downwards'"),
        (lambda: Scale((Setting("s", {}), Setting("s", {})), 1, 1.0), "data set 's' is declared twice"),
        (lambda: Method("a", "a", "m:C", {"C": float("inf")}), "method 'a': params must be numbers, .*JSON compliant"),
        (lambda: Setting("s", {}, {"C": float("nan")}), "data set 's': params must be numbers, .*JSON compliant"),
        (lambda: Experiment("my own", "t", "p", (), {}, ()), "'my own' is not a valid experiment name"),
    ],
)
def test_contradictory_declarations_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_dependency_must_be_a_method(make_experiment, fake):
    with pytest.raises(ValueError, match="unknown method 'bsae'; did you mean 'base'"):
        make_experiment(fake("base"), fake("late", depends_on="bsae", budget_fraction=0.5))


def test_a_setting_takes_a_method_with_the_one_its_budget_depends_on(make_experiment, fake):
    methods = fake("base"), fake("late", depends_on="base", budget_fraction=0.5)
    make_experiment(*methods, settings=(Setting("s", {}, methods=("base",)),))
    with pytest.raises(ValueError, match="data set 's' takes 'late' without 'base'"):
        make_experiment(*methods, settings=(Setting("s", {}, methods=("late",)),))


def test_metric_reads_records_and_their_gaps(make_record):
    metric = Metric("test_error", "test error", "lower", ("metrics", "test_error"), "%", 100.0)
    assert metric.of(make_record()) == 0.25
    assert metric.of(make_record(metrics={})) is None
    assert metric.of(make_record(metrics={"test_error": None})) is None


def test_a_repeat_may_draw_or_split_its_data_again():
    setting = Setting("one", {"name": "blobs"})
    assert setting.arguments_of(2) == {"name": "blobs"}
    assert replace(setting, repeat_argument="seed").arguments_of(2) == {"name": "blobs", "seed": 2}
