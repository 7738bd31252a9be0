"""The recommended method for each task, with reasons computed from the records."""

from dataclasses import dataclass, field

from kernbench.experiments.declare import Recommendation
from kernbench.report import text
from kernbench.report.claims.findings import standing
from kernbench.report.records.results import KINDS
from kernbench.report.statistics import finite
from kernbench.report.tables.metric_table import explained, setups_told
from kernbench.report.tables.optimality import optimality_words
from kernbench.report.tables.quantities import counted
from kernbench.report.tables.table import NOTHING, Column, Entry, Table, words
from kernbench.report.verdict.advice import advise, is_measured, most_chosen, remarks_on
from kernbench.report.verdict.reasons import reasons


@dataclass
class Verdict:
    """The recommendation for one task, or what there is without one.

    Attributes
    ----------
    headline : str
    basis : str
        The data that it rests on.
    stand_in : bool
        None of them is real.
    sentences : list of str
    code : str
        How to use it.
    table : Table or None
        A row for each data set.
    caveats : list of str
    task : str
    advices : list of Advice
        One for each data set.
    """

    headline: str
    basis: str = ""
    stand_in: bool = False
    sentences: list = field(default_factory=list)
    code: str = ""
    table: Table | None = None
    caveats: list = field(default_factory=list)
    task: str = ""
    advices: list = field(default_factory=list)


def verdicts(results):
    """A verdict for each task for which an experiment with records recommends a method, that with most data sets first.

    The paper's own data count where there are any; where there are none yet, the small ones do.

    Parameters
    ----------
    results : list of Results
        Scale ``"paper"`` before ``"quick"``.

    Returns
    -------
    list of Verdict
    """
    tasks = {}
    for found in results:
        for display in found.experiment.tables:
            if isinstance(display, Recommendation) and found.chosen_datasets(display):
                tasks.setdefault(display.task, {}).setdefault(found.scale, []).append((found, display))
    made = []
    for task, scales in tasks.items():
        advices = {scale: _advices(pairs) for scale, pairs in scales.items()}
        scale = next((scale for scale in scales if advices[scale]), next(iter(scales)))
        made.append(_verdict(task, scale, scales[scale], advices[scale]))
    return sorted(made, key=lambda verdict: -len(verdict.table.blocks[0][1]) if verdict.table else 0)


def _advices(pairs):
    asked = ((found, display, name) for found, display in pairs for name in found.chosen_datasets(display))
    return [advice for args in asked if (advice := advise(*args)) is not None]


def _unmeasured(pairs):
    """The data sets on which our own model for the task was not measured, by its name."""
    found = {}
    for results, display in pairs:
        for dataset in results.chosen_datasets(display):
            if not is_measured(results, display, dataset):
                found.setdefault(display.main, {})[dataset] = None
    return found


# The clocks of a record: how long something took, its processor time; and what it means that the latter is larger.
MORE_CORES = {
    ("fit", "fit_cpu"): ", and than the others ({}): in equal conditions it takes longer.",
    # Searches are compared by the processor time that was measured; "total" is that of the whole cell.
    ("total", "measured"): " ({}): its time is that of all cores together, longer than it took.",
}


def _on_more_cores(pairs):
    """A caveat for each method that did not keep to the threads a fit is given."""
    found = {}
    for results, display in pairs:
        for dataset in results.chosen_datasets(display):
            for name in results.chosen_methods(display, dataset):
                for clocks in MORE_CORES:
                    if results.cell(dataset, name).exceeds_threads(*clocks):
                        found.setdefault((results.short_label(name), clocks), {})[dataset] = None
    return [
        f"{label} computed on more cores than the threads it was given"
        + MORE_CORES[clocks].format(f"on {text.listed(datasets)}")
        for (label, clocks), datasets in found.items()
    ]


def _verdict(task, scale, pairs, advices):
    absent = _unmeasured(pairs)
    basis, caveats = _basis(scale, pairs), _caveats(scale, _cells(pairs)) + _on_more_cores(pairs)
    caveats += [
        f"{main} was not measured on {text.listed(datasets)}: nothing is recommended there."
        for main, datasets in absent.items()
    ]
    if not advices:
        why = f"{text.listed(absent)} was not measured" if absent else "no run succeeded"
        return Verdict(f"No method can be recommended yet for {task}: {why}.", *basis, caveats=caveats, task=task)
    caveats += _useless(advices) + remarks_on(advices)
    first = most_chosen(advices)[0]
    return Verdict(
        f"For {task}, use {first.spelled}.",
        *basis,
        reasons(advices, first.spelled),
        _code(first),
        _table(text.file_name(f"recommended-{task}-{scale}"), f"Which method for {task}", advices),
        caveats,
        task,
        advices,
    )


# What a race may choose on rows that are held out: the name in its search, and how a user calls it.
CHOSEN = {"alphas": "C, or alpha", "alpha": "alpha", "width": "the kernel's width", "damping": "damping"}


def _code(advice):
    """Lines to copy."""
    *imports, model = advice.results.to_copy(advice.method, *advice.display.arguments) or [""]
    method, setting = advice.results.method(advice.method), advice.results.setting(advice.dataset)
    params = {**(setting.params if setting else {}), **(method.params if method else {})}
    search = params.get("search")
    tried = search if isinstance(search, dict) else {}
    chosen = [words for name, words in CHOSEN.items() if len(tried.get(name, ())) > 1]
    advised = [f"# Choose {text.listed(chosen)}, on rows that are held out, as this race did."] if chosen else []
    return "\n".join([*imports, *advised, f"model = {model}.fit(X, y)"]) if imports else ""


def _cells(pairs):
    """The cells of the races of a task, each once: of the methods that take part, on their data sets."""
    cells = {}
    for results, display in pairs:
        for dataset in results.chosen_datasets(display):
            for name in results.chosen_methods(display, dataset):
                cells[results.name, dataset, name] = results.cell(dataset, name)
    return list(cells.values())


def _basis(scale, pairs):
    """On which data and how often, as a sentence; and whether all of them are stand-ins."""
    kinds = {}
    for results, display in pairs:
        for dataset in results.chosen_datasets(display):
            kinds.setdefault(results.kind(dataset), {})[dataset] = None
    data = [f"{KINDS.get(kind, 'data of unknown kind')} ({text.listed(names)})" for kind, names in kinds.items()]
    stand_in = set(kinds) == {"generated"}
    only = " only, no real data" if stand_in else ""
    counts = [len(cell.records) for cell in _cells(pairs)]
    repeats = text.span([min(counts), max(counts)], "repeat") if counts else "no repeats"
    return (f"Measured on {text.listed(data)}{only}, at {scale} scale, {repeats}.", stand_in)


def _caveats(scale, cells):
    caveats = []
    n_single = sum(len(cell.ok) == 1 for cell in cells)
    if n_single and n_single == sum(bool(cell.ok) for cell in cells):
        caveats.append("One repeat only: nothing is known of the scatter.")
    elif n_single:
        have = "has" if n_single == 1 else "have"
        caveats.append(
            f"{n_single} of {len(cells)} pairs of method and data set {have} one repeat only: nothing is known of the "
            "scatter there."
        )
    if scale == "quick":
        caveats.append(
            "Quick scale: small problems and times of fractions of a second. For a judgement on the paper's "
            "own data: kernbench run --scale paper"
        )
    n_failed = sum(len(cell.failed) for cell in cells)
    if n_failed:
        caveats.append(f"{text.plural(n_failed, 'fit')} failed: see “What is missing” in each experiment.")
    return caveats


def recommendation(display, results):
    """The table of a :class:`~kernbench.experiments.declare.Recommendation` alone; None without records."""
    advices = _advices([(results, display)])
    if not advices:
        return None
    table = _table(results.file_name(display.name), display.caption, advices)
    table.notes[:0] = _useless(advices)
    return table


def _table(name, caption, advices):
    """A row for each data set: which method to use, what it reaches, what another choice may cost."""
    first = advices[0]
    speed = Column(f"speed ({first.peer} = 1)", f"speed_relative_to_{first.display.baseline}")
    if any(advice.display.baseline != first.display.baseline for advice in advices):
        speed = Column("speed (usual choice = 1)", "speed_relative_to_the_usual_choice")
    accuracy, show = Column(text.heading(first.metric), first.metric.name), text.scaled
    if any(advice.metric.name != first.metric.name for advice in advices):
        accuracy, show = Column("accuracy", "accuracy", numeric=False), _named
    columns = (
        Column("your data look like", "data", numeric=False),
        Column("use", "method", numeric=False),
        Column("training time", first.display.time),
        speed,
        Column("the slowest method takes", "slowest_over_fastest"),
        accuracy,
        Column("optimality", "optimality", numeric=False),
        Column("examples × features", "n_train"),
        Column("experiment", "experiment", numeric=False),
        Column("records", "n_records"),
    )
    rows = []
    for advice in advices:
        data = advice.results.data(advice.dataset)
        n_train, n_features = finite(data.get("n_train")), finite(data.get("n_features"))
        cells = (advice.cell(name) for name in advice.results.chosen_methods(advice.display, advice.dataset))
        n_records = sum(len(cell.records) for cell in cells)
        own, value = advice.cell(advice.method), advice.value(advice.method)
        factor = NOTHING if advice.ratio is None else Entry(f"{text.significant(advice.ratio, 2)} ×", advice.ratio)
        times = {name: ratio for name in advice.times if (ratio := advice.times_as_long(name)) is not None}
        slow = max(times, key=times.get)
        slowest = Entry(f"{text.significant(times[slow], 2)} × as long", times[slow])
        rows.append(
            (
                words(f"{advice.dataset} ({advice.results.kind(advice.dataset)})"),
                words(advice.label),
                Entry(text.seconds(advice.seconds), advice.seconds),
                counted(factor, own, advice.runs_with(advice.display.baseline)),
                counted(slowest, own, advice.runs_with(slow)),
                Entry(show(advice.metric, value), value),
                optimality_words(advice.results, advice.dataset, advice.method),
                Entry(f"{text.count(n_train)} × {text.count(n_features)}", data.get("n_train")),
                words(advice.results.experiment.name),
                Entry(str(n_records), n_records),
            )
        )
    return Table(name, caption, columns, [("", rows)], _notes(advices, rows))


def _notes(advices, rows):
    """What signs in the rows mean, which models did not take part, which methods failed, and where set-ups differ."""
    failed = {}
    for advice in advices:
        for name in advice.failed:
            failed.setdefault(advice.results.short_label(name), []).append(advice.dataset)
    notes, absent = explained([("", [row[1:] for row in rows])]), {}  # each row from the name of its method on
    for advice in advices:
        for name, reason in advice.display.left_out.items():
            absent.setdefault((name, reason), []).append(advice.results.experiment.name)
    for (name, reason), experiments in absent.items():
        races = list(dict.fromkeys(experiments))
        of = f"the race{'s' if len(races) > 1 else ''} of {text.listed(races)}"
        notes.append(f"{name} is not in {of}: {reason}.")
    if failed:
        parts = [f"{text.names([label])} on {text.listed(datasets)}" for label, datasets in failed.items()]
        notes.append(f"The slowest method is the slowest that ended every fit. Some failed: {'; '.join(parts)}.")
    return notes + setups_told((advice.results, advice.dataset) for advice in advices)


def _useless(advices):
    """On which data the methods to use are no better than a constant, as a sentence in a list; empty without any."""
    datasets = [advice.dataset for advice in advices if not advice.beats_zero]
    return [f"No better than the zero model, a constant: the method on {text.listed(datasets)}."] if datasets else []


def _named(metric, value):
    return f"{metric.label} {text.with_unit(metric, value)}"


def without_recommendation(sections):
    """The box when no experiment recommends a method: the verdicts on all claims.

    Returns
    -------
    Verdict
    """
    found = [finding for section in sections for finding in section.findings]
    if found:
        headline = text.sentence(standing(found))
    else:
        headline = f"{text.plural(sum(section.n_records for section in sections), 'measurement')}, no claims."
    return Verdict(
        headline,
        "These experiments recommend no method; one that does is run by: kernbench run sbp-libsvm",
        sentences=[
            f"{section.title}, {section.scale} scale: {section.standing or 'no claims'}." for section in sections
        ],
    )
