"""``rocsvm-nystroem``: Table 2 of Bae and Shin, a radial truth, with and without Nyström's approximation."""

from kernbench.experiments.declare import Bound, Claim, Method
from kernbench.experiments.declare.entrants import ZERO_CLASSIFIER, on_landmarks
from kernbench.experiments.papers.rocsvm.parts import (
    BRACKETS,
    DRAWN_PAIRS,
    EQUAL,
    EQUAL_CLAIM,
    EXACT,
    INCOMPLETE,
    PAPER,
    ROC_SVC,
    THEOREM,
    paper_data,
    paper_numbers,
)
from kernbench.experiments.papers.rocsvm.simulation import SIZES, simulation

POPULATION = 90.985  # the paper's, in percent; its design gives 96.4708
GAUSSIAN = {"kernel": "rbf", "gamma": "median"}
LANDMARKS = {"features": "nystroem", "n_landmarks": 300, "landmarks": "stratified"}
WHOLE = {"features": "exact"}
# A step of Adamax moves each of n coefficients by its size, and so f by n times as much: with 2 / n the first ten steps
# pass the minimum, and 20 without progress end the run; with 1 / n it is approached.
SHORT_STEPS = {"total_step": 1.0}
STEPS = {"solver_options": {"step_size": 0.02}}  # in 1,000 steps of 0.002 it would not get far from 0
COMPARED = ("kernel-incomplete", "kernel-exact", "nystroem-incomplete", "nystroem-exact", "nystroem-logistic", "zero")


def _method(name, label, *params, measure=None):
    merged = {name: value for part in (GAUSSIAN, *params) for name, value in part.items()}
    return Method(name, label, ROC_SVC, merged, seed_param="random_state", measure=measure)


METHODS = (
    _method("nystroem-incomplete", "Nyström, Adamax on n drawn pairs (the paper's)", LANDMARKS, INCOMPLETE, STEPS),
    _method("nystroem-exact", "Nyström, bundle method on all pairs (ours)", LANDMARKS, EXACT),
    _method("kernel-incomplete", "whole kernel, Adamax on n drawn pairs (the paper's)", WHOLE, INCOMPLETE, SHORT_STEPS),
    _method("kernel-exact", "whole kernel, bundle method on all pairs (ours)", WHOLE, EXACT),
    Method(
        "nystroem-logistic",
        "Nyström, LogisticRegression",
        "kernbench.experiments.measure.landmarks:NystroemLogistic",
        {"gamma": "median", "n_landmarks": 300, "landmarks": "stratified"},
        seed_param="random_state",
        code=on_landmarks("LogisticRegression(max_iter=1000)", "sklearn.linear_model", landmarks="stratified"),
    ),
    ZERO_CLASSIFIER,
    _method("pairs", "number of pairs", LANDMARKS, {"solver": "bundle", "tol": 1e-5}, measure=DRAWN_PAIRS),
    _method("equal", "equal objectives", LANDMARKS, STEPS, measure=EQUAL),
    Method(
        "theorem",
        "terms of Theorem 4",
        ROC_SVC,
        {"kernel": "rbf", "gamma": 0.18, **LANDMARKS, "n_landmarks": 30, "solver": "bundle", "tol": 1e-5},
        measure=THEOREM,
    ),
)


PAPER_NUMBERS = paper_numbers(
    (
        ("n-5000", "kernel-incomplete", 10.21, 90.947),
        ("n-5000", "nystroem-incomplete", 4.64, 90.921),
        ("n-10000", "kernel-incomplete", 19.81, 90.863),
        ("n-10000", "nystroem-incomplete", 4.60, 90.927),
        ("n-50000", "nystroem-incomplete", 5.19, 90.936),
        ("n-100000", "nystroem-incomplete", 5.87, 90.926),
    ),
    POPULATION,
)

EXPERIMENT = simulation(
    "roc-radial",
    COMPARED,
    2,
    "nystroem-incomplete",
    quick_pairs_at=1000,
    n_seeds=(2, 3),
    quick_repeats=1,
    name="rocsvm-nystroem",
    title="Gaussian ROC-SVM: 300 landmarks against the whole kernel, drawn pairs against all",
    paper=f"{PAPER}, Table 2",
    group="ROC-SVM",
    optimality="objective",
    methods=METHODS,
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
        Bound("All pairs on 300 landmarks come within 0.5 points of the truth's AUC.", "nystroem-exact", "gap", 0.005),
        Bound("Drawing n pairs costs at most 0.2 points of AUC.", "pairs", "pairs_cost", 0.002),
        EQUAL_CLAIM,
        Bound(
            "Drawn pairs err less with more rows, like 1/√n or faster (to 0.1), as Theorem 4's first term does.",
            "theorem",
            "drawn",
            -0.4,
            fitted=("drawn", "drawn_low", "drawn_high"),
        ),
    ),
    paper_numbers=PAPER_NUMBERS,
    paper_data=paper_data(PAPER_NUMBERS),
    differs="The paper gives neither the kernel's width, α nor a rule to stop; here the width is the median "
    "distance and α is 0.001 in all 50 repeats, and a fit takes at most 30 minutes.",
    note="The paper's design with 20 % positives has a population AUC of 96.4708 %, not the 90.985 % it "
    "prints: compare the distances to it. It names neither the kernel's width nor α; here σ is the median "
    "distance of rows, and α = 0.001. The step size of Adamax is 0.02 on landmarks, where 0.002 makes "
    "little progress, and 1 / n in the coefficients of the whole kernel: a step moves all n of them, and with 2 / n "
    "the first ones pass the minimum and the run ends at step 32, 15 % above it. Landmarks "
    "are drawn within each class. Times are of one fit, landmarks included, with one thread. The whole kernel is "
    "fitted to at most 10,000 rows; with more it was infeasible for the paper, too. "
    f"{BRACKETS} Each repeat draws its own training rows.",
)
