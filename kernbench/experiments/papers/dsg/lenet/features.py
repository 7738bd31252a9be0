"""Images, a LeNet trained on them, and its features."""

import hashlib
import inspect
import json
from dataclasses import replace

from kernbench.datasets import cache_folder, load, stream
from kernbench.kernels.bandwidth import median_distance

CHUNK_ROWS = 8192
SAMPLE = 1024  # rows from which the median distance is taken, and that stand for a stream in a record


class Features:
    """The features of a trained network, divided by their median distance.

    Parameters
    ----------
    network : NetworkClassifier
    sample : ndarray of shape (n, n_pixels)
        Training images whose features' median distance is the unit.
    """

    def __init__(self, network, sample):
        self.network, self.unit = network, 1.0
        self.unit = median_distance(self(sample[:SAMPLE]), random_state=0)

    def __call__(self, images):
        """Return the features of rows of pixels."""
        return self.network.features(images) / self.unit


class FeatureStream:
    """A stream of images seen through `Features`."""

    def __init__(self, images, features):
        self.images, self.features = images, features

    def chunks(self, rows, n_rows):
        """Yield features and labels of `rows` images each, until `n_rows` have been given."""
        for X, y in self.images.chunks(rows, n_rows):
            yield self.features(X), y


def images(name, epochs=None, rows=None, seed=0):
    """Load the images of a setting as rows of pixels; parameters as for `train`.

    This is what a run reads to know the data of its cells: nothing is trained here. Of a stream, the first `SAMPLE`
    images are the training part.
    """
    if rows is not None:
        return load(name, n_train=SAMPLE, seed=seed)
    return load(name, split_seed=seed) if name == "digits" else load(name)


def opened(seed):
    """The stream of deformed digits, and MNIST's test images."""
    return stream("mnist-deformed", seed)


def train(name, epochs, rows, seed, callback=None):
    """Train LeNet for some epochs, or on the first `rows` images of a stream; leave its weights in a file.

    Parameters
    ----------
    name : str
        "digits" (scikit-learn's, split by the seed), "mnist", or "mnist-deformed", the stream.
    epochs : int or None
        Of a set in memory.
    rows : int or None
        Of the stream.
    seed : int
        Draws the images, their order and the first weights.
    callback : callable, optional

    Returns
    -------
    NetworkClassifier
    """
    from kernbench.experiments.papers.dsg.lenet.classifier import NetworkClassifier

    network = NetworkClassifier("all", max_epochs=epochs, random_state=seed, callback=callback)
    if rows is None:
        data = images(name, seed=seed)
        network.fit(data.X_train, data.y_train)
    else:
        network.fit_chunks(opened(seed)[0].chunks(CHUNK_ROWS, rows))
    path = _file(name, epochs, rows, seed)
    path.parent.mkdir(parents=True, exist_ok=True)
    network.save(path)
    return network


def trained(name, epochs, rows, seed, n_pixels):
    """Return the network of `train`, from its file if there is one: methods on its features share one training."""
    from kernbench.experiments.papers.dsg.lenet.classifier import NetworkClassifier

    path = _file(name, epochs, rows, seed)
    if path.exists():
        return NetworkClassifier("all", random_state=seed).load(path, n_pixels)
    return train(name, epochs, rows, seed)


def _file(*key):
    """Where the weights are kept: by what they depend on, the code of network and training included."""
    import torch

    import kernbench.deep.networks.lenet
    from kernbench.experiments.papers.dsg.lenet import classifier

    code = [inspect.getsource(module) for module in (kernbench.deep.networks.lenet, classifier)]
    digest = hashlib.sha256(json.dumps([key, torch.__version__, code]).encode()).hexdigest()
    return cache_folder() / "networks" / f"{digest[:16]}.pt"


def features(name, epochs=None, rows=None, seed=0):
    """Return the images of a setting as features of a LeNet trained on them; the checksum is that of the images."""
    data = images(name, epochs, rows, seed)
    seen = Features(trained(name, epochs, rows, seed, data.X_train.shape[1]), data.X_train)
    X_train, X_test = seen(data.X_train), seen(data.X_test)
    how = f"{epochs} epochs" if rows is None else f"{rows:,} of them"
    text = (
        f"{X_train.shape[1]:,} features of a LeNet trained on these images ({how}), divided by their median distance."
    )
    return replace(data, X_train=X_train, X_test=X_test, description=f"{data.description} As {text}")


def feature_stream(name, rows, seed=0, epochs=None):
    """Open a stream of features of the network that was trained on its first `rows` images.

    Returns
    -------
    FeatureStream
    X_test, y_test : ndarrays
    """
    endless, X_test, y_test = opened(seed)
    sample, _ = endless.rows(0, SAMPLE)
    seen = Features(trained(name, epochs, rows, seed, X_test.shape[1]), sample)
    return FeatureStream(endless, seen), seen(X_test), y_test
