"""``kernbench fit`` on a folder of files, which need not fit memory, here or on a Dask cluster."""

from contextlib import contextmanager
from pathlib import Path

ANSWER_SECONDS = 20


def is_folder(source):
    """Whether `source` is a folder of files with rows."""
    return source != "" and Path(source).is_dir()


def labels_of(label):
    """Return ``--label`` as `Distributed` takes it: a ``.npy`` file or folder, the position or the name of a column."""
    try:
        return int(label)
    except ValueError:
        return label


class BlockFit:
    """A fit to the files of a folder.

    Parameters
    ----------
    model : estimator
    folder : str
        A folder; with a scheduler, one that all workers see.
    label : str or int
    scheduler : str or None
        The address of a Dask scheduler.

    Attributes
    ----------
    model : estimator
        The fitted one, after `fit`.
    shape : tuple of int
        Shape of the rows.
    """

    def __init__(self, model, folder, label, scheduler):
        self.model, self.folder, self.label, self.scheduler, self.shape = (model, folder, label, scheduler, (0, 0))

    def fit(self):
        """Fit; after Ctrl-C the model is the one reached so far. Raise ValueError if workers are lost for good."""
        from kernbench.distributed import Distributed
        from kernbench.distributed.cluster.workers import WorkersLost

        with connected(self.scheduler) as client:
            fitted = Distributed(self.model, client)
            try:
                fitted.fit(self.folder, self.label)
            except WorkersLost as error:
                raise ValueError(
                    f"workers of {self.scheduler} were lost during the fit ({error}): see in their logs why, which is "
                    "often too little memory, and give the same command again, with more memory or smaller files"
                ) from error
            finally:
                self.model = getattr(fitted, "estimator_", self.model)
                self.shape = getattr(fitted, "n_samples_", 0), getattr(fitted, "n_features_in_", 0)


@contextmanager
def connected(scheduler):
    """Yield a client of the scheduler, or None without one."""
    if scheduler is None:
        yield None
        return
    try:
        from distributed import Client
    except ImportError:
        raise ValueError('--scheduler needs Dask: pip install "kernbench[dask]"') from None
    try:
        client = Client(scheduler, timeout=ANSWER_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ValueError(
            f"no Dask scheduler answers at {scheduler} ({error}): start one with `dask scheduler`, and give the "
            "address that it prints, such as tcp://10.0.0.1:8786"
        ) from None
    with client:
        yield client
