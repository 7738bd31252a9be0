"""A sparse stand-in for text: documents with Zipf's law of word frequencies."""

import numpy as np
from scipy import sparse

from kernbench.datasets.generated.common import DECIMALS, RULE_SEED, generated_entry, shuffled_labels
from kernbench.validation.numbers import check_number


def sparse_text(n, rng, *, n_features=5000, positive=0.2):
    """Documents as rows of unit length: logarithmic word counts times inverse document frequency.

    A document has 20 + Poisson(40) words. Word w of the dictionary is drawn with a probability proportional
    to 1/(w + 3) (Zipf's law), so that few columns hold most entries. In positive documents 60 words of medium
    frequency are four times as likely; in half of the negative documents another 60 words are, half of which are
    among the former.

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
    check_number("n_features", n_features, at_least=1000, whole=True)
    check_number("positive", positive, at_least=0.01, below=1)
    y = shuffled_labels(n, rng, positive)
    topic = np.where(y > 0, 1, 2 * rng.integers(0, 2, n))  # 0: none, 1: positive, 2: the overlapping one
    length = 20 + rng.poisson(40.0, n)
    document = np.repeat(np.arange(n), length)
    word = np.empty(len(document), dtype=np.int64)
    probabilities = _word_probabilities(n_features)
    for t, p in enumerate(probabilities):
        here = topic[document] == t
        u = rng.random(np.count_nonzero(here))
        word[here] = np.minimum(np.searchsorted(np.cumsum(p), u, side="right"), n_features - 1)
    # The constructor sums repeated (row, column) pairs: word counts.
    X = sparse.csr_matrix((np.ones(len(word)), (document, word)), shape=(n, n_features))
    X.sort_indices()  # older SciPy leaves them as they come
    # The expected document frequency, not the counted one: rows are independent of each other.
    weight = -np.log(-np.expm1(60 * np.log1p(-probabilities[0])))
    X.data = (1 + np.log(X.data)) * weight[X.indices]
    norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    X.data = (X.data / np.repeat(norms, np.diff(X.indptr))).round(DECIMALS)
    return X, y


def _word_probabilities(n_features):
    """Return one row of probabilities per topic: none, positive, overlapping."""
    base = 1 / (np.arange(n_features) + 3.0)
    words = np.random.default_rng(RULE_SEED).permutation(np.arange(30, 1000))[:90]
    probabilities = np.tile(base, (3, 1))
    probabilities[1, words[:60]] *= 4
    probabilities[2, words[30:]] *= 4
    return probabilities / probabilities.sum(axis=1, keepdims=True)


ENTRIES = (
    generated_entry(
        sparse_text,
        "Generated stand-in for text: unit rows of weighted word counts, word frequencies after Zipf's law.",
        n_train=4000,
        n_test=4000,
        n_features=5000,
        layout="CSR float64",
        positive="20%",
    ),
)
