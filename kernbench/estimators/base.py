"""What all estimators here have in common: model files and tags."""

from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from kernbench.kernels.domain import is_precomputed
from kernbench.saving import model_file


class Model(BaseEstimator):
    """An estimator that can be saved and takes sparse rows."""

    _twin = "compiled"  # "reference" in the tests that compare the two

    def save(self, path):
        """Write the fitted model to a file that `kernbench.load` reads: arrays and plain data, no pickle.

        Parameters
        ----------
        path : str or Path
            Usually ends in ``.npz``. Written whole or not at all.

        Raises
        ------
        ValueError
            If the kernel is a Python function, which is not data.
        """
        model_file.save(self, path)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class Classifier(ClassifierMixin, Model):
    """A classifier that can be saved and takes sparse rows."""


class KernelModel(Model):
    """An estimator with a parameter ``kernel``, which may be precomputed."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = is_precomputed(self.kernel)
        tags.input_tags.sparse = not tags.input_tags.pairwise
        return tags


class KernelClassifier(ClassifierMixin, KernelModel):
    """A classifier with a parameter ``kernel``, which may be precomputed."""


class KernelRegressor(RegressorMixin, KernelModel):
    """A regressor with a parameter ``kernel``, which may be precomputed."""
