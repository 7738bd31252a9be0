"""Linear rankers of other libraries, each with an ``alpha``: the strength of alpha/2 ‖w‖² beside a mean of losses."""

import numpy as np


class SurvivalSVM:
    """scikit-survival's ``FastSurvivalSVM`` as a ranker of two classes, the squared hinge over all pairs.

    It minimises ½ ‖w‖² + a/2 · (sum over comparable pairs of squared hinges). A negative row is an event at
    time 1, a positive one is censored at time 2: each negative is compared with each positive. With N such
    pairs, a = 2 / (alpha N) makes it alpha/2 ‖w‖² + their mean, divided by alpha. Rows that share a time are
    put in a random order and compared too, so that it minimises more than `ROCSVC` does.

    Parameters
    ----------
    alpha : float
    random_state : int
        Determines the order of rows with equal times.
    """

    def __init__(self, alpha=1e-3, random_state=0):
        self.alpha, self.random_state = alpha, random_state

    def fit(self, X, y):
        """Fit to rows X with labels y of -1 and +1."""
        from sksurv.svm import FastSurvivalSVM
        from sksurv.util import Surv

        n_pairs = float(np.sum(y > 0)) * float(np.sum(y < 0))
        times = Surv.from_arrays(event=y < 0, time=np.where(y > 0, 2.0, 1.0))
        model = FastSurvivalSVM(alpha=2.0 / (self.alpha * n_pairs), rank_ratio=1.0, random_state=self.random_state)
        self.model_ = model.fit(X, times)
        self.coef_, self.n_iter_ = model.coef_[None, :], np.array([model.n_iter_])
        return self

    def decision_function(self, X):
        """Scores of rows; a larger one means a later time, and so the positive class."""
        return X @ self.coef_[0]


class LibAUC:
    """A linear model trained with LibAUC's margin loss (``AUCMLoss``) by its optimiser ``PESG``.

    Parameters
    ----------
    alpha : float
        Weight decay.
    n_epochs, batch_size : int
    learning_rate : float
    random_state : int
    """

    def __init__(self, alpha=1e-3, n_epochs=20, batch_size=256, learning_rate=0.1, random_state=0):
        self.alpha, self.n_epochs, self.batch_size = alpha, n_epochs, batch_size
        self.learning_rate, self.random_state = learning_rate, random_state

    def fit(self, X, y):
        """Fit to rows X with labels y of -1 and +1."""
        import torch
        from libauc.losses import AUCMLoss
        from libauc.optimizers import PESG

        torch.manual_seed(self.random_state)
        rows = torch.as_tensor(X, dtype=torch.float32)
        targets = torch.as_tensor(y > 0, dtype=torch.float32)[:, None]
        linear, loss = torch.nn.Linear(X.shape[1], 1), AUCMLoss()
        optimiser = PESG(
            linear.parameters(), loss_fn=loss, lr=self.learning_rate, weight_decay=self.alpha, verbose=False
        )
        for _ in range(self.n_epochs):
            for batch in torch.randperm(len(rows)).split(self.batch_size):
                optimiser.zero_grad()
                loss(torch.sigmoid(linear(rows[batch])), targets[batch]).backward()
                optimiser.step()
        self.coef_, self.n_iter_ = linear.weight.detach().numpy().astype(np.float64), self.n_epochs
        return self

    def decision_function(self, X):
        """Scores of rows, without the intercept, which ranks nothing."""
        return X @ self.coef_[0]
