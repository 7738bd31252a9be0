"""``pauc-test``: Table 2 (linear) of Yao, Lin and Yang: fresh rows, α chosen by validation."""

from dataclasses import replace

from kernbench.experiments.declare import (
    Axis,
    Claim,
    CrossTable,
    Experiment,
    Marks,
    Method,
    MetricTable,
    PaperNumber,
    Recommendation,
    Scale,
)
from kernbench.experiments.declare.entrants import SEARCHED, ZERO_CLASSIFIER
from kernbench.experiments.papers.pauc.parts import (
    AGD,
    CHEXPERT,
    EVALUATE,
    HERE,
    LAMBDAS,
    PAPER,
    RANGE,
    TASKS,
    method,
    pooled,
    resplit,
    stand_in,
)
from kernbench.experiments.papers.pauc.stand_ins import stand_ins
from kernbench.experiments.papers.pauc.work import METRICS

# pAUC on the test rows, and what is printed behind ±, by task; D1 to D5.
TABLE = {
    "svmpauc-tight": ((0.6538, 0.0042), (0.6038, 0.0009), (0.6946, 0.0020), (0.6521, 0.0006), (0.7994, 0.0004)),
    "dca": ((0.6636, 0.0093), (0.8078, 0.0030), (0.7427, 0.0257), (0.6169, 0.0208), (0.8371, 0.0022)),
    "proximal-dca": ((0.6615, 0.0103), (0.8041, 0.0033), (0.7064, 0.0253), (0.5945, 0.0266), (0.8352, 0.0023)),
    "agd-sbcd-lambdas": ((0.6721, 0.0081), (0.8257, 0.0025), (0.8016, 0.0075), (0.6340, 0.0165), (0.8500, 0.0017)),
}
# The grids of Appendix E.2; c is that of rows of mean square 1. Of proximal DCA's range of L, 1e-5 to 1, four values.
OF_STEPS = {"c": [5.0, 0.1, 1.0, 10.0, 20.0, 30.0]}
OF_DCA = {**OF_STEPS, "inner_steps": [100, 200, 500]}
OF_PROXIMAL = {**OF_DCA, "proximal": [1e-5, 1e-3, 1e-1, 1.0]}
OF_AGD = {**OF_STEPS, "mu": [1e3, 1e2], "gamma": [2e3, 5e3]}
# Six outer iterations of 50 (k + 1)² steps take 4,550, the seventh 2,450 more: AGD-SBCD's model is that of the sixth.
STEPS = 6950
OF_BATCHES = {"max_iter": STEPS, "tol": 1e-9}


def _tuned(grid):
    return {"options_grid": {"grid": grid}, **OF_BATCHES}


METHODS = (
    Method("logistic", "logistic regression", "kernbench.estimators:LinearSVC",
           {"loss": "log_loss", "solver": "bundle", "tol": 1e-3}),
    Method("all-pairs", "ROC-SVM, all pairs", "kernbench.estimators:ROCSVC", {"tol": 1e-3}),
    method("svmpauc-tight", "SVMpAUC-tight", solver="svmpauc-tight"),
    method("dca", "DCA, one exact threshold", solver="dca", **_tuned(OF_DCA)),
    method("proximal-dca", "proximal DCA, one exact threshold", solver="proximal-dca", **_tuned(OF_PROXIMAL)),
    method("agd-sbcd-lambdas", "AGD-SBCD, a λ per positive (the paper's)", solver="agd-sbcd",
           solver_options=LAMBDAS, **_tuned(OF_AGD)),
    method("agd-sbcd", "AGD-SBCD, one exact threshold (ours)", solver="agd-sbcd", solver_options=AGD,
           **_tuned(OF_AGD)),
    method("dca-exact", "exact DCA, logistic (ours)", solver="dca-exact"),
    method("dca-exact-hinge", "exact DCA, hinge (ours)", solver="dca-exact", loss="hinge"),
    Method("auc-margin", "AUC margin", "kernbench:AUCMarginClassifier", seed_param="random_state"),
    replace(ZERO_CLASSIFIER, params={"search": None}),
    Method("boosted-trees", "HistGradientBoosting (not linear)", f"{HERE}.peers:BoostedTrees", {"search": None},
           seed_param="random_state"),
    Method("lightgbm", "LightGBM (not linear)", f"{HERE}.peers:LightGBM", {"search": None},
           seed_param="random_state", requires="lightgbm", package="lightgbm"),
    Method("libauc-sopa", "LibAUC, SOPA on [0, 0.5]", f"{HERE}.peers:LibAUCPartial", {"mode": "SOPA"},
           seed_param="random_state", requires="libauc", package="libauc"),
    Method("libauc-sopas", "LibAUC, SOPAs", f"{HERE}.peers:LibAUCPartial", {"mode": "SOPAs"},
           seed_param="random_state", requires="libauc", package="libauc"),
)  # fmt: skip
LINEAR = tuple(m.name for m in METHODS if m.name not in ("boosted-trees", "lightgbm"))
TUNED = {"search": {"alphas": [10.0**-k for k in range(7)], "max_rows": 50_000, "fpr_range": RANGE}}
QUICK_SEARCH = {"alphas": [1e-2, 1e-4], "max_rows": 2000, "fpr_range": RANGE, "n_points": 2}

QUICK = Scale(
    settings=(stand_in("edema", 2000, 2000, 32, params={"search": QUICK_SEARCH}),),
    repeats=1,
    time_limit=60.0,
    memory_limit=2 * 2**30,
)
PAPER_SCALE = Scale(
    settings=(
        *stand_ins(50_000, 20_000, 256, params=TUNED),
        pooled("adult", params=TUNED),
        pooled("ijcnn1", params=TUNED),
        resplit("w8a", params=TUNED),
        resplit("skin", params=TUNED),
        resplit("accelerometer", params=TUNED),
    ),
    repeats=10,
    time_limit=3600.0,
)


def _paper_numbers():
    for name, row in TABLE.items():
        for task, (value, error) in zip(TASKS, row, strict=True):
            yield PaperNumber(task, name, "test_pauc", value, error)


EXPERIMENT = Experiment(
    name="pauc-test",
    title="Partial AUC on fresh rows",
    paper=f"{PAPER}, Table 2 (linear models)",
    group="Partial AUC",
    methods=METHODS,
    scales={"quick": QUICK, "paper": PAPER_SCALE},
    metrics=METRICS,
    claims=(
        *(
            Claim(
                f"AGD-SBCD, {words}, is no worse than {other} on fresh rows (0.1 points).",
                name,
                baseline,
                "test_pauc",
                0.001,
            )
            for name, words in (("agd-sbcd-lambdas", "a λ per positive"), ("agd-sbcd", "one threshold"))
            for baseline, other in (("svmpauc-tight", "SVMpAUC-tight"), ("dca", "DCA with one threshold"))
        ),
        Claim(
            "The exact method is no worse than a tuned logistic regression (0.1 points).",
            "dca-exact",
            "logistic",
            "test_pauc",
            0.001,
        ),
        Claim(
            "The exact method is no worse than AGD-SBCD with one threshold on fresh rows (0.1 points).",
            "dca-exact",
            "agd-sbcd",
            "test_pauc",
            0.001,
        ),
        Claim(
            "A linear score of the window is no worse than boosted trees.",
            "dca-exact",
            "boosted-trees",
            "test_pauc",
            0.0,
        ),
    ),
    paper_data=CHEXPERT,
    paper_numbers=tuple(_paper_numbers()),
    measure="kernbench.experiments.measure.race:rank",
    evaluate=EVALUATE,
    tables=(
        CrossTable("pauc", "pAUC over [0.05, 0.5] on the test rows", "test_pauc"),
        CrossTable("time", "Time of a fit, α being chosen", "fit_seconds"),
        MetricTable(
            "details",
            "Training rows, and chosen parameters",
            ("train_pauc", "auc", "alpha", "objective", "n_iter", "search_seconds", "peak_memory"),
            notes=("Objective: the mean logistic loss of the pairs in the window, without the penalty.",),
        ),
        Recommendation(
            "the partial AUC",
            "test_pauc",
            "logistic",
            0.001,
            methods=LINEAR,
            have="a limit on false alarms (partial AUC)",
            main="PartialAUCClassifier",
            models="rank",
            left_out=SEARCHED,
        ),
    ),
    figures=(Marks("paucs", "pAUC on the test rows", Axis("metrics.test_pauc", "pAUC")),),
    threads=1,
    warm_up_rows=64,
    differs="The paper tests on 234 radiographs of CheXpert, which need an agreement; here there are 10 repeats of at "
    "most 60 minutes on stand-ins and public sets, with 7 values of α from 1 to 1e-06 and the grids of its "
    "Appendix E.2.",
    note="The paper's Algorithm 1 keeps a λ for each positive; ours has one exact threshold on scores instead. "
    "So have both DCAs here; the paper's, which keep a λ for each positive (Algorithm 4), were not run, and its "
    "numbers stand beside these variants. "
    "α is chosen for every method alike, by the pAUC of a quarter of the training rows, of at most 50,000 of "
    "them; every repeat draws another test part. Of SVMpAUC-tight that is C = 1/α from 1 to 10⁶, of which only C = 1 "
    "is in the paper's grid, 10⁻³ to 1. Before that, c, the C of DCAs, L, μ′ and γ′ are chosen on the same "
    "rows, at the smallest α, by fits of full length, since the largest c and γ′ / μ′ do best in short ones and "
    "then diverge; c is that of rows of mean square 1, and of L there are four values. DCAs and AGD-SBCD "
    "take 6,950 steps; the model of AGD-SBCD is that of its last complete outer iteration, the sixth, after 4,550 of "
    "them. "
    "Validation does not keep all its fits from diverging: with one threshold four of ten splits of w8a end below a "
    "pAUC of 92, with a λ for each positive two of skin below 95. Which steps prevent that was not examined. "
    "Boosted trees are a common first choice; they "
    "are not linear, and where they win, a linear score is the wrong model. LibAUC's ranges begin at 0; its methods "
    "take six passes over the negatives with balanced batches of 200 and steps of 0.01, which were not tuned. Of the "
    "stand-ins those with the least and the largest share of positives run by default, the others by name. The paper "
    "says that its algorithm is the best for all diseases; among the linear models of its Table 2 it is not on "
    "atelectasis, .6340 against .6521 of SVMpAUC-tight. What its ± are it does not say. One thread.",
)
