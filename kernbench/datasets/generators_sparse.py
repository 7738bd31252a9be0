"""Sparse sets drawn from formulas: a stand-in for text and one for the Adult census data.

The *rule* (which word belongs to which topic, which category speaks for which class) is fixed; the generator
`rng` draws the examples only. Training and test parts of any seed thus come from one distribution.
"""

from functools import lru_cache

import numpy as np
from scipy import sparse

from kernbench.datasets.checks import require_number
from kernbench.datasets.entry import generated
from kernbench.datasets.generators import DECIMALS, shuffled_labels

RULE_SEED = 20120626


def sparse_text(n, rng, *, n_features=5000, positive=0.2):
    """Documents as rows of unit length: logarithmic word counts times inverse document frequency.

    A document has 20 + Poisson(40) words. Word w of the dictionary is drawn with a probability proportional
    to 1/(w + 3), Zipf's law, so a few columns hold most entries. In positive documents 60 words of middling
    frequency are four times as likely; in half of the negative ones 60 other words are, half of them the
    same.

    Parameters
    ----------
    n : int
    rng : numpy.random.Generator
    n_features : int, default=5000
        Words in the dictionary, at least 1000.
    positive : float, default=0.2
        Share of positive documents.

    Returns
    -------
    X : CSR matrix of shape (n, n_features), float64
    y : ndarray of shape (n,)
        -1 and +1, int64.
    """
    require_number("n_features", n_features, at_least=1000, whole=True)
    require_number("positive", positive, at_least=0.01, below=1)
    y = shuffled_labels(n, rng, positive)
    topic = np.where(y > 0, 1, 2 * rng.integers(0, 2, n))  # 0: none, 1: the positive one, 2: its neighbour
    length = 20 + rng.poisson(40.0, n)
    document = np.repeat(np.arange(n), length)
    word = np.empty(len(document), dtype=np.int64)
    probabilities = _word_probabilities(n_features)
    for t, p in enumerate(probabilities):
        here = topic[document] == t
        u = rng.random(np.count_nonzero(here))
        word[here] = np.minimum(np.searchsorted(np.cumsum(p), u, side="right"), n_features - 1)
    # Building from (row, column) pairs adds up the repeated words.
    X = sparse.csr_matrix((np.ones(len(word)), (document, word)), shape=(n, n_features))
    # The expected document frequency stands for the counted one: no part of the data looks at another.
    weight = -np.log(-np.expm1(60 * np.log1p(-probabilities[0])))
    X.data = (1 + np.log(X.data)) * weight[X.indices]
    norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    X.data = (X.data / np.repeat(norms, np.diff(X.indptr))).round(DECIMALS)
    return X, y


def _word_probabilities(n_features):
    """One row per topic: none, the positive one, its neighbour."""
    base = 1 / (np.arange(n_features) + 3.0)
    words = np.random.default_rng(RULE_SEED).permutation(np.arange(30, 1000))[:90]
    probabilities = np.tile(base, (3, 1))
    probabilities[1, words[:60]] *= 4
    probabilities[2, words[30:]] *= 4
    return probabilities / probabilities.sum(axis=1, keepdims=True)


# Adult's fourteen attributes as a9a encodes them: the number of binary columns, 123 in all, and how unequal
# the categories are (category k has weight k^-exponent).
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
N_FACTORS = 4  # hidden traits of a person that make the attributes depend on each other
POSITIVE = 0.24
SHARPNESS = 5.0  # log-odds per standard deviation of the score; sets the share of unpredictable labels


def adult_like(n, rng):
    """A generated stand-in of the shape of Adult (a9a): no person's data, no published numbers.

    Fourteen categorical attributes, one-hot encoded into 123 binary columns with about 13.9 ones a row, drawn
    from four hidden traits so that they depend on each other. The log-odds of +1 are a sum of effects of
    categories and of pairs of categories, which no linear classifier represents. About 24% are positive.

    Parameters
    ----------
    n : int
    rng : numpy.random.Generator

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
    # The threshold that makes the wanted share positive, and the scale of the score, from a sample of the
    # rule's own.
    categories = _draw_categories(20_000, rng, rule)
    rule["scale"] = _score(categories, rule).std()
    rule["threshold"] = np.quantile(_noisy_score(categories, rng, rule), 1 - POSITIVE)
    return rule


def _draw_categories(n, rng, rule):
    """One category per attribute and person, by softmax: Gumbel noise on the logits, and the largest one."""
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
    generated(
        "sparse-text",
        sparse_text,
        "Generated stand-in for text: unit rows of weighted word counts, word frequencies after Zipf's law.",
        n_train=4000,
        n_test=4000,
        n_features=5000,
        layout="CSR float64",
        positive="20%",
    ),
    generated(
        "adult-like",
        adult_like,
        "Generated stand-in of the shape of Adult (a9a), not Adult: fourteen one-hot encoded attributes.",
        n_train=4000,
        n_test=4000,
        n_features=123,
        layout="CSR float64",
        positive="about 24%",
    ),
)
