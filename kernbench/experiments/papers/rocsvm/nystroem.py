"""``rocsvm-nystroem``: Table 2 of Bae and Shin, a radial truth, with and without Nyström's approximation."""

from kernbench.experiments.declare import Bound, Claim, Experiment, Method, Scale, Setting
from kernbench.experiments.papers.rocsvm.displays import simulation_figures, simulation_tables
from kernbench.experiments.papers.rocsvm.parts import (
    DRAWN_PAIRS,
    EXACT,
    INCOMPLETE,
    METRICS,
    PAPER,
    RANK,
    RANKER,
    ROC_SVC,
    ranked,
    timed,
)

POPULATION = 90.985  # the paper's, in percent; its design gives 96.4708
GAUSSIAN = {"kernel": "rbf", "gamma": "median"}
ALPHA = 1e-3
LANDMARKS = {"features": "nystroem", "n_landmarks": 300, "landmarks": "stratified"}
WHOLE = {"features": "exact"}
# Longer steps in as many coordinates as there are rows overshoot, and 20 of them
# without progress end the run.
SHORT_STEPS = {"solver_options": {"learning_rate": 0.0002}}
STEPS = {"solver_options": {"learning_rate": 0.02}}  # in 1,000 steps of 0.002 it would not get far from 0
COMPARED = ("kernel-incomplete", "kernel-exact", "nystroem-incomplete", "nystroem-exact")
WITH_NYSTROEM = COMPARED[2:]
SIZES = ("n-1000", "n-5000", "n-10000", "n-50000", "n-100000")


def _method(name, label, *params, measure=None):
    merged = {name: value for part in (GAUSSIAN, *params) for name, value in part.items()}
    return Method(name, label, ROC_SVC, merged, seed_param="random_state", measure=measure)


METHODS = (
    _method(
        "nystroem-incomplete", "Nyström, B = n pairs, Adamax (the paper's)", LANDMARKS, INCOMPLETE, STEPS
    ),
    _method("nystroem-exact", "Nyström, all pairs, bundle (ours)", LANDMARKS, EXACT),
    _method(
        "kernel-incomplete", "whole kernel, B = n pairs, Adamax (the paper's)", WHOLE, INCOMPLETE, SHORT_STEPS
    ),
    _method("kernel-exact", "whole kernel, all pairs, bundle (ours)", WHOLE, EXACT),
    _method("pairs", "number of pairs", LANDMARKS, {"solver": "bundle", "tol": 1e-5}, measure=DRAWN_PAIRS),
)


def _sizes(sizes, kernel_up_to, pairs_at, sweep, n_test):
    """A setting for each number of rows, and one for the number of pairs."""
    for n in sizes:
        yield Setting(
            f"n-{n}",
            {"name": "roc-radial", "n_train": n, "n_test": n_test},
            {"alpha": ALPHA},
            label=f"n = {n:,}",
            methods=COMPARED if n <= kernel_up_to else WITH_NYSTROEM,
            repeat_argument="seed",
        )
    yield Setting(
        "pairs",
        {"name": "roc-radial", "n_train": pairs_at, "n_test": n_test},
        {"alpha": ALPHA, **sweep},
        label=f"n = {pairs_at:,}",
        methods=("pairs",),
        repeat_argument="seed",
    )


QUICK = Scale(
    settings=tuple(
        _sizes((1000, 5000), 1000, 1000, {"shares": [0.1, 0.3, 1.0, 3.0, 10.0], "n_seeds": 2}, 10_000)
    ),
    repeats=1,
    time_limit=60.0,
    memory_limit=2 * 2**30,
)

PAPER_SCALE = Scale(
    settings=tuple(
        _sizes(
            (5000, 10_000, 50_000, 100_000),
            10_000,
            10_000,
            {"shares": [0.1, 0.3, 1.0, 3.0, 10.0], "n_seeds": 3},
            25_000,
        )
    ),
    repeats=50,
    time_limit=1800.0,
)

PAPER_NUMBERS = (
    *(
        entry
        for n, method, seconds, percent in (
            (5000, "kernel-incomplete", 10.21, 90.947),
            (5000, "nystroem-incomplete", 4.64, 90.921),
            (10_000, "kernel-incomplete", 19.81, 90.863),
            (10_000, "nystroem-incomplete", 4.60, 90.927),
            (50_000, "nystroem-incomplete", 5.19, 90.936),
            (100_000, "nystroem-incomplete", 5.87, 90.926),
        )
        for entry in (timed(f"n-{n}", method, seconds), *ranked(f"n-{n}", method, percent, POPULATION))
    ),
)

EXPERIMENT = Experiment(
    name="rocsvm-nystroem",
    title="Gaussian ROC-SVM: 300 landmarks against the whole kernel, drawn pairs against all",
    paper=f"{PAPER}, Table 2",
    methods=METHODS,
    scales={"quick": QUICK, "paper": PAPER_SCALE},
    metrics=METRICS,
    claims=(
        Claim(
            "With 300 landmarks the paper's method loses at most 0.1 points of AUC to the whole kernel.",
            "nystroem-incomplete",
            "kernel-incomplete",
            "auc",
            0.001,
            datasets=SIZES[:3],
        ),
        Claim(
            "All pairs solved exactly lose no AUC to the paper's method (0.05 points), in no more time.",
            "nystroem-exact",
            "nystroem-incomplete",
            "auc",
            0.0005,
            time_fraction=1.0,
        ),
        Bound(
            "All pairs on 300 landmarks come within 0.5 points of the truth's AUC.",
            "nystroem-exact",
            "gap",
            0.005,
        ),
        Bound("Drawing B = n pairs costs at most 0.2 points of AUC.", "pairs", "pairs_cost", 0.002),
    ),
    paper_numbers=PAPER_NUMBERS,
    measure=RANK,
    evaluate=RANKER,
    tables=simulation_tables(COMPARED, "nystroem-incomplete", SIZES),
    figures=simulation_figures(COMPARED),
    threads=1,
    warm_up_rows=64,
    own_data=True,
    note="The paper's design with 20 % positives has a population AUC of 96.4708 %, not the 90.985 % it "
    "prints: compare the distances to it. It names neither the kernel's width nor α; here σ is the median "
    "distance of rows, and α = 0.001. Adamax steps are 0.02 long on landmarks, where 0.002 would not get "
    "far from 0, and 0.0002 in the coordinates of the whole kernel, where longer ones overshoot. Landmarks "
    "are drawn within each class. Times are of one fit, landmarks included, with one thread. "
    "Each repeat draws its training rows anew.",
)
