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
    """A network on rows of pixels, trained by one of the trainer's four methods.

    Parameters
    ----------
    method : str
    network : {"resnet20", "lenet"}
    channels : int
        Channels of an image, which is square.
    augmentation : dict or None
        ``shift`` and ``flip`` of `Shifted`; None takes the images as they are.
    fpr_range : (float, float)
    learning_rate : float
    max_epochs : int
        Cross-entropy and the AUC margin divide their step size by ten after half of them, as in the paper.
    inner_steps : int
        T_0 of AGD-SBCD.
    gamma : float or None
        gamma' of AGD-SBCD, whose mu' is the paper's; Gamma of the AUC margin, whose decay is 1 / Gamma. None: 1,000 and
        500, the defaults of the trainer.
    balanced : bool
        Whether cross-entropy takes batches of as many positives as the others.
    random_state : int
    """

    def __init__(self, method="agd-sbcd", network="resnet20", channels=3, augmentation=None, fpr_range=(0.05, 0.5),
                 learning_rate=0.1, max_epochs=10, inner_steps=50, gamma=None, balanced=False,
                 random_state=0):  # fmt: skip
        self.method, self.network, self.channels, self.augmentation = method, network, channels, augmentation
        self.fpr_range, self.learning_rate, self.max_epochs = tuple(fpr_range), learning_rate, max_epochs
        self.inner_steps, self.gamma, self.balanced, self.random_state = inner_steps, gamma, balanced, random_state

    @staticmethod
    def warm_up():
        """Load the libraries that `fit` uses, for a measurement to do so off its clock."""
        import kernbench.deep  # noqa: F401

    def _options(self):
        if self.method == "agd-sbcd":
            return {"inner_steps": self.inner_steps} | ({} if self.gamma is None else {"gamma": self.gamma})
        if self.method == "minibatch":
            return {}
        decay_every = {"decay_every": max(1, self.max_epochs // 2)}
        if self.method == "cross-entropy":
            return decay_every | {"balanced": self.balanced}
        return decay_every if self.gamma is None else decay_every | {"decay": 1.0 / self.gamma}

    def fit(self, X, y, validation=None):
        """Fit to rows of pixels; without others to validate with, a tenth is held out, and is not augmented."""
        from kernbench.deep import DeepPartialAUCClassifier
        from kernbench.experiments.papers.pauc.deep.augmentation import Shifted

        if validation is None:
            rows, held = _split(y, 0.1, self.random_state)
            X, y, validation = X[rows], y[rows], (X[held], y[held])
        inputs = X if self.augmentation is None else Shifted(X, y, self.channels, **self.augmentation)
        self.states_ = []
        self.model_ = DeepPartialAUCClassifier(
            lambda: network_for(self.network, X.shape[1], self.channels),
            self.fpr_range,
            method=self.method,
            learning_rate=self.learning_rate,
            max_epochs=self.max_epochs,
            method_options=self._options(),
            validation=validation,
            callback=self._keep,
            random_state=self.random_state,
        ).fit(inputs, y)
        self.validation_score_, self.n_iter_ = self.model_.validation_score_, self.model_.n_iter_
        self.trace_, self.status_ = self.model_.trace_, self.model_.status_
        return self

    def _keep(self, model):
        from kernbench.deep.trainer.loop import state_of

        self.states_.append(state_of(model.module_))

    def decision_function(self, X):
        """Scores of rows."""
        return self.model_.decision_function(X)

    def last_scores(self, X):
        """Scores of rows by the last state."""
        scores = self.model_.use("last").decision_function(X)
        self.model_.use("best")
        return scores

    def scores_along(self, X):
        """Yield the scores of rows by the states of all evaluations."""
        view = copy.copy(self.model_)
        view.module_ = copy.deepcopy(view.module_)
        for state in self.states_:
            view.module_.load_state_dict(state)
            yield view.decision_function(X)


class LibAUC:
    """A network trained by LibAUC: ``pAUC_CVaR_Loss`` with SOPA, or ``AUCMLoss`` with PESG.

    Batches are those of the trainer, 16 positives and 16 negatives, since LibAUC's own sampler needs torchvision. The
    state of the best validation score is kept, as by the trainer.

    Parameters
    ----------
    method : {"cvar", "aucm"}
    network, channels, fpr_range, learning_rate, max_epochs, random_state
        As for `Network`; images are not augmented. The range of ``pAUC_CVaR_Loss`` begins at 0: it ends where
        `fpr_range` does.
    """

    def __init__(self, method="cvar", network="resnet20", channels=3, fpr_range=(0.05, 0.5), learning_rate=0.1,
                 max_epochs=10, random_state=0):  # fmt: skip
        self.method, self.network, self.channels, self.fpr_range = method, network, channels, tuple(fpr_range)
        self.learning_rate, self.max_epochs, self.random_state = learning_rate, max_epochs, random_state

    @staticmethod
    def warm_up():
        """Load the libraries that `fit` uses, for a measurement to do so off its clock."""
        import libauc.losses
        import libauc.optimizers  # noqa: F401

        import kernbench.deep  # noqa: F401

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
        self.module_ = network_for(self.network, X.shape[1], self.channels)
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


def network_for(name, n_pixels, channels):
    """A network for rows of `n_pixels` numbers, which are square images: "resnet20" or "lenet"."""
    import torch
    from torch import nn

    from kernbench.deep import LeNet, ResNet20

    side = round((n_pixels / channels) ** 0.5)
    network = ResNet20(channels) if name == "resnet20" else LeNet(channels, side=side)
    network = nn.Sequential(nn.Unflatten(1, (channels, side, side)), network)
    return network.to(memory_format=torch.channels_last)  # a quarter less time on a CPU


def _split(y, share, seed):
    """Indices to train with, and a share of either class to validate with."""
    rng, held = np.random.default_rng(seed), np.zeros(len(y), dtype=bool)
    for members in (np.flatnonzero(y > 0), np.flatnonzero(y < 0)):
        held[rng.choice(members, max(1, round(share * len(members))), replace=False)] = True
    return np.flatnonzero(~held), np.flatnonzero(held)
