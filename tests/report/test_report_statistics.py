"""Numbers behind the tables: means, pairs, steps, and silence where there is too little."""

import numpy as np
import pytest

from kernbench.report.aggregate import group_records, speed_ratio
from kernbench.report.curves import mean_curve, positive_steps, settled_at
from kernbench.report.statistics import compare, mean_and_error, median_or_none


def test_standard_error_is_sample_deviation_over_root_n():
    values = [0.1, 0.2, 0.4, 0.3]
    mean, error = mean_and_error(values)
    assert mean == pytest.approx(np.mean(values))
    assert error == pytest.approx(np.std(values, ddof=1) / 2)


def test_one_value_has_no_error_and_none_has_no_mean():
    assert mean_and_error([0.3]) == (0.3, None)
    assert mean_and_error([None, float("nan"), "text", True]) == (None, None)
    assert median_or_none([]) is None


def test_no_interval_below_five_repeats():
    assert compare([1.0] * 4, [2.0] * 9) is None
    assert compare([1.0, 2.0, 1.5, 1.2, 1.1], [2.0] * 5) is not None


def test_interval_holds_the_difference_and_superiority_its_direction():
    low, high = [1.0, 1.1, 0.9, 1.05, 0.95], [2.0, 2.1, 1.9, 2.05, 1.95]
    found = compare(low, high)
    assert found.low <= found.difference <= found.high < 0
    assert found.superiority == 1.0 and found.p_value < 0.05
    assert compare(high, low).superiority == 0.0
    assert compare(low, high) == found  # the same records, the same report


def test_ties_count_half():
    assert compare([1.0] * 5, [1.0] * 5).superiority == 0.5


def test_curves_are_carried_forward_never_interpolated():
    slow = (np.array([1.0, 100.0]), np.array([0.5, 0.1]))
    fast = (np.array([1.0, 10.0]), np.array([0.5, 0.1]))
    x, y = mean_curve([slow, fast])
    assert x[0] == 1.0 and x[-1] == 100.0
    np.testing.assert_allclose(y[x < 10], 0.5)
    np.testing.assert_allclose(y[(x >= 10) & (x < 100)], 0.3)  # one has arrived, the other not yet
    assert y[-1] == pytest.approx(0.1)


def test_a_mean_curve_begins_where_every_repeat_has_begun():
    x, _ = mean_curve([(np.array([1.0, 9.0]), np.zeros(2)), (np.array([4.0, 9.0]), np.zeros(2))])
    assert x[0] == 4.0


def test_log_axes_get_positive_finite_points_only():
    x, y = positive_steps([0.0, 1.0, None, 2.0, 3.0], [0.9, 0.5, 0.4, float("nan"), 0.2])
    assert x.tolist() == [1.0, 3.0] and y.tolist() == [0.5, 0.2]
    assert positive_steps([], [])[0].size == 0


def test_settled_is_for_good_not_the_first_touch():
    assert settled_at([1.0, 2.0, 3.0, 4.0], [0.1, 0.5, 0.1, 0.1], 0.2) == 3.0
    assert settled_at([1.0, 2.0], [0.1, 0.5], 0.2) is None


def test_the_later_record_of_a_repeat_counts(records):
    (group,) = group_records(
        [records.failure("smo"), records.one("smo", error=0.2), records.one("smo", error=0.3)]
    )
    cell = group.cell("adult", "smo")
    assert cell.metric("test_error") == [0.3] and not cell.failed


def test_paper_scale_comes_first(records):
    groups = group_records([records.one(scale="quick"), records.one(scale="paper")])
    assert [group.scale for group in groups] == ["paper", "quick"]


def test_speed_is_the_median_of_ratios_within_repeats(records):
    (group,) = group_records(
        [records.one("libsvm", repeat=k, seconds=s) for k, s in enumerate((10.0, 20.0, 90.0))]
        + [records.one("smo", repeat=k, seconds=s) for k, s in enumerate((5.0, 5.0, 45.0))]
    )
    assert speed_ratio(group.cell("adult", "libsvm"), group.cell("adult", "smo")) == 2.0


def test_times_of_different_setups_are_not_divided(records):
    elsewhere = records.one("smo")
    elsewhere["environment"]["n_threads"] = 2
    (group,) = group_records([records.one("libsvm"), elsewhere])
    assert speed_ratio(group.cell("adult", "libsvm"), group.cell("adult", "smo")) is None
