"""Lets the tests import the helpers beside them, and makes the rows of small fits."""

import sys
from pathlib import Path

import pytest
from sklearn.datasets import make_classification

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="module")
def rows():
    """200 rows of two classes, a quarter positive."""
    return make_classification(200, 6, n_informative=4, weights=[0.75], class_sep=1.5, random_state=0)
