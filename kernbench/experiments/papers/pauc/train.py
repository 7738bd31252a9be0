"""``pauc-train``: Table 1 and Figures 1, 3, 4, 7 of Yao, Lin and Yang: the training rows, over time."""

from kernbench.experiments.declare import (
    Axis,
    Bound,
    Claim,
    CrossTable,
    Curves,
    Experiment,
    MetricTable,
    PaperNumber,
    Passing,
    Quantity,
    Scale,
)
from kernbench.experiments.papers.pauc.parts import (
    AGD,
    CHEXPERT,
    EVALUATE,
    LAMBDAS,
    PAPER,
    RANGE,
    TASKS,
    TRAINING,
    method,
    real,
    stand_in,
)
from kernbench.experiments.papers.pauc.work import METRICS, READ, WORK

# Training pAUC and CPU seconds of SVMpAUC-tight; of AGD-SBCD final pAUC, what is printed behind its ±, and CPU seconds.
TABLE = {
    "cardiomegaly": (0.6259, 95.14, 0.7005, 0.0003, 118.32),
    "edema": (0.5860, 90.83, 0.7214, 0.0024, 415.66),
    "consolidation": (0.3745, 90.56, 0.4910, 0.0006, 181.70),
    "atelectasis": (0.3895, 89.64, 0.4616, 0.0006, 187.36),
    "pleural-effusion": (0.7267, 90.86, 0.8272, 0.0001, 238.10),
}
PASSED = (
    "In the paper AGD-SBCD passes SVMpAUC-tight's pAUC after 2.91, 3.36, 3.26, 10.09 and 3.97 s on these five tasks, 3 "
    "to 11 % of SVMpAUC-tight's time and 0.23 epochs (0.63 on atelectasis). On a graphics card, which is not used "
    "here, it does after 1.85, 1.93, 1.84, 8.38 and 1.89 s and ends after 82.13, 247.29, 104.55, 158.14 and 142.91 s."
)
ALPHA = 1e-5
OF_BATCHES = {"alpha": ALPHA, "tol": 1e-9, "rows_per_step": 200}
TIGHT_ALPHA = 1e-3
TIGHT = f"SVMpAUC-tight by its published steps at C = {1 / TIGHT_ALPHA:,.0f}, converged or stopped after 1,000 cuts"
AGD_ITER = 50 * sum((k + 1) ** 2 for k in range(8))  # eight outer iterations

METHODS = (
    method("svmpauc-tight", "SVMpAUC-tight", solver="svmpauc-tight", alpha=TIGHT_ALPHA,
           solver_options={"plain": True}),
    method("svmpauc-tight-ours", "SVMpAUC-tight, ours", solver="svmpauc-tight", alpha=TIGHT_ALPHA),
    method("agd-sbcd", "AGD-SBCD", solver="agd-sbcd", max_iter=AGD_ITER,
           solver_options=LAMBDAS, **OF_BATCHES),
    method("agd-sbcd-threshold", "AGD-SBCD, one τ", solver="agd-sbcd", max_iter=AGD_ITER,
           solver_options=AGD, **OF_BATCHES),
    method("dca", "DCA, one τ", solver="dca", max_iter=AGD_ITER, **OF_BATCHES),
    method("proximal-dca", "proximal DCA, one τ", solver="proximal-dca", max_iter=AGD_ITER, **OF_BATCHES),
    method("minibatch", "mini-batch", solver="minibatch", max_iter=AGD_ITER, **OF_BATCHES),
    method("dca-exact", "exact DCA (ours)", solver="dca-exact", alpha=ALPHA, tol=1e-5),
)  # fmt: skip

QUICK = Scale(settings=(stand_in("edema", 4000, 1000, 64),), repeats=1, time_limit=60.0, memory_limit=2 * 2**30)
PAPER_SCALE = Scale(
    settings=(
        *(stand_in(task, 224_316, 20_000, 1024) for task in TASKS),
        real("w8a"),
        real("ijcnn1"),
        real("skin"),
        real("accelerometer"),
        real("mnist-8-vs-rest"),
    ),
    repeats=3,
    time_limit=3600.0,
)


def _paper_numbers():
    for task, (tight, tight_seconds, final, error, seconds) in TABLE.items():
        yield PaperNumber(task, "svmpauc-tight", "train_pauc", tight)
        yield PaperNumber(task, "svmpauc-tight", "fit_seconds", tight_seconds)
        yield PaperNumber(task, "agd-sbcd", "train_pauc", final, error)
        yield PaperNumber(task, "agd-sbcd", "fit_seconds", seconds)


EXPERIMENT = Experiment(
    name="pauc-train",
    title="Partial AUC on the training rows, over time",
    paper=f"{PAPER}, Table 1, Figures 1, 3, 4 and 7",
    group="Partial AUC",
    optimality="objective",
    methods=METHODS,
    scales={"quick": QUICK, "paper": PAPER_SCALE},
    metrics=METRICS,
    claims=(
        Passing(
            f"AGD-SBCD passes the training pAUC of {TIGHT}, in a tenth of its time.",
            "agd-sbcd",
            "svmpauc-tight",
            "train_pauc",
            0.1,
        ),
        Passing(
            "The exact method is done, to 1e-5, before AGD-SBCD with one threshold comes within 1 % of its objective.",
            "agd-sbcd-threshold",
            "dca-exact",
            "penalised",
            1.0,
            within=0.01,
            later=True,
        ),
        Claim(
            f"AGD-SBCD ends at no smaller a training pAUC than {TIGHT}.", "agd-sbcd", "svmpauc-tight", "train_pauc", 0.0
        ),
        *(
            claim
            for peer, words in (("dca", "DCA with one threshold"), ("proximal-dca", "proximal DCA with one threshold"))
            for claim in (
                Passing(
                    f"AGD-SBCD with a λ for each positive reaches the final objective of {words} in half of its time.",
                    "agd-sbcd",
                    peer,
                    "penalised",
                    0.5,
                ),
                Claim(
                    f"AGD-SBCD with a λ for each positive ends at no smaller a training pAUC than {words}.",
                    "agd-sbcd",
                    peer,
                    "train_pauc",
                    0.0,
                ),
            )
        ),
        Bound(
            "AGD-SBCD with one threshold ends within 1 % of the exact solution's objective.",
            "agd-sbcd-threshold",
            "penalised",
            1.01,
            baseline="dca-exact",
        ),
        Claim(
            "The exact method is no worse than AGD-SBCD in training pAUC (0.1 points), in no more time.",
            "dca-exact",
            "agd-sbcd",
            "train_pauc",
            0.001,
            time_fraction=1.0,
        ),
    ),
    paper_data=CHEXPERT,
    paper_numbers=tuple(_paper_numbers()),
    measure=TRAINING,
    evaluate=EVALUATE,
    tables=(
        CrossTable("pauc", "pAUC over [0.05, 0.5] on the training rows, at the end", "train_pauc"),
        MetricTable(
            "passing",
            "Time to pass SVMpAUC-tight's training pAUC for good",
            (
                Quantity("train_pauc", "reached", label="time to pass it", baseline="svmpauc-tight"),
                Quantity("fit_seconds", "median", label="time in all"),
                "passes",
                "objective",
                "test_pauc",
            ),
            notes=(
                "Objective: the mean logistic loss of the pairs in the window, by one code for all methods, without "
                "the penalty.",
                f"{READ.capitalize()}: a step of exact DCA or of SVMpAUC-tight reads all rows twice, others read a "
                "batch. Full passes between steps are not counted, though their time is: one in each outer iteration "
                "of AGD-SBCD with one τ, to find it, 8 in all, and two in each of a DCA, for τ and for the "
                "linearisation, 14 in all; nor are those of the stopping rule, which all methods of batches have.",
                PASSED,
            ),
        ),
    ),
    figures=(
        Curves(
            "pauc-seconds",
            "Training pAUC against time",
            Axis("trace.seconds", "time", "s", log=True),
            Axis("trace.train_pauc", "training pAUC"),
            panel="dataset",
            large=True,
            shared_y=False,
            y_depth=0.02,
        ),
        Curves(
            "loss-seconds",
            "Loss in the window against time",
            Axis("trace.seconds", "time", "s", log=True),
            Axis("trace.loss", "mean loss in the window", log=True),
            panel="dataset",
            large=True,
            shared_y=False,
            y_span=4.0,  # SVMpAUC-tight begins far above the others
        ),
        Curves(
            "loss-passes",
            "Loss in the window against rows read by steps",
            WORK,
            Axis("trace.loss", "mean loss in the window", log=True),
            panel="dataset",
            large=True,
            shared_y=False,
            y_span=4.0,  # SVMpAUC-tight begins far above the others
        ),
        Curves(
            "roc",
            "ROC curves on the test rows",
            Axis("trace.fpr", "false positive rate"),
            Axis("trace.tpr", "true positive rate"),
            panel="dataset",
            x_window=tuple(RANGE),
            large=True,
            marks=False,
            band=False,
        ),
    ),
    threads=1,
    differs="The paper runs on features of CheXpert, which need an agreement; here there are 3 repeats of at most 60 "
    "minutes on generated features of that size and on public sets.",
    note="The paper has no penalty; here α is 10⁻⁵. SVMpAUC-tight has one: its α here is 10⁻³, or C = 1/α = 1,000, a "
    "thousand times the largest of the paper's grid, 10⁻³ to 1, which is for rows whose scale is not told. Its pAUC, "
    "its time and the claims on a tenth of this time depend on that. In `pauc-test` validation chose C = 10 in nearly "
    "all splits of its two stand-ins; on public sets most often 1 for skin, 100 for w8a, 1,000 for Adult and ijcnn1. "
    "All methods start from the same logistic regression. One τ: one threshold on scores instead of a λ for "
    "each positive. SVMpAUC-tight takes the published steps, textbook cutting planes, but holds at most 200 cuts, of "
    "which idle ones are dropped, and starts from the logistic regression; the published method holds all cuts and "
    "starts from f = 0. Ours is the bundle method. "
    "Both stop after 1,000 cuts, two passes over the rows for each: on the five stand-ins for CheXpert, SVMpAUC-tight "
    "by the published steps stopped there without having converged, so its pAUC and its time are those of that limit. "
    "AGD-SBCD takes batches of 100 positives and 100 negatives with the paper's schedule of steps, 50 (k + 1)², for "
    "eight outer iterations; both DCAs take as many steps of such batches, 100 (k + 1)² in each of theirs. Both DCAs "
    "have one τ; the paper's have a λ for each positive (Algorithm 4), were not run, and its curves are of those. With "
    "one τ, which is found exactly when an outer iteration begins and moves at every step, AGD-SBCD ends below DCA "
    "with one τ on all sets but skin and the accelerometer; with a λ for each positive, updated only when this "
    "positive is in a batch, on none. So on the other eight the thresholds decide whether AGD-SBCD ends below this "
    "DCA; what a λ for each positive costs DCA was not measured. "
    "The paper gives the window as the ranks 10⁴ to 10⁵ of the negatives, here it is the rates 0.05 "
    "to 0.5. μ′, γ′ and the 100 steps of DCA's first outer iteration, which the paper calls C, too, are one point of "
    "the paper's grid, and c is ours. SVMpAUC-tight minimises its own "
    "convex bound, so its objective is not comparable, its pAUC is. The paper says that AGD-SBCD improves the pAUC of "
    "SVMpAUC-tight by at least 12 %; by its own numbers that is 11.9 to 31 %. One thread.",
)
