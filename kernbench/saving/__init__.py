"""Models in files: arrays and plain data, no pickle.

::

    model_file.py    save and load
    plain_data.py    what may stand in a model file, and how it is told
"""

from kernbench.saving.model_file import load, save

__all__ = ["load", "save"]
