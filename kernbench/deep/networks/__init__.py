"""Small networks of one score for each example: LeNet, a residual network, a perceptron, a linear module."""

from kernbench.deep.networks.lenet import LeNet
from kernbench.deep.networks.mlp import MLP, Linear
from kernbench.deep.networks.resnet import ResNet20

__all__ = ["LeNet", "MLP", "Linear", "ResNet20"]
