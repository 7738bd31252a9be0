"""What the scores of a ranking are made of: features or a kernel (see the compiled module for the text)."""

from kernbench.solvers.design._design import Design, FeatureDesign, KernelDesign, as_design

__all__ = ["Design", "FeatureDesign", "KernelDesign", "as_design"]
