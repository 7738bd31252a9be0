"""Statistics of the tables: means, pairs, steps, and None for too few repeats."""

import numpy as np
import pytest

from kernbench.report.records.cells import cells_of, speed
from kernbench.report.records.steps import on_one_grid, positive_steps, settled_at
from kernbench.report.statistics import (
    compare,
    compare_pairs,
    estimate,
    estimate_of_ratios,
    geometric_mean,
    holm,
    is_noisy,
    mean_and_error,
    median_interval,
    median_or_none,
)


def test_standard_error_is_sample_deviation_over_root_n():
    values = [0.1, 0.2, 0.4, 0.3]
    mean, error = mean_and_error(values)
    assert mean == pytest.approx(np.mean(values))
    assert error == pytest.approx(np.std(values, ddof=1) / 2)


def test_one_value_has_no_error_and_none_has_no_mean():
    assert mean_and_error([0.3]) == (0.3, None)
    assert mean_and_error([None, float("nan"), "text", True]) == (None, None)
    assert median_or_none([]) is None


@pytest.mark.parametrize("value", [0.444, 0.1, 0.003])
def test_equal_values_have_themselves_as_mean_and_no_error(value):
    for n in range(2, 12):
        assert mean_and_error([value] * n) == (value, 0.0)


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
    """Of 25 pairs the first value is the smaller one in 16, and the two are equal in 8."""
    assert compare([1.0] * 4 + [2.0], [1.0] + [2.0] * 4).superiority == pytest.approx((16 + 8 / 2) / 25)


def test_with_ties_the_rank_test_is_the_normal_approximation():
    from scipy.stats import mannwhitneyu

    first, second = [1.0, 2.0, 2.0, 3.0, 4.0], [2.0, 3.0, 5.0, 6.0, 7.0]
    exact, approximate = (mannwhitneyu(first, second, method=name).pvalue for name in ("exact", "asymptotic"))
    assert compare(first, second).p_value == approximate != exact


def test_equal_values_do_not_differ():
    """SciPy 1.18 has no p value for them, and NaN has no place in Holm's order."""
    found = compare([0.1] * 10, [0.1] * 10)
    assert (found.p_value, found.difference, found.superiority) == (1.0, 0.0, 0.5)


def test_the_interval_of_a_median_is_the_same_each_time():
    values = [3.0, 1.0, 2.0, 5.0, 4.0, 2.5]
    low, high = median_interval(values)
    assert 1.0 <= low < np.median(values) < high <= 5.0 and median_interval(values) == (low, high)
    assert median_interval([2.0] * 5) == (2.0, 2.0)


def test_curves_are_carried_forward_never_interpolated():
    slow = (np.array([1.0, 100.0]), np.array([0.5, 0.1]))
    fast = (np.array([1.0, 10.0]), np.array([0.5, 0.1]))
    x, y = on_one_grid([slow, fast])
    assert x[0] == 1.0 and x[-1] == 100.0
    np.testing.assert_allclose(y[:, x < 10], 0.5)
    np.testing.assert_allclose(y[0, (x >= 10) & (x < 100)], 0.5)  # one has not arrived yet …
    np.testing.assert_allclose(y[1, x >= 10], 0.1)  # … the other has
    assert y[0, -1] == 0.1


def test_a_common_grid_begins_where_every_repeat_has_begun():
    x, _ = on_one_grid([(np.array([1.0, 9.0]), np.zeros(2)), (np.array([4.0, 9.0]), np.zeros(2))])
    assert x[0] == 4.0
    x, y = on_one_grid([(np.array([3.0]), np.array([0.1])), (np.array([3.0]), np.array([0.3]))])
    assert x.tolist() == [3.0] and y.ravel().tolist() == [0.1, 0.3]


def test_log_axes_get_positive_finite_points_only():
    x, y = positive_steps([0.0, 1.0, None, 2.0, 3.0], [0.9, 0.5, 0.4, float("nan"), 0.2])
    assert x.tolist() == [1.0, 3.0] and y.tolist() == [0.5, 0.2]
    assert positive_steps([], [])[0].size == 0


def test_settled_is_for_good_not_the_first_touch():
    assert settled_at([1.0, 2.0, 3.0, 4.0], [0.1, 0.5, 0.1, 0.1], 0.2) == 3.0
    assert settled_at([1.0, 2.0], [0.1, 0.5], 0.2) is None


def test_the_later_record_of_a_repeat_counts(toy, records):
    rows = [records.failure("smo"), records.one("smo", error=0.2), records.one("smo", error=0.3)]
    cell = records.results(toy, rows).cell("adult", "smo")
    assert cell.values(toy.metric("test_error")) == [0.3] and not cell.failed


def test_paper_scale_comes_first(records):
    found = cells_of([records.one(scale="quick"), records.one(scale="paper")])
    assert [scale for _, scale in found] == ["paper", "quick"]


def speed_of_smo(toy, records, rows):
    results = records.results(toy, rows)
    return speed(toy.metric("fit_seconds"), results.cell("adult", "smo"), results.cell("adult", "libsvm"))


def test_speed_is_the_median_of_ratios_within_repeats(toy, records):
    rows = [records.one("libsvm", repeat=k, seconds=s) for k, s in enumerate((10.0, 20.0, 90.0))]
    rows += [records.one("smo", repeat=k, seconds=s) for k, s in enumerate((5.0, 5.0, 45.0))]
    assert speed_of_smo(toy, records, rows) == 2.0


def test_times_of_different_setups_are_not_divided(toy, records):
    elsewhere = records.one("smo")
    elsewhere["environment"]["n_threads"] = 2
    assert speed_of_smo(toy, records, [records.one("libsvm"), elsewhere]) is None


def test_estimate_interval_and_p_value_are_those_of_one_t_test():
    from scipy.stats import ttest_1samp

    values = [0.1, 0.2, 0.4, 0.3, 0.15]
    for found, sample, limit, inverse in (
        (estimate(values, 0.5), values, 0.5, lambda number: number),
        (estimate_of_ratios(values, 0.5), np.log(values), np.log(0.5), np.exp),
    ):
        test = ttest_1samp(sample, limit)
        assert found.value == pytest.approx(inverse(np.mean(sample)))
        assert found.interval == pytest.approx(tuple(map(inverse, test.confidence_interval())))
        assert found.p_value == pytest.approx(test.pvalue)


def test_ratios_that_are_not_all_positive_have_a_mean_and_others_a_geometric_one():
    assert estimate_of_ratios([-1.0, 1.0, 2.0], 0.5) == estimate([-1.0, 1.0, 2.0], 0.5)
    assert geometric_mean([1.0, 4.0]) == pytest.approx(2.0) and geometric_mean([0.3] * 3) == 0.3


@pytest.mark.parametrize("limit", [0.2, 0.003])
def test_equal_values_have_the_p_value_of_the_sign_test_and_without_chance_none(limit):
    for judged in (estimate, estimate_of_ratios):
        assert judged([0.003], limit).p_value is None
        for n in (2, 3, 10):
            assert judged([0.003] * n, limit).p_value == 2.0 * 0.5**n
            assert judged([0.003] * n, limit, has_chance=False).p_value is None


def test_differences_that_coincide_up_to_rounding_are_equal():
    differences = [0.15 - 0.14, 0.16 - 0.15]
    assert differences[0] != differences[1]
    assert estimate(differences, 0.02, rounding=1e-13).p_value == 0.5
    for limit in (1.0 + 1e-9, -1.0):  # the second has no logarithm
        found = estimate_of_ratios([1.0, 1.0, 1.0 + 2e-16], limit, rounding=1e-13)
        assert found.p_value == 0.25


def test_holms_method_multiplies_by_how_many_are_left():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.7]) == [1.0, 1.0] and holm([]) == []


def test_equal_values_of_a_pair_count_half_and_decide_nothing():
    found = compare_pairs([(1, 2), (1, 3), (3, 3), (1, 2.5), (2, 1), (0, 5)])
    assert found.superiority == pytest.approx((4 + 0.5) / 6)
    assert found.least_p_value == 2.0**-4  # of the five signs


def test_negative_values_are_noisy_as_positive_ones_are():
    assert is_noisy([1.0, 2.0, 3.0]) and is_noisy([-1.0, -2.0, -3.0])


@pytest.mark.parametrize("size", [1e200, 1.7e308, 5e-324])
def test_sums_and_squares_of_any_numbers_stay_within_range(size):
    values = [size, size / 2, -size]
    mean, error = mean_and_error(values)
    scaled = mean_and_error([value / size for value in values])
    assert size == 5e-324 or (mean / size, error / size) == pytest.approx(scaled)
    assert np.isfinite([mean, error]).all()


def test_the_interval_of_ratios_that_differ_by_many_powers_of_ten_is_open():
    found = estimate_of_ratios([1.0, 1e150], 1.0)
    assert found.value == pytest.approx(1e75) and found.interval == (0.0, np.inf)
