"""Small fits of the trainer, which several files of tests make."""

import torch
from torch.utils.data import Dataset

from kernbench.deep import MLP, DeepPartialAUCClassifier

RANGE = (0.05, 0.5)
FAST = {"max_epochs": 2, "n_positive": 8, "n_negative": 8, "random_state": 0}


def trained(rows, module=MLP, **params):
    return DeepPartialAUCClassifier(module, RANGE, **{**FAST, **params}).fit(*rows)


class Items(Dataset):
    """A map-style dataset of torch that is neither of its ready-made ones."""

    def __init__(self, X, y):
        self.X, self.y = torch.tensor(X, dtype=torch.float32), y

    def __len__(self):
        return len(self.y)

    def __getitem__(self, k):
        return self.X[k], int(self.y[k])
