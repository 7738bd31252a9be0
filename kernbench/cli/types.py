"""Types of options and arguments: as click's own, but an empty path and NaN are rejected."""

import math
from pathlib import Path

import click


class FilePath(click.Path):
    """A path; an empty one, as of a shell variable that is not set, would stand for the current folder."""

    def __init__(self):
        super().__init__(path_type=Path)

    def convert(self, value, param, ctx):
        """Return a `pathlib.Path`."""
        if value == "":
            self.fail("the path is empty", param, ctx)
        return super().convert(value, param, ctx)


class Number(click.FloatRange):
    """A number in a range; comparisons with the ends of the range alone would accept NaN."""

    def convert(self, value, param, ctx):
        """Return a float."""
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value!r} is not a number", param, ctx)
        return number
