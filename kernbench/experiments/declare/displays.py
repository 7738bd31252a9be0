"""Tables and figures, declared: which numbers of the records go where. The report draws them.

Places in a record are written as dotted names: ``"dataset"``, ``"method"``, ``"metrics.slope"``,
``"data.n_train"``, ``"params.C"``, ``"trace.n_features"``. A ``trace`` is a table, one list for each column:
a display that names a column of it gets a point for each row, one that names none gets a point for each
record.

Every display takes the median over whatever falls on one place: repeats, and rows of a trace that share their
categories. (Tables give mean and standard error.) `methods` and `datasets` choose the records; None takes
all. `where` holds (place, text) pairs: only records, or rows of a trace, that hold these texts there.
`heading` is the heading in the section under which a figure stands, with its neighbours of the same heading.
"""

from dataclasses import dataclass


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
    """

    path: str
    label: str
    unit: str = ""
    factor: float = 1.0
    log: bool = False


@dataclass(frozen=True)
class Curves:
    """A line chart: `y` against `x`, a line for each value of `line`, a panel for each value of `panel`.

    Attributes
    ----------
    name : str
        Of its files, after experiment and scale.
    title : str
        What it shows, best as a sentence.
    x, y : Axis
    line : str
        Category (a place in a record) that tells the lines apart.
    panel : str or None
        Category of the small multiples; None makes one picture.
    slope : float or None
        On two logarithmic axes, a dashed line of this slope: y ~ x ** slope.
    slope_label : str
    slope_through : tuple of float or None
        A point (x, y) of that line; None puts it just below all points of a panel.
    y_range : tuple of float or None
        Ends of the vertical axis; a line may leave the picture there. None shows all of them.
    y_span : float or None
        Instead: the vertical axis ends at this many times the lowest value, so that the range in which the
        lines differ is not pressed flat by one that is far off.
    shared_x, shared_y : bool
        The panels share the scale of `x`, of `y`.
    band : bool
        Shade the range over repeats.
    marks : bool
        A mark at every point; False for curves that are dense.
    ordered : bool
        The lines are steps of one quantity, and get shades of one colour.
    large : bool
        Larger panels, three beside each other: for many lines that cross.
    note : str
        What the caption says besides.
    """

    name: str
    title: str
    x: Axis
    y: Axis
    line: str = "method"
    panel: str | None = None
    slope: float | None = None
    slope_label: str = ""
    slope_through: tuple | None = None
    y_range: tuple | None = None
    y_span: float | None = None
    shared_x: bool = True
    shared_y: bool = True
    band: bool = True
    marks: bool = True
    ordered: bool = False
    large: bool = False
    methods: tuple | None = None
    datasets: tuple | None = None
    where: tuple = ()
    heading: str = ""
    note: str = ""

    def __post_init__(self):
        if self.slope is not None and not (self.x.log and self.y.log):
            raise ValueError(f"figure {self.name!r}: a line of a slope needs two logarithmic axes")
        if self.y_range is not None and self.y_span is not None:
            raise ValueError(f"figure {self.name!r}: give y_range or y_span, not both")


@dataclass(frozen=True)
class Marks:
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
    methods: tuple | None = None
    datasets: tuple | None = None
    where: tuple = ()
    heading: str = ""
    note: str = ""


@dataclass(frozen=True)
class HeatMap:
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
    methods: tuple | None = None
    datasets: tuple | None = None
    where: tuple = ()
    heading: str = ""
    note: str = ""


@dataclass(frozen=True)
class Contours:
    """Filled contours of a function on a grid, a panel for each data set.

    Attributes
    ----------
    name, title : str
    grid : str
        Place of the grid in a record: an object with ``"x"`` and ``"y"`` (the lines of the grid),
        ``"values"`` (a list for each y) and perhaps ``"point"``, a pair that is marked.
    label : str
        What the colour means; all panels run from 0 to 1 in steps of a tenth.
    """

    name: str
    title: str
    grid: str
    label: str
    methods: tuple | None = None
    datasets: tuple | None = None
    where: tuple = ()
    heading: str = ""
    note: str = ""


@dataclass(frozen=True)
class Profiles:
    """Performance profiles: the share of problems on which a method is within a factor of the best one,
    against the factor (Dolan and Moré, Mathematical Programming 91, 2002, eq. 2.1).

    A problem is a repeat on a data set. One that a method failed on counts as never solved; data sets on
    which one of the methods has no record are left out, and so are problems that nobody solved.

    Attributes
    ----------
    name, title : str
    metric : str
        Positive, and less is better: seconds, kernel evaluations.
    """

    name: str
    title: str
    metric: str
    methods: tuple | None = None
    datasets: tuple | None = None
    heading: str = ""
    note: str = ""


@dataclass(frozen=True)
class MetricTable:
    """A column for each metric, a row for each method on each data set.

    Attributes
    ----------
    name, caption : str
    metrics : tuple of str
    notes : tuple of str
    """

    name: str
    caption: str
    metrics: tuple
    methods: tuple | None = None
    datasets: tuple | None = None
    notes: tuple = ()


@dataclass(frozen=True)
class CrossTable:
    """A row for each data set, a column for each method, one metric; the paper's number beside ours where it
    has one.

    Attributes
    ----------
    name, caption : str
    metric : str
    baseline : str or None
        A method all others are compared with: instead of values, their ratio to the baseline's, or their
        difference from it, both from the same repeat on the same set-up. The paper's numbers are treated
        alike.
    difference : bool
        With a baseline: method minus baseline; False means method over baseline.
    notes : tuple of str
    """

    name: str
    caption: str
    metric: str
    baseline: str | None = None
    difference: bool = False
    methods: tuple | None = None
    datasets: tuple | None = None
    notes: tuple = ()
