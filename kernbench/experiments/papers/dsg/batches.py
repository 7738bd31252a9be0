"""``dsg-batches``: what small batches and many passes cost, which Dai et al. do not vary."""

from kernbench.experiments.declare import Claim, CrossTable, Experiment, Method, MetricTable, Scale, Setting
from kernbench.experiments.declare.entrants import ZERO_CLASSIFIER
from kernbench.experiments.papers.dsg.parts import CLASSIFIER, CLASSIFIER_METRICS, EVALUATE, PAPER

POINTS = 0.003  # of the test error, which a user would not notice


def _method(name, label, **params):
    return Method(name, label, CLASSIFIER, params, seed_param="random_state")


SMALL = {"batch_size": 64, "block_size": 32}
METHODS = (
    _method("default", "default"),
    _method("small", "batch 64, block 32", **SMALL),
    _method("smaller", "batch 64, block 16", batch_size=64, block_size=16),
    _method("no-window", "batch 64, block 32, without a window", **SMALL, solver_options={"window": 0}),
    _method("many", "3,000 steps", max_iter=3000),
    ZERO_CLASSIFIER,
)
QUICK = Scale(
    settings=(
        Setting(
            "checkerboard",
            {"name": "checkerboard", "n_train": 3000, "n_test": 1000, "noise": 0.05},
            {"gamma": 4.0},
            note="generated; 5 % of the labels are flipped at random",
            methods=("default", "small", "smaller", "no-window", "zero"),
            repeat_argument="seed",
        ),
    ),
    repeats=1,
    time_limit=60.0,
    memory_limit=2 * 2**30,
)
PAPER_SCALE = Scale(
    settings=(
        Setting("adult", {"name": "adult"}),
        Setting("w8a", {"name": "w8a"}),
        Setting("ijcnn1", {"name": "ijcnn1"}),
        Setting("magic", {"name": "magic"}, repeat_argument="split_seed"),
        Setting("mnist-8-vs-6", {"name": "mnist-8-vs-6", "n_components": 50}, note="50 principal components"),
        Setting(
            "covtype",
            {"name": "covtype", "n_train": 20_000, "n_test": 20_000},
            note="SUBSET: 20,000 of the 522,910 training rows; of 50,000 rows the default takes other batches",
        ),
    ),
    repeats=3,
    time_limit=600.0,
)


def _at_most(method, words):
    return Claim(
        f"{words} err at most 0.3 points more than the default, 100 steps on 1,024 rows.",
        method,
        "default",
        "test_error",
        POINTS,
    )


EXPERIMENT = Experiment(
    name="dsg-batches",
    title="Doubly stochastic gradients: small batches, many passes",
    paper=f"{PAPER}, section 3",
    group="Doubly stochastic",
    methods=METHODS,
    scales={"quick": QUICK, "paper": PAPER_SCALE},
    metrics=CLASSIFIER_METRICS,
    claims=(
        _at_most("small", "Batches of 64 rows with blocks of 32 features"),
        _at_most("smaller", "Batches of 64 rows with blocks of 16 features"),
        _at_most("many", "3,000 steps"),
        Claim(
            "Batches of 64 rows err no more with a window on the rows before them than without.",
            "small",
            "no-window",
            "test_error",
            0.0,
        ),
    ),
    evaluate=EVALUATE,
    tables=(
        CrossTable("errors", "Test error", "test_error"),
        CrossTable("time", "Time of a fit", "fit_seconds"),
        MetricTable("effort", "Cost of a fit", ("passes", "n_iter", "n_feature_values", "predict_seconds")),
    ),
    threads=1,
    warm_up_rows=64,
    differs="The paper has one size of batches for each data set and does not vary it; here there are 3 repeats of at "
    "most 10 minutes.",
    note="The parameters are the defaults of DoublyStochasticClassifier, the median distance between rows as width "
    "among them, but for batches, blocks and steps. The default takes 100 batches of 1,024 rows with 256 features for "
    "each. A preconditioned step on fewer rows also uses the rows before them, a window on 1,024 in all or four for "
    "each feature of a block, and a fit takes as many steps as visit the rows of 100 batches of 1,024, at most 1,600. "
    "Without the window the covariance of 32 features comes from 64 rows alone. 3,000 steps of the default are 94 "
    "passes over Adult; after the first 100 they get shorter. One thread.",
)
