"""Models in files: arrays and plain data in one ``.npz``, read without pickle.

The archive holds the arrays of the model and one string, ``header``, which is JSON::

    {"format": "kernbench model", "format_version": 1, "kernbench": "0.1.0", "class": "KernelSVC",
     "params": {...}, "attributes": {...}}

Prediction needs the fitted attributes only, those whose names end in ``_``. One of them may be a model itself (a
feature map), which is stored in the same way; `ROCSVC` adds the state of its stream::

    {"$model": "Nystroem", "params": {...}, "attributes": {...}}

Parameters that are not plain data and do not matter for prediction (callbacks, random generators, data frames) are left
out; they take their defaults in the loaded model.
"""

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from kernbench._files import written_whole
from kernbench._models import BY_NAME
from kernbench._names import unknown_name
from kernbench._version import __version__
from kernbench._warnings import warn
from kernbench.saving.plain_data import NotPlainData, decode, encode
from kernbench.validation.archives import read_member

FORMAT, FORMAT_VERSION = "kernbench model", 1
# Left out where they are not plain data, as data frames are not: predictions do not depend on them.
DROPPED_PARAMS = (
    "callback",
    "random_state",
    "cv",
    "scoring",
    "refit",
    "memory",
    "validation",
    "landmarks",
    "alphas",
    "Cs",
    "gammas",
    "epsilons",
)


class Saved:
    """Mix-in of estimators that can be written to files."""

    def save(self, path: str | Path) -> None:
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
        save(self, path)

    def _fitted_attributes(self):
        """Return the attributes to be saved, by name; `_check_fitted_state` finds them in the loaded model."""
        return {name: value for name, value in vars(self).items() if _is_fitted_attribute(name)}


def save(model: Any, path: str | Path) -> None:
    """Write a fitted estimator to `path`, whole or not at all.

    Parameters
    ----------
    model : estimator
        A fitted model, one of those in `kernbench._models`.
    path : str or Path
        Usually ends in ``.npz``; no suffix is added.

    Raises
    ------
    NotFittedError
        Before ``fit``.
    ValueError
        If the model holds something that is not data, such as a kernel that is a Python function.
    """
    check_is_fitted(model)
    name = type(model).__name__
    if name not in BY_NAME:
        raise ValueError(unknown_name("model class", name, BY_NAME))
    arrays = {}
    try:
        params = _encoded_params(model, arrays)
        attributes = _encoded_attributes(model, arrays)
    except NotPlainData as reason:
        raise ValueError(f"this {name} cannot be saved to {path}: {reason}") from None
    header = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "kernbench": __version__,
        "class": name,
        "params": params,
        "attributes": attributes,
    }
    with written_whole(path, "wb") as file:
        np.savez(file, header=np.array(json.dumps(header)), **arrays)


def _encoded_params(model, arrays, prefix=""):
    encoded = {}
    for name, value in model.get_params(deep=False).items():
        try:
            encoded[name] = encode(value, f"{prefix}params.{name}", arrays)
        except NotPlainData:
            if name not in DROPPED_PARAMS:
                raise
    return encoded


def _encoded_attributes(model, arrays, prefix=""):
    encoded = {}
    for name, value in model._fitted_attributes().items():
        own = {}
        try:
            if isinstance(value, BaseEstimator) and type(value).__name__ in BY_NAME:
                encoded[name] = _encoded_model(value, own, f"{prefix}{name}.")
            else:
                encoded[name] = encode(value, f"{prefix}{name}", own)
            arrays.update(own)
        except NotPlainData as reason:
            if name != "trace_":
                raise
            warn(f"the trace is not saved: {reason}")
    return encoded


def _encoded_model(model, arrays, prefix):
    return {
        "$model": type(model).__name__,
        "params": _encoded_params(model, arrays, prefix),
        "attributes": _encoded_attributes(model, arrays, prefix),
    }


def _is_fitted_attribute(name):
    return name.endswith("_") and not name.startswith("_")


def load(path: str | Path) -> Any:
    """Read a model written by ``.save(path)``; it predicts as the saved one did, bit for bit.

    Nothing is unpickled: a model file cannot run code.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    estimator
        Ready to predict.

    Raises
    ------
    OSError
        If there is no such file (FileNotFoundError), or it may not be read.
    ValueError
        If it is not a model file, is damaged or truncated, or was written in another format version, or by a later
        version of kernbench with parameters that this one does not have; the message names the file.

    Notes
    -----
    The file holds what predictions need. A `fit` with ``warm_start=True`` therefore starts afresh, and so does
    ``partial_fit`` of ``KernelSVC(solver="scs")``; that of other models continues from the coefficients, of `ROCSVC`
    as that of the saved model would, whose reservoirs are in the file. Callbacks, random generators, splitters and
    scorers that are objects have their defaults. A pickle keeps all of it.
    """
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"no model file {path}")
    if not _is_archive(path):
        raise ValueError(f"{path} is not a model file: it is no .npz archive, or a truncated one")
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: read_member(archive, name) for name in archive.files}
    except Exception as error:  # the kind of exception depends on which byte is damaged
        raise ValueError(f"{path} is not a model file, or is damaged: {error}") from error
    header = _checked_header(arrays.pop("header", None), path)
    try:
        return _rebuilt(header, arrays)
    except Exception as error:  # as above
        raise damaged(path, header.get("kernbench"), error) from error


def damaged(path, writer, error):
    """Return the ValueError for a file of a model that could not be made, because of `error`.

    `writer` is the version of kernbench that wrote the file.
    """
    remedy = "" if writer == __version__ else f", or needs kernbench {writer}, which wrote it (this is {__version__})"
    return ValueError(f"{path} is damaged{remedy}: {type(error).__name__}: {error}")


def _is_archive(path):
    """Whether `path` is a zip archive. ``is_zipfile(path)`` would say no of a file that may not be read."""
    if not path.is_file():
        return False
    with open(path, "rb") as file:
        return zipfile.is_zipfile(file)


def _checked_header(text, path):
    try:
        header = json.loads(str(text))
    except (ValueError, RecursionError):
        header = None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ValueError(f"{path} is not a model file: an .npz archive without a kernbench header")
    if header.get("format_version") != FORMAT_VERSION:
        raise ValueError(
            f"{path} has model format {header.get('format_version')!r}, written by kernbench "
            f"{header.get('kernbench')}; this is kernbench {__version__}, which reads format {FORMAT_VERSION}"
        )
    name = str(header.get("class"))
    if name not in BY_NAME:
        raise ValueError(f"{path}: {unknown_name('model class', name, BY_NAME)}")
    return header


def _rebuilt(header, arrays):
    model = BY_NAME[header["class"]].load()(**decode(header["params"], arrays))
    for name, value in header["attributes"].items():
        if not _is_fitted_attribute(name):
            raise ValueError(f"{name!r} is not a fitted attribute")
        if isinstance(value, dict) and "$model" in value:
            setattr(model, name, _rebuilt({**value, "class": value["$model"]}, arrays))
        else:
            setattr(model, name, decode(value, arrays))
    model._check_fitted_state()
    return model
