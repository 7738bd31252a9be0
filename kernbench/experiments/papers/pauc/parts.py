"""What the experiments on partial AUC share: data sets, methods, metrics, the paper's numbers."""

from kernbench.experiments.declare import Method, PaperData, Setting
from kernbench.experiments.declare import metrics as m

HERE = "kernbench.experiments.papers.pauc"
TRAINING, EVALUATE = f"{HERE}.training:measure", f"{HERE}.evaluation:evaluate"
CLASSIFIER = "kernbench.estimators.windows.partial_auc:PartialAUCClassifier"
PAPER = "Yao, Lin, Yang: Large-scale Optimization of Partial AUC in a Range of False Positive Rates"
RANGE = [0.05, 0.5]
TASKS = ("cardiomegaly", "edema", "consolidation", "atelectasis", "pleural-effusion")  # D1 to D5

# The paper's parameters (Appendix E.2), in the scale-free form: mu' and gamma' there. The authors chose among all pairs
# of a grid on validation data; this is one of its points. Their c is the solver's default for the scale of the rows.
AGD = {"mu": 1e3, "gamma": 2e3}
LAMBDAS = {**AGD, "thresholds": "stochastic"}  # Algorithm 1: a threshold λ for each positive

METRICS = (
    m.percent("test_pauc", "pAUC on test rows", 1e-3, "higher", unit=""),
    m.percent("train_pauc", "pAUC on training rows", 1e-3, "higher", unit=""),
    m.AUC,
    m.number("objective", "objective", 1e-3),
    m.number("penalised", "objective with the penalty", 1e-3),
    m.FIT_SECONDS,
    m.seconds("search", "time to choose α"),
    m.number("alpha", "α"),
    m.N_ITER,
    m.number("passes", "rows touched / rows", 0.1),
    m.PEAK_MEMORY,
)


CHEXPERT = tuple(
    PaperData(task, "224,316 radiographs of CheXpert, as 1,024 features of a network trained on them") for task in TASKS
)


def method(name, label, *, solver, seed_param="random_state", **params):
    """A method of `PartialAUCClassifier` over the paper's range, started like all others."""
    return Method(
        name,
        label,
        CLASSIFIER,
        {"fpr_range": RANGE, "solver": solver, "start": "logistic", **params},
        seed_param=seed_param,
    )


def stand_in(task, n_train, n_test, n_features, **arguments):
    """Generated features with the share of positives of one of the paper's five tasks."""
    return Setting(
        f"{task}-stand-in",
        {"name": "network-features", "task": task, "n_train": n_train, "n_test": n_test, "n_features": n_features},
        stands_for=task,
        note=f"STAND-IN, generated: {n_train:,} × {n_features}, with CheXpert's share of positives for {task} and "
        "otherwise unrelated; CheXpert needs an agreement, and the features a network.",
        repeat_argument="seed",
        **arguments,
    )


def real(name, note="", **arguments):
    """A real set with many more negatives than positives, in its published parts, or one split if it has none."""
    return Setting(name, {"name": name}, note=note, **arguments)


def resplit(name, **arguments):
    """A real set of which every repeat draws another test part."""
    return Setting(name, {"name": name}, repeat_argument="split_seed", **arguments)


def pooled(name, **arguments):
    """A set published in two parts, which are pooled; every repeat draws another test part."""
    note = "The published parts pooled; every repeat splits them again, at their sizes."
    return resplit(name, loader=f"{HERE}.splits:pooled", note=note, **arguments)
