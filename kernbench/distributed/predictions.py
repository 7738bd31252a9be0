"""Predictions for rows in files, in chunks or on a cluster, by the plain fitted model."""

from copy import copy
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import is_regressor
from sklearn.metrics import r2_score
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, column_or_1d

from kernbench.distributed.blocks.file_blocks import FileBlocks
from kernbench.distributed.cluster.collections import gathered, is_collection, predicted_lazily
from kernbench.distributed.reading import NO_LABELS
from kernbench.distributed.sources import column_of, read_labels
from kernbench.distributed.spaces import text_names
from kernbench.estimators.arguments.training_data import check_weights
from kernbench.kernels.threads import single_threaded_blas
from kernbench.validation.foreign import column_names

DESCRIBED = ("classes_", "n_features_in_", "feature_names_in_")


def _has(method):
    def check(self):
        getattr(getattr(self, "estimator_", self.estimator), method)  # its AttributeError says what is missing
        return True

    return available_if(check)


class Predictions:
    """The methods of a fitted `Distributed`. Those for Dask collections are lazy and run on the workers."""

    @_has("decision_function")
    def decision_function(self, X: Any) -> Any:
        """Return the scores of rows in files, chunks, an array or a Dask collection."""
        return self._of_rows("decision_function", X)

    @_has("score_samples")
    def score_samples(self, X: Any) -> Any:
        """Return the scores of a novelty detector for rows in files, chunks, an array or a Dask collection."""
        return self._of_rows("score_samples", X)

    @_has("log_ratio")
    def log_ratio(self, X: Any) -> Any:
        """Return the logarithms of a density ratio at rows in files, chunks, an array or a Dask collection."""
        return self._of_rows("log_ratio", X)

    @_has("ratio")
    def ratio(self, X: Any) -> Any:
        """Return a density ratio at rows in files, chunks, an array or a Dask collection."""
        return self._of_rows("ratio", X)

    @_has("predict")
    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return the labels or targets of rows in files, chunks, an array or a Dask collection.

        Parameters
        ----------
        X
        return_std : bool, default=False
            Return a pair of posterior means and standard deviations, of a DoublyStochasticGPRegressor that has them.
        """
        if not return_std:
            return self._of_rows("predict", X)
        both = self._of_rows("predict", X, with_std=True)
        return both[:, 0], both[:, 1]

    @_has("predict_proba")
    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities of the classes of rows in files, chunks, an array or a Dask collection."""
        return self._of_rows("predict_proba", X)

    @_has("score")
    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Return the accuracy, or R² of targets; for a Dask array y computed on the workers.

        Labels and weights are given as to `fit`: labels of svmlight files are found, a column of them is named by `y`.
        """
        is_target = is_regressor(self.estimator)
        if is_collection(X):
            predicted = self.predict(X)
            if not is_target and sample_weight is None and _are_as_many(predicted, y):
                return float((predicted == y.rechunk(predicted.chunks)).mean().compute())
            predicted, y = predicted.compute(), gathered(self.client, y)
            sample_weight = gathered(self.client, sample_weight)
        elif _is_in_chunks(X):
            label = column_of(y)
            blocks = self._blocks(X, label)
            predicted = self._of_blocks(self._without_names().predict, blocks)
            y = blocks.y if y is None or label is not None else read_labels(y)
        else:
            predicted = self.predict(X)
            y = None if y is None or column_of(y) is not None else read_labels(y)
        if y is None:
            raise ValueError(NO_LABELS)
        if sample_weight is not None:
            given = read_labels(sample_weight)
            given = np.full(len(predicted), given) if given.ndim == 0 else given  # one number is that of all rows
            sample_weight = check_weights(given, np.broadcast_to(0.0, len(predicted)))
        if np.shape(y)[:1] != (len(predicted),):
            raise ValueError(f"y has shape {np.shape(y)}, but X has {len(predicted)} rows")
        if np.ndim(predicted) == 1:
            y = column_or_1d(y)  # a column compared with a row would be a matrix
        if is_target:
            return float(r2_score(y, predicted, sample_weight=sample_weight))
        return float(np.average(predicted == y, weights=sample_weight))

    def _describe(self):
        steps = _steps_of(self.estimator_)
        if (names := text_names(self._names)) is not None:
            steps[0].feature_names_in_ = names  # only now: it learned from arrays
        for name in DESCRIBED:
            of = steps[-1 if name == "classes_" else 0]
            if hasattr(of, name):
                setattr(self, name, getattr(of, name))

    def _of_rows(self, method, X, with_std=False):
        check_is_fitted(self)
        self._check_names(column_names(X))
        predict, of_arrays = (getattr(model, method) for model in (self.estimator_, self._without_names()))
        if with_std:
            predict, of_arrays = partial(_mean_and_std, predict), partial(_mean_and_std, of_arrays)
        if is_collection(X):
            few = of_arrays(np.zeros((2, self.n_features_in_)))
            return predicted_lazily(X, partial(_of_part, predict, of_arrays), few)
        if not _is_in_chunks(X):
            return predict(X)
        return self._of_blocks(of_arrays, self._blocks(X))

    def _blocks(self, X, label=None):
        """Return the rows of files or chunks; of svmlight files with as many columns as in fit, at the least."""
        check_is_fitted(self)
        blocks = FileBlocks(X, label=label, least_columns=self.n_features_in_)
        self._check_names(blocks.names)
        return blocks

    def _check_names(self, names):
        """Raise ValueError for rows whose columns have other names, or another order, than those of fit."""
        known = getattr(self, "_names", None)
        if names is None or known is None or list(names) == known:
            return
        if all(isinstance(name, str) for name in [*names, *known]):
            raise ValueError(
                f"the columns {list(names)} should be those of fit, in their order: {known}. Select them by their names"
            )

    def _of_blocks(self, predict, blocks):
        with single_threaded_blas():
            return np.concatenate(blocks.map(lambda rows, start: predict(rows)))

    def _without_names(self):
        """Return the fitted estimator without the names of columns, which are checked here: blocks have none."""
        first = _steps_of(self.estimator_)[0]
        if not hasattr(first, "feature_names_in_"):
            return self.estimator_
        bare = object.__new__(type(first))  # a copy would lose what is kept between calls, as a pickle does
        vars(bare).update((name, value) for name, value in vars(first).items() if name != "feature_names_in_")
        if not isinstance(self.estimator_, Pipeline):
            return bare
        pipeline = copy(self.estimator_)
        pipeline.steps = [(name, bare if step is first else step) for name, step in pipeline.steps]
        return pipeline

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimator_")

    def __sklearn_tags__(self) -> Any:
        tags, own = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.estimator_type, tags.input_tags.sparse = own.estimator_type, own.input_tags.sparse
        tags.classifier_tags, tags.regressor_tags = own.classifier_tags, own.regressor_tags
        return tags


def _steps_of(estimator):
    """Return the steps of a pipeline that are not passed through; of another estimator itself."""
    if not isinstance(estimator, Pipeline):
        return [estimator]
    return [step for _, step in estimator.steps if step not in (None, "passthrough")]


def _mean_and_std(predict, X):
    return np.column_stack(predict(X, return_std=True))


def _of_part(predict, of_arrays, rows):
    """Return the predictions for a partition: by `of_arrays` if its columns have no names."""
    return (of_arrays if column_names(rows) is None else predict)(rows)


def _are_as_many(predicted, y):
    """Whether these are Dask arrays of the same shape, which is known: that of data frames and selections is not."""
    return hasattr(y, "rechunk") and y.shape == predicted.shape and not np.isnan(y.shape).any()


def _is_in_chunks(X):
    if isinstance(X, list | tuple):
        return len(X) > 0 and (isinstance(X[0], str | Path | tuple) or len(np.shape(X[0])) == 2)
    return isinstance(X, str | Path)
