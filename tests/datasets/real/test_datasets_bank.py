"""Bank Marketing: codes of categories and the omitted column."""

import numpy as np
import pytest

from kernbench.datasets import describe
from kernbench.datasets.real import bank

N = 60
COLUMNS = (
    "age job marital education default housing loan contact month day_of_week duration campaign pdays "
    "previous poutcome emp.var.rate cons.price.idx cons.conf.idx euribor3m nr.employed y"
).split()


def _file(write, rows):
    quoted = [[f'"{field}"' if isinstance(field, str) else field for field in row] for row in rows]
    lines = [";".join(map(str, row)) for row in [[f'"{name}"' for name in COLUMNS], *quoted]]
    return {bank.FILE: write(bank.FILE, "\r\n".join([*lines, ""]))}


def _rows():
    rng = np.random.default_rng(0)
    rows = []
    for i in range(N):
        row = [i, *rng.integers(0, 100, len(COLUMNS) - 2).tolist(), "yes" if i % 3 == 0 else "no"]
        for name, categories in bank.CATEGORIES.items():
            row[COLUMNS.index(name)] = categories[rng.integers(len(categories))]
        rows.append(row)
    return rows


def test_categories_are_integers_in_the_documented_order(write):
    rows = _rows()
    X_train, y_train, X_test, y_test = bank.bank_marketing(_file(write, rows), standardise=False)
    assert X_train.shape == (42, 19)
    kept = [name for name in COLUMNS if name not in ("duration", "y")]
    for x, label in zip(np.vstack([X_train, X_test]), np.r_[y_train, y_test], strict=True):
        row = dict(zip(COLUMNS, rows[int(x[0])], strict=True))
        assert label == (1 if row["y"] == "yes" else -1)
        for name, value in zip(kept, x, strict=True):
            assert row[name] == (bank.CATEGORIES[name][int(value)] if name in bank.CATEGORIES else value)


def test_one_hot_columns_encode_the_same_categories_of_the_same_rows(write):
    paths = _file(write, _rows())
    coded = bank.bank_marketing(paths, standardise=False)
    one_hot = bank.bank_marketing_one_hot(paths, standardise=False)
    assert one_hot[0].shape == (42, describe("bank-marketing-one-hot").n_features)
    np.testing.assert_array_equal(one_hot[1], coded[1])
    # The position of the one in each block is the integer.
    kept = [name for name in COLUMNS if name not in ("duration", "y")]
    start = 0
    for j, name in enumerate(kept):
        width = len(bank.CATEGORIES.get(name, "1"))
        block = one_hot[0][:, start : start + width]
        if name in bank.CATEGORIES:
            assert np.all(np.sort(block, axis=1)[:, -2:] == [0, 1])
            block = block.argmax(axis=1)[:, None]
        np.testing.assert_array_equal(block[:, 0], coded[0][:, j])
        start += width


def test_an_unknown_category_is_named(write):
    rows = _rows()
    rows[3][COLUMNS.index("marital")] = "widowed"
    with pytest.raises(ValueError, match=r"bank.*column 'marital': found the category 'widowed'"):
        bank.bank_marketing(_file(write, rows))


def test_categories_are_in_natural_or_alphabetical_order():
    natural = {
        "education": "illiterate basic.4y basic.6y basic.9y high.school professional.course university.degree unknown",
        "month": "mar apr may jun jul aug sep oct nov dec",
        "day_of_week": "mon tue wed thu fri",
    }
    for name, categories in bank.CATEGORIES.items():
        alphabet = sorted(categories, key=lambda category: (category == "unknown", category))
        assert list(categories) == (natural[name].split() if name in natural else alphabet)
