"""``sorr``: Figure 2 of Yao, Lin and Yang: the sum of ranked range on four LIBSVM sets."""

from dataclasses import replace

from kernbench.experiments.declare import (
    Axis,
    Bound,
    CrossTable,
    Curves,
    Experiment,
    Method,
    Recommendation,
    Scale,
    Setting,
)
from kernbench.experiments.declare import metrics as m
from kernbench.experiments.declare.entrants import ZERO_CLASSIFIER
from kernbench.experiments.papers.pauc.parts import EVALUATE, HERE, PAPER, real
from kernbench.experiments.papers.pauc.work import PASSES, WORK

CLASSIFIER = "kernbench.estimators.windows.ranked_range_classifier:RankedRangeClassifier"
RANKS = [1000, 20_000]  # the paper's m and n
STEPS = 30 * sum((k + 1) ** 2 for k in range(10))


def _method(name, label, *, solver, **params):
    common = {"solver": solver, "alpha": 1e-7, "fit_intercept": False}
    return Method(name, label, CLASSIFIER, {**common, **params}, seed_param="random_state")


OF_BATCHES = {"tol": 1e-12, "max_iter": STEPS, "rows_per_step": 100}
METHODS = (
    _method("agd-lambda", "AGD, λ by steps (the paper's)", solver="agd",
            solver_options={"thresholds": "stochastic"}, **OF_BATCHES),
    _method("agd", "AGD, one exact threshold (ours)", solver="agd", **OF_BATCHES),
    _method("dca", "DCA, one exact threshold", solver="dca", **OF_BATCHES),
    _method("dca-constant", "DCA, one exact threshold, constant steps", solver="dca",
            solver_options={"schedule": "constant", "step_size": 0.1}, **OF_BATCHES),
    _method("dca-exact", "exact DCA (ours)", solver="dca-exact", tol=1e-5),
    Method("logistic", "LinearSVC, log_loss: the mean of all losses", "kernbench.estimators:LinearSVC",
           {"loss": "log_loss", "solver": "bundle", "alpha": 1e-7, "fit_intercept": False}, seed_param="random_state"),
    replace(ZERO_CLASSIFIER, params={"fit_intercept": False}),
)  # fmt: skip
METRICS = (m.number("objective", "mean loss in the range", 1e-3), m.AUC, m.FIT_SECONDS, PASSES, m.N_ITER, m.PEAK_MEMORY)

EXPERIMENT = Experiment(
    name="sorr",
    title="The sum of ranked range",
    paper=f"{PAPER}, Figure 2",
    group="Partial AUC",
    optimality="objective",
    methods=METHODS,
    scales={
        "quick": Scale(
            (
                Setting(
                    "census-stand-in",
                    {"name": "adult-like", "n_train": 4000, "n_test": 1000},
                    {"ranked_range": [100, 2000]},
                    stands_for="adult",
                    note="generated; ranks 100 to 2,000 of 4,000 losses",
                    repeat_argument="seed",
                ),
            ),
            1,
            60.0,
            2 * 2**30,
        ),
        "paper": Scale(
            tuple(real(name, params={"ranked_range": RANKS}) for name in ("adult", "w8a", "ijcnn1", "covtype")),
            3,
            1800.0,
        ),
    },
    metrics=METRICS,
    claims=(
        *(
            Bound(f"{words} {ends}", name, "objective", factor, baseline=baseline)
            for name, words in (("agd-lambda", "AGD, λ by steps,"), ("agd", "AGD with one exact threshold"))
            for ends, factor, baseline in (
                ("comes within 1 % of the exact solution.", 1.01, "dca-exact"),
                ("ends no higher than DCA with one exact threshold and changing steps.", 1.0, "dca"),
                ("ends no higher than DCA with one exact threshold and constant steps.", 1.0, "dca-constant"),
            )
        ),
    ),
    measure=f"{HERE}.training:measure_sorr",
    evaluate=EVALUATE,
    tables=(
        CrossTable("objective", "Mean of the logistic losses of rank 1,001 to 20,000", "objective"),
        CrossTable("time", "Time of a fit", "fit_seconds"),
        Recommendation(
            "a ranked range of losses",
            "objective",
            "dca-exact",  # the lowest: the race is judged by the objective, of which the margin is 1 % at most
            1e-3,
            have="outliers among labelled rows",
            main="RankedRangeClassifier",
            objective="objective",
            left_out={
                name: "it minimises the mean of all losses, as LinearSVC does, which is in the race"
                for name in ("KernelSVC", "KernelNuSVC", "KernelSVCCV", "LinearSVCCV", "DoublyStochasticClassifier")
            },
        ),
    ),
    figures=(
        Curves(
            "loss-seconds",
            "Mean loss in the range against time",
            Axis("trace.seconds", "time", "s", log=True),
            Axis("trace.loss", "mean loss in the range", log=True),
            panel="dataset",
            large=True,
            shared_y=False,
        ),
        Curves(
            "loss-passes",
            "Mean loss in the range against rows read by steps",
            WORK,
            Axis("trace.loss", "mean loss in the range", log=True),
            panel="dataset",
            large=True,
            shared_y=False,
        ),
    ),
    threads=1,
    differs="The paper prints curves only, of parameters from a grid; here there are 3 repeats of at most 30 minutes "
    "with one choice of ours, beside the exact method's.",
    note="The paper has no numbers to compare with. No intercept, almost no penalty (α = 10⁻⁷). Two sets have fewer "
    "training rows here than in the paper, split by us: w8a 34,824 of the 49,749 published, covtype 522,910 of all "
    "581,012. On covtype the ranks are of the hardest 4 "
    "% of the rows, where no method's loss is below that of f = 0, log 2; exact DCA ends at its limit of 1,000 "
    "iterations, just above it, or, in one repeat, at a critical point 3.5 % above it. All methods start from the same "
    "logistic regression. Of the paper's grid are μ′ = 1,000 and the lengths of outer iterations, 50 and 100 "
    "(k + 1)², not γ′ = 2,000, c, and the 100 steps from one linearisation to the next of DCA with constant steps, of "
    "which the paper takes 2,000 or 3,000: where AGD ends above a DCA, other steps may change that, and none were "
    "tried. AGD and DCA take 11,550 steps; the model of AGD is that of its last complete outer iteration, after 10,200 "
    "of them. Both DCAs find their threshold exactly when an outer iteration begins; the paper's, whose λ only follows "
    "its subgradients, was not run, and its curves are of that one. The rows read by steps are those of batches, and "
    "twice all rows for each step of exact DCA. Full passes between steps are not counted, though their time is: one "
    "in each outer iteration of AGD with one exact threshold, 9 in all, two in each of a DCA, 14 with changing and "
    "232 with constant steps; nor are those of the stopping rule, which all methods of batches have. One thread.",
)
