"""The work of a fit, in the words of the report: apart from `parts`, which cells import, so that words can change."""

from kernbench.experiments.declare import Axis
from kernbench.experiments.declare import metrics as m
from kernbench.experiments.papers.pauc import parts

READ = "rows read by steps / rows"  # not those of full passes between steps, see the notes
PASSES = m.number("passes", READ, 0.1)
METRICS = tuple(PASSES if metric.name == PASSES.name else metric for metric in parts.METRICS)
WORK = Axis("trace.passes", READ, log=True)
