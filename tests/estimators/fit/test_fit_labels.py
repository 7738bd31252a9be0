"""Labels that are whole numbers of a small range are counted, not sorted; the result is that of `numpy.unique`."""

import numpy as np
import pytest

from kernbench.estimators.arguments.training_data import check_labels


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64, np.uint8, bool, np.float64, str])
@pytest.mark.parametrize("labels", [[0, 1], [-128, 127], [3, 5, 90], [-7, -6], range(40)], ids=str)
def test_labels_are_those_of_unique(dtype, labels):
    if np.dtype(dtype).kind == "b" or (np.dtype(dtype).kind == "u" and min(labels) < 0):
        labels = [0, 1]
    y = np.random.default_rng(0).choice(np.array(labels), size=200).astype(dtype)
    y[:2] = np.array([min(labels), max(labels)]).astype(dtype)
    classes, codes = check_labels(y)
    expected_classes, expected_codes = np.unique(y, return_inverse=True)
    assert classes.dtype == expected_classes.dtype and codes.dtype == expected_codes.dtype
    np.testing.assert_array_equal(classes, expected_classes)
    np.testing.assert_array_equal(codes, expected_codes)


def test_labels_far_apart_are_sorted():
    classes, codes = check_labels(np.array([2**62, -(2**62), 2**62]))
    assert classes.tolist() == [-(2**62), 2**62] and codes.tolist() == [1, 0, 1]
