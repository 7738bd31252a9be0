"""Networks for rows of numbers: a linear module, and a perceptron with hidden layers."""

from typing import Any

from torch import nn


class Linear(nn.Module):
    """A linear score: <w, x>, of examples of any shape.

    Parameters
    ----------
    n_features : int, optional
        Numbers in an example; None takes those of the first batch.
    bias : bool, default=False
        A constant in all scores does not change a ranking.
    """

    linear: Any

    def __init__(self, n_features: int | None = None, bias: bool = False) -> None:
        super().__init__()
        self.linear = _layer(n_features, 1, bias)

    def forward(self, rows: Any) -> Any:
        """Return the scores of rows, shape (n,)."""
        return self.linear(rows.flatten(1))[:, 0]


class MLP(nn.Module):
    """A perceptron: linear layers with rectified units between them.

    Parameters
    ----------
    n_features : int, optional
        Numbers in an example; None takes those of the first batch.
    hidden : tuple of int, default=(64, 64)
        Units of the hidden layers.
    """

    layers: Any

    def __init__(self, n_features: int | None = None, hidden: tuple[Any, ...] = (64, 64)) -> None:
        super().__init__()
        layers = []
        for units in hidden:
            layers += [_layer(n_features, units, True), nn.ReLU()]
            n_features = units
        self.layers = nn.Sequential(*layers, _layer(n_features, 1, True))

    def forward(self, rows: Any) -> Any:
        """Return the scores of rows, shape (n,); an example may have any shape."""
        return self.layers(rows.flatten(1))[:, 0]


def _layer(n_in, n_out, bias):
    return nn.LazyLinear(n_out, bias=bias) if n_in is None else nn.Linear(n_in, n_out, bias=bias)
