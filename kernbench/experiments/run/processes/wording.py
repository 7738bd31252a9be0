"""Exceptions in one line, for records and messages."""

import traceback
from pathlib import Path


def sentence(error):
    """Describe an exception in one line: its message and the last step of the traceback, without folders."""
    text = "".join(traceback.format_exception_only(error)).strip()
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith("<")]
    where = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno}, in {frames[-1].name})" if frames else ""
    return " ".join(text.split()) + where
