"""The residual network of 20 layers for images of 32 x 32 pixels."""

from typing import Any

import torch
from torch import nn
from torch.nn import functional

BLOCKS = 3  # residual blocks in a stage: 6 n + 2 layers with n = 3
WIDTHS = (16, 32, 64)  # channels of the three stages


class ResNet20(nn.Module):
    """ResNet-20 of He et al. [1]_, Section 4.2, with one score for each image.

    A convolution of 3 x 3, three stages of three residual blocks with 16, 32 and 64 channels, the first block of the
    second and third stage with stride 2, the average over all places, and a linear map. Shortcuts between stages have
    no parameters: they take every second pixel and fill the new channels with zeros (option A).

    Parameters
    ----------
    in_channels : int, default=3
        Channels of an image. Its sides may be of any length from 4 on; the paper's are 32.
    n_outputs : int, default=1
        With 1, ``forward`` returns shape (n,), otherwise (n, n_outputs).

    References
    ----------
    .. [1] K. He, X. Zhang, S. Ren, J. Sun, "Deep residual learning for image recognition", CVPR 2016.
    """

    first: Any
    norm: Any
    blocks: Any
    last: Any

    def __init__(self, in_channels: int = 3, n_outputs: int = 1) -> None:
        super().__init__()
        self.first = _convolution(in_channels, WIDTHS[0])
        self.norm = nn.BatchNorm2d(WIDTHS[0])
        blocks, width = [], WIDTHS[0]
        for stage, channels in enumerate(WIDTHS):
            for k in range(BLOCKS):
                blocks.append(ResidualBlock(width, channels, stride=2 if stage > 0 and k == 0 else 1))
                width = channels
        self.blocks = nn.Sequential(*blocks)
        self.last = nn.Linear(width, n_outputs)
        for layer in self.modules():
            if isinstance(layer, nn.Conv2d | nn.Linear):
                nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
        nn.init.zeros_(self.last.bias)

    def forward(self, images: Any) -> Any:
        """Return the scores of images of shape (n, in_channels, height, width)."""
        maps = self.blocks(functional.relu(self.norm(self.first(images))))
        return one_column(self.last(maps.mean(dim=(2, 3))))


class ResidualBlock(nn.Module):
    """Two convolutions with batch normalisation, and a shortcut without parameters.

    Parameters
    ----------
    in_channels, channels : int
    stride : int, default=1
        Stride of the first convolution and of the shortcut.
    """

    def __init__(self, in_channels, channels, stride=1):
        super().__init__()
        self.first, self.first_norm = _convolution(in_channels, channels, stride), nn.BatchNorm2d(channels)
        self.second, self.second_norm = _convolution(channels, channels), nn.BatchNorm2d(channels)
        self.stride, self.new_channels = stride, channels - in_channels

    def forward(self, maps):
        """Return maps of shape (n, channels, height / stride, width / stride), rounded up."""
        inner = functional.relu(self.first_norm(self.first(maps)))
        inner = self.second_norm(self.second(inner))
        if self.stride > 1 or self.new_channels:
            maps = maps[:, :, :: self.stride, :: self.stride]
            before = self.new_channels // 2
            maps = functional.pad(maps, (0, 0, 0, 0, before, self.new_channels - before))
        return functional.relu(inner + maps)


def _convolution(in_channels, channels, stride=1):
    return nn.Conv2d(in_channels, channels, 3, stride=stride, padding=1, bias=False)


def one_column(outputs: torch.Tensor):
    """Return the outputs of one unit as a vector, others as they are."""
    return outputs[:, 0] if outputs.shape[1] == 1 else outputs
