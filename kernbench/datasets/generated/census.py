"""A sparse stand-in for the Adult census data: one-hot encoded categories with interactions."""

from functools import lru_cache

import numpy as np
from scipy import sparse

from kernbench.datasets.generated.common import RULE_SEED, generated_entry

# Adult's fourteen attributes as encoded in a9a: the number of binary columns, 123 in all, and the exponent of the
# categories' weights (category k has weight k^-exponent).
GROUPS = {
    "age": (5, 0.0),
    "workclass": (8, 1.8),
    "fnlwgt": (5, 0.0),
    "education": (16, 1.0),
    "education-num": (5, 0.3),
    "marital-status": (7, 1.2),
    "occupation": (14, 0.3),
    "relationship": (6, 0.9),
    "race": (5, 2.2),
    "sex": (2, 1.0),
    "capital-gain": (2, 3.4),
    "capital-loss": (2, 4.3),
    "hours-per-week": (5, 0.5),
    "native-country": (41, 2.6),
}
MISSING = {"workclass": 0.056, "occupation": 0.057, "native-country": 0.018}  # shares of "?" in Adult
INTERACTIONS = (
    ("age", "education-num"),
    ("marital-status", "occupation"),
    ("relationship", "hours-per-week"),
    ("education", "sex"),
)
N_FACTORS = 4  # latent variables that correlate the attributes
POSITIVE = 0.24
SHARPNESS = 5.0  # log-odds per standard deviation of the score; sets the share of unpredictable labels


def adult_like(n, rng):
    """A generated stand-in for Adult (a9a), which has the same shape and uses no published data.

    Fourteen categorical attributes, one-hot encoded into 123 binary columns with about 13.9 ones a row, drawn
    from four latent variables that correlate them. The log-odds of +1 are a sum of effects of categories and of
    pairs of categories, which no linear classifier represents. About 24% of the labels are +1.

    Returns
    -------
    X : CSR matrix of shape (n, 123), float64
    y : ndarray of shape (n,)
        -1 and +1, int64.
    """
    rule = _adult_rule()
    categories = _draw_categories(n, rng, rule)
    y = np.where(_noisy_score(categories, rng, rule) > rule["threshold"], 1, -1).astype(np.int64)
    return _one_hot(categories, rng), y


@lru_cache(maxsize=1)
def _adult_rule():
    rng = np.random.default_rng(RULE_SEED)
    rule = {"popularity": {}, "loadings": {}, "effects": {}, "pairs": {}}
    for name, (size, exponent) in GROUPS.items():
        rule["popularity"][name] = -exponent * np.log(np.arange(1, size + 1))
        rule["loadings"][name] = 0.8 * rng.standard_normal((N_FACTORS, size))
        rule["effects"][name] = rng.standard_normal(size)
    for first, second in INTERACTIONS:
        rule["pairs"][first, second] = 1.5 * rng.standard_normal((GROUPS[first][0], GROUPS[second][0]))
    # The scale of the score and the threshold for POSITIVE, estimated from a sample drawn by the rule's generator.
    categories = _draw_categories(20_000, rng, rule)
    rule["scale"] = _score(categories, rule).std()
    rule["threshold"] = np.quantile(_noisy_score(categories, rng, rule), 1 - POSITIVE)
    return rule


def _draw_categories(n, rng, rule):
    """Sample a category per attribute and row from a softmax, by the Gumbel-max trick."""
    traits = rng.standard_normal((n, N_FACTORS))
    categories = {}
    for name, (size, _) in GROUPS.items():
        logits = rule["popularity"][name] + traits @ rule["loadings"][name]
        categories[name] = np.argmax(logits + rng.gumbel(size=(n, size)), axis=1)
    return categories


def _score(categories, rule):
    score = sum(rule["effects"][name][category] for name, category in categories.items())
    for (first, second), table in rule["pairs"].items():
        score = score + table[categories[first], categories[second]]
    return score


def _noisy_score(categories, rng, rule):
    n = len(categories["age"])
    return _score(categories, rule) / rule["scale"] + rng.logistic(size=n) / SHARPNESS


def _one_hot(categories, rng):
    columns, start = [], 0
    for name, (size, _) in GROUPS.items():
        column = start + categories[name]
        if name in MISSING:
            column[rng.random(len(column)) < MISSING[name]] = -1
        columns.append(column)
        start += size
    columns = np.column_stack(columns)
    known = columns >= 0
    indptr = np.concatenate([[0], np.cumsum(known.sum(axis=1))]).astype(np.int32)
    indices = columns[known].astype(np.int32)
    return sparse.csr_matrix((np.ones(len(indices)), indices, indptr), shape=(len(columns), start))


ENTRIES = (
    generated_entry(
        adult_like,
        "Generated stand-in of the shape of Adult (a9a), not Adult: fourteen one-hot encoded attributes.",
        n_train=4000,
        n_test=4000,
        n_features=123,
        layout="CSR float64",
        positive="about 24%",
    ),
)
