"""Explicit features: time of a transform, and error of the kernel they stand for. Lower is better."""

import numpy as np
from scipy.linalg import blas

from . import primitives_problems as primitives
from . import problems

try:
    from kernbench.features import Nystroem, RandomFeatures
except ImportError:  # a commit from before they were there
    Nystroem = RandomFeatures = None

N_ROWS, N_COLUMNS, N_FEATURES = 1000, 32, 512  # of timings
N_JUDGED, D_JUDGED, SEEDS = 200, 8, range(5)  # of errors
N_LANDMARKS = 64


def need(features):
    """Skip the benchmark on a commit without these features."""
    if features is None:
        raise NotImplementedError("kernbench.features")


class _Timed:
    number = 1
    repeat = (5, 50, 0.2)
    timeout = 60
    version = "2"  # the kernels and rows of the experiment


class Transform(_Timed):
    """512 random features of 1,000 rows of 32 columns, frequencies kept from the call before."""

    param_names = ("kernel", "dtype")
    params = (primitives.WITH_FEATURES, problems.DTYPES)

    def setup(self, kernel, dtype):
        need(RandomFeatures)
        problems.prepare_process()
        self.X = primitives.rows(kernel, N_ROWS, N_COLUMNS, 1, dtype)
        self.model = RandomFeatures(
            primitives.kernel(kernel, N_COLUMNS), N_FEATURES, form=primitives.form(kernel), random_state=0
        ).fit(self.X)
        self.model.transform(self.X)

    def time_transform(self, kernel, dtype):
        self.model.transform(self.X)


class CosineYardstick(_Timed):
    """One bare matrix product and one cosine of each value: what features of cosines cannot do without."""

    param_names = ("dtype",)
    params = (problems.DTYPES,)

    def setup(self, dtype):
        self.X = primitives.rows("gaussian", N_ROWS, N_COLUMNS, 1, dtype)
        self.W = primitives.rows("gaussian", N_FEATURES, N_COLUMNS, 2, dtype)
        self.gemm = blas.sgemm if dtype == "float32" else blas.dgemm

    def time_product_and_cosine(self, dtype):
        values = self.gemm(1.0, self.X.T, self.W.T, trans_a=True)
        np.cos(values, out=values)


class FeatureError:
    """Error of 512 random features for each kernel, over five seeds."""

    param_names = ("kernel",)
    params = (primitives.WITH_FEATURES,)
    timeout = 60
    version = "2"  # the kernels and rows of the experiment

    def setup(self, kernel):
        need(RandomFeatures)
        self.kernel = primitives.kernel(kernel, D_JUDGED)
        self.X = primitives.rows(kernel, N_JUDGED, D_JUDGED, 1)

    def track_log10_error(self, kernel):
        """log10 of ‖K − Φ Φᵀ‖ / ‖K‖; lower is better."""
        models = [
            RandomFeatures(self.kernel, N_FEATURES, form=primitives.form(kernel), random_state=seed) for seed in SEEDS
        ]
        return primitives.log10_error(self.kernel(self.X), [model.fit_transform(self.X) for model in models])

    track_log10_error.unit = "log10 relative error"


class Draws(_Timed):
    """The Gaussian's frequencies, drawn in four ways: their cost and their error."""

    param_names = ("draws",)
    params = (primitives.errors.DRAWS,)

    def setup(self, draws):
        need(RandomFeatures)
        problems.prepare_process()
        self.X = primitives.rows("gaussian", N_JUDGED, D_JUDGED, 1)
        self.kernel = primitives.kernel("gaussian", D_JUDGED)
        self.row = primitives.rows("gaussian", 1, N_COLUMNS, 2)

    def _model(self, draws, seed, d):
        return RandomFeatures(primitives.kernel("gaussian", d), N_FEATURES, form="pair", draws=draws, random_state=seed)

    def time_draw(self, draws):
        """Frequencies of 512 features of 32 columns, and the features of one row."""
        self._model(draws, 0, N_COLUMNS).fit_transform(self.row)

    def track_log10_error(self, draws):
        """log10 of ‖K − Φ Φᵀ‖ / ‖K‖ with 512 features, over five seeds; lower is better."""
        features = [self._model(draws, seed, D_JUDGED).fit_transform(self.X) for seed in SEEDS]
        return primitives.log10_error(self.kernel(self.X), features)

    track_log10_error.unit = "log10 relative error"


class NystroemMap(_Timed):
    """64 landmarks among 1,000 rows in clusters of uneven sizes, chosen in four ways."""

    param_names = ("landmarks",)
    params = (primitives.errors.LANDMARKS,)

    def setup(self, landmarks):
        need(Nystroem)
        problems.prepare_process()
        self.X, self.y = primitives.clusters(N_ROWS, D_JUDGED, 1)
        self.kernel = primitives.kernel("gaussian", D_JUDGED)
        self.fitted = self._fit(landmarks, 0)

    def _fit(self, landmarks, seed):
        model = Nystroem(self.kernel, N_LANDMARKS, landmarks=landmarks, random_state=seed)
        return model.fit(self.X, self.y)

    def time_fit(self, landmarks):
        self._fit(landmarks, 0)

    def time_transform(self, landmarks):
        self.fitted.transform(self.X)

    def track_log10_error(self, landmarks):
        """log10 of ‖K − Φ Φᵀ‖ / ‖K‖ over five seeds; lower is better."""
        features = [self._fit(landmarks, seed).transform(self.X) for seed in SEEDS]
        return primitives.log10_error(self.kernel(self.X), features)

    track_log10_error.unit = "log10 relative error"
