"""Written by tools/types/stubs: the public names of kernbench.experiments."""

from kernbench.experiments.declare.claims import Bound as Bound
from kernbench.experiments.declare.claims import Claim as Claim
from kernbench.experiments.declare.claims import Passing as Passing
from kernbench.experiments.declare.experiment import Experiment as Experiment
from kernbench.experiments.declare.figures import Axis as Axis
from kernbench.experiments.declare.figures import Contours as Contours
from kernbench.experiments.declare.figures import Curves as Curves
from kernbench.experiments.declare.figures import HeatMap as HeatMap
from kernbench.experiments.declare.figures import Marks as Marks
from kernbench.experiments.declare.figures import Profiles as Profiles
from kernbench.experiments.declare.parts import Method as Method
from kernbench.experiments.declare.parts import Metric as Metric
from kernbench.experiments.declare.parts import OwnFile as OwnFile
from kernbench.experiments.declare.parts import PaperData as PaperData
from kernbench.experiments.declare.parts import PaperNumber as PaperNumber
from kernbench.experiments.declare.parts import Scale as Scale
from kernbench.experiments.declare.parts import Setting as Setting
from kernbench.experiments.declare.tables import CrossTable as CrossTable
from kernbench.experiments.declare.tables import MetricTable as MetricTable
from kernbench.experiments.declare.tables import Quantity as Quantity
from kernbench.experiments.declare.tables import Recommendation as Recommendation
from kernbench.experiments.registry import EXPERIMENTS as EXPERIMENTS
from kernbench.experiments.registry import get as get
from kernbench.experiments.registry import names as names

__all__ = [
    "Axis",
    "Bound",
    "Claim",
    "Contours",
    "CrossTable",
    "Curves",
    "EXPERIMENTS",
    "Experiment",
    "HeatMap",
    "Marks",
    "Method",
    "Metric",
    "MetricTable",
    "OwnFile",
    "PaperData",
    "PaperNumber",
    "Passing",
    "Profiles",
    "Quantity",
    "Recommendation",
    "Scale",
    "Setting",
    "get",
    "names",
]
