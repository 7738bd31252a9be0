"""Models in files: arrays and plain data, no pickle.

::

    model_file.py    save and load
    plain_data.py    what a model file can hold, and how it is encoded
"""

from kernbench.saving.model_file import load, save

__all__ = ["load", "save"]
