"""Which records may be compared by their times, and the order of data sets."""

from dataclasses import replace

import pytest

from kernbench.experiments import registry
from kernbench.experiments.declare import Axis, Marks, Metric, Scale, Setting
from kernbench.report.records.cells import Cell, cells_of, outside_trace, paired, setup_of
from kernbench.report.records.export import error_rows, record_rows, write_rows
from kernbench.report.records.reading import results_of
from kernbench.report.records.rows import rows_of


def test_a_setup_is_the_machine_and_the_code_whatever_the_commit(records):
    def setup(**changes):
        record = records.one()
        return setup_of(record | {"environment": record["environment"] | changes})

    assert setup(processor="A 9") == setup(processor="A 9", platform="other") != setup(processor="A 9", n_cores=64)
    assert setup(processor="A") != setup(processor="A", platform="other"), "a name that several processors may have"
    assert setup() != setup(git_commit="decaf")
    assert setup(code="a") == setup(code="a", git_commit="decaf") != setup(code="b")
    assert setup(blas="other") != setup() != setup(n_threads=64)


@pytest.mark.parametrize(
    ("changes", "n_pairs"),
    [({}, 1), ({"checksum": "other"}, 0), ({"checksum": "other", "name": "drawn"}, 1), ({"checksum": None}, 1)],
)
def test_records_of_data_that_have_changed_under_one_name_are_no_pair(records, changes, n_pairs):
    record = records.one()
    other = records.one("libsvm") | {"data": record["data"] | changes}
    assert len(paired(Cell("adult", "smo", ok=[record]), Cell("adult", "libsvm", ok=[other]))) == n_pairs


def test_data_sets_are_in_the_order_of_their_declaration(toy, records):
    settings = tuple(Setting(name, {}) for name in ("first", "second"))
    scales = {"paper": Scale(settings, repeats=1, time_limit=60)}
    experiment = replace(toy, scales=scales, claims=(), paper_numbers=())
    rows = [records.one(dataset=name) for name in ("my.svm", "second", "first")]
    assert records.results(experiment, rows).datasets == ["first", "second", "my.svm"]


def test_the_record_counts_that_was_begun_last_wherever_it_stands(records):
    old, new = (records.one(seconds=s, started=f"2024-05-0{s}T10:00:00+00:00") for s in (1, 2))
    failed = records.failure("smo", started="2024-05-03T10:00:00+00:00")
    for rows in ([old, new], [new, old]):
        (cells,) = cells_of(rows).values()
        (cell,) = cells.values()
        assert cell.ok == [new]
    (cells,) = cells_of([failed, new, old]).values()
    assert not cells["adult", "smo"].ok and cells["adult", "smo"].failed == [failed]


def test_the_error_of_a_fraction_is_1_minus_it_whatever_its_unit(toy, records, monkeypatch):
    rows = [records.one("smo")]
    rows[0]["metrics"]["pauc"] = 0.9
    for metric, error in (
        (Metric("pauc", "pAUC", "higher", ("metrics", "pauc"), "", 100.0), 0.1),
        (Metric("pauc", "AUC", "higher", ("metrics", "pauc"), "%", 100.0), 0.1),
        (Metric("pauc", "speed", "higher", ("metrics", "pauc"), "×"), -0.9),
        (Metric("pauc", "gain", "higher", ("metrics", "pauc"), "points", 100.0), -0.9),
    ):
        monkeypatch.setattr(registry, "EXPERIMENTS", (replace(toy, metrics=(metric, *toy.metrics)),))
        assert error_rows(results_of(rows)[0])[0]["error"] == pytest.approx(error)


def test_the_errors_of_a_task_are_of_one_metric(toy, records):
    """A fit that diverged has no test error, and its seconds are no substitute, small as they are."""
    rows = [records.one("smo"), records.one("sbp", seconds=0.001, metrics={}), records.one("sbp", "mnist", metrics={})]
    found = error_rows([records.results(toy, rows)])
    assert [(row["method"], row["task"], row["metric"]) for row in found] == [
        ("smo", "toy/paper/adult", "test_error"), ("sbp", "toy/paper/mnist", "fit_seconds"),
    ]  # fmt: skip


def test_rows_of_errors_have_the_times_of_fit_and_predict(toy, records):
    (row,) = error_rows([records.results(toy, [records.one("smo", seconds=3.0)])])
    assert (row["fit_seconds"], row["predict_seconds"]) == (3.0, 0.1)


def test_rows_of_records_have_a_column_for_each_nested_value_of_any_of_them(records):
    rows = record_rows([records.one(), records.one(params={"a": {"b": 1}, "Cs": [1, 2]})])
    assert [row["params.a.b"] for row in rows] == [None, 1] and rows[1]["params.Cs"] == "[1, 2]"
    assert list(rows[0]) == list(rows[1])


def test_an_export_that_fails_leaves_the_file_as_it_was(tmp_path):
    path = tmp_path / "rows.json"
    path.write_text("before")
    with pytest.raises(TypeError):
        write_rows([{"a": object()}], path, "json")
    assert path.read_text() == "before" and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(("passed", "busy", "exceeds"), [(1.0, 2.4, False), (1.0, 2.6, True), (0.09, 2.6, False)])
def test_a_fit_exceeds_its_threads_by_a_quarter_of_their_time(records, passed, busy, exceeds):
    record = records.one(environment={"n_threads": 2}) | {"seconds": {"fit": passed, "processor": busy}}
    assert Cell("adult", "smo", ok=[record]).exceeds_threads("fit", "processor") is exceeds


def test_a_solver_that_took_longer_than_its_fit_leaves_nothing_outside():
    assert [outside_trace({"seconds": {"solver": 2.0}}, whole) for whole in (3.0, 1.0)] == [1.0, 0.0]


def test_experiments_are_in_the_order_of_their_names_and_repeats_of_their_numbers(records):
    rows = [records.one(repeat=k, experiment=name) for name in ("b", "a") for k in (1, 0)]
    found = cells_of(rows)
    assert list(found) == [("a", "paper"), ("b", "paper")]
    assert [record["repeat"] for record in found["a", "paper"]["adult", "smo"].ok] == [0, 1]


def test_rows_of_a_trace_need_columns_of_one_length(records):
    record = records.one(trace={"x": [1, 2], "y": [1, 2, 3]})
    assert list(rows_of([record], [None], ["trace.x", "trace.y"])) == []


def test_a_number_as_a_category_is_printed_short(records):
    record = records.one(params={"C": 1.0, "gamma": 0.1})
    assert list(rows_of([record], ["params.C", "params.gamma"], ["repeat"])) == [(("1", "0.1"), (0.0,))]


@pytest.mark.parametrize(("values", "plain", "log"), [((-0.1, 0.0, 0.1), 0.0, None), ((0.0, 0.1, 0.2), 10.0, 10.0)])
def test_medians_are_in_the_unit_and_of_all_repeats_also_on_a_logarithmic_axis(toy, records, values, plain, log):
    rows = [records.one(repeat=k, metrics={"x": value}) for k, value in enumerate(values)]
    axis = Axis("metrics.x", "x", "%", 100.0)
    results = records.results(toy, rows)
    for is_log, median in ((False, plain), (True, log)):
        display = Marks("m", "M", replace(axis, log=is_log))
        shown = {} if median is None else {("smo",): pytest.approx(median)}
        assert results.medians(display, ["method"]) == shown
