"""Votes of the pairs of classes, one against one: what each class wins, and the sum of its decision values."""


def add_votes(const double[:, :, ::1] products, const double[::1] intercept, double[:, ::1] votes,
              double[:, ::1] sums, bint tie_is_later):
    """Add the pairs that each class wins to `votes`, and its decision values to `sums`.

    The value of the pair i < j at a sample s is products[i, s, j - 1] + products[j, s, i] + its intercept; class j wins
    where it is negative and, with `tie_is_later`, where it is 0. See `multiclass.pair_values`.

    Parameters
    ----------
    products : ndarray of shape (n_classes, n_samples, n_classes - 1)
    intercept : ndarray of shape (n_pairs,)
    votes, sums : ndarray of shape (n_samples, n_classes)
    tie_is_later : bool
    """
    cdef:
        Py_ssize_t s, i, j, pair, n_classes = products.shape[0]
        double value, sum_of_own
    assert products.shape[2] == n_classes - 1 and intercept.shape[0] == n_classes * (n_classes - 1) // 2
    assert votes.shape[0] == sums.shape[0] == products.shape[1] and votes.shape[1] == sums.shape[1] == n_classes
    with nogil:
        for s in range(products.shape[1]):
            pair = 0
            for i in range(n_classes):
                sum_of_own = 0.0
                for j in range(i + 1, n_classes):
                    value = products[i, s, j - 1] + products[j, s, i] + intercept[pair]
                    pair += 1
                    votes[s, j if value < 0.0 or tie_is_later and value == 0.0 else i] += 1.0
                    sum_of_own += value
                    sums[s, j] -= value
                sums[s, i] += sum_of_own
