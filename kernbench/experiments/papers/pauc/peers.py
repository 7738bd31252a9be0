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
    """A linear model with one of LibAUC's losses of a one-way partial AUC and the optimiser made for it.

    Parameters
    ----------
    mode : {"SOPA", "SOPAs"}, default="SOPA"
        ``"SOPA"``: the mean over the largest share `beta` of each positive's losses. ``"SOPAs"``: a smooth mean of all
        of them, weighted towards the largest.
    alpha : float, default=1e-5
        Weight decay.
    beta : float, default=0.5
        For ``"SOPA"``, the upper end of the range of false positive rates; LibAUC's ranges begin at 0.
    n_epochs : int, default=6
        Passes over the negatives. The learning rate is divided by 10 after half of them and after three quarters.
    batch_size : int, default=200
        Half of each batch are positives, as LibAUC's own sampler, which needs torchvision, draws them.
    learning_rate : float, default=0.01
    random_state : int, default=0
    """

    def __init__(
        self, mode="SOPA", alpha=1e-5, beta=0.5, n_epochs=6, batch_size=200, learning_rate=0.01, random_state=0
    ):
        self.mode, self.alpha, self.beta, self.n_epochs = mode, alpha, beta, n_epochs
        self.batch_size, self.learning_rate, self.random_state = batch_size, learning_rate, random_state

    def fit(self, X, y):
        """Fit to rows X with labels y of -1 and +1."""
        import torch
        from libauc.losses import pAUCLoss
        from libauc.optimizers import SOPA, SOPAs

        torch.manual_seed(self.random_state % 2**31)
        rng = np.random.default_rng(self.random_state)
        rows = torch.from_numpy(_dense(X).astype(np.float32))
        labels = torch.from_numpy((y > 0).astype(np.float32))
        net = torch.nn.Linear(rows.shape[1], 1, bias=False)
        options = {"SOPA": {"beta": self.beta, "pos_len": int((y > 0).sum())}, "SOPAs": {}}[self.mode]
        loss = pAUCLoss(self.mode, data_len=len(y), **options)
        optimiser = {"SOPA": SOPA, "SOPAs": SOPAs}[self.mode](
            net.parameters(), mode="adam", lr=self.learning_rate, weight_decay=self.alpha, verbose=False
        )
        for epoch in range(self.n_epochs):
            if epoch in (self.n_epochs // 2, 3 * self.n_epochs // 4):
                for group in optimiser.param_groups:
                    group["lr"] /= 10
            for batch in map(torch.from_numpy, _balanced_batches(y, self.batch_size // 2, rng)):
                value = loss(torch.sigmoid(net(rows[batch])), labels[batch], batch)
                optimiser.zero_grad()
                value.backward()
                optimiser.step()
        self.coef_ = net.weight.detach().numpy().astype(np.float64)
        self.n_iter_ = np.array([self.n_epochs])
        return self

    def decision_function(self, X):
        """Scores of rows."""
        return X @ self.coef_[0]


def _balanced_batches(y, half, rng):
    """Yield rows of batches for one pass over the negatives: `half` of each class, positives drawn again as needed."""
    positives, negatives = np.flatnonzero(y > 0), rng.permutation(np.flatnonzero(y <= 0))
    for start in range(0, len(negatives) - half + 1, half):
        drawn = rng.choice(positives, half, replace=len(positives) < half)
        yield np.concatenate([drawn, negatives[start : start + half]])


def _dense(X):
    return X.toarray() if hasattr(X, "toarray") else np.asarray(X)
