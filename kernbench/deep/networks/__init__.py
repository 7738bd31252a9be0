"""Small networks of one score for each example: a residual network for small images, a perceptron, a linear module."""

from kernbench.deep.networks.mlp import MLP, Linear
from kernbench.deep.networks.resnet import ResNet20

__all__ = ["MLP", "Linear", "ResNet20"]
