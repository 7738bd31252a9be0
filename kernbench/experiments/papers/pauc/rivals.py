"""What a practitioner would take instead: boosted trees, and LibAUC's losses on a linear model."""

import numpy as np


class BoostedTrees:
    """scikit-learn's histogram gradient boosting with log loss, its score as a decision function.

    Parameters
    ----------
    max_iter : int, default=100
    random_state : int, default=0
    """

    def __init__(self, max_iter=100, random_state=0):
        self.max_iter, self.random_state = max_iter, random_state

    def fit(self, X, y):
        """Fit to rows X, made dense if they are sparse."""
        from sklearn.ensemble import HistGradientBoostingClassifier

        self.model_ = HistGradientBoostingClassifier(max_iter=self.max_iter, random_state=self.random_state)
        self.model_.fit(_dense(X), y)
        self.n_iter_ = np.array([self.model_.n_iter_])
        return self

    def decision_function(self, X):
        """Scores of rows."""
        return self.model_.decision_function(_dense(X))


class LightGBM:
    """LightGBM with log loss, its raw score as a decision function.

    Parameters
    ----------
    n_estimators : int, default=100
    random_state : int, default=0
    """

    def __init__(self, n_estimators=100, random_state=0):
        self.n_estimators, self.random_state = n_estimators, random_state

    def fit(self, X, y):
        """Fit to rows X."""
        from lightgbm import LGBMClassifier

        self.model_ = LGBMClassifier(
            n_estimators=self.n_estimators, random_state=self.random_state, n_jobs=1, verbose=-1
        )
        self.model_.fit(X, y)
        self.n_iter_ = np.array([self.n_estimators])
        return self

    def decision_function(self, X):
        """Scores of rows."""
        return self.model_.predict(X, raw_score=True)


class LibAUCPartial:
    """A linear model with LibAUC's loss of a one-way partial AUC, ``pAUCLoss``, and its optimiser ``SOPA``.

    Parameters
    ----------
    alpha : float, default=1e-5
        Weight decay.
    beta : float, default=0.5
        Upper end of the range of false positive rates; LibAUC's begins at 0.
    n_epochs, batch_size : int
    learning_rate : float
    random_state : int
    """

    def __init__(self, alpha=1e-5, beta=0.5, n_epochs=5, batch_size=200, learning_rate=0.1, random_state=0):
        self.alpha, self.beta, self.n_epochs, self.batch_size = alpha, beta, n_epochs, batch_size
        self.learning_rate, self.random_state = learning_rate, random_state

    def fit(self, X, y):
        """Fit to rows X with labels y of -1 and +1; batches hold as many positives as negatives."""
        import torch
        from libauc.losses import pAUCLoss
        from libauc.optimizers import SOPA
        from libauc.sampler import DualSampler
        from torch.utils.data import DataLoader, TensorDataset

        torch.manual_seed(self.random_state)
        rows = torch.tensor(_dense(X), dtype=torch.float32)
        labels = torch.tensor(y > 0, dtype=torch.float32)
        data = TensorDataset(rows, labels, torch.arange(len(labels)))
        sampler = DualSampler(
            data, self.batch_size, sampling_rate=0.5, labels=labels.numpy(), random_seed=self.random_state
        )
        net = torch.nn.Linear(rows.shape[1], 1, bias=False)
        loss = pAUCLoss("SOPA", data_len=len(labels), beta=self.beta, num_neg=self.batch_size // 2)
        optimiser = SOPA(net.parameters(), loss_fn=loss, lr=self.learning_rate, weight_decay=self.alpha)
        for _ in range(self.n_epochs):
            for batch, target, index in DataLoader(data, batch_size=self.batch_size, sampler=sampler):
                value = loss(torch.sigmoid(net(batch)[:, 0]), target, index)
                optimiser.zero_grad()
                value.backward()
                optimiser.step()
        self.coef_ = net.weight.detach().numpy().astype(np.float64)
        self.n_iter_ = np.array([self.n_epochs])
        return self

    def decision_function(self, X):
        """Scores of rows."""
        return X @ self.coef_[0]


def _dense(X):
    return X.toarray() if hasattr(X, "toarray") else np.asarray(X)
