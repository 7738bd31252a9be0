"""Features like those of a network's last layer, with a rare class: a stand-in for radiographs that cannot be had."""

import numpy as np

from kernbench.datasets.generated.common import DECIMALS_FLOAT32, RULE_SEED, generated_entry
from kernbench.validation.numbers import check_name, check_number

# Shares of positives among the training images of CheXpert, uncertain ones counted as negative.
PREVALENCES = {
    "cardiomegaly": 0.121,
    "edema": 0.234,
    "consolidation": 0.066,
    "atelectasis": 0.149,
    "pleural-effusion": 0.386,
}
RANK = 16  # of the signal in the features
NOISE = 0.5  # of a feature, beside a signal of variance 1
LABEL_NOISE = 1.0  # of the score, beside a signal of variance 1
CHUNK_ROWS = 4096


def network_features(n, rng, *, task="edema", n_features=1024):
    """Rectified features of low rank; +1 where a score of the hidden factors plus noise is large.

    The score is linear in the factors except for a product of two of them, so that no linear score of the features is
    perfect.

    Parameters
    ----------
    n : int
    rng : numpy.random.Generator
    task : {"cardiomegaly", "edema", "consolidation", "atelectasis", "pleural-effusion"}, default="edema"
        One of five labels, by their share of positives in CheXpert.
    n_features : int, default=1024

    Returns
    -------
    X : ndarray of shape (n, n_features), float32
    y : ndarray of shape (n,)
        -1 and +1, int64.
    """
    check_name("task", task, tuple(PREVALENCES))
    check_number("n_features", n_features, at_least=1, whole=True)
    rule = np.random.default_rng(RULE_SEED + list(PREVALENCES).index(task))
    loadings = rule.standard_normal((RANK, n_features)).astype(np.float32) / np.float32(np.sqrt(RANK))
    weights = rule.standard_normal(RANK - 2)
    weights *= np.sqrt(0.75) / np.linalg.norm(weights)
    X = np.empty((n, n_features), dtype=np.float32)
    score = np.empty(n)
    for start in range(0, n, CHUNK_ROWS):
        rows = X[start : start + CHUNK_ROWS]
        factors = rng.standard_normal((len(rows), RANK), dtype=np.float32)
        rng.standard_normal(dtype=np.float32, out=rows)
        rows *= np.float32(NOISE)
        # Factor by factor: the order of summation in BLAS depends on the machine, and would change checksums.
        for k in range(RANK):
            rows += factors[:, k, None] * loadings[k]
        np.maximum(rows, 0, out=rows)
        rows.round(DECIMALS_FLOAT32, out=rows)
        signal = sum(weight * factors[:, k].astype(np.float64) for k, weight in enumerate(weights))
        signal += 0.5 * factors[:, -1].astype(np.float64) * factors[:, -2]
        score[start : start + len(rows)] = signal + LABEL_NOISE * rng.standard_normal(len(rows))
    n_positive = int(np.clip(round(n * PREVALENCES[task]), min(1, n - 1), max(1, n - 1)))
    y = np.full(n, -1, dtype=np.int64)
    y[np.argsort(-score, kind="stable")[:n_positive]] = 1
    return X, y


ENTRIES = (
    generated_entry(
        network_features,
        "Rectified features of low rank with a rare class: the shape of CheXpert's images behind a network.",
        n_train=20_000,
        n_test=5_000,
        n_features=1024,
        layout="dense float32",
        positive="6.6% to 38.6%",
    ),
)
