"""Files of tensors and plain data: checkpoints of a fit, and fitted models; read without running code."""

import numpy as np
import torch

from kernbench._files import written_whole
from kernbench._version import __version__

FORMAT_VERSION = 1


def write(path, kind, content):
    """Write a dict of tensors and plain data, whole or not at all.

    Parameters
    ----------
    path : str or Path
    kind : str
        What the file is, for `read`: ``"checkpoint"`` or ``"model"``.
    content : dict
    """
    header = {"format": f"kernbench deep {kind}", "format_version": FORMAT_VERSION, "kernbench": __version__}
    with written_whole(path, "wb") as file:
        torch.save({**header, **content}, file)


def read(path, kind):
    """Read what `write` wrote; ValueError for any other file.

    Tensors come to the CPU. Nothing but tensors and plain data is unpickled, so that a file cannot run code.
    """
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError:
        raise
    except Exception as error:  # the kind of exception depends on which byte is damaged
        first = str(error).strip().partition("\n")[0]
        raise ValueError(f"{path} is not a {kind} of kernbench.deep, or is damaged: {first}") from error
    found = content.get("format") if isinstance(content, dict) else None
    if found != f"kernbench deep {kind}":
        raise ValueError(f"{path} is not a {kind} of kernbench.deep")
    if content["format_version"] != FORMAT_VERSION:
        raise ValueError(
            f"{path} has format {content['format_version']}, written by kernbench {content['kernbench']}; this is "
            f"kernbench {__version__}, which reads format {FORMAT_VERSION}"
        )
    return content


def load_weights(module, state, path):
    """Load a state dict into a module; ValueError, which names the first difference, if it is of another module."""
    own = module.state_dict()
    for name in [*own, *state]:
        if name not in state or name not in own:
            side = "the module has and the file lacks" if name in own else "the file has and the module lacks"
            raise ValueError(f"{path} is of another module: {side} {name!r}")
        if own[name].dtype != state[name].dtype:
            dtypes = f"{state[name].dtype} in the file, {own[name].dtype} in the module"
            raise ValueError(f"{path} is of another module: {name!r} is {dtypes}")
        if _is_lazy(own[name]):
            continue
        if own[name].shape != state[name].shape:
            shapes = f"{tuple(state[name].shape)} in the file, {tuple(own[name].shape)} in the module"
            raise ValueError(f"{path} is of another module: {name!r} has shape {shapes}")
    module.load_state_dict(state)


def _is_lazy(tensor):
    return isinstance(tensor, torch.nn.parameter.UninitializedTensorMixin)


def plain(value):
    """Return a copy of a value with NumPy numbers, arrays, tensors and tuples as plain data; None for what is not."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray | torch.Tensor):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    return value if isinstance(value, bool | int | float | str | None) else None
