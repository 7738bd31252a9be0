"""Doubly stochastic models follow scikit-learn's conventions."""

from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.validation import has_fit_parameter

from kernbench import (
    DoublyStochasticClassifier,
    DoublyStochasticDensityRatio,
    DoublyStochasticGPRegressor,
    DoublyStochasticNoveltyDetector,
    DoublyStochasticRegressor,
)

WEIGHTS = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")
WEIGHTS_CHANGE_DRAWS = (
    "weights change which rows are in a batch, so a weighted and a repeated run agree in the mean only; "
    "test_a_weight_of_2_is_the_row_twice_in_a_batch_of_all holds a whole batch to it"
)


class RatioOfASampleToItself(DoublyStochasticDensityRatio):
    """The density ratio with the signature that scikit-learn's checks expect; the ratio is 1."""

    def fit(self, X, y=None):
        return super().fit(X, X)

    def partial_fit(self, X, y=None):
        return super().partial_fit(X, X)

    def score_samples(self, X):
        return self.log_ratio(X)


def expected_failures(model):
    """Return the checks that a model is known to fail, each with the reason."""
    has_weights = has_fit_parameter(model, "sample_weight")
    return dict.fromkeys(WEIGHTS, WEIGHTS_CHANGE_DRAWS) if has_weights else {}


@parametrize_with_checks(
    [
        DoublyStochasticClassifier(max_iter=20),
        DoublyStochasticClassifier(loss="log_loss", precondition=False, max_iter=80),
        DoublyStochasticRegressor(max_iter=30),
        DoublyStochasticGPRegressor(block_size=64),
        DoublyStochasticNoveltyDetector(max_iter=60),
        RatioOfASampleToItself(max_iter=10),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


def test_the_samples_of_a_density_ratio_are_no_metadata():
    """Arguments other than X and y are, unless a class says otherwise."""
    routing = get_routing_for_object(DoublyStochasticDensityRatio())
    assert routing.fit.requests == routing.partial_fit.requests == {}
    assert not hasattr(DoublyStochasticDensityRatio, "set_fit_request")
