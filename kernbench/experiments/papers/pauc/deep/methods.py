"""The methods of ``pauc-deep``: estimators of rows of pixels, each with ``random_state``."""

import copy

import numpy as np
from sklearn.linear_model import LogisticRegression


class PixelLogistic:
    """scikit-learn's logistic regression on pixels: what a linear score can do."""

    def __init__(self, C=1e-3, random_state=0):
        self.C, self.random_state = C, random_state

    def fit(self, X, y):
        """Fit to rows of pixels."""
        self.model_ = LogisticRegression(C=self.C, max_iter=500).fit(X, y)
        self.n_iter_ = int(self.model_.n_iter_[0])
        return self

    def decision_function(self, X):
        """Scores of rows."""
        return self.model_.decision_function(X)


class Network:
    """ResNet-20 on rows of pixels, trained by one of the trainer's four methods.

    Parameters
    ----------
    method : str
    channels : int
        Channels of an image, which is square.
    fpr_range : (float, float)
    learning_rate : float
    max_epochs : int
        Cross-entropy and the AUC margin divide their step size by ten after half of them, as in the paper.
    inner_steps : int
        T_0 of AGD-SBCD.
    gamma : float
        gamma' of AGD-SBCD; its mu' is the paper's.
    random_state : int
    """

    def __init__(self, method="agd-sbcd", channels=3, fpr_range=(0.05, 0.5), learning_rate=0.1, max_epochs=10,
                 inner_steps=50, gamma=1e3, random_state=0):  # fmt: skip
        self.method, self.channels, self.fpr_range = method, channels, tuple(fpr_range)
        self.learning_rate, self.max_epochs = learning_rate, max_epochs
        self.inner_steps, self.gamma, self.random_state = inner_steps, gamma, random_state

    def _options(self):
        if self.method == "agd-sbcd":
            return {"inner_steps": self.inner_steps, "gamma": self.gamma}
        return {} if self.method == "minibatch" else {"decay_every": max(1, self.max_epochs // 2)}

    def fit(self, X, y):
        """Fit to rows of pixels; a tenth of them is held out."""
        from kernbench.deep import DeepPartialAUCClassifier

        self.states_ = []
        self.model_ = DeepPartialAUCClassifier(
            lambda: network_for(X.shape[1], self.channels),
            self.fpr_range,
            method=self.method,
            learning_rate=self.learning_rate,
            max_epochs=self.max_epochs,
            method_options=self._options(),
            callback=self._keep,
            random_state=self.random_state,
        ).fit(X, y)
        self.validation_score_, self.n_iter_ = self.model_.validation_score_, self.model_.n_iter_
        self.trace_, self.status_ = self.model_.trace_, self.model_.status_
        return self

    def _keep(self, model):
        from kernbench.deep.trainer.loop import state_of

        self.states_.append(state_of(model.module_))

    def decision_function(self, X):
        """Scores of rows."""
        return self.model_.decision_function(X)

    def scores_along(self, X):
        """Yield the scores of rows by the states of all evaluations."""
        view = copy.copy(self.model_)
        view.module_ = copy.deepcopy(view.module_)
        for state in self.states_:
            view.module_.load_state_dict(state)
            yield view.decision_function(X)


class LibAUC:
    """ResNet-20 trained by LibAUC: ``pAUC_CVaR_Loss`` with SOPA, or ``AUCMLoss`` with PESG.

    Batches are those of the trainer, 16 positives and 16 negatives, since LibAUC's own sampler needs torchvision. The
    state of the best validation score is kept, as by the trainer.

    Parameters
    ----------
    method : {"cvar", "aucm"}
    channels, fpr_range, learning_rate, max_epochs, random_state
        As for `Network`. The range of ``pAUC_CVaR_Loss`` begins at 0: it ends where `fpr_range` does.
    """

    def __init__(self, method="cvar", channels=3, fpr_range=(0.05, 0.5), learning_rate=0.1, max_epochs=10,
                 random_state=0):  # fmt: skip
        self.method, self.channels, self.fpr_range = method, channels, tuple(fpr_range)
        self.learning_rate, self.max_epochs, self.random_state = learning_rate, max_epochs, random_state

    def fit(self, X, y):
        """Fit to rows of pixels; a tenth of them is held out."""
        import torch
        from libauc.losses import AUCMLoss, pAUC_CVaR_Loss
        from libauc.optimizers import PESG, SOPA

        from kernbench.deep import PairBatchSampler
        from kernbench.deep.trainer.loop import state_of
        from kernbench.metrics import partial_auc

        torch.manual_seed(self.random_state)
        train, held = _split(y, 0.1, self.random_state)
        rows, labels = torch.from_numpy(X[train]), torch.from_numpy((y[train] > 0).astype(np.float32))
        batches = PairBatchSampler(labels, 16, 16, seed=self.random_state)
        self.module_ = network_for(X.shape[1], self.channels)
        if self.method == "cvar":
            loss = pAUC_CVaR_Loss(len(labels), int(labels.sum()), beta=self.fpr_range[1])
            optimiser = SOPA(self.module_.parameters(), loss_fn=loss, lr=self.learning_rate)
        else:
            loss = AUCMLoss()
            optimiser = PESG(self.module_.parameters(), loss_fn=loss, lr=self.learning_rate, verbose=False)
        best, self.n_iter_ = None, 0
        for _ in range(self.max_epochs):
            self.module_.train()
            for chosen in map(torch.tensor, batches):
                scores, target = torch.sigmoid(self.module_(rows[chosen]))[:, None], labels[chosen][:, None]
                value = loss(scores, target, chosen) if self.method == "cvar" else loss(scores, target)
                optimiser.zero_grad()
                value.backward()
                optimiser.step()
                self.n_iter_ += 1
            score = float(partial_auc(y[held], self.decision_function(X[held]), self.fpr_range))
            if best is None or score > best[0]:
                best = score, state_of(self.module_)
        self.validation_score_, state = best
        self.module_.load_state_dict(state)
        return self

    def decision_function(self, X):
        """Scores of rows."""
        import torch

        self.module_.eval()
        with torch.no_grad():
            parts = [self.module_(part).double().numpy() for part in torch.from_numpy(X).split(256)]
        return np.concatenate(parts)


def network_for(n_pixels, channels):
    """ResNet-20 for rows of `n_pixels` numbers, which are square images."""
    import torch
    from torch import nn

    from kernbench.deep import ResNet20

    side = round((n_pixels / channels) ** 0.5)
    network = nn.Sequential(nn.Unflatten(1, (channels, side, side)), ResNet20(channels))
    return network.to(memory_format=torch.channels_last)  # a quarter less time on a CPU


def _split(y, share, seed):
    """Indices to train with, and a share of either class to validate with."""
    rng, held = np.random.default_rng(seed), np.zeros(len(y), dtype=bool)
    for members in (np.flatnonzero(y > 0), np.flatnonzero(y < 0)):
        held[rng.choice(members, max(1, round(share * len(members))), replace=False)] = True
    return np.flatnonzero(~held), np.flatnonzero(held)
