"""Types of options and arguments that reject what click's own accept by mistake: an empty path, and NaN."""

import math
from pathlib import Path

import click


class FilePath(click.Path):
    """A path. An empty one, as of a variable of the shell that is not set, would be the current folder."""

    def __init__(self):
        super().__init__(path_type=Path)

    def convert(self, value, param, ctx):
        """Return a `pathlib.Path`."""
        if value == "":
            self.fail("the path is empty", param, ctx)
        return super().convert(value, param, ctx)


class Number(click.FloatRange):
    """A number in a range, which NaN is in no comparison with its ends."""

    def convert(self, value, param, ctx):
        """Return a float."""
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value!r} is not a number", param, ctx)
        return number
