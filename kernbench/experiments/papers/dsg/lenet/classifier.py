"""A network for ten classes as an estimator: LeNet on images, or its fully connected layers on features."""

import numpy as np
import torch
from torch.nn import functional

from kernbench.deep import LeNet
from kernbench.deep.trainer import states
from kernbench.solvers.tracing import Clock, Trace

N_CLASSES = 10
SCORED_AT_ONCE = 512


class NetworkClassifier:
    """A network trained by Adam on the log loss of batches.

    Parameters
    ----------
    layers : {"all", "top"}
        "all": LeNet on rows of pixels of square images. "top": its two fully connected layers on rows of features,
        whose distances are near 1: they are multiplied by the root of their length, for entries of order 1.
    batch_size : int
    learning_rate : float
    max_epochs : int
        Passes over the rows of `fit`, each in another order.
    random_state : int
    callback : callable or None
        Called with this estimator after 1, 2, 4, … steps and at the end; returns columns for the trace.

    Attributes
    ----------
    module_ : LeNet
    n_iter_ : ndarray of shape (1,)
        Steps.
    trace_ : dict of str to list
        ``seconds``, those of the steps; ``n_iter``, ``objective``, the mean loss of the batches since the point before;
        columns of the callback.
    """

    def __init__(self, layers="all", batch_size=128, learning_rate=1e-3, max_epochs=5, random_state=0, callback=None):
        self.layers, self.batch_size, self.learning_rate = layers, batch_size, learning_rate
        self.max_epochs, self.random_state, self.callback = max_epochs, random_state, callback

    def fit(self, X, y):
        """Fit to rows X with labels y, 0 to 9."""
        rng = np.random.default_rng(self.random_state)
        orders = (rng.permutation(len(y)) for _ in range(self.max_epochs))
        return self._fit((X[rows], y[rows]) for order in orders for rows in self._cut(order))

    def fit_chunks(self, chunks):
        """Fit to chunks of rows and labels, in one pass and in their order."""
        return self._fit((X[rows], y[rows]) for X, y in chunks for rows in self._cut(np.arange(len(y))))

    def _cut(self, rows):
        return np.split(rows, range(self.batch_size, len(rows), self.batch_size))

    def _fit(self, batches):
        self.n_iter_, self.trace_ = np.array([0]), {}
        trace, clock, losses, optimiser = Trace("seconds", "n_iter", "objective"), Clock(), [], None
        for X, y in batches:
            if optimiser is None:
                self.module_ = self._made(X.shape[1])
                optimiser = torch.optim.Adam(self.module_.parameters(), lr=self.learning_rate)
            with clock:
                loss = functional.cross_entropy(self._outputs(X), torch.from_numpy(y))
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
                losses.append(loss.item())
            self.n_iter_ += 1
            if self.n_iter_[0].bit_count() == 1:
                self._look(trace, clock, losses)
        if self.n_iter_[0] and self.n_iter_[0].bit_count() != 1:
            self._look(trace, clock, losses)
        self.trace_ = trace.columns
        return self

    def _look(self, trace, clock, losses):
        own = {"seconds": clock.seconds, "n_iter": int(self.n_iter_[0]), "objective": float(np.mean(losses))}
        trace.add(own | ({} if self.callback is None else self.callback(self)))
        losses.clear()

    def _made(self, n_columns):
        """LeNet with first weights by `random_state`; of "top", its convolutions are of no use."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.random_state)
            side = round(n_columns**0.5) if self.layers == "all" else 4 * round((n_columns / 32) ** 0.5)
            return LeNet(n_outputs=N_CLASSES, side=side).to(memory_format=torch.channels_last)

    def _outputs(self, X):
        rows = torch.from_numpy(X).float()
        if self.layers == "top":
            return self.module_.classify(rows * rows.shape[1] ** 0.5)
        return self.module_(_as_images(rows))

    @torch.no_grad()
    def predict(self, X):
        """Labels of rows."""
        parts = np.split(X, range(SCORED_AT_ONCE, len(X), SCORED_AT_ONCE))
        return np.concatenate([self._outputs(part).argmax(dim=1).numpy() for part in parts])

    @torch.no_grad()
    def features(self, X):
        """Return the last pooled maps of rows of pixels, shape (n, 1568) for 784 pixels, float32."""
        parts = np.split(X, range(SCORED_AT_ONCE, len(X), SCORED_AT_ONCE))
        found = [self.module_.features(_as_images(torch.from_numpy(part).float())).numpy() for part in parts]
        return np.concatenate(found)

    def save(self, path):
        """Write the weights of LeNet."""
        states.write(path, "network", {"module": self.module_.state_dict()})

    def load(self, path, n_pixels):
        """Read what `save` wrote; return this estimator, which can predict."""
        self.module_ = self._made(n_pixels)
        states.load_weights(self.module_, states.read(path, "network")["module"], path)
        return self


def _as_images(rows):
    side = round(rows.shape[1] ** 0.5)
    return rows.reshape(-1, 1, side, side).contiguous(memory_format=torch.channels_last)
