"""A classifier with support vectors: decision values, labels, linear weights, the slack budget."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from kernbench._typing import Rows
from kernbench.estimators.arguments.training_data import check_examples, check_square, without_empty_classes
from kernbench.estimators.base import KernelClassifier
from kernbench.estimators.fit.centring import centre_of, combined, shift_of
from kernbench.estimators.fit.fitted_state import check_expansion
from kernbench.estimators.svm.multiclass import assemble, class_blocks, class_scores, pair_values, products_of
from kernbench.estimators.svm.parameters import check_kernel_svc, check_output
from kernbench.kernels import blocks
from kernbench.kernels.domain import check_range, is_precomputed
from kernbench.kernels.functions import Linear
from kernbench.problems.slack_budget import C_of_solution, nu_of_solution
from kernbench.validation.rows import check_rows

CHUNK_BYTES = 32_000_000  # values of the kernel that are held at one time
PRODUCT_BYTES = 4_000_000  # products of classes that are held at one time; they should stay in the cache
MOST_WEIGHTS = 2**25  # weights of features, of all problems, that are held for predictions
FEW_SUPPORT_VECTORS = 256  # of a class on average, below which its own product is mostly preparation


def set_expansion(model, X, codes, pairs, solutions):
    """Set the attributes that define the decision functions, given the solutions of the pairs."""
    support, model.dual_coef_, intercept = assemble(pairs, solutions, codes, len(model.classes_))
    set_support(model, X, codes, support)
    set_intercept(model, intercept)


def centre_for(model, X, n_problems):
    """Return the ``centre_`` of rows for the kernel and the number of problems of `model`."""
    is_invariant = isinstance(model.kernel_, Linear) and model.fit_intercept
    return centre_of(X) if is_invariant and n_problems * X.shape[1] <= MOST_WEIGHTS else None


def set_intercept(model, intercept):
    """Set ``intercept_``, given that of the rows less ``centre_``."""
    model.intercept_ = intercept
    if model.centre_ is not None:
        model.intercept_ = intercept - shift_of(model.coef_, model.centre_)


def set_support(model, X, codes, support):
    """Set the attributes of the support vectors, given their indices in the training set, grouped by class."""
    set_support_vectors(model, X, support)
    model.n_support_ = np.bincount(codes[support], minlength=len(model.classes_)).astype(np.int32)


def set_support_vectors(model, X, support):
    """Set ``support_`` and ``support_vectors_``, given the indices in the training set.

    A stream of `partial_fit` ends here: the next call would continue from other coefficients than the model's.
    """
    vars(model).pop("_scs_stream", None)
    model.support_ = support.astype(np.int32)
    model.support_vectors_ = np.empty((0, 0)) if is_precomputed(model.kernel) else X[model.support_]


def require_linear(kernel):
    """Raise AttributeError unless a function of the kernel has weights of the features."""
    if not isinstance(kernel, Linear):
        raise AttributeError("coef_ is only available with kernel='linear'")


class Expansion:
    """Values of kernel expansions, from ``support_vectors_`` and ``dual_coef_``.

    The estimator has the parameter ``kernel`` and, when fitted, ``kernel_``, ``centre_`` and ``dtype_``. Linear
    functions are computed from their weights, in float64: far from the origin sums over support vectors cancel.
    """

    centre_: Any
    shape_fit_: tuple[int, int]

    _takes_objects = True  # with a kernel that is a Python function, see `check_rows`

    def _checked(self, X):
        X = check_rows(self, X, reset=False, accept_sparse=not is_precomputed(self.kernel_))
        check_range(X, self.kernel_, self.dtype_, feature_names=getattr(self, "feature_names_in_", None))
        return X

    @property
    def _has_weights(self):
        """Whether predictions are made from the weights of the features."""
        return isinstance(self.kernel_, Linear) and np.size(self.intercept_) * self.n_features_in_ <= MOST_WEIGHTS

    def _products_with_weights(self, X):
        """Yield X @ ``coef_.T``, of shape (m, n_problems), some rows at a time."""
        weights = np.atleast_2d(self.coef_).T
        for rows in _slices(X.shape[0], CHUNK_BYTES // (8 * max(weights.shape))):
            yield X[rows] @ weights

    def _product(self, X, block):
        """Return K(X, support vectors) times their coefficients, for a slice of them; K is never stored."""
        coef = self.dual_coef_[:, block].T
        if len(coef) == 0:
            return np.zeros((X.shape[0], coef.shape[1]))
        if is_precomputed(self.kernel_):
            return X[:, self.support_[block]] @ coef
        return blocks.matmul(self.kernel_, X, self.support_vectors_[block], coef, dtype=self.dtype_)

    def _check_is_fitted(self):
        """Raise NotFittedError unless fitted; scikit-learn's check takes as long as a prediction."""
        if not self.__sklearn_is_fitted__():
            check_is_fitted(self)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "dual_coef_")


class ExpansionClassifier(Expansion, KernelClassifier):
    """Prediction from ``support_vectors_``, ``dual_coef_`` and ``intercept_`` of every two-class problem.

    The estimator has the parameters ``kernel``, ``loss``, ``decision_function_shape`` and ``break_ties`` and, when
    fitted, ``classes_``, ``class_weight_``, ``kernel_`` and ``dtype_``.
    """

    class_weight_: np.ndarray
    n_support_: np.ndarray
    objective_of_sample_: Any

    def decision_function(self, X: Rows) -> np.ndarray:
        """Return the decision values of rows.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            Dense or sparse, whatever ``fit`` was given; K(X, train) of shape (n_samples, n_train) if
            ``kernel="precomputed"``; a model from `support_only` takes the columns of support vectors.

        Returns
        -------
        ndarray of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_pairs)
            Two classes: f(x) + b, positive for ``classes_[1]``. More, one against one: for ``"ovr"`` a score
            per class (pairs won, ties broken by the sum of their values), for ``"ovo"`` f(x) + b of each
            pair, positive for its earlier class. One against the rest: f(x) + b of each class.
        """
        self._check_is_fitted()
        if len(self.classes_) == 2:
            return self._pair_values(X)[:, 0]
        if self._against_rest or self.decision_function_shape == "ovo":
            return self._pair_values(X)
        return self._scores(X)

    def predict(self, X: Rows) -> np.ndarray:
        """Return the label of each row.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            As for `decision_function`.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        self._check_is_fitted()
        if len(self.classes_) == 2:
            return self.classes_[(self._pair_values(X)[:, 0] >= 0).astype(np.intp)]  # of a tie the later, as SVC
        if self._against_rest:
            scores = self._pair_values(X)
        else:
            scores = self._scores(X, break_ties=self.break_ties)
        return self.classes_[scores.argmax(axis=1)]

    @property
    def _against_rest(self):
        """Whether the model is one against the rest, judged by the layout, since parameters may change after a fit."""
        return len(self.dual_coef_) == len(self.classes_)

    def _pair_values(self, X):
        X = self._checked(X)
        if self._has_weights:
            return np.concatenate(list(self._products_with_weights(X))) + self.intercept_
        if len(self.classes_) == 2 or self._against_rest:
            return self._product(X, slice(None)) + self.intercept_
        return np.concatenate([pair_values(products, self.intercept_) for products in self._products_by_rows(X)])

    def _scores(self, X, *, break_ties=True):
        """Return one score for each class, of more than two one against one; values of pairs are never all stored."""
        return np.concatenate([
            class_scores(products, self.intercept_, break_ties=break_ties)
            for products in self._products_by_rows(self._checked(X))
        ])  # fmt: skip

    def _products_by_rows(self, X):
        """Yield the products of `multiclass.pair_values`, some rows of X at a time; the next ones overwrite them."""
        by_class, n_classes = class_blocks(self.n_support_), len(self.classes_)
        n_products = n_classes * (n_classes - 1)
        if self._has_weights:
            for values in self._products_with_weights(X):
                yield products_of(values, n_classes)
            return
        if len(self.support_) >= FEW_SUPPORT_VECTORS * n_classes:
            for rows in _slices(X.shape[0], CHUNK_BYTES // (8 * n_products)):
                yield np.array([self._product(X[rows], block) for block in by_class])
            return
        # The kernel at once: a product with each class's support vectors would be all preparation.
        coefs = [np.ascontiguousarray(self.dual_coef_[:, block].T) for block in by_class]
        room = np.empty(0)
        for rows in _slices(X.shape[0], CHUNK_BYTES // (8 * max(1, len(self.support_)))):
            kernel = self._kernel_block(X[rows])
            for part in _slices(len(kernel), PRODUCT_BYTES // (8 * n_products)):
                values = kernel[part]
                size = len(values) * n_products
                if len(room) < size:  # fresh memory costs more than the products
                    room = np.empty(size)
                products = room[:size].reshape(n_classes, len(values), n_classes - 1)
                for block, coef, product in zip(by_class, coefs, products, strict=True):
                    np.matmul(values[:, block], coef, out=product)
                yield products

    def _kernel_block(self, X):
        """Return K(X, support vectors)."""
        if is_precomputed(self.kernel_):
            return X[:, self.support_]
        return blocks.block(self.kernel_, X, self.support_vectors_, dtype=self.dtype_)

    @property
    def coef_(self) -> Any:
        """Weights of the features, shape (n_problems, n_features), read-only; linear kernel only."""
        check_is_fitted(self)
        require_linear(self.kernel_)
        if len(self.classes_) == 2 or self._against_rest:
            coef = combined(self.dual_coef_, self.support_vectors_, self.centre_)
        else:
            products = [
                combined(self.dual_coef_[:, b], self.support_vectors_[b], self.centre_).T
                for b in class_blocks(self.n_support_)
            ]
            coef = pair_values(np.asarray(products), np.zeros_like(self.intercept_)).T
        coef.flags.writeable = False
        return coef

    def slack_budget(self, X: Rows, y: ArrayLike, sample_weight: ArrayLike | None = None) -> tuple[float, float]:
        """Return the slack budget nu and the C whose problems the fitted function solves.

        A support vector machine u solves the slack-constrained problem of the batch perceptron, up to a factor, for nu
        = (mean hinge loss of u) / ‖u‖ (Cotter et al. 2012, Lemma 2.1), and the regularised problem for the C at which
        primal and dual objective are equal. So this converts C to nu (for a model fitted with ``C``), and nu to C (for
        a model fitted with ``solver_options={"nu": ...}``). The C of a `KernelNuSVC` is 1 / ``rho_``. Both numbers are
        as accurate as the fit.

        Parameters
        ----------
        X, y, sample_weight
            The training set, as given to ``fit``.

        Returns
        -------
        nu : float
            Budget of slack per row (per unit of weight) for functions of norm 1.
        C : float
            Infinite for a function whose hinge losses are all 0, which is optimal for every large C.

        Raises
        ------
        ValueError
            For more than two classes, a loss other than the hinge, or rows other than those of ``fit``.
        """
        check_is_fitted(self)
        if len(self.classes_) != 2 or self.loss not in ("hinge", "nu_margin"):
            raise ValueError("slack_budget is for two classes and loss='hinge'")
        kernel = self.kernel_
        X, y, classes, codes, sample_weight = check_examples(self, X, y, sample_weight, kernel=kernel, reset=False)
        check_square(X, kernel)
        classes, codes, _ = without_empty_classes(classes, codes, sample_weight)
        if not np.array_equal(classes, self.classes_) or self.support_.max(initial=-1) >= len(y):
            raise ValueError("X and y must be the training set of this model")
        weights = self.class_weight_[codes] * (1.0 if sample_weight is None else sample_weight)
        values = self.decision_function(X)
        coef = self.dual_coef_[0]
        if isinstance(self.kernel_, Linear):
            squared_norm = np.sum(self.coef_**2)
        else:
            squared_norm = coef @ (values[self.support_] - self.intercept_[0])
        margins = np.where(codes == 1, values, -values)
        nu = nu_of_solution(margins, squared_norm, weights)
        return nu, C_of_solution(np.abs(coef).sum(), margins, squared_norm, weights)

    def _check_parameters(self):
        """Check the parameters that can be checked without data."""
        check_kernel_svc(self)

    def _check_fitted_state(self):
        if getattr(self, "fit_intercept", None) in (0, 1):  # integers in files of earlier versions
            self.fit_intercept = bool(self.fit_intercept)
        check_output(self)  # predictions depend on no other parameters: the solver may be of a plug-in
        n_classes = len(self.classes_)
        against_rest = n_classes > 2 and self._against_rest
        n_pairs = n_classes * (n_classes - 1) // 2
        check_expansion(
            self, n_rows=n_classes if against_rest else n_classes - 1, n_problems=n_classes if against_rest else n_pairs
        )


def _slices(n, height):
    """Yield slices of `height` rows, at least one, that cover n."""
    height = max(1, height)
    for start in range(0, n, height):
        yield slice(start, min(n, start + height))
