"""A search that leaves cells out as soon as they are worse than the best one, in a paired test at a stated risk.

::

    subsamples, small to large:  all cells on few rows; a kernel whose cells are all worse than the leader is dropped
    all rows, best kernel first: the folds in order, some at a time: a cell that is worse than the leader is dropped
    the others, the finalists:   have all folds, exactly as in an exhaustive search

Losses on held-out rows are 0 or 1, and are compared row by row: all rows have the same weight, but for rows of weight
0, which do not take part. Where a cell and the leader differ on d rows, of which the cell has b wrong, the p value of
"the cell is as good" is P(Bin(d, 1/2) >= b) (McNemar's exact test, one-sided). A cell is dropped at a p value
of at most

    risk / (number of cells x number of tests of one cell),

so that, if held-out rows are independent, the cell with the smallest expected error is dropped with a probability of at
most `risk`, whichever cells lead (a union bound over its pairs with a leader and over the tests of each pair). On a
subsample this holds for the errors of models trained on that many rows; since the best C depends on the number of rows,
only whole kernels (a kernel with one gamma) are dropped there.
"""

from dataclasses import dataclass

import numpy as np
from scipy.stats import binom

from kernbench.estimators.search.cells import Best
from kernbench.estimators.search.one_kernel import Cell, OneKernel
from kernbench.estimators.search.subsamples import SubsampledCells, folds_on, nested_order, random_order_of, task_on

SHARES = (8,)  # a subsample is one row in so many
LEAST_ROWS = 500  # of a subsample: on fewer hardly any kernel can be dropped


def p_values(losses, leader):
    """Return the p value of McNemar's one-sided test for each row of `losses` against its row `leader`.

    Parameters
    ----------
    losses : ndarray of bool, shape (n_cells, n_rows)
    leader : int
    """
    worse = np.count_nonzero(losses & ~losses[leader], axis=1)
    better = np.count_nonzero(~losses & losses[leader], axis=1)
    return binom.sf(worse - 1, worse + better, 0.5)


@dataclass
class Entrant:
    """A cell of the race.

    Attributes
    ----------
    wrong : ndarray of shape (n,)
        0/1 losses of held-out rows; NaN where they are not known, and of rows of weight 0.
    result : Cell
        What its folds gave so far.
    """

    wrong: np.ndarray
    result: Cell


class Race(SubsampledCells):
    """The cells of a grid, of which those that are worse than the best one are dropped; see the module.

    After `run`, the dropped ones have in `cells`: ``dropped_after`` (a subsample or a fold), ``dropped_p_value`` and
    ``dropped_against``, the index of the leader.
    """

    def _run_groups(self):
        self.Cs = self.strengths
        self.order = [int(c) for c in np.argsort(self.Cs, kind="stable")]
        self.entrants, alive = {}, list(range(len(self.groups)))
        samples = list(self._samples())
        self.batches = _batches(len(self.folds))
        n_tests = max(1, len(samples) + len(self.batches) - 1)  # none after the last fold, when nothing is left to save
        self.level = self.search.risk / (len(self.cells) * n_tests)
        for rows in samples:
            alive = self._race_of_kernels(alive, rows)
        for g in alive:
            self._race_of_folds(g)

    def _place(self, c, g):
        """Return the index of a cell."""
        return c * len(self.groups) + g

    # --- subsamples --------------------------------------------------------------------------------------------------

    def _samples(self):
        """Yield the rows of each subsample, ascending; none where there is one kernel, where classes are too rare, or
        where folds hold out so few rows that none of them is in it."""
        n = len(self.examples.codes)
        order = nested_order(self.examples.codes, random_order_of(self.search.random_state))
        for share in SHARES:
            if len(self.groups) == 1 or n < share * LEAST_ROWS:
                continue
            rows = np.sort(order[: n // share])
            if self._trains_on_all_classes(rows) and self._holds_out_some(rows):
                yield rows

    def _holds_out_some(self, rows):
        used = rows[self.examples.used[rows]]
        return any(np.isin(used, fold.test).any() for fold in self.folds)

    def _race_of_kernels(self, alive, rows):
        """Solve all cells of the kernels `alive` on a subsample; return the kernels left, that of the leader first."""
        folds = folds_on(self.folds, rows, len(self.examples.codes))
        which = [j for j, fold in enumerate(folds) if len(fold.test)]
        weights = None if self.examples.sample_weight is None else self.examples.sample_weight[rows]
        losses = []
        for g in alive:
            task = task_on(self.tasks[g], rows)
            kernel = OneKernel(task, weights, folds, self.deadline)
            own = {}
            with self._counting_values(kernel):
                for c, cell in zip(self.order, kernel.cells([self.Cs[c] for c in self.order], which, fit_all=False)):
                    own[c] = self._wrong(cell.values, task.codes, weights)
                    self.n_unconverged += cell.n_unconverged
            losses += [own[c] for c in range(len(self.Cs))]
        losses = np.array(losses)
        losses = losses[:, ~np.isnan(losses[0])].astype(bool)  # rows that are held out and count
        errors = losses.mean(axis=1)
        leader = int(errors.argmin())
        p = p_values(losses, leader).reshape(len(alive), -1)
        against = self._place(leader % len(self.Cs), alive[leader // len(self.Cs)])
        best = errors.reshape(len(alive), -1).min(axis=1)
        left = []
        for place in np.argsort(best, kind="stable"):
            g = alive[place]
            if np.any(p[place] > self.level):
                left.append(g)
                continue
            for c in range(len(self.Cs)):
                self._drop(self._place(c, g), f"{len(rows)} rows", p[place, c], against)
        return left

    # --- folds -------------------------------------------------------------------------------------------------------

    def _race_of_folds(self, g):
        """Solve the cells of a kernel fold by fold; score those that are not dropped."""
        task, n = self.tasks[g], len(self.examples.codes)
        n_pairs = len(task.model.classes_) * (len(task.model.classes_) - 1) // 2
        kernel = OneKernel(task, self.examples.sample_weight, self.folds, self.deadline)
        own = {}
        for c in self.order:
            result = Cell(np.full((n, n_pairs), np.nan), seconds=np.zeros(len(self.folds)))
            own[c] = self.entrants[self._place(c, g)] = Entrant(np.full(n, np.nan), result)
        with self._counting_values(kernel):
            for batch in self.batches:
                for c, cell in zip(list(own), kernel.cells([self.Cs[c] for c in own], batch, fit_all=False)):
                    self._take(own[c], cell, batch)
                for c in self._worse_ones(own, g, batch) if own and batch != self.batches[-1] else ():
                    del own[c]
            for c, entrant in own.items():
                self._add(self._place(c, g), entrant.result)
            if self.best is not None and self.best_index % len(self.groups) == g:
                params, _, held_out = self.best
                self.best = Best(params, kernel.solutions(params["C"]), held_out)

    def _take(self, entrant, cell, batch):
        """Add the outcome of some folds."""
        result = entrant.result
        result.n_unconverged += cell.n_unconverged
        for j in batch:
            test = self.folds[j].test
            result.values[test], result.seconds[j] = cell.values[test], cell.seconds[j]
            weights = None if self.examples.sample_weight is None else self.examples.sample_weight[test]
            entrant.wrong[test] = self._wrong(cell.values[test], self.examples.codes[test], weights)

    def _worse_ones(self, own, g, batch):
        """Drop the cells of a kernel that are worse than the leader on the rows of the folds so far; return Cs."""
        first = next(iter(own.values()))
        rows = ~np.isnan(first.wrong)
        rivals = {index: entrant for index, entrant in self.entrants.items() if not np.isnan(entrant.wrong[rows]).any()}
        rivals = {index: entrant for index, entrant in rivals.items() if "dropped_after" not in self.cells[index]}
        indices = list(rivals)
        losses = np.array([entrant.wrong[rows] for entrant in rivals.values()], dtype=bool)
        leader = int(losses.sum(axis=1).argmin())
        p = dict(zip(indices, p_values(losses, leader), strict=True))
        worse = [c for c in own if p[self._place(c, g)] <= self.level]
        for c in worse:
            index = self._place(c, g)
            self._drop(index, f"fold {batch[-1]}", p[index], indices[leader])
            scores = np.full(len(self.folds), np.nan)
            weights = np.ones(len(rows)) if self.examples.sample_weight is None else self.examples.sample_weight
            for j, fold in enumerate(self.folds[: batch[-1] + 1]):
                test = fold.test[weights[fold.test] > 0]
                scores[j] = 1.0 - np.average(own[c].wrong[test], weights=weights[test])
            self.cells[index]["scores"] = {"score": scores}
            self.n_unconverged += own[c].result.n_unconverged
        return worse

    def _drop(self, index, after, p, against):
        self.cells[index].update(dropped_after=after, dropped_p_value=float(p), dropped_against=against)

    def _wrong(self, values, codes, weights):
        """Return the 0/1 losses of decision values of pairs of classes; NaN where these are, and for weights of 0."""
        held_out = self.search._held_out(values, self.examples)
        wrong = (held_out.labels != self.examples.classes[codes]).astype(np.float64)
        wrong[np.isnan(values).any(axis=1)] = np.nan
        if weights is not None:
            wrong[weights == 0] = np.nan
        return wrong


def _batches(n_folds):
    """Return the folds in order, in batches of one, one, two and the rest: each batch starts a new path over C."""
    folds = list(range(n_folds))
    return [part for part in (folds[:1], folds[1:2], folds[2:4], folds[4:]) if part]
