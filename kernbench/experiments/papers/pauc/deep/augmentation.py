"""Images that are shifted, and mirrored, at random whenever they are fetched."""

import torch
from torch.nn import functional
from torch.utils.data import Dataset


class Shifted(Dataset):
    """Rows of pixels as a dataset whose items are shifted by whole pixels, with zeros at the edge.

    Random numbers are PyTorch's, whose state is part of the trainer's checkpoints.

    Parameters
    ----------
    rows : ndarray of shape (n, channels * side * side), float32
    labels : ndarray of shape (n,)
    channels : int
    shift : int
        Largest shift in each direction, in pixels: a crop of the image with a margin of so many zeros.
    flip : bool, default=False
        Mirror half of the items, left to right.
    """

    def __init__(self, rows, labels, channels, shift, flip=False):
        side = round((rows.shape[1] / channels) ** 0.5)
        self.images = torch.from_numpy(rows).reshape(-1, channels, side, side)
        self.labels, self.shift, self.flip = labels, shift, flip

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, k):
        image, side = self.images[k], self.images.shape[-1]
        down, right = torch.randint(2 * self.shift + 1, (2,)).tolist()
        image = functional.pad(image, (self.shift,) * 4)[:, down : down + side, right : right + side]
        if self.flip and torch.rand(()) < 0.5:
            image = image.flip(-1)
        return image.reshape(-1), self.labels[k]
