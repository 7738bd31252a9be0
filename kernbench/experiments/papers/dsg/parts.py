"""What the experiments on doubly stochastic gradients share."""

from kernbench.experiments.declare import Method
from kernbench.experiments.declare import metrics as m

HERE = "kernbench.experiments.papers.dsg"
EVALUATE = f"{HERE}.evaluation:classifier"
PAPER = "Dai, Xie, He, Liang, Raj, Balcan, Song: Scalable Kernel Methods via Doubly Stochastic Gradients (2014)"
CLASSIFIER = "kernbench.estimators.doubly_stochastic.classifier:DoublyStochasticClassifier"
REGRESSOR = "kernbench.estimators.doubly_stochastic.regressor:DoublyStochasticRegressor"

CLASSIFIER_METRICS = (
    m.TEST_ERROR,
    m.percent("one_pass_error", "test error after one pass"),
    m.percent("balanced_error", "mean error of the classes"),
    m.FIT_SECONDS,
    m.PREDICT_SECONDS,
    m.N_ITER,
    m.number("passes", "rows seen / rows", 0.01, deterministic=True),
    m.number("n_feature_values", "feature values", 0.01, deterministic=True),
    m.N_KERNEL_EVALUATIONS,
    m.PEAK_MEMORY,
)


def doubly(name, label, estimator=CLASSIFIER, **params):
    """A doubly stochastic method, which is followed while it runs."""
    return Method(name, label, estimator, params, traced=True, seed_param="random_state")


def gamma_of(sigma):
    """The gamma of a Gaussian kernel of this width."""
    return 0.5 / sigma**2
