"""Every algorithm, listed once. A solver that is not here does not exist; one that is here is tested.

Tests, benchmarks, ``kernbench list`` and the report iterate over `SOLVERS`, and over the kinds of problem in
:mod:`kernbench.solvers.kinds`. A plug-in adds its solvers by `add`.
"""

from kernbench._names import unknown_name
from kernbench.solvers.entry import SolverEntry
from kernbench.solvers.entry_checks import check_description, check_method, check_name

# What the entries of SMO share, whatever the problem. Names and problems are written out in each entry: the asv suite
# reads them from this text.
SMO = {
    "method": "kernbench.solvers.kernel.smo.smo:SMO",
    "complexity": "one kernel row (n evaluations) per coefficient that ever moves",
    "default_epochs": 100,
    "default_iterations": 10_000_000,
    "draws": False,
    "two_precisions": True,
}
SMO_BY_GAP = "largest violation of the optimality (KKT) conditions, and certified duality gap / objective"

SOLVERS = [
    SolverEntry(
        name="smo",
        problem="kernel-svm",
        paper="Platt 1998; Fan, Chen, Lin, JMLR 2005; working sets as in Joachims 1999",
        stopping=SMO_BY_GAP,
        **SMO,
    ),
    SolverEntry(
        name="sdca",
        problem="kernel-svm",
        method="kernbench.solvers.kernel.sdca:SDCA",
        paper="Hsieh et al., ICML 2008; Shalev-Shwartz and Zhang, JMLR 2013",
        complexity="n evaluations per dual variable that moves; linear convergence for smooth losses",
        default_epochs=200,
    ),
    SolverEntry(
        name="pegasos",
        problem="kernel-svm",
        method="kernbench.solvers.kernel.online.pegasos:Pegasos",
        paper="Shalev-Shwartz, Singer, Srebro, Cotter, Math. Prog. 2011",
        complexity="n evaluations per violating step; O(1/(alpha eps)) steps",
        default_epochs=20,
        steps_on_batches=True,
    ),
    SolverEntry(
        name="norm-ball-sgd",
        problem="kernel-svm",
        method="kernbench.solvers.kernel.online.norm_ball_sgd:NormBallSGD",
        paper="Zinkevich, ICML 2003; Zhang, ICML 2004; Cotter, Shalev-Shwartz, Srebro, ICML 2012",
        complexity="n evaluations per violating step; O(1/eps^2) steps",
        default_epochs=20,
    ),
    SolverEntry(
        name="perceptron",
        problem="kernel-svm",
        method="kernbench.solvers.kernel.online.perceptron:Perceptron",
        paper="Freund and Schapire, Machine Learning 1999; Cotter, Shalev-Shwartz, Srebro, ICML 2012",
        complexity="n evaluations per mistake; one pass",
        stopping="nothing: it makes one pass, after which the certified gap / objective tells whether tol is met",
        default_epochs=100,
    ),
    SolverEntry(
        name="sbp",
        problem="kernel-svm",
        method="kernbench.solvers.kernel.sbp.sbp:SBP",
        paper="Cotter, Shalev-Shwartz, Srebro, ICML 2012",
        complexity="n evaluations and O(n) work per step; O(1/eps^2) steps",
        default_epochs=10,
    ),
    SolverEntry(
        name="norma",
        problem="kernel-svm",
        method="kernbench.solvers.kernel.online.norma:NORMA",
        paper="Kivinen, Smola, Williamson, IEEE Trans. Signal Processing 2004",
        complexity="n evaluations per violating step, or one per kept term and step; O(1/eps^2) steps",
        default_epochs=20,
        steps_on_batches=True,
    ),
    SolverEntry(
        name="scs",
        problem="kernel-svm",
        method="kernbench.solvers.kernel.conjugate.scs:SCS",
        paper="Zhang and Sen, The Stochastic Conjugate Subgradient Algorithm for Kernel Support Vector Machines",
        complexity="s^2 evaluations per iteration on a sample of s examples, whatever n, and none once it is full for "
        "n <= 10 s; memory for 3 s^2 values of 8 bytes",
        stopping="certified gap / objective; for more rows than the sample holds, that of the sample, or the length of "
        "the direction with a gap below a tenth of the objective of the sample",
        default_iterations=1000,
    ),
    SolverEntry(
        name="wolfe",
        problem="kernel-svm",
        method="kernbench.solvers.kernel.conjugate.wolfe:Wolfe",
        paper="Wolfe, A method of conjugate subgradients, Math. Prog. Study 3, 1975",
        complexity="one kernel row per example that ever crosses the margin; O(n) work per crossing",
        stopping="length of the direction, or certified gap / objective",
        default_iterations=2000,
        draws=False,
    ),
    SolverEntry(
        name="closed-form",
        problem="kernel-svm",
        method="kernbench.solvers.kernel.closed_form:ClosedForm",
        paper="the Parzen classifier, to which strong regularisation leads; Zhang and Sen take alpha = 1",
        complexity="n^2 evaluations, once; exact where no margin exceeds 1",
        default_iterations=2,
        draws=False,
    ),
    SolverEntry(
        name="sdca",
        problem="linear-svm",
        method="kernbench.solvers.linear.sdca:SDCA",
        paper="Hsieh, Chang, Lin, Keerthi, Sundararajan, ICML 2008; Yu, Huang, Lin, Mach. Learn. 2011",
        complexity="the stored values of a row, twice, per step; O(n + 1/(alpha eps)) steps in the worst case",
        default_epochs=1000,
        default_iterations=10_000_000,
        default_work=10**9,
    ),
    SolverEntry(
        name="pegasos",
        problem="linear-svm",
        method="kernbench.solvers.linear.pegasos:Pegasos",
        paper="Shalev-Shwartz, Singer, Srebro, Cotter, Math. Prog. 2011",
        complexity="one row per step; O(1/(alpha eps)) steps",
        default_epochs=100,
        steps_on_batches=True,
    ),
    SolverEntry(
        name="simba",
        problem="linear-svm",
        method="kernbench.solvers.linear.simba:SIMBA",
        paper="Hazan, Koren, Srebro, NIPS 2011",
        complexity="one row, one column and O(n + d) work per step; O(log n / eps^2) steps",
        default_iterations=200_000,
    ),
    SolverEntry(
        name="sbmd",
        problem="linear-svm",
        method="kernbench.solvers.linear.sbmd:SBMD",
        paper="Dang and Lan, SIAM J. Optim. 2015",
        complexity="one row and a block of the weights per step; O(b/(alpha eps)) steps with b blocks",
        default_epochs=200,
    ),
    SolverEntry(
        name="rbcd",
        problem="linear-svm",
        method="kernbench.solvers.linear.rbcd:RBCD",
        paper="Nesterov, SIAM J. Optim. 2012",
        complexity="two products with the columns of a block per step; linear convergence; smooth losses only",
        default_iterations=1_000_000,
    ),
    SolverEntry(
        name="newton",
        problem="linear-svm",
        method="kernbench.solvers.linear.newton:Newton",
        paper="Keerthi and DeCoste, JMLR 2005; Chapelle, Neural Computation 2007; smoothing as in Nesterov, 2005",
        complexity="n d^2 / 2 for the Hessian and two passes over the data per step; some tens of steps",
        default_iterations=1000,
    ),
    SolverEntry(
        name="bundle",
        problem="linear-svm",
        method="kernbench.solvers.linear.bundle:Bundle",
        paper="Franc and Sonnenburg, JMLR 2009; Teo et al., JMLR 2010",
        complexity="two passes over the data per cut; a handful of cuts",
        stopping="certified gap / objective",
        default_iterations=1000,
    ),
    SolverEntry(
        name="bundle",
        problem="roc-svm",
        method="kernbench.solvers.ranking.bundle:Bundle",
        paper="Joachims, KDD 2006; Franc and Sonnenburg, JMLR 2009; Teo et al., JMLR 2010",
        complexity="two passes over the data and a sort per cut; a handful of cuts",
        stopping="certified gap / objective",
        default_iterations=1000,
    ),
    SolverEntry(
        name="newton",
        problem="roc-svm",
        method="kernbench.solvers.ranking.newton:Newton",
        paper="Chapelle and Keerthi 2010; Lee and Lin 2014; with kernels Kuo, Lee and Lin, SDM 2014",
        complexity="two passes over the data per conjugate gradient step, a sort per Newton step; smooth losses only",
        stopping="certified gap / objective",
        default_iterations=1000,
    ),
    SolverEntry(
        name="gradient",
        problem="roc-svm",
        method="kernbench.solvers.ranking.descent:Gradient",
        paper="Bae and Shin, Scaling Up ROC-Optimizing Support Vector Machines",
        complexity="two passes over the data per step, and a sort or a pass over the drawn pairs",
        stopping="improvement of the best objective over 20 iterations",
        default_iterations=1000,
    ),
    SolverEntry(
        name="adamax",
        problem="roc-svm",
        method="kernbench.solvers.ranking.descent:Adamax",
        paper="Bae and Shin, Scaling Up ROC-Optimizing Support Vector Machines; Kingma and Ba, ICLR 2015",
        complexity="two passes over the data per step, and a sort or a pass over the drawn pairs",
        stopping="improvement of the best objective over 20 iterations",
        default_iterations=1000,
    ),
    SolverEntry(
        name="dca-exact",
        problem="partial-auc",
        method="kernbench.solvers.ranking.dca_exact:PartialAUCDCA",
        paper="Hu, Ying, Wang, Lyu, NeurIPS 2020, by L-BFGS (Nocedal 1980) and cutting planes (Teo et al., JMLR 2010)",
        complexity="two passes over the data and a sort per step; some tens of steps",
        stopping="decrease and certified gap of the last subproblem / objective",
        default_iterations=1000,
    ),
    SolverEntry(
        name="svmpauc-tight",
        problem="partial-auc",
        method="kernbench.solvers.ranking.svmpauc_tight:SVMpAUCTight",
        paper="Narasimhan and Agarwal, KDD 2013; Neural Computation 2017",
        complexity="two passes over the data and a sort per cut",
        stopping="certified gap / objective; with plain=True, eps with the risk above the model",
        default_iterations=1000,
    ),
    SolverEntry(
        name="agd-sbcd",
        problem="partial-auc",
        method="kernbench.solvers.ranking.stochastic.agd:AGDSBCD",
        paper="Yao, Lin, Yang, NeurIPS 2022, Algorithms 1 and 2",
        complexity="two products with the rows of a batch, twice, per step; one pass over the data per outer iteration",
        stopping="change of the objective over the last outer iteration / objective",
        default_iterations=32_500,
    ),
    SolverEntry(
        name="dca",
        problem="partial-auc",
        method="kernbench.solvers.ranking.stochastic.dca:DCA",
        paper="Yao, Lin, Yang, NeurIPS 2022, Algorithm 4",
        complexity="two products with the rows of a batch per step; two passes over the data per outer iteration",
        stopping="change of the objective over the last outer iteration / objective",
        default_iterations=32_500,
    ),
    SolverEntry(
        name="proximal-dca",
        problem="partial-auc",
        method="kernbench.solvers.ranking.stochastic.dca:ProximalDCA",
        paper="Yao, Lin, Yang, NeurIPS 2022, Algorithm 4; Wen, Chen, Pong 2018",
        complexity="two products with the rows of a batch per step; two passes over the data per outer iteration",
        stopping="change of the objective over the last outer iteration / objective",
        default_iterations=32_500,
    ),
    SolverEntry(
        name="minibatch",
        problem="partial-auc",
        method="kernbench.solvers.ranking.stochastic.minibatch:MiniBatch",
        paper="Kar, Narasimhan, Jain, NeurIPS 2014",
        complexity="two products with the rows of a batch per step, whatever n",
        stopping="change of the objective while the steps doubled / objective",
        default_iterations=32_500,
    ),
    SolverEntry(
        name="dca-exact",
        problem="ranked-range",
        method="kernbench.solvers.ranking.dca_exact:RankedRangeDCA",
        paper="Hu, Ying, Wang, Lyu, NeurIPS 2020, by L-BFGS (Nocedal 1980) and cutting planes (Teo et al., JMLR 2010)",
        complexity="two passes over the data and a sort per step; some tens of steps",
        stopping="decrease and certified gap of the last subproblem / objective",
        default_iterations=1000,
    ),
    SolverEntry(
        name="agd",
        problem="ranked-range",
        method="kernbench.solvers.ranking.stochastic.agd:RankedRangeAGD",
        paper="Yao, Lin, Yang, NeurIPS 2022, Algorithms 2 and 3",
        complexity="two products with the rows of a batch, twice, per step; one pass over the data per outer iteration",
        stopping="change of the objective over the last outer iteration / objective",
        default_iterations=32_500,
    ),
    SolverEntry(
        name="dca",
        problem="ranked-range",
        method="kernbench.solvers.ranking.stochastic.dca:RankedRangeDCA",
        paper="Hu, Ying, Wang, Lyu, NeurIPS 2020",
        complexity="two products with the rows of a batch per step; two passes over the data per outer iteration",
        stopping="change of the objective over the last outer iteration / objective",
        default_iterations=32_500,
    ),
    SolverEntry(
        name="pesg",
        problem="auc-margin",
        method="kernbench.solvers.ranking.stochastic.pesg:PESG",
        paper="Yuan, Yan, Sonka, Yang, ICCV 2021",
        complexity="two products with the rows of a batch per step, whatever n",
        stopping="change of the objective over the last stage / objective",
        default_iterations=10_000,
    ),
    SolverEntry(
        name="doubly-sgd",
        problem="doubly-stochastic",
        method="kernbench.solvers.streaming.doubly_sgd:DoublySGD",
        paper="Dai, Xie, He, Liang, Raj, Balcan, Song, NIPS 2014",
        complexity="t m features of each of B rows in step t, m of all n rows from the second pass on; O(1/eps) steps",
        stopping="nothing: it ends with the stream, or by a limit",
        default_iterations=100,
    ),
    SolverEntry(
        name="smo",
        problem="kernel-regression",
        paper="Smola and Schölkopf 2004; Fan, Chen, Lin, JMLR 2005; working sets as in Joachims 1999",
        stopping=SMO_BY_GAP,
        **SMO,
    ),
    SolverEntry(
        name="sdca",
        problem="kernel-regression",
        method="kernbench.solvers.kernel.sdca:SDCA",
        paper="Shalev-Shwartz and Zhang, JMLR 2013; Ho and Lin, JMLR 2012",
        complexity="n evaluations per dual variable that moves; linear convergence for smooth losses",
        default_epochs=1000,
        default_iterations=1_000_000,
    ),
    SolverEntry(
        name="pegasos",
        problem="kernel-regression",
        method="kernbench.solvers.kernel.online.pegasos:Pegasos",
        paper="Shalev-Shwartz, Singer, Srebro, Cotter, Math. Prog. 2011",
        complexity="n evaluations per step; O(1/(alpha eps)) steps",
        default_epochs=20,
        steps_on_batches=True,
    ),
    SolverEntry(
        name="norma",
        problem="kernel-regression",
        method="kernbench.solvers.kernel.online.norma:NORMA",
        paper="Kivinen, Smola, Williamson, IEEE Trans. Signal Processing 2004",
        complexity="n evaluations per step, or one per kept term and step; O(1/eps^2) steps",
        default_epochs=20,
        steps_on_batches=True,
    ),
    SolverEntry(
        name="newton",
        problem="kernel-regression",
        method="kernbench.solvers.kernel.newton:Newton",
        paper="kernel ridge regression by Cholesky; Chapelle, Neural Computation 2007, for the Huber loss",
        complexity="n^2 evaluations, once, and n^3 / 3 multiplications per step; one step for the squared error",
        default_iterations=1000,
        draws=False,
    ),
    SolverEntry(
        name="smo",
        problem="kernel-nu-svm",
        paper="Schölkopf, Smola, Williamson, Bartlett, Neural Computation 2000; Chang and Lin, Neural Computation 2001",
        stopping=SMO_BY_GAP,
        **SMO,
    ),
    SolverEntry(
        name="smo",
        problem="kernel-nu-regression",
        paper="Schölkopf, Smola, Williamson, Bartlett, Neural Computation 2000; Chang and Lin, Neural Computation 2002",
        stopping=SMO_BY_GAP,
        **SMO,
    ),
    SolverEntry(
        name="smo",
        problem="kernel-novelty",
        paper="Schölkopf, Platt, Shawe-Taylor, Smola, Williamson, Neural Computation 2001",
        stopping=SMO_BY_GAP,
        **SMO,
    ),
    SolverEntry(
        name="sdca",
        problem="linear-regression",
        method="kernbench.solvers.linear.sdca:SDCA",
        paper="Ho and Lin, JMLR 2012; Shalev-Shwartz and Zhang, JMLR 2013",
        complexity="the stored values of a row, twice, per step; O(n + 1/(alpha eps)) steps in the worst case",
        default_epochs=1000,
        default_iterations=10_000_000,
        default_work=10**9,
    ),
    SolverEntry(
        name="pegasos",
        problem="linear-regression",
        method="kernbench.solvers.linear.pegasos:Pegasos",
        paper="Shalev-Shwartz, Singer, Srebro, Cotter, Math. Prog. 2011",
        complexity="one row per step; O(1/(alpha eps)) steps",
        default_epochs=100,
        steps_on_batches=True,
    ),
    SolverEntry(
        name="sbmd",
        problem="linear-regression",
        method="kernbench.solvers.linear.sbmd:SBMD",
        paper="Dang and Lan, SIAM J. Optim. 2015",
        complexity="one row and a block of the weights per step; O(b/(alpha eps)) steps with b blocks",
        default_epochs=200,
    ),
    SolverEntry(
        name="rbcd",
        problem="linear-regression",
        method="kernbench.solvers.linear.rbcd:RBCD",
        paper="Nesterov, SIAM J. Optim. 2012",
        complexity="two products with the columns of a block per step; linear convergence; smooth losses only",
        default_iterations=1_000_000,
    ),
    SolverEntry(
        name="newton",
        problem="linear-regression",
        method="kernbench.solvers.linear.newton:Newton",
        paper="the normal equations for the squared error; Madsen and Nielsen, SIAM J. Optim. 1993, for the others",
        complexity="n d^2 / 2 for the Hessian and two passes over the data per step; one step for the squared error",
        default_iterations=1000,
    ),
]


def names(problem=None):
    """The names of all solvers, or of those for one kind of problem."""
    return [entry.name for entry in SOLVERS if problem in (None, entry.problem)]


def get(name, problem=None):
    """The entry called `name`.

    Raises
    ------
    ValueError
        If there is none; the message gives the nearest name, or the problem that a solver of this name solves.
    """
    for entry in SOLVERS:
        if entry.name == name and problem in (None, entry.problem):
            return entry
    sentence = unknown_name("solver", name, names(problem))
    elsewhere = [entry.problem for entry in SOLVERS if entry.name == name]
    if elsewhere:
        sentence += f" ({name!r} is a solver of {' and '.join(elsewhere)}.)"
    raise ValueError(sentence)


def add(entry):
    """List a solver that is defined elsewhere: a plug-in's. Estimators and the command line offer it from then on.

    Parameters
    ----------
    entry : SolverEntry

    Raises
    ------
    ValueError
        If its problem is unknown, its name invalid or taken by another solver of this problem, its method, a part or
        parameter of it, or one of its cores missing, its losses are not those of its problem, or its iterations have
        no limit.
    """
    check_name(entry)
    if entry.name in names(entry.problem):
        raise ValueError(f"there is a solver {entry.name!r} of {entry.problem} already: choose another name")
    check_method(entry)
    check_description(entry)
    SOLVERS.append(entry)
