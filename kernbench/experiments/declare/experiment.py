"""An experiment: data sets and methods, how they are measured, what is claimed, what the report shows."""

from dataclasses import dataclass, field, replace

from kernbench.experiments.declare.parts import OwnFile, require_known, require_unique

# An experiment that does not say otherwise is a race: estimators are fitted, timed and judged.
RACE_MEASURE = "kernbench.experiments.measure.race:classify"


@dataclass(frozen=True)
class Experiment:
    """A table or figure of a paper, or of ours, as a grid of data sets and methods.

    Attributes
    ----------
    name, title : str
    paper : str
        Citation, with the place in the paper.
    methods : tuple of Method
        In the order of tables.
    scales : dict of str to Scale
        ``"quick"`` (offline, a minute) and ``"paper"`` (the real sizes).
    metrics : tuple of Metric
        The first is the headline.
    claims : tuple of Claim or Bound
        Any number.
    paper_numbers : tuple of PaperNumber
    measure : str
        ``"module:function"``, called as ``function(cell) -> dict`` in the cell's own process; the result is
        made by :func:`kernbench.experiments.measure.record.result`. By default a race: load, fit, predict, judge.
    evaluate : str
        For the race: ``"module:function"``, called off the clock as ``function(fit) -> dict`` with a
        :class:`kernbench.experiments.measure.race.Fit`: the cell's metrics.
    tables : tuple of MetricTable, CrossTable or Recommendation
        The first is shown first. What the data are and what failed is always shown.
    figures : tuple of Curves, Marks, HeatMap, Contours or Profiles
    threads : int or None
        Threads per cell unless the user says otherwise; None shares out the cores.
    warm_up_rows : int
        For the race: rows each estimator is fitted to before the clock starts, so that the time of a fit does
        not include the loading of libraries.
    own_data : bool
        Its data are generated on purpose: the report need not warn that they are not a paper's.
    note : str
        What a reader must know about how this differs from the paper.
    newcomers : dict of str to Method
        How a plug-in's solver joins, by its kind of problem: as this method, with its own name for ``solver``, on
        the data sets and in the tables and figures of the method called like this one.
    own_file : OwnFile or None
        How a data file of the user's own joins; None takes none.
    """

    name: str
    title: str
    paper: str
    methods: tuple
    scales: dict
    metrics: tuple
    claims: tuple = ()
    paper_numbers: tuple = ()
    measure: str = RACE_MEASURE
    evaluate: str = "kernbench.experiments.measure.judging:kernel_svm"
    tables: tuple = ()
    figures: tuple = ()
    threads: int | None = None
    warm_up_rows: int = 0
    own_data: bool = False
    note: str = ""
    newcomers: dict = field(default_factory=dict)
    own_file: OwnFile | None = None

    def __post_init__(self):
        require_unique("method", self.methods)
        require_unique("metric", self.metrics)
        require_unique("table", self.tables)
        require_unique("figure", self.figures)
        for what, named, known in self._names():
            for name in named:
                require_known(what, name, known)

    def _names(self):
        """Yield (what, names used, names known) for all that refers to something by its name."""
        settings = [setting for scale in self.scales.values() for setting in scale.settings]
        displays = (*self.tables, *self.figures)
        columns = [column for display in displays for column in getattr(display, "metrics", ())]
        quantities = [column for column in columns if not isinstance(column, str)]
        users = (*self.claims, *self.paper_numbers, *displays, *quantities)
        methods = [name for user in (*settings, *displays) for name in user.methods or ()]
        methods += [name for display in displays for name in getattr(display, "final_only", ())]
        methods += [method.depends_on for method in self.methods]
        methods += [method.name for method in self.newcomers.values()]
        methods += [getattr(user, role, None) for user in users for role in ("method", "baseline")]
        metrics = [column for column in columns if isinstance(column, str)]
        metrics += [getattr(user, role, None) for user in users for role in ("metric", "time", "objective")]
        datasets = [name for user in users for name in getattr(user, "datasets", None) or ()]
        datasets += [number.dataset for number in self.paper_numbers]
        for what, used, known in (
            ("method", methods, self.methods),
            ("metric", metrics, self.metrics),
            ("data set", datasets, settings),
        ):
            yield what, [name for name in used if name is not None], [item.name for item in known]

    def joined_by(self, entry):
        """This experiment with a plug-in's solver as one more method, or itself if it takes none of its kind.

        Parameters
        ----------
        entry : kernbench.solvers.registry.SolverEntry

        Raises
        ------
        ValueError
            If a method has the solver's name already.
        """
        model = self.newcomers.get(entry.problem)
        if model is None:
            return self
        if entry.name in [method.name for method in self.methods]:
            raise ValueError(
                f"{self.name} has a method {entry.name!r} already: choose another name for the solver"
            )
        params = {**model.params, "solver": entry.name}
        method = replace(model, name=entry.name, label=f"{entry.name} (plug-in)", params=params)

        def shown(item):
            if item.methods is None or model.name not in item.methods:
                return item
            return replace(item, methods=(*item.methods, method.name))

        scales = {
            name: replace(scale, settings=tuple(map(shown, scale.settings)))
            for name, scale in self.scales.items()
        }
        return replace(
            self,
            methods=(*self.methods, method),
            scales=scales,
            tables=tuple(map(shown, self.tables)),
            figures=tuple(map(shown, self.figures)),
        )

    def with_settings(self, *settings):
        """This experiment with further data sets, at every scale."""
        scales = {
            name: replace(scale, settings=(*scale.settings, *settings)) for name, scale in self.scales.items()
        }
        return replace(self, scales=scales)

    def scale(self, name):
        """The scale called `name`; ValueError with the nearest name when there is none."""
        require_known("scale", name, list(self.scales))
        return self.scales[name]

    def method(self, name):
        """The method called `name`; ValueError with the nearest name when there is none."""
        methods = {method.name: method for method in self.methods}
        require_known("method", name, list(methods))
        return methods[name]

    def metric(self, name):
        """The metric called `name`; ValueError with the nearest name when there is none."""
        metrics = {metric.name: metric for metric in self.metrics}
        require_known("metric", name, list(metrics))
        return metrics[name]

    def headline(self, record):
        """The first metric that `record` has a value of, and the value; (None, None) when it has none."""
        values = ((metric, metric.of(record)) for metric in self.metrics)
        return next((found for found in values if found[1] is not None), (None, None))

    def paper_entry(self, dataset, method, metric):
        """The :class:`PaperNumber` of one entry of the paper's table, or None.

        A stand-in has no number of its own: look up ``setting.stands_for`` and say so.
        """
        for number in self.paper_numbers:
            if (number.dataset, number.method, number.metric) == (dataset, method, metric):
                return number
        return None

    def paper_number(self, dataset, method, metric):
        """The value of :meth:`paper_entry`, or None."""
        entry = self.paper_entry(dataset, method, metric)
        return None if entry is None else entry.value
