"""Declarations of figures: which numbers of the records they show. The report draws them.

Places in a record are written as dotted names: ``"dataset"``, ``"method"``, ``"metrics.slope"``,
``"data.n_train"``, ``"params.C"``, ``"trace.n_features"``. A ``trace`` is a table, one list for each column:
a display that refers to a column of it gets a point for each row, otherwise a point for each record.

Every figure shows medians over repeats and over rows of a trace with the same categories.
"""

from dataclasses import dataclass
from typing import Any

from kernbench.experiments.declare.tables import Selection


@dataclass(frozen=True)
class Axis:
    """A number along an axis, or as a colour.

    Attributes
    ----------
    path : str
        Its place in a record.
    label, unit : str
    factor : float
        Multiply by this to print in `unit`.
    log : bool
        Logarithmic: medians that are not positive are left out.
    never : bool
        For medians: a record without the number never came there, and counts as above all others. Where half of the
        repeats or more are such, there is none.
    """

    path: str
    label: str
    unit: str = ""
    factor: float = 1.0
    log: bool = False
    never: bool = False


@dataclass(frozen=True, kw_only=True)
class Figure(Selection):
    """What all figures share.

    Attributes
    ----------
    where : tuple of (str, str)
        Places and texts: use only the records, or the rows of a trace, with these texts at these places.
    heading : str
        Heading in the section; consecutive figures of the same heading share it.
    note : str
        Added to the caption.
    """

    where: tuple[Any, ...] = ()
    heading: str = ""
    note: str = ""


@dataclass(frozen=True)
class Curves(Figure):
    """A line chart: `y` against `x`, a line for each value of `line`, a panel for each value of `panel`.

    Attributes
    ----------
    name : str
        Part of the names of its files, after experiment and scale.
    title : str
        What it shows, preferably as a sentence.
    x, y : Axis
    line : str
        Category (a place in a record) that distinguishes the lines.
    panel : str or None
        Category of the small multiples; None makes one picture.
    steps : bool
        Each record's trace is a step curve: its solver keeps a model until the next point and its last model to
        the end. Repeats are combined on a common grid of `x`, and a mark shows the final model.
        Traces of repeats that have few points in common, as over time, are step curves in any case, unless an `x` is
        negative: at most of these points there is no median.
    final_only : tuple of str
        With `steps`: lines of which only the final model is shown, as a hollow mark.
    baseline : str or None
        Method whose final `y` is drawn as a horizontal dashed line.
    budget : float or None
        With a baseline: a vertical dotted line at this share of the baseline's final `x`.
    slope : float or None
        On two logarithmic axes, a dashed line of this slope: y ~ x ** slope.
    slope_label : str
    rates : bool
        The caption tells the slope of each line, panel by panel, with its interval: for lines of published rates beside
        measured ones. With `slope` it tells them in any case, over all panels.
    slope_through : tuple of float or None
        A point (x, y) of that line; None puts it just below all points of a panel.
    y_range : tuple of float or None
        Ends of the vertical axis; lines are cut off there. None shows all of them.
    y_span : float or None
        Instead: the vertical axis ends at this many times the lowest value, so that one line far above the others does
        not hide the differences between these.
    y_depth : float or None
        Instead, where more is better: the vertical axis begins this much below the highest value.
    x_window : tuple of float or None
        Shade the panels between these two values of `x`, in its `unit`.
    shared_x, shared_y : bool
        The panels share the scale of `x`, of `y`.
    band : bool
        Shade the range over repeats.
    marks : bool
        A mark at every point; False for dense curves.
    ordered : bool
        The lines are levels of one quantity, drawn in shades of one colour; more than five have dashes, too.
    large : bool
        Larger panels, three in a row: for many crossing lines.
    """

    name: str
    title: str
    x: Axis
    y: Axis
    line: str = "method"
    panel: str | None = None
    steps: bool = False
    final_only: tuple[Any, ...] = ()
    baseline: str | None = None
    budget: float | None = None
    slope: float | None = None
    slope_label: str = ""
    rates: bool = False
    slope_through: tuple[Any, ...] | None = None
    y_range: tuple[Any, ...] | None = None
    y_span: float | None = None
    y_depth: float | None = None
    x_window: tuple[Any, ...] | None = None
    shared_x: bool = True
    shared_y: bool = True
    band: bool = True
    marks: bool = True
    ordered: bool = False
    large: bool = False

    def __post_init__(self) -> None:
        if (self.slope is not None or self.rates) and not (self.x.log and self.y.log):
            raise ValueError(f"figure {self.name!r}: a line of a slope needs two logarithmic axes")
        if sum(given is not None for given in (self.y_range, self.y_span, self.y_depth)) > 1:
            raise ValueError(f"figure {self.name!r}: give y_range, y_span or y_depth, not two of them")
        if self.x_window is not None and not self.x_window[0] < self.x_window[1]:
            raise ValueError(f"figure {self.name!r}: x_window must be (low, high), got {self.x_window!r}")
        if self.budget is not None and self.baseline is None:
            raise ValueError(f"figure {self.name!r}: a budget is a share of a baseline's: give baseline=")


@dataclass(frozen=True)
class Marks(Figure):
    """A dot chart: a row for each value of `row`, a mark in it for each value of `mark`, along `value`.

    Attributes
    ----------
    name, title : str
    value : Axis
    row, mark : str
        Categories.
    reference : float or None
        A line across all rows, in the units of `value`.
    reference_label : str
    """

    name: str
    title: str
    value: Axis
    row: str = "dataset"
    mark: str = "method"
    reference: float | None = None
    reference_label: str = ""


@dataclass(frozen=True)
class HeatMap(Figure):
    """Coloured cells with their numbers printed in them: `row` by `column`.

    Attributes
    ----------
    name, title : str
    value : Axis
        More is darker.
    row, column : str
        Categories.
    """

    name: str
    title: str
    value: Axis
    row: str = "dataset"
    column: str = "method"


@dataclass(frozen=True)
class Contours(Figure):
    """Filled contours of a function on a grid, a panel for each data set.

    Attributes
    ----------
    name, title : str
    grid : str
        Place of the grid in a record: an object with ``"x"`` and ``"y"`` (the lines of the grid),
        ``"values"`` (a list for each y) and perhaps ``"point"``, a pair that is marked.
    label : str
        Meaning of the colour; all panels run from 0 to 1 in steps of a tenth.
    """

    name: str
    title: str
    grid: str
    label: str


@dataclass(frozen=True)
class Profiles(Figure):
    """Performance profiles: the share of problems on which a method is within a factor of the best one,
    against the factor (Dolan and Moré, Mathematical Programming 91, 2002, eq. 2.1).

    A problem is a repeat on a data set, on one set-up. A problem on which a method failed counts as never solved. Data
    sets on which one of the methods has no record are left out, and so are problems that no method solved.

    Attributes
    ----------
    name, title : str
    metric : str
        Positive, and less is better: seconds, kernel evaluations.
    """

    name: str
    title: str
    metric: str
