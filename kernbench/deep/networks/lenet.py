"""LeNet-5 with rectified units, for small images: two convolutions, two fully connected layers."""

from typing import Any

import torch
from torch import nn
from torch.nn import functional

from kernbench.deep.networks.resnet import one_column

CHANNELS = (16, 32)  # of the two convolutions
UNITS = 128  # of the fully connected layer


class LeNet(nn.Module):
    """LeNet-5 [1]_ with rectified units and the widths of Dai et al. [2]_, Section 7.4.

    Two convolutions of 5 x 5 that keep the size of the image, with 16 and 32 filters, each followed by a maximum over
    2 x 2 places; a fully connected layer of 128 units; a linear map.

    Parameters
    ----------
    in_channels : int, default=1
        Channels of an image.
    n_outputs : int, default=1
        With 1, ``forward`` returns shape (n,), otherwise (n, n_outputs).
    side : int, default=28
        Height and width of an image, at least 4.

    Attributes
    ----------
    n_features : int
        Numbers that ``features`` returns for an image: 1,568 for 28 x 28 pixels.

    References
    ----------
    .. [1] Y. LeCun, L. Bottou, Y. Bengio, P. Haffner, "Gradient-based learning applied to document recognition",
       Proceedings of the IEEE 86(11), 1998.
    .. [2] B. Dai, B. Xie, N. He, Y. Liang, A. Raj, M.-F. Balcan, L. Song, "Scalable kernel methods via doubly
       stochastic gradients", NeurIPS 2014.
    """

    first: Any
    second: Any
    hidden: Any
    last: Any

    def __init__(self, in_channels: int = 1, n_outputs: int = 1, side: int = 28) -> None:
        super().__init__()
        if side < 4:
            raise ValueError(f"LeNet halves the sides of an image twice: side must be at least 4, got {side}")
        self.n_features: int = CHANNELS[1] * (side // 2 // 2) ** 2
        self.first = nn.Conv2d(in_channels, CHANNELS[0], 5, padding=2)
        self.second = nn.Conv2d(CHANNELS[0], CHANNELS[1], 5, padding=2)
        self.hidden = nn.Linear(self.n_features, UNITS)
        self.last = nn.Linear(UNITS, n_outputs)

    def features(self, images: torch.Tensor) -> torch.Tensor:
        """Return the last pooled maps of images of shape (n, in_channels, side, side) as rows, (n, n_features)."""
        maps = functional.max_pool2d(functional.relu(self.first(images)), 2)
        return functional.max_pool2d(functional.relu(self.second(maps)), 2).flatten(1)

    def classify(self, features: torch.Tensor) -> torch.Tensor:
        """Return the scores of rows of ``features``, by the two fully connected layers."""
        return one_column(self.last(functional.relu(self.hidden(features))))

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Return the scores of images of shape (n, in_channels, side, side)."""
        return self.classify(self.features(images))
