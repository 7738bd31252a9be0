"""`DeepPartialAUCClassifier`: trains a network that ranks, with the interface of a scikit-learn classifier."""

from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from kernbench._typing import Callback, RandomState
from kernbench._whole_fits import WholeFits
from kernbench.deep.trainer import fitting, model_files
from kernbench.deep.trainer.examples import scores_of
from kernbench.deep.trainer.parameters import device_of, threshold_of


class DeepPartialAUCClassifier(WholeFits, ClassifierMixin, BaseEstimator):
    r"""Network that maximises the area under a part of the ROC curve, between two false positive rates.

    `fit` takes arrays, or a map-style dataset of torch whose items are (input, label). The trace records the partial
    AUC of validation examples, and the fitted network is the best of those evaluated.

    Parameters
    ----------
    module : torch.nn.Module or callable
        A network that returns one score for each example, shape (n,) or (n, 1); `fit` trains a copy of it, starting
        from its weights. Or a function that returns a network, such as the class `ResNet20`: it is called in each fit,
        so that `random_state` determines the initial weights, too.
    fpr_range : (float, float), default=(0.0, 0.1)
        False positive rates between which the area counts, 0 <= a < b <= 1.
    method : {"agd-sbcd", "minibatch", "cross-entropy", "auc-margin"}, default="agd-sbcd"
        "agd-sbcd": approximate gradient descent on Moreau envelopes [1]_; the window of all examples is tracked by a
        threshold for each positive. "minibatch": stochastic gradient descent on the window of each batch instead of
        that of all examples, which is biased [2]_. "cross-entropy": Adam on the log loss. "auc-margin": the min-max
        margin loss of the AUC, by the proximal epoch stochastic gradient method (PESG) [3]_.
    n_positive, n_negative : int, default=16
        Numbers of positives and negatives in a batch. "cross-entropy" takes batches of ``n_positive + n_negative``
        examples in random order, unless it is balanced.
    learning_rate : float or "auto", default="auto"
        The first step size. "agd-sbcd" divides it by k in stage k = 1, 2, ... (it is the paper's c), "minibatch" by
        sqrt(t) in step t, the others by ten after ``decay_every`` epochs. Choose it by validation, in powers of ten;
        "auto" is a first guess: 0.3 for "agd-sbcd" and "minibatch", 0.001 for "cross-entropy", 0.1 for "auc-margin".
    max_epochs : int, default=10
        An epoch consists of as many batches of ``n_positive + n_negative`` examples as together have the number of
        training examples, even if a class has fewer examples than its part of a batch.
    method_options : dict, default=None
        Options of the method. All take ``weight_decay`` (0; 1e-5 for "auc-margin"). "agd-sbcd": ``mu``, ``gamma``,
        ``inner_steps``, ``shared_batches``, ``loss``, ``thresholds``, ``threshold_step`` of `AGDSBCD`. "minibatch":
        ``loss`` of `PartialAUCLoss` ("log_loss" unless it is given).
        "cross-entropy" and "auc-margin": ``decay_every`` (the step size is divided by ten after this many epochs; 5).
        "cross-entropy": ``balanced`` (batches of pairs, for few positives; probabilities remain those of all examples).
        "auc-margin": ``margin``, ``decay``, ``clip`` of `PESG`.
    validation : None, float, (X, y) or Dataset, default=0.1
        A share of each class to hold out, or other examples, X as for `fit`; None for no validation.
    look_every : int, default=None
        Steps between two evaluations on the validation examples; None: one epoch.
    keep : {"best", "last"}, default="best"
        Which state of the network predicts: "best", with validation, is that of the best evaluation after the first
        step (of equal ones the latest), "last" the last one; see `use`.
    patience : int, default=None
        Stop after this many evaluations without a better validation score.
    threshold : "youden", "window", float, ("sensitivity", s) or ("specificity", q), default="youden"
        The threshold of `predict`, as in `ROCSVC`, set on the validation examples or, without these, on the training
        examples. "window" is the upper end of `fpr_range`.
    max_seconds : float, default=None
        Time budget for steps; evaluations are not counted.
    device : str or torch.device, default=None
        None: a CUDA device if there is one, else the CPU.
    checkpoint : str or Path, default=None
        File to which the state of the fit is written after each evaluation, every `look_every` steps, and on Ctrl-C.
    resume : bool, default=False
        Continue from `checkpoint` if that file exists; on the CPU the result is bit-identical to an uninterrupted fit.
        Data and parameters must be the same, except for the limits `max_epochs`, `max_seconds`, `patience`.
    callback : callable or list of callables, default=None
        Called at each evaluation with a model of the weights at this time, which can predict, with the threshold 0, and
        be saved; returns None, a dict of columns for the trace, or True to stop.
    verbose : int, default=0
        1 shows a progress bar.
    random_state : None, int, RandomState or Generator, default=None
        Source of batches, held-out examples and, through torch, dropout and initial weights. `fit` restores the state
        of torch's global generator when it returns.

    Attributes
    ----------
    module_ : torch.nn.Module
        In evaluation mode.
    classes_ : ndarray of shape (2,)
        The larger label is positive.
    intercept_ : ndarray of shape (1,)
        Added to scores, so that 0 is the threshold.
    best_state_, last_state_ : dict of str to Tensor
        State dicts; `best_state_` is None without validation.
    validation_score_, best_n_iter_ : float, int
        Score and step of the best evaluation; None and 0 without validation.
    n_iter_ : int
        Steps.
    status_ : str
        "finished", "early_stopping", "max_seconds", "callback", "interrupted" or "diverged".
    trace_ : dict of str to list
        ``n_iter``, ``epoch``, ``seconds``, ``learning_rate``, ``loss`` (mean over the batches since the last
        evaluation), ``validation_partial_auc`` and the columns of callbacks.

    Notes
    -----
    Ctrl-C ends the fit after the current step, and the model can predict; pressed twice, it ends at once, with
    the states of the evaluations so far. If scores become NaN or infinite, the fit stops with a warning; the last state
    is then that of the last evaluation whose scores were finite.

    References
    ----------
    .. [1] Y. Yao, Q. Lin, T. Yang, "Large-scale optimization of partial AUC in a range of false positive rates",
       NeurIPS 2022.
    .. [2] P. Kar, H. Narasimhan, P. Jain, "Online and stochastic gradient methods for non-decomposable loss functions",
       NeurIPS 2014.
    .. [3] Z. Yuan, Y. Yan, M. Sonka, T. Yang, "Large-scale robust deep AUC maximization", ICCV 2021.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import StandardScaler
    >>> from kernbench.deep import DeepPartialAUCClassifier, MLP
    >>> from kernbench.metrics import partial_auc
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> model = DeepPartialAUCClassifier(MLP, (0.0, 0.3), method="cross-entropy", random_state=0).fit(X, y)
    >>> partial_auc(y, model.decision_function(X), (0.0, 0.3)) > 0.95
    True
    """

    module_: Any
    classes_: np.ndarray
    intercept_: np.ndarray
    best_state_: Any
    last_state_: dict[str, Any]
    validation_score_: float | None
    best_n_iter_: int
    n_iter_: int
    status_: str
    trace_: dict[str, Any]

    def __init__(
        self,
        module: Any,
        fpr_range: tuple[float, float] = (0.0, 0.1),
        *,
        method: str = "agd-sbcd",
        n_positive: int = 16,
        n_negative: int = 16,
        learning_rate: float | str = "auto",
        max_epochs: int = 10,
        method_options: dict[str, Any] | None = None,
        validation: Any = 0.1,
        look_every: int | None = None,
        keep: str = "best",
        patience: int | None = None,
        threshold: str | float | tuple[str, float] = "youden",
        max_seconds: float | None = None,
        device: Any = None,
        checkpoint: str | Path | None = None,
        resume: bool = False,
        callback: Callback = None,
        verbose: int = 0,
        random_state: RandomState = None,
    ) -> None:
        self.module = module
        self.fpr_range = fpr_range
        self.method = method
        self.n_positive = n_positive
        self.n_negative = n_negative
        self.learning_rate = learning_rate
        self.max_epochs = max_epochs
        self.method_options = method_options
        self.validation = validation
        self.look_every = look_every
        self.keep = keep
        self.patience = patience
        self.threshold = threshold
        self.max_seconds = max_seconds
        self.device = device
        self.checkpoint = checkpoint
        self.resume = resume
        self.callback = callback
        self.verbose = verbose
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike | None = None) -> Self:
        """Train a copy of the module.

        Parameters
        ----------
        X : array-like of shape (n_samples, ...) or torch.utils.data.Dataset
            Rows, images, …: whatever the module takes, in its precision; or a map-style dataset, whose inputs are
            collated as `torch.utils.data.default_collate` does.
        y : array-like of shape (n_samples,), default=None
            Labels of two classes. Of a dataset they may be left out: then its items are read once for them.

        Returns
        -------
        self
        """
        fitting.fit(self, X, y)
        return self

    def use(self, which: str) -> Self:
        """Switch to the best or to the last state of the fit for predictions, with the threshold that `fit` set for it.

        Parameters
        ----------
        which : {"best", "last"}

        Returns
        -------
        self
        """
        check_is_fitted(self)
        fitting.use(self, which)
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the scores of examples: the larger, the more likely positive.

        Parameters
        ----------
        X : array-like of shape (n_samples, ...) or torch.utils.data.Dataset
            As for `fit`.

        Returns
        -------
        ndarray of shape (n_samples,), float64
            The module's score + ``intercept_``, at least 0 where `predict` says ``classes_[1]``.
        """
        return self._scores(X) + self.intercept_[0]

    def predict(self, X: Any) -> np.ndarray:
        """Return the label of each example.

        Parameters
        ----------
        X : array-like of shape (n_samples, ...) or torch.utils.data.Dataset

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        positive = self.decision_function(X) >= 0
        return self.classes_[positive.astype(np.intp)]

    @available_if(lambda self: self.method == "cross-entropy")
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return probabilities; only for ``method="cross-entropy"``, since the other losses only rank.

        They are 1 / (1 + exp(-score)), whatever the threshold.

        Parameters
        ----------
        X : array-like of shape (n_samples, ...) or torch.utils.data.Dataset

        Returns
        -------
        ndarray of shape (n_samples, 2)
            In the order of ``classes_``.
        """
        with np.errstate(over="ignore"):  # of scores below -709, whose probability is 0
            positive = 1.0 / (1.0 + np.exp(-self._scores(X)))
        return np.column_stack([1.0 - positive, positive])

    def adjust_threshold(self, X: Any, y: ArrayLike | None, threshold: str | float | tuple[str, float]) -> Self:
        """Set ``intercept_`` by the scores of examples other than those of `fit`.

        Parameters
        ----------
        X : array-like of shape (n_samples, ...) or torch.utils.data.Dataset
        y : array-like of shape (n_samples,), or None for the labels of a dataset
        threshold : "youden", "window", float, ("sensitivity", s) or ("specificity", q)
            As the parameter of that name, which is not changed.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        threshold = threshold_of(self, threshold)
        self.intercept_ = fitting.intercept(threshold, fitting.labelled(self, X, y, "y"), self.module_)
        return self

    def save(self, path: str | Path) -> None:
        """Write the fitted model to a file of tensors and plain data; `load` reads it back.

        Parameters
        ----------
        path : str or Path
            Usually ends in ``.pt``. Written whole or not at all.
        """
        check_is_fitted(self)
        model_files.save(self, path)

    @classmethod
    def load(cls, path: str | Path, module: Any, device: Any = None) -> Self:
        """Read a model written by `save`; nothing in the file is run.

        Parameters
        ----------
        path : str or Path
        module : torch.nn.Module or callable
            The network, or a function that makes it: files hold its weights only.
        device : str or torch.device, default=None
            As the parameter of that name.

        Returns
        -------
        DeepPartialAUCClassifier
        """
        return model_files.load(cls, path, module, device)

    def to(self, device: Any) -> Any:
        """Move the fitted module to a device; return self."""
        check_is_fitted(self)
        self.module_.to(device_of(device))
        return self

    def _scores(self, X):
        check_is_fitted(self)
        return scores_of(self.module_, fitting.unlabelled(self, X))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "intercept_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.three_d_array = True
        return tags
