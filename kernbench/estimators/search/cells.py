"""The cells of a search: which were solved, their scores, and the best one so far."""

from contextlib import contextmanager
from dataclasses import replace
from threading import Event
from time import perf_counter, time
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from joblib.parallel import get_active_backend
from sklearn.exceptions import ConvergenceWarning

from kernbench._callbacks import current_report
from kernbench._warnings import warn
from kernbench.estimators.search.one_kernel import Cell, SearchEnded
from kernbench.estimators.search.store import StoredCells
from kernbench.solvers.progress import progress_bar

ENDED = {"interrupted": "it was interrupted", "callback": "a callback stopped it"}  # else the time was up


class Best(NamedTuple):
    """The best cell: its parameters, the solutions for all rows if there are any, and the held-out model."""

    params: dict
    solutions: list | None
    held_out: object


class GridOfCells:
    """The cells of a grid and the best one so far.

    Parameters
    ----------
    search : Search
    examples : Examples
    folds : list of Fold
    scoring : Scoring

    Attributes
    ----------
    cells : list of dict
        As for `results_of`, in the order of scikit-learn's ``ParameterGrid``.
    best_index : int
    best : Best
        None if no cell was finished.
    kept : dict
        The cells for a warm start.
    status : str or None
        What ended the search early.
    n_indefinite : int
        Number of cells that could not be certified, since their kernel is not positive semi-definite.
    """

    def __init__(self, search, examples, folds, scoring):
        self.search, self.examples, self.folds, self.scoring = search, examples, folds, scoring
        self.status, self.kept = None, {}
        self.n_kernel_evaluations = self.n_unconverged = self.n_indefinite = 0

    def run(self, strengths, groups):
        """Solve the cells, one path of `strengths` for each of `groups`, the other parameters."""
        name, self.strengths, self.groups = self.search._strength, strengths, groups
        self.cells = [{"params": {name: strength, **group}} for strength in strengths for group in groups]
        limit = self.search.max_seconds
        self.deadline = np.inf if limit is None else perf_counter() + limit
        self.best_rank = None  # mean score, and minus the index: of equal cells the first is the best
        self.best_index = self.best = None
        title = f"{type(self.search).__name__}: cells" if self.search.verbose else False
        with progress_bar(title, len(self.cells), objective=False) as self.bar:
            try:
                self._run_groups()
            except SearchEnded as ended:
                self.status = ended.args[0]
            except KeyboardInterrupt:
                self.status = "interrupted"

    def _run_groups(self):
        parts = self.search._parts(self.examples, self.folds)
        if len(parts) * len(self.groups) > 1 and effective_n_jobs(self.search.n_jobs) > 1:
            self._run_in_parallel(parts)
            return
        for g, group in enumerate(self.groups):
            stored = self._stored(group)
            with self._counting(stored):
                for strength, cell in stored.cells(self._in_turn(g)):
                    self._add(self._index(strength, g), cell)

    def _in_turn(self, g):
        """Return the strengths to be solved of a group, in the order of a path."""
        return sorted(self.strengths, reverse=not self.search._ascending)

    def _index(self, strength, g):
        return self.strengths.index(strength) * len(self.groups) + g

    def _stored(self, group):
        source = self.search._source(group, self.examples, self.folds, self.deadline)
        return StoredCells(source, self.search.memory, self.search._earlier_cells())

    def _run_in_parallel(self, parts):
        """Solve the cells that are not stored side by side: each worker one group, or one fold of it."""
        ends, bare, work = time() + self.deadline - perf_counter(), self.search._bare(), []
        stop = Event()
        of_threads = stop if getattr(get_active_backend()[0], "supports_sharedmem", False) else None
        stored = [self._stored(group) for group in self.groups]
        for g, own in enumerate(stored):
            found = own.found(self._in_turn(g))
            for strength, cell in found.items():
                self._add(self._index(strength, g), cell)
            self.kept |= own.kept
            missing = [strength for strength in self._in_turn(g) if strength not in found]
            memory = None
            if (
                len(parts) == 1
            ):  # a worker that has all folds stores cells itself, so that they survive the end of this process
                memory, own.folder = self.search.memory, None
            examples = replace(self.examples, given=None)  # rows are scored here
            arguments = (bare, self.groups[g], examples, self.folds, missing, ends, memory, of_threads)
            work += [delayed(_solved)(g, part, *arguments) for part in parts if missing]
        ended, partial, solve = None, {}, Parallel(self.search.n_jobs, return_as=_order_of_returns())
        try:
            for g, part, cells, status, n_evaluations in solve(work):
                self.n_kernel_evaluations += n_evaluations
                ended = ended or status
                for strength, cell in cells:
                    if len(parts) > 1:
                        cell = _merged(partial.setdefault((g, strength), []), part, cell, parts)
                    if cell is not None:
                        stored[g].keep(strength, cell)
                        self.kept |= stored[g].kept
                        self._add(self._index(strength, g), cell)
        finally:
            stop.set()  # threads would go on: Ctrl-C reaches the main one only
        if ended is not None:
            raise SearchEnded(ended)

    @contextmanager
    def _counting(self, stored):
        """Count the kernel values of a path and keep its cells, also where the search ends."""
        try:
            yield
        finally:
            self.n_kernel_evaluations += stored.source.n_kernel_evaluations
            self.kept |= stored.kept

    def _add(self, index, cell):
        """Score a cell; keep its solutions if it is the best so far."""
        start, own = perf_counter(), self.cells[index]
        held_out, own["scores"] = self._scored(cell.values, self.folds, self.examples)
        own["score_seconds"] = np.full(len(self.folds), (perf_counter() - start) / len(self.folds))
        own["fit_seconds"] = cell.seconds
        self._note(index, own, held_out, cell)
        self._show()
        if current_report().part_done(index, text_of(own["params"])):
            raise SearchEnded("callback")

    def _scored(self, values, folds, examples):
        """Return the held-out model of decision values, and a dict of its scores of each fold."""
        held_out = self.search._held_out(values, examples)
        if self.scoring.needs_probabilities:
            held_out.probabilities = self.search._probabilities(held_out, folds, examples)
        return held_out, self.scoring.of(held_out, folds, examples)

    def _note(self, index, own, held_out, cell):
        """Keep what is needed of a cell."""
        self.n_unconverged += cell.n_unconverged
        if getattr(self.search, "store_oof_decisions", False):
            own["decisions"] = held_out.decisions
        if self.search._choice(self.scoring.decides) is not None or self.scoring.decides is None:
            own["held_out"] = held_out  # which cell is the best is not known before all are done
        if self.scoring.decides is None:
            return
        mean = own["scores"][self.scoring.decides].mean()
        rank = (np.nan_to_num(mean, nan=-np.inf), -index)  # -inf becomes finite, so that NaN is below it
        if self.best_rank is None or rank > self.best_rank:
            self.best_rank = rank
            self.best_index = index
            self.best = Best(own["params"], cell.solutions, held_out)

    def _show(self):
        if self.best is not None and self.scoring.decides is not None:
            mean = self.cells[self.best_index]["scores"][self.scoring.decides].mean()
            self.bar.describe(f"best {mean:.4g} at {text_of(self.best.params)}")
        self.bar.tick(sum("scores" in cell or "dropped_after" in cell for cell in self.cells))

    def choose(self, index):
        """Make a finished cell the best one."""
        own = self.cells[index]
        if "held_out" not in own:
            raise ValueError(f"refit returned {index}, a cell that was not finished")
        if index != self.best_index:
            self.best_index, self.best = index, Best(own["params"], None, own["held_out"])

    def all_decisions(self):
        """Return the out-of-fold decision values of all cells; NaN for those that were not finished."""
        found = [cell.get("decisions") for cell in self.cells]
        nothing = np.full_like(next(values for values in found if values is not None), np.nan)
        return np.array([nothing if values is None else values for values in found])

    def check_finished(self):
        """Raise an error unless a cell was finished."""
        if any("fit_seconds" in cell for cell in self.cells):
            return
        if self.status == "interrupted":
            raise KeyboardInterrupt
        raise ValueError(
            f"max_seconds={self.search.max_seconds:g} ended the search before its first cell was finished: raise it, "
            "or choose fewer folds"
        )

    def warn(self):
        """Warn of a search that ended early, of scores that choose nothing and of fits that did not converge."""
        if self.status is not None:
            done, why = sum("scores" in cell for cell in self.cells), ENDED.get(self.status, "max_seconds was used up")
            text = (
                f"The search ended after {done} of {len(self.cells)} cells, since {why}: the best of these was taken."
            )
            if self.status not in ENDED:
                text += f" Raise max_seconds, or shorten {' or '.join(self.search._grid)}."
            warn(text, ConvergenceWarning)
        if self.best_rank is not None and self.best_rank[0] <= np.finfo(np.float64).min:
            warn(
                "No cell has a finite mean score, so the first of equal ones was taken: choose fewer or stratified "
                "folds (R² of one held-out row is not defined, nor is the AUC of one class), or another scoring.",
                UserWarning,
            )
        if self.n_unconverged:
            hardest = f"{'largest' if self.search._ascending else 'smallest'} {next(iter(self.search._grid))}"
            warn(
                f"{self.n_unconverged} fits of the search did not reach tol={self.search.tol:g}: raise max_iter or "
                f"tol, or leave out the {hardest}.",
                ConvergenceWarning,
            )
        if self.n_indefinite:
            warn(
                "certify bounds nothing where the kernel is not positive semi-definite on these rows: "
                f"certified_lower and certified_upper are NaN in {self.n_indefinite} of {len(self.cells)} cells. Use a "
                "positive semi-definite kernel (of a precomputed matrix, set the negative eigenvalues to 0), or rely "
                "on cross-validation."
            )


def text_of(params):
    """Return the parameters of a cell for a person."""
    (strength, value), *others = params.items()
    return ", ".join([f"{strength}={value:g}", *(f"{name}={other}" for name, other in others)])


def _merged(found, part, cell, parts):
    """Add the folds `part` of a cell to those found so far; return the whole cell once it has all."""
    found.append((part, cell))
    if len(found) < len(parts):
        return None
    values, seconds = np.full_like(cell.values, np.nan), np.zeros_like(cell.seconds)
    for own_part, own in found:
        seconds[own_part] = own.seconds[own_part]
        known = ~np.isnan(own.values).all(axis=1)
        values[known] = own.values[known]
    return Cell(values, seconds=seconds, n_unconverged=sum(own.n_unconverged for _, own in found))


def _solved(g, part, search, group, examples, folds, strengths, ends, folder, stop):
    """Return, of the group number `g`, finished cells with the folds `part`, why the search ended, kernel values.

    The search ends at the time `ends` of the clock that processes share; a worker may begin this long after the search.
    `stop` is that of `FoldPaths`.
    """
    cells, status = [], None
    source = search._source(group, examples, folds, perf_counter() + ends - time(), part)
    source.stop = stop
    try:
        for strength, cell in StoredCells(source, folder).cells(strengths):
            cells.append((strength, replace(cell, of_folds=[])))
            if stop is not None and stop.is_set():
                raise SearchEnded("interrupted")
    except SearchEnded as ended:
        status = ended.args[0]
    return g, part, cells, status, source.n_kernel_evaluations


def _order_of_returns():
    """Return groups as they are finished where the backend can, so that Ctrl-C loses none of these."""
    can = getattr(get_active_backend()[0], "supports_return_generator", False)
    return "generator_unordered" if can else "list"
