"""The networks: He et al.'s counts and shapes."""

import pytest

pytest.importorskip("torch", reason="kernbench.deep needs PyTorch")

import torch
from torch import nn

from kernbench.deep import MLP, LeNet, Linear, ResNet20
from kernbench.deep.networks.resnet import ResidualBlock


def n_parameters(module):
    return sum(parameter.numel() for parameter in module.parameters())


def test_resnet_20_has_the_layers_of_the_paper():
    network = ResNet20(n_outputs=10)
    convolutions = [layer for layer in network.modules() if isinstance(layer, nn.Conv2d)]
    assert len(convolutions) == 19 and sum(isinstance(layer, nn.Linear) for layer in network.modules()) == 1
    assert all(layer.kernel_size == (3, 3) and layer.bias is None for layer in convolutions)
    # 3 * 16 + 6 * 16^2 + 16 * 32 + 5 * 32^2 + 32 * 64 + 5 * 64^2 kernels of 9; two numbers a channel to normalise; 650
    assert n_parameters(network) == 269_722  # "0.27M" in its Table 6
    assert n_parameters(ResNet20()) == 269_722 - 9 * 65


def test_maps_of_the_stages_have_the_sizes_of_the_paper():
    network, sizes = ResNet20(), []
    for block in network.blocks:
        block.register_forward_hook(lambda module, given, maps: sizes.append(tuple(maps.shape[1:])))
    assert network(torch.zeros(2, 3, 32, 32)).shape == (2,)
    assert sizes == [(16, 32, 32)] * 3 + [(32, 16, 16)] * 3 + [(64, 8, 8)] * 3


@pytest.mark.parametrize("side", [4, 7, 64])
def test_images_of_other_sizes_and_channels(side):
    assert ResNet20(1)(torch.zeros(2, 1, side, side)).shape == (2,)


def test_a_shortcut_takes_every_second_pixel_and_fills_channels_with_zeros():
    block = ResidualBlock(2, 4, stride=2).eval()
    nn.init.zeros_(block.second.weight)  # only the shortcut is left
    maps = torch.rand(1, 2, 4, 4)
    expected = torch.zeros(1, 4, 2, 2)
    expected[:, 1:3] = maps[:, :, ::2, ::2]
    assert torch.equal(block(maps), expected)


def test_lenet_has_the_layers_of_the_paper():
    network = LeNet(n_outputs=10)
    images = torch.rand(3, 1, 28, 28)
    assert network.n_features == 1568 and network.features(images).shape == (3, 1568)  # of Dai et al., Table 4
    # 16 filters of 5 x 5, 32 of 16 x 5 x 5, 1,568 x 128, 128 x 10, and a constant for each output of a layer
    assert n_parameters(network) == 16 * 26 + 32 * 401 + 128 * 1569 + 10 * 129
    assert torch.equal(network(images), network.classify(network.features(images)))
    assert LeNet()(images).shape == (3,)


@pytest.mark.parametrize("side", [4, 7, 8])
def test_lenet_takes_images_of_other_sizes(side):
    assert LeNet(3, side=side)(torch.zeros(2, 3, side, side)).shape == (2,)


def test_lenet_needs_an_image_that_can_be_halved_twice():
    with pytest.raises(ValueError, match="side must be at least 4, got 3"):
        LeNet(side=3)


def test_rows_of_any_shape():
    assert MLP(6)(torch.zeros(5, 2, 3)).shape == Linear()(torch.zeros(5, 2, 3)).shape == (5,)
    assert n_parameters(MLP(6, hidden=(4,))) == 6 * 4 + 4 + 4 + 1
    assert n_parameters(Linear(6)) == 6
