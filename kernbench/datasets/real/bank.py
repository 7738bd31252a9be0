"""Bank Marketing: a table with columns of categories, encoded as integers or one-hot."""

import csv

import numpy as np

from kernbench.datasets.entry import DatasetEntry
from kernbench.datasets.errors import malformed, shown
from kernbench.datasets.readers.compressed import open_text
from kernbench.datasets.real.preparation import signs, split_by_seed
from kernbench.datasets.real.uci import UCI_PAGES, uci_file

FILE = "bank-additional-full.csv"
LEFT_OUT = "duration"  # of the call, which is not known before its outcome
# Category k of a column is encoded as the integer k, from 0: in the natural order of education, month and day of the
# week, else in alphabetical order, with "unknown" last.
CATEGORIES = {
    "job": (
        "admin.", "blue-collar", "entrepreneur", "housemaid", "management", "retired", "self-employed",
        "services", "student", "technician", "unemployed", "unknown",
    ),
    "marital": ("divorced", "married", "single", "unknown"),
    "education": (
        "illiterate", "basic.4y", "basic.6y", "basic.9y", "high.school", "professional.course",
        "university.degree", "unknown",
    ),
    "default": ("no", "yes", "unknown"),
    "housing": ("no", "yes", "unknown"),
    "loan": ("no", "yes", "unknown"),
    "contact": ("cellular", "telephone"),
    "month": ("mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"),
    "day_of_week": ("mon", "tue", "wed", "thu", "fri"),
    "poutcome": ("failure", "nonexistent", "success"),
}  # fmt: skip


@split_by_seed()
def bank_marketing(paths):
    """Subscribed to the deposit (+1) or not; dense, float64, 19 columns in the order of the file.

    All columns except the duration of the call; the ten columns of categories are integers (``CATEGORIES``). The
    ROC-SVM paper counts 19 predictors in its text and 18 in its table.
    """
    _, columns, y = _read(paths[FILE])
    return np.column_stack(columns).astype(np.float64), y


@split_by_seed()
def bank_marketing_one_hot(paths):
    """As `bank_marketing`, but one-hot encoded: 62 columns, which are standardised too, and the same splits."""
    names, columns, y = _read(paths[FILE])
    blocks = [
        np.eye(len(CATEGORIES[name]))[column] if name in CATEGORIES else column[:, None]
        for name, column in zip(names, columns, strict=True)
    ]
    return np.hstack(blocks), y


def _read(path):
    """Return names and columns of the predictors, with categories as integers, and the labels."""
    with open_text(path) as file:
        names, *rows = csv.reader(file, delimiter=";")
    table = dict(zip(names, zip(*rows, strict=True), strict=True))
    y = signs(np.array(table.pop("y")) == "yes")
    del table[LEFT_OUT]
    columns = [
        _codes(path, name, column) if name in CATEGORIES else np.array(column, dtype=np.float64)
        for name, column in table.items()
    ]
    return list(table), columns, y


def _codes(path, name, column):
    codes = {category: code for code, category in enumerate(CATEGORIES[name])}
    try:
        return np.array([codes[category] for category in column])
    except KeyError as error:
        raise malformed(path, f"found the category {shown(error.args[0])}", column=repr(name)) from None


_FILES = (
    uci_file(
        FILE,
        "74adfc578bf77a7ff4bb1ba4a9f8709d9e3c6907342959c2c8416847e0afb4d8",
        f"222/bank+marketing.zip#bank-additional.zip#bank-additional/{FILE}",
        f"00222/bank-additional.zip#bank-additional/{FILE}",
    ),
)
_FACTS = {
    "source": f"{UCI_PAGES}/222/bank+marketing",
    "n_train": 28_832,
    "n_test": 12_356,
    "positive": "11.3%",
    "files": _FILES,
}

ENTRIES = (
    DatasetEntry(
        name="bank-marketing",
        summary="Bank Marketing (bank-additional-full) without the call's duration, categories as integers: "
        "+1 is a subscription; seeded stratified split.",
        n_features=19,
        build=bank_marketing,
        **_FACTS,
    ),
    DatasetEntry(
        name="bank-marketing-one-hot",
        summary="Bank Marketing (bank-additional-full) without the call's duration, a column for each "
        "category: +1 is a subscription; seeded stratified split.",
        n_features=62,
        build=bank_marketing_one_hot,
        **_FACTS,
    ),
)
